//! A program run on the store and on the model side by side.

use std::collections::BTreeMap;

use durable_thinking::database::Database;
use durable_thinking::sequence_id::SequenceId;
use durable_thinking::settings::{LoopGuard, Settings};
use durable_thinking::store::import::Import;
use durable_thinking::tools::{Call, Outcome};
use durable_thinking::view::document::read::read;
use durable_thinking::view::export::{Export, Format};
use serde_json::{Value, json};

use crate::graph::bench::Bench;
use crate::graph::check::{
    arguments, check_answer, check_read, check_summary, expected_view, refused_before,
};
use crate::graph::model::{Answer, Code, Said, Sequence, Thought};
use crate::graph::program::{NAMES, Number, Op, Reading, SLOTS, Step};

/// A sequence as a client and the model know it; dead when it was deleted.
struct Slot {
    id: Option<String>,
    model: Option<Sequence>,
}

struct Sent {
    slot: usize,
    id: String,
    call: Call,
    said: Said,
    index: usize,
}

/// Both machines in step.
pub struct Run<D> {
    bench: Bench<D>,
    slots: Vec<Slot>,
    sent: Vec<Sent>,
    index: usize,
    /// How often each answer was met.
    pub met: BTreeMap<Code, u32>,
}

impl<D: Database> Run<D> {
    pub fn new(database: D, settings: Settings) -> Self {
        let mut bench = Bench::on(database);
        bench.settings = settings;
        let slots = (0..SLOTS).map(|_| Slot {
            id: None,
            model: None,
        });
        Self {
            bench,
            slots: slots.collect(),
            sent: Vec::new(),
            index: 0,
            met: BTreeMap::new(),
        }
    }

    pub fn op(&mut self, op: &Op) {
        self.index += 1;
        match op {
            Op::Think(step) => {
                let said = self.said(&self.likely(step));
                self.think(step.slot, said);
            }
            Op::Burst(slot, branch, count) => self.burst(*slot, *branch, *count),
            Op::Resend(pick) => self.resend(*pick),
            Op::Repeat(pick) => {
                if let Some(sent) = pick_of(&self.sent, *pick) {
                    let (slot, said) = (sent.slot, sent.said.clone());
                    self.think(slot, said);
                }
            }
            Op::Delete(slot) => self.delete(*slot),
            Op::Forget(slot) => {
                self.slots[*slot] = Slot {
                    id: None,
                    model: None,
                }
            }
            Op::Read(slot, reading) => self.read(*slot, reading),
        }
    }

    /// Puts an imported copy of its document in the place of each sequence. What the loop guard ended is ended in the copy
    /// by the client's own word, so that those programs stay as they are.
    pub fn move_to_copies(&mut self) {
        if self.bench.settings.loop_guard == LoopGuard::Enforce {
            return;
        }
        for slot in 0..SLOTS {
            if self.slots[slot].model.is_none() {
                continue;
            }
            let id = self.slots[slot].id.clone().unwrap();
            let document = self.export(&id);
            let fresh = self.bench.fresh();
            let mut entries = Vec::new();
            let origin = read(document.as_bytes(), &mut entries, fresh.now).unwrap();
            let import = Import {
                sequence_id: SequenceId::new(fresh.draw()),
                origin,
                entries,
                first: 1,
                more: false,
            };
            self.bench
                .store
                .import(&import, &self.bench.settings, &fresh)
                .unwrap_or_else(|error| panic!("{error}\n{document}"));
            self.slots[slot].id = Some(import.sequence_id.to_string());
        }
    }

    fn export(&mut self, id: &str) -> String {
        let mut export = Export::new(SequenceId::parse(id).unwrap(), Format::Json);
        let mut document = String::new();
        while let Some(query) = export.next().cloned() {
            let Ok(Outcome::History(page)) = self.bench.run(&Call::History(Box::new(query))) else {
                panic!("an export was refused");
            };
            document.push_str(&export.take(&page));
        }
        document
    }

    /// Reads everything in every way at the end.
    pub fn finish(&mut self) {
        for slot in 0..SLOTS {
            for view in ["all", "active", "branch_path"] {
                for (order, limit) in [("asc", 100), ("desc", 17)] {
                    let branches = self.slots[slot]
                        .model
                        .as_ref()
                        .map_or(0, |model| model.branches.len());
                    for branch in (0..branches as u8).map(Some).chain([None]) {
                        let name = branch.map(|branch| {
                            self.slots[slot].model.as_ref().unwrap().branches[branch as usize]
                                .name
                                .clone()
                        });
                        self.read_as(slot, &json!({"view": view, "order": order, "branchId": name, "limit": limit, "maxCharacters": 250_000}));
                    }
                }
            }
        }
    }

    fn number(&self, slot: usize, branch: &str, number: Number) -> u32 {
        let model = self.slots[slot].model.as_ref();
        match number {
            Number::Any(number) => number,
            Number::Next => model
                .and_then(|model| {
                    let branch = model.index(branch.trim()).unwrap_or(0);
                    model.newest(branch).map(|newest| newest.said.number + 1)
                })
                .unwrap_or(1),
            Number::Known(pick) => model
                .and_then(|model| pick_of(&model.thoughts, pick))
                .map_or(1, |thought| thought.said.number),
        }
    }

    /// Most programs would be refusals if no step were told what exists: one in six is left as it came.
    fn likely(&self, step: &Step) -> Step {
        let mut step = step.clone();
        if step.total.is_multiple_of(6) {
            return step;
        }
        match &self.slots[step.slot].model {
            None => {
                step.branch = 0;
                (step.fork, step.revises, step.summarizes) = (None, None, None);
            }
            Some(model) => {
                let exists = model.index(NAMES[step.branch as usize].trim()).is_some();
                if exists && !step.total.is_multiple_of(4) {
                    step.fork = None;
                } else if !exists && step.fork.is_none() {
                    step.fork = Some((Number::Known(step.total as u8), None));
                }
            }
        }
        step
    }

    fn said(&self, step: &Step) -> Said {
        let branch = NAMES[step.branch as usize];
        let number = self.number(step.slot, branch, step.number);
        let text = if step.same_text {
            "same".to_owned()
        } else {
            format!("said by {}", self.index)
        };
        Said {
            number,
            total: step.total.max(number),
            text: if step.more && step.total == 19 {
                text.repeat(400)
            } else {
                text
            },
            next: step.next,
            more: step.more,
            branch: branch.trim().to_owned(),
            from_thought: step
                .fork
                .map(|(from, _)| self.number(step.slot, "main", from)),
            from_branch: step
                .fork
                .and_then(|(_, name)| name)
                .map(|name| NAMES[name as usize].trim().to_owned()),
            revises: step
                .revises
                .map(|(target, _)| self.number(step.slot, branch, target)),
            rewind: step.revises.is_some_and(|(_, rewind)| rewind),
            summarizes: step
                .summarizes
                .map(|number| self.number(step.slot, branch, number)),
        }
    }

    fn burst(&mut self, slot: usize, branch: u8, count: u8) {
        let model = self.slots[slot].model.as_ref();
        let exists =
            model.is_some_and(|model| model.index(NAMES[branch as usize].trim()).is_some());
        let branch = if exists { branch } else { 0 };
        for at in 0..count {
            let branch = NAMES[branch as usize];
            let number = self.number(slot, branch, Number::Next);
            let said = Said {
                number,
                total: number.max(40),
                text: format!("burst {} {at}", self.index),
                next: true,
                more: false,
                branch: branch.trim().to_owned(),
                from_thought: None,
                from_branch: None,
                revises: None,
                rewind: false,
                summarizes: None,
            };
            self.think(slot, said);
        }
    }

    fn think(&mut self, slot: usize, said: Said) {
        let id = self.slots[slot].id.clone();
        let call = match self
            .bench
            .parse("sequentialthinking", &arguments(&said, id.as_ref()))
        {
            Ok(call) => call,
            Err(refusal) => {
                assert_eq!(refused_before(&said), Some(refusal.code.name()), "{said:?}");
                return;
            }
        };
        assert_eq!(refused_before(&said), None, "{said:?}");
        let index = self.sent.len();
        let expected = self.expect(slot, &said, index);
        let answer = self.bench.run(&call);
        if id.is_none()
            && let Ok(Outcome::Appended(appended)) = &answer
        {
            self.slots[slot].id = Some(appended.sequence_id.to_string());
        }
        check_answer(&said, answer, &expected);
        self.count(&expected);
        if expected.is_ok() {
            let id = self.slots[slot].id.clone().unwrap();
            self.sent.push(Sent {
                slot,
                id,
                call,
                said,
                index,
            });
        }
    }

    fn expect(&mut self, slot: usize, said: &Said, index: usize) -> Result<Answer, Code> {
        let settings = self.bench.settings.clone();
        let slot = &mut self.slots[slot];
        match (&mut slot.model, &slot.id) {
            (Some(model), _) => model.append(said, index, &settings),
            (None, Some(_)) => {
                // Once is enough: the next thought begins anew.
                slot.id = None;
                Err("sequence_not_found")
            }
            (None, None) => {
                let model = Sequence::begin(said, index, &settings)?;
                let answer = model.thoughts[0].answer.clone();
                slot.model = Some(model);
                Ok(answer)
            }
        }
    }

    fn count(&mut self, expected: &Result<Answer, Code>) {
        let codes = match expected {
            Err(code) => vec![*code],
            Ok(answer) => {
                let mut codes = answer.warnings.clone();
                codes.push("stored");
                codes.extend(answer.superseded.map(|_| "rewound"));
                codes.extend(answer.ended_by_guard.then_some("ended"));
                codes
            }
        };
        for code in codes {
            *self.met.entry(code).or_default() += 1;
        }
    }

    fn resend(&mut self, pick: u8) {
        let Some(sent) = pick_of(&self.sent, pick) else {
            return;
        };
        let slot = &self.slots[sent.slot];
        if slot.id.as_ref() != Some(&sent.id) || slot.model.is_none() {
            return;
        }
        // Answers to repeats were never rows of their own: they find the row they repeated, or write now.
        let known = |thought: &Thought| thought.call == sent.index;
        if !slot.model.as_ref().unwrap().thoughts.iter().any(known) {
            return;
        }
        let (at, index, said, call) = (sent.slot, sent.index, sent.said.clone(), sent.call.clone());
        let expected = self.expect(at, &said, index);
        let answer = self.bench.run_again(&call);
        check_answer(&said, answer, &expected);
    }

    fn delete(&mut self, slot: usize) {
        let Some(id) = self.slots[slot].id.clone() else {
            return;
        };
        let arguments = json!({"sequenceId": id, "confirm": true});
        let call = self
            .bench
            .parse("delete_thought_sequence", &arguments)
            .unwrap();
        let Ok(Outcome::Deleted(deleted)) = self.bench.run(&call) else {
            panic!("a delete was refused");
        };
        let model = self.slots[slot].model.take();
        assert_eq!(
            deleted.thoughts,
            model.map(|model| model.thoughts.len() as u32)
        );
    }

    fn read(&mut self, slot: usize, reading: &Reading) {
        let name = reading.branch.map(|branch| NAMES[branch as usize]);
        self.read_as(
            slot,
            &json!({
                "view": reading.view,
                "order": reading.order,
                "branchId": name,
                "limit": reading.limit,
                "maxCharacters": reading.characters,
            }),
        );
    }

    fn read_as(&mut self, slot: usize, query: &Value) {
        let Some(id) = self.slots[slot].id.clone() else {
            return;
        };
        let mut query = query.clone();
        query["sequenceId"] = json!(id);
        let expected = expected_view(self.slots[slot].model.as_ref(), &query);
        let (mut seen, mut pages) = (Vec::new(), 0);
        loop {
            let page = match (self.bench.page(&query), &expected) {
                (Ok(page), Ok(_)) => page,
                (Err(refusal), Err(code)) => {
                    return assert_eq!(refusal.code.name(), *code, "{query}");
                }
                (answer, expected) => panic!("{query}: {expected:?} expected, {answer:?} came"),
            };
            let model = self.slots[slot].model.as_ref().unwrap();
            check_summary(&page, model, pages == 0);
            pages += 1;
            let limit = query["limit"].as_u64().unwrap() as usize;
            assert!(page.thoughts.len() <= limit);
            if query["view"] != "active"
                && page.next_cursor.is_some()
                && query["maxCharacters"] == 250_000
            {
                assert_eq!(page.thoughts.len(), limit, "{query}: a page was cut short");
            }
            for read in &page.thoughts {
                check_read(read, model);
            }
            seen.extend(page.thoughts.iter().map(|thought| thought.ordinal));
            assert!(pages <= 2 * model.thoughts.len() + 2, "{query}: no end");
            match page.next_cursor {
                Some(cursor) => query["cursor"] = json!(cursor),
                None => break,
            }
        }
        assert_eq!(seen, expected.unwrap(), "{query}");
    }
}

fn pick_of<T>(list: &[T], pick: u8) -> Option<&T> {
    // Recent ones are met more often.
    let back = usize::from(pick) % list.len().max(1);
    list.iter().rev().nth(back * back / list.len().max(1))
}
