//! Random programs of calls. References are said relative to what exists, so that a program still means something
//! after its shrinking.

use durable_thinking::settings::{LoopGuard, Settings};
use proptest::prelude::*;

pub const NAMES: [&str; 6] = ["main", "b", "constructor", "__proto__", "方案 B", "b "];
pub const SLOTS: usize = 3;

/// A number as a model would come to it.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// One more than the newest of the branch.
    Next,
    Any(u32),
    /// That of a thought that exists.
    Known(u8),
}

#[derive(Clone, Debug)]
pub struct Step {
    pub slot: usize,
    pub branch: u8,
    pub number: Number,
    pub total: u32,
    pub next: bool,
    pub more: bool,
    pub same_text: bool,
    pub fork: Option<(Number, Option<u8>)>,
    pub revises: Option<(Number, bool)>,
    pub summarizes: Option<Number>,
}

#[derive(Clone, Debug)]
pub enum Op {
    Think(Step),
    /// Plain thoughts, one after the other.
    Burst(usize, u8, u8),
    /// The Worker sends an earlier call again.
    Resend(u8),
    /// A client says again what it said before, or said longer ago.
    Repeat(u8),
    Delete(usize),
    /// Nobody remembers the id any more; the next thought begins anew.
    Forget(usize),
    Read(usize, Reading),
}

#[derive(Clone, Debug)]
pub struct Reading {
    pub view: &'static str,
    pub order: &'static str,
    pub branch: Option<u8>,
    pub limit: u32,
    pub characters: u32,
}

fn number() -> impl Strategy<Value = Number> {
    prop_oneof![
        4 => Just(Number::Next),
        2 => (1..9_u32).prop_map(Number::Any),
        4 => any::<u8>().prop_map(Number::Known),
    ]
}

fn known() -> impl Strategy<Value = Number> {
    prop_oneof![1 => (1..12_u32).prop_map(Number::Any), 5 => any::<u8>().prop_map(Number::Known)]
}

fn slot() -> impl Strategy<Value = usize> {
    prop_oneof![6 => Just(0), 2 => Just(1), 1 => Just(2)]
}

fn branch() -> impl Strategy<Value = u8> {
    prop_oneof![5 => Just(0), 5 => 1..6_u8]
}

prop_compose! {
    fn step()(
        slot in slot(),
        branch in branch(),
        number in number(),
        total in 1..20_u32,
        next in prop::bool::weighted(0.85),
        more in prop::bool::weighted(0.1),
        same_text in prop::bool::weighted(0.1),
        fork in prop::option::weighted(0.5, (known(), prop::option::weighted(0.5, 0..6_u8))),
        revises in prop::option::weighted(0.35, (known(), prop::bool::weighted(0.4))),
        summarizes in prop::option::weighted(0.1, known()),
    ) -> Step {
        // On `main` a fork is refused before the store; a few of those are enough.
        let fork = if branch == 0 && total % 8 != 0 { None } else { fork };
        Step { slot, branch, number, total, next, more, same_text, fork, revises, summarizes }
    }
}

prop_compose! {
    fn reading()(
        view in prop::sample::select(vec!["all", "active", "branch_path"]),
        order in prop::sample::select(vec!["asc", "desc"]),
        branch in prop::option::weighted(0.6, 0..6_u8),
        limit in 1..30_u32,
        characters in prop_oneof![3 => Just(250_000_u32), 1 => 1..400_u32],
    ) -> Reading {
        Reading { view, order, branch, limit, characters }
    }
}

pub fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        24 => step().prop_map(Op::Think),
        1 => (slot(), branch(), 5..56_u8).prop_map(|(slot, branch, count)| Op::Burst(slot, branch, count)),
        2 => any::<u8>().prop_map(Op::Resend),
        2 => any::<u8>().prop_map(Op::Repeat),
        1 => slot().prop_map(Op::Delete),
        1 => slot().prop_map(Op::Forget),
        2 => (slot(), reading()).prop_map(|(slot, reading)| Op::Read(slot, reading)),
    ]
}

prop_compose! {
    pub fn settings()(
        loop_guard in prop::sample::select(vec![LoopGuard::Off, LoopGuard::Advise, LoopGuard::Enforce]),
        loop_guard_at in 1..15_u32,
        max_revisions in prop_oneof![Just(0), 1..6_u32],
    ) -> Settings {
        Settings { loop_guard, loop_guard_at, max_revisions, ..Settings::default() }
    }
}
