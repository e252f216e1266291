//! A store in this process with a clock that moves and a seed of its own for each call.

#![allow(dead_code, reason = "each crate of tests uses its part")]

use durable_thinking::clock::Timestamp;
use durable_thinking::database::sqlite::Sqlite;
use durable_thinking::database::{Cost, Database, DatabaseError, Row, Value as Bound};
use durable_thinking::fresh::Fresh;
use durable_thinking::page::Page;
use durable_thinking::refusal::Refusal;
use durable_thinking::settings::Settings;
use durable_thinking::store::{Error, Store};
use durable_thinking::thought::Appended;
use durable_thinking::tools::{self, Call, Outcome, Rendered};
use serde_json::{Value, json};

pub struct Bench<D = Sqlite> {
    pub store: Store<D>,
    pub settings: Settings,
    /// Calls so far: the clock and the seed of the next one.
    pub calls: u64,
    /// Tells the seeds of one bench from those of another.
    pub lane: u8,
    pub sequence_id: Option<String>,
}

impl Bench {
    pub fn new() -> Self {
        Self::on(Sqlite::open_in_memory().unwrap())
    }
}

/// SQLite that nobody else writes to, as in an object: the store remembers what it read.
pub struct Sole(pub Sqlite);

impl Database for Sole {
    const IS_SOLE: bool = true;

    fn query(&self, sql: &str, params: &[Bound]) -> Result<Vec<Row>, DatabaseError> {
        self.0.query(sql, params)
    }

    fn transaction<T, E: From<DatabaseError>>(
        &self,
        body: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        self.0.transaction(body)
    }

    fn cost(&self) -> Cost {
        self.0.cost()
    }
}

impl<D: Database> Bench<D> {
    pub fn on(database: D) -> Self {
        Self {
            store: Store::open(database).unwrap(),
            settings: Settings::default(),
            calls: 0,
            lane: 0,
            sequence_id: None,
        }
    }

    pub fn fresh(&mut self) -> Fresh {
        self.calls += 1;
        let mut seed = [self.lane; 32];
        seed[..8].copy_from_slice(&self.calls.to_be_bytes());
        Fresh::new(
            Timestamp::from_milliseconds(1_796_046_300_000 + self.calls * 1000),
            seed,
        )
    }

    /// Reads the arguments as the Worker does. The bench's own sequence is meant when they name none.
    pub fn parse(&mut self, tool: &str, arguments: &Value) -> Result<Call, Refusal> {
        let mut arguments = arguments.as_object().cloned().unwrap();
        if let Some(id) = &self.sequence_id {
            arguments.entry("sequenceId").or_insert(json!(id));
        }
        let fresh = self.fresh();
        tools::parse(
            tools::find(tool).unwrap(),
            &arguments,
            &self.settings,
            &fresh,
        )
    }

    pub fn run(&mut self, call: &Call) -> Result<Outcome, Refusal> {
        let fresh = self.fresh();
        match tools::run(call, &self.store, &self.settings, &fresh) {
            Ok(outcome) => Ok(outcome),
            Err(Error::Refused(refusal)) => Err(refusal),
            Err(Error::Fault(fault)) => panic!("fault: {fault}"),
        }
    }

    /// Runs a call that ran before, as the Worker does when the answer was lost.
    pub fn run_again(&mut self, call: &Call) -> Result<Outcome, Refusal> {
        if let Call::Append(draft) = call {
            self.store.expect_repeat(draft.call_id);
        }
        self.run(call)
    }

    pub fn call(&mut self, tool: &str, arguments: &Value) -> Result<Rendered, Refusal> {
        let call = self.parse(tool, arguments)?;
        let outcome = self.run(&call)?;
        if let (Outcome::Appended(appended), None) = (&outcome, &self.sequence_id) {
            self.sequence_id = Some(appended.sequence_id.to_string());
        }
        tools::render(&call, &outcome)
    }

    /// Appends thought `number` with what `more` adds.
    pub fn think(&mut self, number: u32, more: &Value) -> Result<Appended, Refusal> {
        let call = self.draft(number, more)?;
        let Outcome::Appended(appended) = self.run(&call)? else {
            panic!("an append answered something else");
        };
        self.sequence_id
            .get_or_insert_with(|| appended.sequence_id.to_string());
        Ok(*appended)
    }

    pub fn draft(&mut self, number: u32, more: &Value) -> Result<Call, Refusal> {
        let mut arguments = json!({
            "thought": format!("Thought {number} of call {}", self.calls),
            "thoughtNumber": number,
            "totalThoughts": 9,
            "nextThoughtNeeded": true,
        });
        let members = arguments.as_object_mut().unwrap();
        members.extend(more.as_object().cloned().unwrap());
        self.parse("sequentialthinking", &arguments)
    }

    pub fn page(&mut self, query: &Value) -> Result<Page, Refusal> {
        let call = self.parse("get_thought_history", query)?;
        match self.run(&call)? {
            Outcome::History(page) => Ok(*page),
            _ => panic!("a history answered something else"),
        }
    }

    /// Every thought of a view, page by page, as ordinals.
    pub fn ordinals(&mut self, query: &Value) -> Vec<u32> {
        let mut query = query.clone();
        let mut ordinals = Vec::new();
        loop {
            let page = self.page(&query).unwrap();
            ordinals.extend(page.thoughts.iter().map(|thought| thought.ordinal));
            match page.next_cursor {
                Some(cursor) => query["cursor"] = json!(cursor),
                None => return ordinals,
            }
        }
    }

    #[track_caller]
    pub fn refused(&mut self, number: u32, more: &Value, code: &str) -> String {
        let refusal = self.think(number, more).expect_err("was not refused");
        assert_eq!(refusal.code.name(), code, "{more}: {refusal}");
        refusal.to_string()
    }
}
