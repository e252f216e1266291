//! A large page of a history, read in several bounded calls with progress reported between them.
//!
//! The page is the same as one call would give. Closing the stream drops the work between two calls, so that nobody
//! reads on for a client that has left.

use crate::fresh::Fresh;
use crate::mcp::{Context, ToolHost};
use crate::page::{Budget, CHARACTERS_DEFAULT, Page, Query, View};
use crate::refusal::{Code, Refusal};
use crate::tools::{Call, Outcome};

/// Thoughts that one call reads at most.
const PIECE_THOUGHTS: u32 = 20;

/// Whether a query may take long enough to be worth a stream.
pub(super) fn is_long(query: &Query) -> bool {
    query.view == View::Brief
        || (query.limit > PIECE_THOUGHTS && query.characters_max > CHARACTERS_DEFAULT)
}

pub(super) async fn read<T: ToolHost>(
    host: &T,
    query: &Query,
    context: &Context<'_>,
) -> Result<Page, Refusal> {
    if query.view == View::Brief {
        context
            .progress(1, Some(2), "Reading the sequence for its brief")
            .await;
        return ask(host, query.clone(), context.fresh).await;
    }
    let mut budget = Budget::new(query);
    let mut whole: Option<Page> = None;
    loop {
        let piece = Query {
            limit: budget.thoughts().min(PIECE_THOUGHTS),
            cursor: whole
                .as_ref()
                .map_or_else(|| query.cursor.clone(), |page| page.next_cursor.clone()),
            ..query.clone()
        };
        let mut page = ask(host, piece.clone(), context.fresh).await?;
        let fitting = page
            .thoughts
            .iter()
            .take_while(|thought| budget.take(&thought.text))
            .count();
        let is_full = fitting < page.thoughts.len();
        if is_full {
            page.thoughts.truncate(fitting);
            if let Ok(limit @ 1..) = u32::try_from(fitting) {
                // Only the store can say where such a page ends.
                page.next_cursor = ask(host, Query { limit, ..piece }, context.fresh)
                    .await?
                    .next_cursor;
            } else {
                page.next_cursor = piece.cursor;
            }
        }
        let is_last = is_full || page.next_cursor.is_none() || budget.thoughts() == 0;
        let page = match whole.take() {
            None => page,
            Some(mut first) => {
                first.thoughts.append(&mut page.thoughts);
                first.next_cursor = page.next_cursor;
                first
            }
        };
        if is_last {
            return Ok(page);
        }
        let read = u32::try_from(page.thoughts.len()).unwrap_or(u32::MAX);
        let total = page.sequence.thoughts.min(query.limit);
        let text = format!("Read {read} of {total} thoughts");
        context.progress(read, Some(total), &text).await;
        whole = Some(page);
    }
}

async fn ask<T: ToolHost>(host: &T, query: Query, fresh: &Fresh) -> Result<Page, Refusal> {
    match host.call(&Call::History(Box::new(query)), fresh).await? {
        Outcome::History(page) => Ok(*page),
        _ => Err(Refusal::new(
            Code::Unavailable,
            "the store answered another question than the one asked. Repeat the call in a moment",
        )),
    }
}
