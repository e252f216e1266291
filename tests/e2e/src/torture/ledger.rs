//! What one writer was told: its own account of its sequences, to hold against the store's.

use serde_json::{Value, json};

use super::dice::Dice;
use super::{Line, Report, Victim};

const CHARACTERS: [&str; 8] = ["a", "Ж", "思", "🙂", "\n", "\"", "\\", "\u{200b}"];
const LENGTH_MAX: u64 = 2_000;
/// One thought in so many begins a new sequence.
const NEW_EVERY: u64 = 25;
const BRANCHES: [&str; 3] = ["main", "left", "右"];

/// One thought: in which branch it is, and its text.
type Entry = (&'static str, String);

/// One sequence as its writer knows it.
#[derive(Default)]
struct Account {
    id: Option<String>,
    acknowledged: Vec<Entry>,
    /// What was being written when the server ended, with the arguments to say it again.
    cut_off: Option<(Entry, Value)>,
}

pub(super) struct Ledger {
    writer: usize,
    dice: Dice,
    accounts: Vec<Account>,
    written: u64,
}

impl Ledger {
    pub(super) fn new(writer: usize, seed: u64) -> Self {
        Self {
            writer,
            dice: Dice::new(seed),
            accounts: vec![Account::default()],
            written: 0,
        }
    }

    pub(super) fn len(&self) -> u64 {
        let counts = self.accounts.iter().map(|it| it.acknowledged.len() as u64);
        counts.sum()
    }

    pub(super) fn sequences(&self) -> u64 {
        let known = self.accounts.iter().filter(|it| it.id.is_some());
        known.count() as u64
    }

    /// Writes one more thought. `false`: the server is gone.
    pub(super) fn write(&mut self, line: &mut dyn Line) -> bool {
        let is_open = self.accounts.last().is_some_and(|it| it.id.is_some());
        if is_open && self.dice.below(NEW_EVERY) == 0 {
            self.accounts.push(Account::default());
        }
        let text = self.text();
        let account = self.accounts.last_mut().unwrap();
        let branch = match account.acknowledged.len() {
            0 => BRANCHES[0],
            _ => *self.dice.pick(&BRANCHES),
        };
        let arguments = account.arguments(branch, &text);
        let entry = (branch, text);
        let result = line.call("sequentialthinking", &arguments);
        match &result {
            Some(result) => account.acknowledge(entry, result),
            None => account.cut_off = Some((entry, arguments)),
        }
        result.is_some()
    }

    /// A text that no other thought has, of any length and of every kind of character.
    fn text(&mut self) -> String {
        self.written += 1;
        let mut text = format!("writer {}, thought {}: ", self.writer, self.written);
        for _ in 0..self.dice.below(LENGTH_MAX) {
            text.push_str(self.dice.pick::<&str>(&CHARACTERS));
        }
        text
    }

    /// Holds the account against the store. What had been cut off is stored whole or not at all, and counts from now on
    /// if it is there; half of what is not there is said again, as a client would.
    pub(super) fn check(
        &mut self,
        line: &mut dyn Line,
        victim: &dyn Victim,
        report: &mut Report,
        seed: u64,
    ) {
        let count = self.accounts.len();
        for (index, account) in self.accounts.iter_mut().enumerate() {
            let context = format!("writer {}, sequence {index}, seed {seed}", self.writer);
            let cut_off = account.cut_off.take();
            report.cut_off += u64::from(cut_off.is_some());
            let Some(id) = account.id.clone() else {
                // The id of a first thought that was cut off is known to nobody.
                continue;
            };
            let stored = read(line, &id);
            let said = account.acknowledged.len();
            assert!(stored.len() >= said, "{context}: lost a thought");
            assert_eq!(stored[..said], account.acknowledged, "{context}");
            let extra = &stored[said..];
            if let Some((entry, arguments)) = cut_off {
                report.stored_unheard += extra.len() as u64;
                assert!(extra.is_empty() || extra == [entry.clone()], "{context}");
                if extra.is_empty() && self.dice.below(2) == 0 {
                    continue;
                }
                report.repeated += 1;
                let result = line.call("sequentialthinking", &arguments);
                account.acknowledge(entry, &result.expect("the server runs"));
                assert_eq!(read(line, &id), account.acknowledged, "{context}");
            } else {
                assert!(extra.is_empty(), "{context}: more than was written");
            }
            if index + 1 == count {
                let document = victim.export(&id);
                assert_eq!(entries(&document["thoughts"], 1), account.acknowledged);
            }
        }
    }
}

impl Account {
    fn arguments(&self, branch: &str, text: &str) -> Value {
        let number = self.acknowledged.len() + 1;
        let mut arguments = json!({
            "thought": text, "thoughtNumber": number, "totalThoughts": 100_000, "nextThoughtNeeded": true,
        });
        if let Some(id) = &self.id {
            arguments["sequenceId"] = id.as_str().into();
        }
        if branch != BRANCHES[0] {
            arguments["branchId"] = branch.into();
            if self.acknowledged.iter().all(|(known, _)| *known != branch) {
                arguments["branchFromThought"] = 1.into();
            }
        }
        arguments
    }

    fn acknowledge(&mut self, entry: Entry, result: &Value) {
        assert_ne!(result["isError"], true, "{result}");
        let told = &result["structuredContent"];
        self.acknowledged.push(entry);
        assert_eq!(told["thoughtHistoryLength"], self.acknowledged.len());
        let id = told["sequenceId"].as_str().unwrap();
        assert_eq!(*self.id.get_or_insert_with(|| id.to_owned()), id);
    }
}

/// Every thought of a sequence, page by page.
fn read(line: &mut dyn Line, id: &str) -> Vec<Entry> {
    let mut found = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let arguments =
            json!({ "sequenceId": id, "limit": 100, "maxCharacters": 250_000, "cursor": cursor });
        let result = line.call("get_thought_history", &arguments);
        let result = result.expect("the server runs");
        let page = &result["structuredContent"];
        assert!(page["thoughts"].is_array(), "{result}");
        found.extend(entries(&page["thoughts"], found.len() as u64 + 1));
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            return found;
        }
    }
}

/// Thoughts as the account has them. Their ordinals run from `first` without a gap.
fn entries(thoughts: &Value, first: u64) -> Vec<Entry> {
    let thoughts = thoughts.as_array().unwrap();
    let read = thoughts.iter().zip(first..).map(|(thought, ordinal)| {
        assert_eq!(thought["ordinal"], ordinal);
        let branch = thought["branchId"].as_str().unwrap_or(BRANCHES[0]);
        let known = BRANCHES.iter().find(|known| **known == branch);
        let text = thought["thought"].as_str().unwrap();
        (*known.unwrap(), text.to_owned())
    });
    read.collect()
}
