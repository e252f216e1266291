//! The doctor as the owner runs it, before the Worker in workerd: healthy, and with one configuration for each kind of fault.
//!
//! What no configuration can spoil (a page, a redirect rule, a PKCE method) is spoiled in the native tests of the doctor.

use std::process::Command;

use e2e::{TOKEN, Worker, native_program};

use crate::streams::{steer, steered};

const SIGN_IN: [(&str, &str); 3] = [
    ("GITHUB_CLIENT_ID", "Iv1.loopback"),
    ("GITHUB_CLIENT_SECRET", "loopback-secret"),
    ("ALLOWED_GITHUB_LOGIN", "octocat"),
];

/// What the doctor prints and whether a script may go on.
fn doctor(worker: &Worker, token: Option<&str>) -> (bool, String) {
    let mut command = Command::new(native_program());
    command
        .args(["doctor", &format!("http://127.0.0.1:{}", worker.port())])
        .env_remove("MCP_API_TOKEN");
    if let Some(token) = token {
        command.env("MCP_API_TOKEN", token);
    }
    let output = command.output().unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(!text.contains(TOKEN) && !text.contains("seq_"), "{text}");
    (output.status.success(), text)
}

/// Which checks fail; each says how to mend it, and the exit code says that there are some.
#[track_caller]
fn failures(worker: &Worker, token: Option<&str>) -> Vec<String> {
    let (is_well, text) = doctor(worker, token);
    let lines = text.lines().collect::<Vec<_>>();
    let mut failed = Vec::new();
    for pair in lines.windows(2) {
        let Some(failure) = pair[0].strip_prefix("  FAIL  ") else {
            continue;
        };
        assert!(pair[1].starts_with("        fix: "), "{text}");
        failed.push(failure.split(':').next().unwrap().to_owned());
    }
    assert_eq!(is_well, failed.is_empty(), "{text}");
    failed
}

#[test]
fn a_deployment_that_is_set_up_passes_every_check() {
    let worker = Worker::start_with(&SIGN_IN);
    let (is_well, text) = doctor(&worker, Some(TOKEN));
    assert!(text.ends_with("15 ok, 0 failed, 0 left out\n"), "{text}");
    assert!(is_well);
    // Without the token nothing fails that was not asked.
    let (is_well, text) = doctor(&worker, None);
    assert!(
        is_well && text.contains("left out, the token was not given"),
        "{text}"
    );
    assert!(text.contains(" 0 failed, "), "{text}");
}

#[test]
fn each_kind_of_wrong_configuration_is_found_where_it_is() {
    for (variable, failing) in [
        // A setting that cannot be understood.
        (("THOUGHT_RETENTION_DAYS", "soon"), &["health"][..]),
        // Nobody can come in.
        (
            ("MCP_API_TOKEN", "short"),
            &[
                "health",
                "token",
                "/mcp-compat",
                "/mcp",
                "store",
                "write, read, delete",
            ],
        ),
        // Pages of a stranger may read answers.
        (("ALLOWED_ORIGIN_HOSTNAMES", "doctor.invalid"), &["cors"]),
        // The address that people type is not that of this deployment.
        (("PUBLIC_ORIGIN", "https://elsewhere.example"), &["address"]),
        // Clients are sent to another address than they came to.
        (
            ("ALLOWED_HOSTNAMES", "elsewhere.example, 127.0.0.1"),
            &[
                "challenge",
                "protected resource",
                "authorization server",
                "consent page",
            ],
        ),
    ] {
        let worker = Worker::start_with(&[&SIGN_IN[..], &[variable]].concat());
        assert_eq!(failures(&worker, Some(TOKEN)), failing, "{variable:?}");
    }
}

#[test]
fn a_wrong_token_and_a_store_that_fails_are_told_apart() {
    let worker = steered();
    assert_eq!(failures(&worker, Some(TOKEN)), [""; 0]);
    let with_token = [
        "token",
        "/mcp-compat",
        "/mcp",
        "store",
        "write, read, delete",
    ];
    assert_eq!(failures(&worker, Some(&TOKEN[1..])), with_token);
    steer(&worker, "hold 0");
    steer(&worker, "fail");
    assert_eq!(
        failures(&worker, Some(TOKEN)),
        ["store", "write, read, delete"]
    );
    steer(&worker, "release");
    assert_eq!(failures(&worker, Some(TOKEN)), [""; 0]);
}
