//! Writing a whole process out, page by page: which page comes next, and what can be written when it has come.
//!
//! Memory holds one page, whatever the length of the process. Asking for the pages is left to whoever can.

use crate::page::{Order, Page, Query, Sequence, Thought, View};
use crate::sequence_id::SequenceId;
use crate::thought::BranchName;
use crate::view::document::Document;
use crate::view::markdown::Markdown;
use crate::view::mermaid::Mermaid;

/// Thoughts on one page of an export. The bytes of a page are limited beside that.
const PAGE_THOUGHTS: u32 = 500;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(target_family = "wasm"), derive(clap::ValueEnum))]
pub enum Format {
    Markdown,
    Mermaid,
    Json,
}

impl Format {
    pub const ALL: [Self; 3] = [Self::Markdown, Self::Mermaid, Self::Json];

    pub fn name(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Mermaid => "mermaid",
            Self::Json => "json",
        }
    }

    pub fn media_type(self) -> &'static str {
        match self {
            Self::Markdown => "text/markdown; charset=utf-8",
            Self::Mermaid => "text/vnd.mermaid; charset=utf-8",
            Self::Json => "application/json",
        }
    }

    /// A name that says nothing of what was thought, and holds no id.
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Markdown => "thinking-process.md",
            Self::Mermaid => "thinking-process.mmd",
            Self::Json => "thinking-process.json",
        }
    }
}

/// What makes a text of a process.
pub(crate) trait Render {
    /// Before the first thought of the first pass.
    fn begin(&mut self, sequence: &Sequence, out: &mut String);

    fn thought(&mut self, thought: &Thought, out: &mut String);

    /// A pass over the thoughts has ended. The branch to pass over next; none when the text is complete.
    fn turn(&mut self, out: &mut String) -> Option<BranchName>;
}

/// An export under way.
pub struct Export {
    next: Option<Query>,
    /// The newest thought when the export began: what is written meanwhile stays out.
    newest: Option<u32>,
    render: Box<dyn Render>,
}

impl std::fmt::Debug for Export {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Export")
    }
}

impl Export {
    pub fn new(sequence_id: SequenceId, format: Format) -> Self {
        Self {
            next: Some(Query {
                sequence_id,
                view: View::All,
                order: Order::Asc,
                branch: None,
                limit: PAGE_THOUGHTS,
                characters_max: u32::MAX,
                cursor: None,
            }),
            newest: None,
            render: match format {
                Format::Markdown => Box::new(Markdown::default()),
                Format::Mermaid => Box::new(Mermaid::default()),
                Format::Json => Box::new(Document::default()),
            },
        }
    }

    /// The page to read next; none when everything is written.
    pub fn next(&self) -> Option<&Query> {
        self.next.as_ref()
    }

    /// Takes the page that [`Export::next`] asked for, and gives what can be written now, which may be nothing.
    pub fn take(&mut self, page: &Page) -> String {
        let mut out = String::new();
        let newest = *self.newest.get_or_insert_with(|| {
            self.render.begin(&page.sequence, &mut out);
            page.sequence.thoughts
        });
        for thought in page.thoughts.iter().filter(|it| it.ordinal <= newest) {
            self.render.thought(thought, &mut out);
        }
        let is_over = page.thoughts.last().is_none_or(|it| it.ordinal >= newest);
        let Some(mut query) = self.next.take() else {
            return out;
        };
        query.cursor.clone_from(&page.next_cursor);
        if is_over || query.cursor.is_none() {
            query.cursor = None;
            query.branch = self.render.turn(&mut out);
            if query.branch.is_none() {
                return out;
            }
        }
        self.next = Some(query);
        out
    }
}
