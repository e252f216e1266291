//! Work that waits, driven by `entry.mjs`.
//!
//! Wasm hands out no promise and has no queue of its own. Each step is one call that returns: the promise of the platform that
//! the work waits for, or what it came to. So a trap is thrown to whoever took the step, and nothing is left that never settles.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use js_sys::Promise;
use wasm_bindgen::prelude::*;

type Outcome = Result<JsValue, JsValue>;

thread_local! {
    /// What the promise came to that the step before returned.
    static SETTLED: Cell<Option<Outcome>> = const { Cell::new(None) };
    /// The promise that this step returns.
    static AWAITED: Cell<Option<Promise>> = const { Cell::new(None) };
}

#[wasm_bindgen]
pub struct Work(RefCell<Option<Pin<Box<dyn Future<Output = Outcome>>>>>);

impl Work {
    pub(super) fn new(future: impl Future<Output = Outcome> + 'static) -> Self {
        Self(RefCell::new(Some(Box::pin(future))))
    }
}

#[wasm_bindgen]
impl Work {
    /// Goes on, at first without arguments and then with what the returned promise came to. A failure of the work is returned
    /// as an `Error`, so that whatever is thrown is none: it came in the middle of a step.
    pub fn step(&self, value: JsValue, is_rejected: Option<bool>) -> JsValue {
        SETTLED.set(is_rejected.map(|is_rejected| match is_rejected {
            true => Err(value),
            false => Ok(value),
        }));
        let mut future = self.0.borrow_mut();
        let polled = future.as_mut().map(|future| {
            let mut context = Context::from_waker(Waker::noop());
            future.as_mut().poll(&mut context)
        });
        let (_, awaited) = (SETTLED.take(), AWAITED.take());
        let outcome = match (polled, awaited) {
            (Some(Poll::Pending), Some(promise)) => return promise.into(),
            (Some(Poll::Ready(outcome)), _) => outcome,
            (Some(Poll::Pending), None) => Err("the work waits for nothing".into()),
            (None, _) => Err("the work is over".into()),
        };
        *future = None;
        outcome.unwrap_or_else(|error| match error.has_type::<js_sys::Error>() {
            true => error,
            false => js_sys::Error::new(&error.as_string().unwrap_or_default()).into(),
        })
    }
}

/// What a promise comes to. One work waits for one promise at a time.
pub(super) async fn settled(promise: Promise) -> Outcome {
    poll_fn(|_| {
        let outcome = SETTLED.take();
        if outcome.is_none() {
            AWAITED.set(Some(promise.clone()));
        }
        outcome.map_or(Poll::Pending, Poll::Ready)
    })
    .await
}
