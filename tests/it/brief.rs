//! Briefs of three real processes, kept as text so that a reader can judge them.

use durable_thinking::clock::Timestamp;
use durable_thinking::database::sqlite::Sqlite;
use durable_thinking::fresh::Fresh;
use durable_thinking::settings::Settings;
use durable_thinking::store::Store;
use durable_thinking::tools::{self, Rendered};
use expect_test::{ExpectFile, expect_file};
use serde_json::{Map, Value, json};

struct Process {
    store: Store<Sqlite>,
    calls: u64,
}

impl Process {
    fn call(&mut self, tool: &str, arguments: &Map<String, Value>) -> Rendered {
        self.calls += 1;
        let mut seed = [3; 32];
        seed[..8].copy_from_slice(&self.calls.to_be_bytes());
        let now = Timestamp::from_milliseconds(1_796_046_300_000 + self.calls * 60_000);
        let (fresh, settings) = (Fresh::new(now, seed), Settings::default());
        let call = tools::parse(tools::find(tool).unwrap(), arguments, &settings, &fresh).unwrap();
        let outcome = tools::run(&call, &self.store, &settings, &fresh).unwrap();
        tools::render(&call, &outcome).unwrap()
    }
}

#[track_caller]
fn check(process: &str, characters_max: u32, expected: &ExpectFile) {
    let mut bench = Process {
        store: Store::open(Sqlite::open_in_memory().unwrap()).unwrap(),
        calls: 0,
    };
    let mut id = Value::Null;
    for line in process.lines() {
        let mut arguments: Map<String, Value> = serde_json::from_str(line).unwrap();
        arguments.insert("sequenceId".to_owned(), id.clone());
        id = bench
            .call("sequentialthinking", &arguments)
            .structured
            .to_value()["sequenceId"]
            .clone();
    }
    let query = json!({"sequenceId": id, "view": "brief", "maxCharacters": characters_max});
    let brief = bench.call("get_thought_history", query.as_object().unwrap());
    expected.assert_eq(brief.structured.to_value()["brief"].as_str().unwrap());
    assert_eq!(
        brief.text,
        brief.structured.to_value()["brief"].as_str().unwrap()
    );
}

#[test]
fn a_chain_of_forty_with_two_branches() {
    check(
        include_str!("../fixtures/briefs/checkout.jsonl"),
        6_000,
        &expect_file!["../fixtures/briefs/checkout.txt"],
    );
}

#[test]
fn one_with_three_rewinds() {
    check(
        include_str!("../fixtures/briefs/queue.jsonl"),
        30_000,
        &expect_file!["../fixtures/briefs/queue.txt"],
    );
}

#[test]
fn one_in_chinese() {
    check(
        include_str!("../fixtures/briefs/documents-zh.jsonl"),
        2_000,
        &expect_file!["../fixtures/briefs/documents-zh.txt"],
    );
}
