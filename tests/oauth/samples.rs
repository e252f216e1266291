//! The signers of `docs/signing.md`, run as they stand there.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::world::{Isolate, ORIGIN, World, environment};

const BODY: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const KEY: (&str, &str) = (
    "ak_test_0123456789abcd",
    "sk_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA",
);

/// The code block of a language that begins with these words.
fn sample(language: &str, start: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/signing.md");
    let text = std::fs::read_to_string(page).unwrap();
    let fence = format!("```{language}\n");
    let found = text
        .split(&fence)
        .skip(1)
        .filter_map(|rest| rest.split("\n```").next())
        .find(|block| block.starts_with(start));
    format!("{}\n", found.expect("a sample"))
}

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn run(command: &mut Command) -> String {
    let output = command
        .env("AK", KEY.0)
        .env("SK", KEY.1)
        .stdin(Stdio::null())
        .output()
        .expect("the sample's interpreter is installed");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// A server at the moment that the signer saw.
fn server(timestamp: u64) -> Isolate {
    let keys = format!(
        r#"[{{"ak":"{}","sk":"{}","label":"sample"}}]"#,
        KEY.0, KEY.1
    );
    let mut environment = environment();
    environment.push(("ACCESS_KEYS", &keys));
    let world = World::new();
    world.seconds.set(timestamp);
    world.deploy(1, &environment)
}

#[track_caller]
fn accepted(headers: &[(String, String)]) {
    let find = |wanted: &str| {
        let found = headers
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(wanted));
        found.unwrap_or_else(|| panic!("no {wanted}")).1.clone()
    };
    let isolate = server(find("x-mcp-timestamp").parse().unwrap());
    let send = |path: &str, body: &str| {
        let mut request = isolate.request("POST", path);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        isolate
            .send(request.body(body.as_bytes().to_vec()).unwrap())
            .status
    };
    assert_eq!(send("/mcp-compat?trace=1", &BODY.replace('1', "2")), 401);
    assert_eq!(send("/mcp-compat", BODY), 401);
    assert_eq!(send("/mcp-compat?trace=1", BODY), 200);
    assert_eq!(send("/mcp-compat?trace=1", BODY), 401);
}

#[test]
fn the_shell_sample_signs() {
    let folder = tempfile::tempdir().unwrap();
    let script = write(
        folder.path(),
        "sign.sh",
        &sample("sh", "#!/bin/sh\n# sign.sh"),
    );
    let body = write(folder.path(), "body.json", BODY);
    let url = format!("{ORIGIN}/mcp-compat?trace=1");
    let printed = run(Command::new("sh")
        .arg(script)
        .args(["POST", &url])
        .arg(&body));
    assert!(printed.contains(&format!("url = \"{url}\"")));
    let headers: Vec<_> = printed
        .lines()
        .filter_map(|line| {
            line.strip_prefix("header = \"")?
                .strip_suffix('"')?
                .split_once(": ")
        })
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    accepted(&headers);
}

#[test]
fn the_python_sample_signs() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "sign.py", &sample("python", "\"\"\"sign.py"));
    let mut asker = tempfile::NamedTempFile::new_in(folder.path()).unwrap();
    write!(
        asker,
        "import json, sign\nprint(json.dumps(sign.signed_headers('POST', '{ORIGIN}/mcp-compat?trace=1', b'''{BODY}''')))"
    )
    .unwrap();
    let printed = run(Command::new("python3")
        .arg(asker.path())
        .current_dir(folder.path())
        .env("PYTHONPATH", folder.path()));
    let headers: std::collections::BTreeMap<String, String> =
        serde_json::from_str(&printed).unwrap();
    accepted(&headers.into_iter().collect::<Vec<_>>());
}

#[test]
fn the_page_holds_the_published_vector() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/signing.md");
    let text = std::fs::read_to_string(page).unwrap();
    assert!(text.contains("bec4aaf1e3e3af4cd9ebdd83818d4738c90f7b18e48b1d5b5d4930bdf87900a3"));
    for sample in [
        sample("sh", "#!/bin/sh\n# sign.sh"),
        sample("python", "\"\"\"sign.py"),
    ] {
        assert!(sample.lines().count() <= 36, "about thirty lines");
    }
}
