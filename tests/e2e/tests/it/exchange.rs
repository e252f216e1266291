//! Whole processes out of the Worker and in again: streamed by the entry, taken in by the object.

use e2e::mcp::Tools;
use e2e::{TOKEN, Worker};
use serde_json::{Value, json};

fn post(worker: &Worker, path: &str, body: &str) -> e2e::client::Reply {
    let bearer = format!("Bearer {TOKEN}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
    ];
    worker
        .client()
        .send("POST", path, &headers, body.as_bytes())
}

#[test]
fn a_process_is_exported_and_imported() {
    let worker = Worker::start();
    let thoughts: Vec<String> = (1..=12)
        .map(|number| format!("Step {number} 思考"))
        .collect();
    let id = Tools::new(&worker).think_all(&thoughts);
    // Markdown takes two passes, so it is streamed.
    let ask = |id: &str, format: &str| {
        post(
            &worker,
            "/export",
            &json!({ "sequenceId": id, "format": format }).to_string(),
        )
    };
    let markdown = ask(&id, "markdown");
    assert_eq!(markdown.status, 200, "{}", markdown.text());
    assert_eq!(
        markdown.header("content-type").as_deref(),
        Some("text/markdown; charset=utf-8")
    );
    assert_eq!(
        markdown.text().matches("\n### ").count(),
        12,
        "{}",
        markdown.text()
    );
    assert!(ask(&id, "mermaid").text().starts_with("flowchart TB"));
    let document = ask(&id, "json");
    let imported = post(&worker, "/import", &document.text());
    assert_eq!(imported.status, 201, "{}", imported.text());
    let new = imported.json()["sequenceId"].as_str().unwrap().to_owned();
    assert_eq!(Tools::new(&worker).read_texts(&new, 50), thoughts);
    let refused = post(
        &worker,
        "/import",
        &document.text().replace("Step 7", "Step 8"),
    );
    assert_eq!(refused.status, 400);
    let message = refused.json()["message"].as_str().unwrap().to_owned();
    assert!(
        message.starts_with("/thoughts/6/check: does not fit"),
        "{message}"
    );
}

#[test]
fn a_document_in_parts_is_hidden_until_the_last_has_come() {
    let mut worker = Worker::start();
    let thoughts: Vec<String> = (1..=6).map(|number| format!("Part {number}")).collect();
    let id = Tools::new(&worker).think_all(&thoughts);
    let body = json!({ "sequenceId": id, "format": "json" }).to_string();
    let document: Value = post(&worker, "/export", &body).json();
    let part = |from: usize, to: usize, upload: &str| {
        let slice = json!(document["thoughts"].as_array().unwrap()[from..to]);
        format!(
            "{{\"format\":{},\"version\":1,\"sequence\":{},{upload}\"more\":{},\"thoughts\":{slice}}}",
            document["format"],
            document["sequence"],
            to < 6
        )
    };
    let first = post(&worker, "/import", &part(0, 4, ""));
    assert_eq!(first.status, 202, "{}", first.text());
    let upload = first.json()["upload"].as_str().unwrap().to_owned();
    let history = json!({ "sequenceId": upload });
    let hidden = Tools::new(&worker).refused("get_thought_history", &history);
    assert!(hidden.starts_with("sequence_not_found"), "{hidden}");
    worker.restart();
    let last = post(
        &worker,
        "/import",
        &part(4, 6, &format!("\"upload\":\"{upload}\",")),
    );
    assert_eq!(last.status, 201, "{}", last.text());
    assert_eq!(Tools::new(&worker).read_texts(&upload, 50), thoughts);
}
