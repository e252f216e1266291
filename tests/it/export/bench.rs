//! A store to think in, to write out, and to read in again.

use durable_thinking::clock::Timestamp;
use durable_thinking::database::sqlite::Sqlite;
use durable_thinking::database::{Column, Database};
use durable_thinking::fresh::Fresh;
use durable_thinking::page::Page;
use durable_thinking::sequence_id::SequenceId;
use durable_thinking::settings::Settings;
use durable_thinking::store::import::{Import, Imported};
use durable_thinking::store::{Error, Store};
use durable_thinking::tools::{self, Call, Outcome};
use durable_thinking::view::document::read::read;
use durable_thinking::view::export::{Export, Format};
use serde_json::{Value, json};

pub struct Bench {
    pub store: Store<Sqlite>,
    pub settings: Settings,
    pub seconds: u64,
    pub id: Option<SequenceId>,
}

impl Bench {
    pub fn new() -> Self {
        Self {
            store: Store::open(Sqlite::open_in_memory().unwrap()).unwrap(),
            settings: Settings::default(),
            seconds: 1_796_046_300,
            id: None,
        }
    }

    pub fn fresh(&mut self) -> Fresh {
        self.seconds += 1;
        let mut seed = [3; 32];
        seed[..8].copy_from_slice(&self.seconds.to_be_bytes());
        Fresh::new(Timestamp::from_milliseconds(self.seconds * 1000), seed)
    }

    /// Appends a thought; what the store refuses is left out.
    pub fn think(&mut self, number: u32, text: &str, more: &Value) -> Result<(), String> {
        let mut arguments = json!({
            "thought": text,
            "thoughtNumber": number,
            "totalThoughts": 9,
            "nextThoughtNeeded": true,
        });
        let members = arguments.as_object_mut().unwrap();
        members.extend(more.as_object().cloned().unwrap());
        if let Some(id) = &self.id {
            members.insert("sequenceId".to_owned(), json!(id));
        }
        let fresh = self.fresh();
        let tool = tools::find("sequentialthinking").unwrap();
        let call =
            tools::parse(tool, members, &self.settings, &fresh).map_err(|it| it.to_string())?;
        match tools::run(&call, &self.store, &self.settings, &fresh) {
            Ok(Outcome::Appended(appended)) => self.id = Some(appended.sequence_id),
            Ok(other) => panic!("{other:?}"),
            Err(Error::Refused(refusal)) => return Err(refusal.to_string()),
            Err(Error::Fault(fault)) => panic!("{fault}"),
        }
        Ok(())
    }

    pub fn page(&mut self, call: &Call) -> Page {
        let fresh = self.fresh();
        match tools::run(call, &self.store, &self.settings, &fresh) {
            Ok(Outcome::History(page)) => *page,
            other => panic!("{other:?}"),
        }
    }

    pub fn export(&mut self, format: Format) -> String {
        let mut export = Export::new(self.id.unwrap(), format);
        let mut text = String::new();
        while let Some(query) = export.next().cloned() {
            text.push_str(&export.take(&self.page(&Call::History(Box::new(query)))));
        }
        text
    }

    /// Imports as the Worker does: read first, then handed over in one piece.
    pub fn import(&mut self, document: &str) -> Result<Imported, String> {
        let fresh = self.fresh();
        let mut entries = Vec::new();
        let origin =
            read(document.as_bytes(), &mut entries, fresh.now).map_err(|it| it.to_string())?;
        let import = Import {
            sequence_id: SequenceId::new(fresh.draw()),
            origin,
            entries,
            first: 1,
            more: false,
        };
        let settings = self.settings.clone();
        self.store
            .import(&import, &settings, &fresh)
            .map_err(|it| it.to_string())
    }

    /// Imports as the native program does: each thought is written while the next is read.
    pub fn import_streaming(&mut self, document: &str) -> Result<Imported, String> {
        let fresh = self.fresh();
        let id = SequenceId::new(fresh.draw());
        self.store
            .import_with(id, &fresh, |importer| {
                read(document.as_bytes(), importer, fresh.now)
            })
            .map_err(|it| it.to_string())
    }

    /// Every row of every table.
    pub fn rows(&self) -> Vec<String> {
        let database = self.store.database();
        let tables = database
            .query(
                "select name from sqlite_master where type = 'table' order by name",
                &[],
            )
            .unwrap();
        let mut rows = Vec::new();
        for mut table in tables {
            let name = table.text(Column("sqlite_master", "name")).unwrap();
            for row in database
                .query(&format!("select * from {name}"), &[])
                .unwrap()
            {
                rows.push(format!("{name} {row:?}"));
            }
        }
        rows
    }
}

/// A process with everything in it.
pub fn story() -> Bench {
    let mut bench = Bench::new();
    let mut think = |number, text: &str, more: &Value| bench.think(number, text, more).unwrap();
    think(1, "The page takes 4 s to load. Find out why.", &json!({}));
    think(
        2,
        "The database is slow: 40 queries for one page.",
        &json!({}),
    );
    think(
        3,
        "An index on `author_id` would help.",
        &json!({"needsMoreThoughts": true}),
    );
    think(
        4,
        "Or cache the page as a whole.",
        &json!({"branchFromThought": 2, "branchId": "cache"}),
    );
    think(
        5,
        "A cache needs invalidation:\n\n```sql\nselect 1 < 2;\n```\n\nThat is too much.",
        &json!({"branchId": "cache", "nextThoughtNeeded": false}),
    );
    think(
        4,
        "The index exists already; it is the *count* that scans.",
        &json!({"isRevision": true, "revisesThought": 3}),
    );
    think(5, "So drop the count.", &json!({}));
    think(
        6,
        "Nobody can see how many pages there are, then.",
        &json!({}),
    );
    think(
        5,
        "Keep the count, but estimate it from statistics.",
        &json!({"isRevision": true, "revisesThought": 5, "rewind": true}),
    );
    think(
        6,
        "Steps 1 to 5: the exact count is the cause; an estimate is enough.",
        &json!({"summarizesThrough": 5}),
    );
    think(
        7,
        "Approximate the count. Done.",
        &json!({"nextThoughtNeeded": false, "totalThoughts": 7}),
    );
    bench
}
