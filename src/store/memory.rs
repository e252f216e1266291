//! What a store remembers between calls, for as long as its instance lives.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use crate::store::row::{SequenceRow, Step};

/// Sequences that are remembered: as many as are thought on at once, and more.
const SEQUENCES_MAX: usize = 128;
/// Repeated calls that are remembered. A deploy or a fault makes a few of them at a time.
const REPEATS_MAX: usize = 64;

#[derive(Default)]
pub(super) struct Memory {
    /// The newest first.
    sequences: RefCell<VecDeque<Remembered>>,
    repeats: RefCell<VecDeque<[u8; 16]>>,
}

struct Remembered {
    lookup: Vec<u8>,
    row: Rc<SequenceRow>,
    newest: Step,
}

impl Memory {
    /// A sequence with its newest thought.
    pub(super) fn find(&self, lookup: &[u8]) -> Option<(Rc<SequenceRow>, Step)> {
        let sequences = self.sequences.borrow();
        let known = sequences.iter().find(|known| known.lookup == lookup)?;
        Some((Rc::clone(&known.row), known.newest.clone()))
    }

    pub(super) fn keep(&self, lookup: &[u8], row: Rc<SequenceRow>, newest: Step) {
        let mut sequences = self.sequences.borrow_mut();
        let known = sequences.iter().position(|known| known.lookup == lookup);
        let remembered = match known.and_then(|index| sequences.remove(index)) {
            Some(known) => Remembered {
                row,
                newest,
                ..known
            },
            None => Remembered {
                lookup: lookup.to_owned(),
                row,
                newest,
            },
        };
        sequences.truncate(SEQUENCES_MAX.saturating_sub(1));
        sequences.push_front(remembered);
    }

    pub(super) fn forget_sequences(&self) {
        self.sequences.borrow_mut().clear();
    }

    /// Notes that a call is asked again. Whichever of the two comes first, the other one finds what it wrote.
    pub(super) fn note_repeat(&self, call_id: [u8; 16]) {
        let mut repeats = self.repeats.borrow_mut();
        repeats.truncate(REPEATS_MAX.saturating_sub(1));
        repeats.push_front(call_id);
    }

    pub(super) fn is_repeat(&self, call_id: &[u8; 16]) -> bool {
        self.repeats.borrow().contains(call_id)
    }
}
