//! The store as the contract sees it, from arguments to answers.

mod acceptance;
pub mod bench;
mod cases;
mod check;
mod depth;
mod dump;
mod model;
mod program;
mod refusals;
mod run;
mod schema;
mod text;

use std::cell::RefCell;
use std::collections::BTreeMap;

use durable_thinking::database::Database;
use durable_thinking::database::sqlite::Sqlite;
use proptest::prelude::*;

use bench::Sole;
use model::Code;
use program::Op;
use run::Run;

/// Programs in a normal run; `PROPTEST_CASES` asks for more.
const CASES: u32 = 40;

/// Runs a program and says how often it met each answer.
fn answers<D: Database>(mut run: Run<D>, program: &[Op]) -> BTreeMap<Code, u32> {
    for op in program {
        run.op(op);
    }
    if program.len().is_multiple_of(2) {
        run.move_to_copies();
    }
    run.finish();
    run.met
}

#[test]
fn random_programs_answer_as_the_naive_model_does() {
    let config = ProptestConfig {
        max_shrink_iters: 4_000,
        ..crate::seeded::config(CASES)
    };
    let cases = config.cases;
    let programs = (
        program::settings(),
        prop::collection::vec(program::op(), 1..70),
    );
    let met = RefCell::new(BTreeMap::new());
    proptest!(config, |((settings, program) in programs)| {
        let database = || Sqlite::open_in_memory().unwrap();
        let found = answers(Run::new(database(), settings.clone()), &program);
        answers(Run::new(Sole(database()), settings), &program);
        for (code, times) in found {
            *met.borrow_mut().entry(code).or_insert(0) += times;
        }
    });
    println!("{cases} programs met {:?}", met.borrow());
}
