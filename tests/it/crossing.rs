//! What crosses between the Worker and its objects, byte by byte.
//!
//! When one of these changes, `wire::VERSION` has to grow: a Worker and an object of two deploys must not misread each other.

#![allow(clippy::needless_raw_string_hashes)] // as `UPDATE_EXPECT=1` writes them
#![allow(clippy::too_many_lines)] // a list of every message

use durable_thinking::brief::{Brief, Lane, RuledOut, Step, Summary};
use durable_thinking::clock::Timestamp;
use durable_thinking::oauth::allowlist::{Allowlist, Gate};
use durable_thinking::oauth::audience::Audience;
use durable_thinking::oauth::vault::message::{
    Answer, Ask, Bytes, Completion, Identity, Reason, Record, Walked,
};
use durable_thinking::page::{BranchSummary, Order, Page, Query, Sequence, Thought, View};
use durable_thinking::refusal::{Code, Refusal};
use durable_thinking::sequence_id::SequenceId;
use durable_thinking::store::import::{Claim, Entry, Import, Imported};
use durable_thinking::thought::{Appended, Branch, BranchName, Draft, Place, Warning, WarningCode};
use durable_thinking::tools::{Call, Delete, Deleted, Outcome};
use durable_thinking::wire;
use expect_test::{Expect, expect};
use serde::Serialize;

fn bytes(message: &impl Serialize) -> String {
    use std::fmt::Write;
    let mut text = String::new();
    for byte in wire::write(message).unwrap() {
        if byte.is_ascii_graphic() {
            text.push(char::from(byte));
        } else {
            write!(text, "·{byte:x}·").unwrap();
        }
    }
    text.replace("··", "·") + "\n"
}

#[track_caller]
fn check(messages: impl IntoIterator<Item = String>, expected: &Expect) {
    expected.assert_eq(&messages.into_iter().collect::<String>());
}

fn id() -> SequenceId {
    SequenceId::new([0; 16])
}

fn name(text: &str) -> BranchName {
    BranchName::parse(text).unwrap()
}

fn place() -> Place {
    Place {
        branch: name("b"),
        ordinal: 1,
        number: 2,
    }
}

#[test]
fn calls_are_pinned() {
    let draft = Draft {
        sequence_id: id(),
        is_first: true,
        call_id: [1; 16],
        text: "t".to_owned(),
        number: 2,
        total: 3,
        next_thought_needed: true,
        needs_more_thoughts: false,
        branch: name("b"),
        branch_from_thought: Some(4),
        branch_from_branch: Some(name("c")),
        revises_thought: None,
        rewind: true,
        summarizes_through: Some(5),
    };
    let query = Query {
        sequence_id: id(),
        view: View::BranchPath,
        order: Order::Desc,
        branch: Some(name("b")),
        limit: 50,
        characters_max: 300,
        cursor: Some("c".to_owned()),
    };
    let entry = Entry {
        place: "/".to_owned(),
        written_at: Timestamp::from_milliseconds(1),
        text: "t".to_owned(),
        number: 2,
        total: 3,
        next_thought_needed: true,
        needs_more_thoughts: true,
        branch: name("b"),
        fork: Some(Claim {
            number: 4,
            branch: Some(name("c")),
            ordinal: Some(5),
        }),
        revises: None,
        rewind: false,
        summarizes_through: None,
    };
    let import = Import {
        sequence_id: id(),
        origin: "o".to_owned(),
        entries: vec![entry],
        first: 1,
        more: true,
    };
    check(
        [
            Call::Append(Box::new(draft)),
            Call::History(Box::new(query)),
            Call::Delete(Delete { sequence_id: id() }),
            Call::Import(Box::new(import)),
            Call::Purge(Timestamp::from_milliseconds(1)),
        ]
        .iter()
        .map(bytes),
        &expect![[r#"
            ·1·0·10·0·0·0·0·0·0·0·0·0·0·0·0·0·0·0·0·1·10·1·1·1·1·1·1·1·1·1·1·1·1·1·1·1·1·1·t·2·3·1·0·1·b·1·4·1·1·c·0·1·1·5·
            ·1·1·10·0·0·0·0·0·0·0·0·0·0·0·0·0·0·0·0·2·1·1·1·b2·ac·2·1·1·c
            ·1·2·10·0·0·0·0·0·0·0·0·0·0·0·0·0·0·0·0·
            ·1·3·10·0·0·0·0·0·0·0·0·0·0·0·0·0·0·0·0·1·o·1·1·/·1·1·t·2·3·1·1·1·b·1·4·1·1·c·1·5·0·0·0·1·1·
            ·1·4·1·
        "#]],
    );
}

fn appended() -> Appended {
    Appended {
        sequence_id: id(),
        ordinal: 1,
        number: 2,
        total: 3,
        thoughts: 4,
        branch: Branch {
            name: name("b"),
            index: 1,
            fork: Some(place()),
        },
        branches: 1,
        forks: true,
        revised: Some(place()),
        superseded: Some(6),
        summarizes_through: None,
        progress_permille: 500,
        completed: false,
        next_thought_needed: true,
        ended_by_guard: false,
        warnings: WarningCode::ALL
            .into_iter()
            .map(|code| Warning {
                code,
                message: "m".to_owned(),
            })
            .collect(),
    }
}

fn page() -> Page {
    let branch = BranchSummary {
        name: name("b"),
        fork: place(),
        last_number: 2,
        completed: true,
        hanging: false,
    };
    let brief = Brief {
        goal: "g".to_owned(),
        branch: name("b"),
        is_complete: false,
        number: 1,
        total: 2,
        summary: Some(Summary {
            through: 3,
            text: "s".to_owned(),
        }),
        omitted: 4,
        path: vec![Step {
            branch: name("b"),
            number: 5,
            text: "p".to_owned(),
            revised_in: Some(6),
        }],
        ruled_out: vec![RuledOut {
            place: place(),
            text: "r".to_owned(),
            by: 7,
            because: "w".to_owned(),
            superseded: None,
        }],
        branches: vec![Lane {
            branch: branch.clone(),
            total: 8,
            last: "l".to_owned(),
        }],
        branches_omitted: 9,
    };
    Page {
        sequence: Sequence {
            sequence_id: id(),
            title: "t".to_owned(),
            completed: true,
            thoughts: 1,
            last_number: 2,
            total: 3,
            created_at: Timestamp::from_milliseconds(4),
            written_at: Timestamp::from_milliseconds(5),
            branches: Some(vec![branch]),
            origin: Some("o".to_owned()),
        },
        thoughts: vec![Thought {
            ordinal: 1,
            number: 2,
            total: 3,
            text: "t".to_owned(),
            written_at: Timestamp::from_milliseconds(6),
            branch: name("b"),
            next_thought_needed: true,
            needs_more_thoughts: false,
            revises: Some(place()),
            rewind: false,
            superseded: true,
            branch_from: None,
            summarizes_through: Some(7),
        }],
        next_cursor: Some("c".to_owned()),
        brief: Some(brief),
    }
}

#[test]
fn outcomes_are_pinned() {
    let imported = Imported {
        sequence_id: id(),
        thoughts: 1,
        branches: 2,
    };
    let outcomes: [Result<Option<Outcome>, Refusal>; 6] = [
        Ok(None),
        Ok(Some(Outcome::Appended(Box::new(appended())))),
        Ok(Some(Outcome::History(Box::new(page())))),
        Ok(Some(Outcome::Deleted(Deleted { thoughts: Some(1) }))),
        Ok(Some(Outcome::Imported(imported))),
        Err(Refusal::new(Code::Unavailable, "m")),
    ];
    check(
        outcomes.iter().map(bytes),
        &expect![[r#"
            ·1·0·0·
            ·1·0·1·0·10·0·0·0·0·0·0·0·0·0·0·0·0·0·0·0·0·1·2·3·4·1·b·1·1·1·b·1·2·1·1·1·1·b·1·2·1·6·0·f4·3·0·1·0·9·0·1·m·1·1·m·2·1·m·3·1·m·4·1·m·5·1·m·6·1·m·7·1·m·8·1·m
            ·1·0·1·1·10·0·0·0·0·0·0·0·0·0·0·0·0·0·0·0·0·1·t·1·1·2·3·4·5·1·1·1·b·1·b·1·2·2·1·0·1·1·o·1·1·2·3·1·t·6·1·b·1·0·1·1·b·1·2·0·1·0·1·7·1·1·c·1·1·g·1·b·0·1·2·1·3·1·s·4·1·1·b·5·1·p·1·6·1·1·b·1·2·1·r·7·1·w·0·1·1·b·1·b·1·2·2·1·0·8·1·l·9·
            ·1·0·1·2·1·1·
            ·1·0·1·3·10·0·0·0·0·0·0·0·0·0·0·0·0·0·0·0·0·1·2·
            ·1·1·11·1·m
        "#]],
    );
}

fn identity() -> Identity {
    Identity {
        base: "g".to_owned(),
        github_id: 1,
        login: "l".to_owned(),
    }
}

#[test]
fn questions_to_the_vault_are_pinned() {
    let gate = Gate {
        epoch: 1,
        allowed: Allowlist::parse("a,id:2").unwrap(),
        base: "g".to_owned(),
        refresh_grace_seconds: 3,
    };
    let (hash, client_id) = (Bytes([7; 32]), "c".to_owned());
    let audience = Some(Audience::ORIGIN);
    let completion = Completion {
        flow: Bytes([8; 16]),
        identity: identity(),
        by_number: true,
        client_id: client_id.clone(),
        client_name: "n".to_owned(),
        redirect_uri: "r".to_owned(),
        challenge: "s".to_owned(),
        audience: Audience::ORIGIN,
        epoch: 1,
        code: hash,
        document: Some("d".to_owned()),
    };
    let asks = [
        Ask::Keys,
        Ask::Complete(Box::new(completion)),
        Ask::FlowDone {
            flow: Bytes([8; 16]),
        },
        Ask::Redeem {
            code: hash,
            client_id: client_id.clone(),
            redirect_uri: Some("r".to_owned()),
            challenge: "s".to_owned(),
            audience,
            access: hash,
            refresh: hash,
            gate: gate.clone(),
        },
        Ask::Refresh {
            presented: hash,
            client_id: client_id.clone(),
            audience: None,
            next_refresh: hash,
            next_access: hash,
            root_key: 1,
            gate,
        },
        Ask::MintAccess {
            head: hash,
            audience,
            access: hash,
        },
        Ask::Check { access: hash },
        Ask::Revoke {
            token: hash,
            client_id: client_id.clone(),
        },
        Ask::NonceOnce {
            access_key: "k".to_owned(),
            nonce: "n".to_owned(),
            expires: 4,
        },
        Ask::Document {
            url: "u".to_owned(),
        },
        Ask::Grants,
        Ask::RevokeGrant { grant: 5 },
        Ask::RevokeAll,
        Ask::RotateKeys { forget: true },
        Ask::ClearPin {
            login: "l".to_owned(),
        },
        Ask::DenyClient {
            client_id,
            denied: true,
        },
    ];
    check(
        asks.iter().map(bytes),
        &expect![[r#"
        ·1·0·
        ·1·1·10·8·8·8·8·8·8·8·8·8·8·8·8·8·8·8·8·1·g·1·1·l·1·1·c·1·n·1·r·1·s·1·1·20·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·1·1·d
        ·1·2·10·8·8·8·8·8·8·8·8·8·8·8·8·8·8·8·8·
        ·1·3·20·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·1·c·1·1·r·1·s·1·1·20·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·20·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·1·1·1·a·1·2·1·g·3·
        ·1·4·20·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·1·c·0·20·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·20·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·1·1·1·1·a·1·2·1·g·3·
        ·1·5·20·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·1·1·20·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·
        ·1·6·20·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·
        ·1·7·20·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·1·c
        ·1·8·1·k·1·n·4·
        ·1·9·1·u
        ·1·a·
        ·1·b·a·
        ·1·c·
        ·1·d·1·
        ·1·e·1·l
        ·1·f·1·c·1·
    "#]],
    );
}

#[test]
fn answers_of_the_vault_are_pinned() {
    let hash = Bytes([7; 32]);
    let record = Record {
        grant: 1,
        audience: Audience::ORIGIN,
        issued: 2,
        expires: 3,
        epoch: 4,
        identity: identity(),
    };
    let answers = [
        Answer::Keys {
            keys: vec![(1, hash)],
        },
        Answer::Completed {
            grant: 1,
            dead: vec![hash],
        },
        Answer::AlreadyDone { age_seconds: 2 },
        Answer::NotDone,
        Answer::OtherNumber,
        Answer::Denied,
        Answer::Issued {
            expires: 3,
            audience: Audience::ORIGIN,
            record: record.clone(),
            dead: vec![],
        },
        Answer::Walk {
            root_keys: vec![1],
            head: hash,
            access: Some(Walked {
                asked: None,
                expires: 4,
            }),
        },
        Answer::InvalidGrant {
            reason: Reason::Reused,
            dead: vec![hash],
        },
        Answer::InvalidTarget,
        Answer::Live { record },
        Answer::Dead,
        Answer::Revoked { dead: vec![] },
        Answer::Fresh,
        Answer::Replayed,
        Answer::Document {
            body: Some("d".to_owned()),
        },
        Answer::Grants { grants: vec![] },
        Answer::Done { changed: true },
    ];
    check(
        answers.iter().map(bytes),
        &expect![[r#"
            ·1·0·1·1·20·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·
            ·1·1·2·1·20·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·
            ·1·2·2·
            ·1·3·
            ·1·4·
            ·1·5·
            ·1·6·3·1·2·1·2·3·4·1·g·1·1·l·0·
            ·1·7·1·1·20·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·1·0·4·
            ·1·8·a·1·20·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·7·
            ·1·9·
            ·1·a·2·1·2·3·4·1·g·1·1·l
            ·1·b·
            ·1·c·0·
            ·1·d·
            ·1·e·
            ·1·f·1·1·d
            ·1·10·0·
            ·1·11·1·
        "#]],
    );
}
