//! A cap on what one element of a document may take, so that a hostile file cannot fill the memory.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

/// The bytes of one thought, or of the sequence with all its branches, each far below this.
const ELEMENT_BYTES_MAX: usize = 1024 * 1024;

/// What is left for the element under way.
#[derive(Clone, Debug)]
pub(super) struct Budget(Rc<Cell<usize>>);

impl Default for Budget {
    fn default() -> Self {
        Self(Rc::new(Cell::new(ELEMENT_BYTES_MAX)))
    }
}

impl Budget {
    pub(super) fn renew(&self) {
        self.0.set(ELEMENT_BYTES_MAX);
    }
}

pub(super) struct Metered<R> {
    input: R,
    budget: Budget,
}

impl<R> Metered<R> {
    pub(super) fn new(input: R, budget: Budget) -> Self {
        Self { input, budget }
    }
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        match self.budget.0.get().checked_sub(read) {
            Some(left) => self.budget.0.set(left),
            None => {
                return Err(io::Error::other(format!(
                    "more than {ELEMENT_BYTES_MAX} bytes without a thought"
                )));
            }
        }
        Ok(read)
    }
}
