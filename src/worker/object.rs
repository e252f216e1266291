//! The Durable Object that holds every thought.

use worker::{DurableObject, Env, Request, Response, Result, State, durable_object};

use crate::database::Database;
use crate::database::durable::Durable;

#[durable_object(fetch)]
pub struct ThoughtStore {
    database: Durable,
}

impl DurableObject for ThoughtStore {
    fn new(state: State, _env: Env) -> Self {
        Self {
            database: Durable::new(state.storage()),
        }
    }

    async fn fetch(&self, _request: Request) -> Result<Response> {
        let rows = self.database.query("SELECT 1", &[]);
        Response::ok(format!("{rows:?} {:?}", self.database.cost()))
    }
}
