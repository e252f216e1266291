//! The arguments of the tools as types. The input schemas are generated from these, and each is held to what the parser makes
//! of it: a [`Draft`], a [`Query`] or a [`Delete`] is written out here with every field it has, so a new one does not compile
//! until it is said which argument it comes from.

use durable_thinking::clock::Timestamp;
use durable_thinking::fresh::Fresh;
use durable_thinking::page::{
    self, CHARACTERS_DEFAULT, CHARACTERS_MAX, LIMIT_DEFAULT, LIMIT_MAX, Query,
};
use durable_thinking::sequence_id::SequenceId;
use durable_thinking::settings::{Settings, THOUGHT_CHARACTERS_MAX};
use durable_thinking::thought::{BRANCH_NAME_CHARACTERS_MAX, BranchName, Draft, NUMBER_MAX};
use durable_thinking::tools::{Call, Delete, find, parse};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

#[derive(Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SequentialThinking {
    /// One key conclusion with its reason
    #[schemars(length(min = 1, max = THOUGHT_CHARACTERS_MAX))]
    thought: String,
    /// false with the last step
    next_thought_needed: bool,
    /// Number of this step
    #[schemars(range(min = 1, max = NUMBER_MAX))]
    thought_number: u32,
    /// Estimate; may change
    #[schemars(range(min = 1, max = NUMBER_MAX))]
    total_thoughts: u32,
    /// From the first result; left out only on the first step
    sequence_id: Option<String>,
    /// Corrects an earlier step
    is_revision: Option<bool>,
    /// The step to correct
    #[schemars(range(min = 1, max = NUMBER_MAX))]
    revises_thought: Option<u32>,
    /// With a revision: sets that step and all later ones aside
    rewind: Option<bool>,
    /// Begins a branch after this step; needs branchId
    #[schemars(range(min = 1, max = NUMBER_MAX))]
    branch_from_thought: Option<u32>,
    /// Default: main
    #[schemars(length(max = BRANCH_NAME_CHARACTERS_MAX))]
    branch_id: Option<String>,
    /// Branch of branchFromThought; default: main
    #[schemars(length(max = BRANCH_NAME_CHARACTERS_MAX))]
    branch_from_branch_id: Option<String>,
    /// The estimate was too low
    needs_more_thoughts: Option<bool>,
    /// Sums up the branch up to that step
    #[schemars(range(min = 1, max = NUMBER_MAX))]
    summarizes_through: Option<u32>,
}

#[derive(Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GetThoughtHistory {
    /// Id of the sequence
    sequence_id: String,
    /// Default: all
    view: Option<View>,
    /// Only this branch
    #[schemars(length(max = BRANCH_NAME_CHARACTERS_MAX))]
    branch_id: Option<String>,
    /// Default: asc, oldest first
    order: Option<Order>,
    /// Thoughts on a page; default: 50
    #[schemars(range(min = 1, max = LIMIT_MAX))]
    limit: Option<u32>,
    /// Characters on a page; default: 30000
    #[schemars(range(min = 1, max = CHARACTERS_MAX))]
    max_characters: Option<u32>,
    /// nextCursor of the page before
    cursor: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum View {
    All,
    Active,
    BranchPath,
    Brief,
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Order {
    Asc,
    Desc,
}

#[derive(Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeleteThoughtSequence {
    /// Id of the sequence
    sequence_id: String,
    /// Must be true
    confirm: bool,
}

impl From<page::View> for View {
    fn from(view: page::View) -> Self {
        match view {
            page::View::All => Self::All,
            page::View::Active => Self::Active,
            page::View::BranchPath => Self::BranchPath,
            page::View::Brief => Self::Brief,
        }
    }
}

impl From<page::Order> for Order {
    fn from(order: page::Order) -> Self {
        match order {
            page::Order::Asc => Self::Asc,
            page::Order::Desc => Self::Desc,
        }
    }
}

fn fresh() -> Fresh {
    Fresh::new(Timestamp::from_milliseconds(0), [7; 32])
}

fn id() -> String {
    SequenceId::new([5; 16]).to_string()
}

fn parsed(tool: &str, arguments: &impl Serialize) -> Call {
    let arguments = members(arguments);
    parse(
        find(tool).unwrap(),
        &arguments,
        &Settings::default(),
        &fresh(),
    )
    .unwrap()
}

fn members(value: &impl Serialize) -> Map<String, Value> {
    let value = serde_json::to_value(value).unwrap();
    value.as_object().cloned().unwrap()
}

/// Each argument of `all` that `least` leaves out says something of its own.
#[track_caller]
fn check_each_is_read(tool: &str, all: &impl Serialize, least: &impl Serialize) {
    let (all, least) = (members(all), members(least));
    let read = |arguments: &Map<String, Value>| {
        parse(
            find(tool).unwrap(),
            arguments,
            &Settings::default(),
            &fresh(),
        )
    };
    for (name, value) in least.iter().filter(|(_, value)| value.is_null()) {
        let mut without = all.clone();
        without[name] = Value::Null;
        assert!(!all[name].is_null(), "{name}");
        assert_ne!(read(&without), read(&all), "{tool}: {name} {value}");
    }
}

#[test]
fn a_thought_is_read_argument_by_argument() {
    let least = SequentialThinking {
        thought: "a".to_owned(),
        next_thought_needed: true,
        thought_number: 3,
        total_thoughts: 9,
        sequence_id: None,
        is_revision: None,
        revises_thought: None,
        rewind: None,
        branch_from_thought: None,
        branch_id: None,
        branch_from_branch_id: None,
        needs_more_thoughts: None,
        summarizes_through: None,
    };
    let all = SequentialThinking {
        sequence_id: Some(id()),
        is_revision: Some(true),
        revises_thought: Some(2),
        rewind: Some(true),
        branch_from_thought: Some(4),
        branch_id: Some("b".to_owned()),
        branch_from_branch_id: Some("c".to_owned()),
        needs_more_thoughts: Some(true),
        summarizes_through: Some(1),
        ..least.clone()
    };
    for arguments in [&least, &all] {
        let fresh = fresh();
        let minted = SequenceId::new(fresh.draw());
        let given = arguments.sequence_id.as_deref();
        let name = |name: &Option<String>| name.as_deref().map(|it| BranchName::parse(it).unwrap());
        let draft = Draft {
            sequence_id: given.map_or(minted, |id| SequenceId::parse(id).unwrap()),
            is_first: given.is_none(),
            // Drawn after the id, where there is one to draw.
            call_id: if given.is_none() {
                fresh.draw()
            } else {
                self::fresh().draw()
            },
            text: arguments.thought.clone(),
            number: arguments.thought_number,
            total: arguments.total_thoughts,
            next_thought_needed: arguments.next_thought_needed,
            needs_more_thoughts: arguments.needs_more_thoughts.unwrap_or(false),
            branch: name(&arguments.branch_id).unwrap_or_else(BranchName::main),
            branch_from_thought: arguments.branch_from_thought,
            branch_from_branch: name(&arguments.branch_from_branch_id),
            revises_thought: arguments.revises_thought,
            rewind: arguments.rewind.unwrap_or(false),
            summarizes_through: arguments.summarizes_through,
        };
        let expected = Call::Append(Box::new(draft));
        assert_eq!(parsed("sequentialthinking", arguments), expected);
    }
    check_each_is_read("sequentialthinking", &all, &least);
}

#[test]
fn a_page_is_read_argument_by_argument() {
    let least = GetThoughtHistory {
        sequence_id: id(),
        view: None,
        branch_id: None,
        order: None,
        limit: None,
        max_characters: None,
        cursor: None,
    };
    let mut asked = vec![least.clone()];
    for view in [View::All, View::Active, View::BranchPath, View::Brief] {
        for order in [Order::Asc, Order::Desc] {
            asked.push(GetThoughtHistory {
                sequence_id: id(),
                view: Some(view),
                branch_id: Some("b".to_owned()),
                order: Some(order),
                limit: Some(7),
                max_characters: Some(8),
                cursor: Some("c".to_owned()),
            });
        }
    }
    for arguments in &asked {
        let Call::History(query) = parsed("get_thought_history", arguments) else {
            panic!("another call");
        };
        let Query {
            sequence_id,
            view,
            order,
            branch,
            limit,
            characters_max,
            cursor,
        } = *query;
        assert_eq!(sequence_id.to_string(), arguments.sequence_id);
        assert_eq!(View::from(view), arguments.view.unwrap_or(View::All));
        assert_eq!(Order::from(order), arguments.order.unwrap_or(Order::Asc));
        assert_eq!(branch.map(String::from), arguments.branch_id);
        assert_eq!(limit, arguments.limit.unwrap_or(LIMIT_DEFAULT));
        let default = arguments.max_characters.unwrap_or(CHARACTERS_DEFAULT);
        assert_eq!(characters_max, default);
        assert_eq!(cursor, arguments.cursor);
    }
    let all = asked.last().unwrap();
    check_each_is_read("get_thought_history", all, &least);
    // The defaults are told in words only.
    let told = serde_json::to_string(&schemars::schema_for!(GetThoughtHistory)).unwrap();
    for number in [LIMIT_DEFAULT, CHARACTERS_DEFAULT] {
        assert!(
            told.contains(&format!("default: {number}\"")),
            "{number}: {told}"
        );
    }
}

#[test]
fn a_deletion_is_read_argument_by_argument() {
    let arguments = DeleteThoughtSequence {
        sequence_id: id(),
        confirm: true,
    };
    let sequence_id = SequenceId::parse(&id()).unwrap();
    let expected = Call::Delete(Delete { sequence_id });
    assert_eq!(parsed("delete_thought_sequence", &arguments), expected);
    let unsure = members(&DeleteThoughtSequence {
        confirm: false,
        ..arguments
    });
    let tool = find("delete_thought_sequence").unwrap();
    assert!(parse(tool, &unsure, &Settings::default(), &fresh()).is_err());
}
