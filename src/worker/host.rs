//! What only the platform knows: variables, the clock, chance.

use std::cell::RefCell;

use wasm_bindgen::JsValue;
use worker::{Env, js_sys};

use crate::clock::Timestamp;
use crate::fresh::Fresh;

const SEEDS_AT_ONCE: usize = 32;

/// A variable or secret. A binding of another kind is none.
pub(crate) fn variable(env: &Env, name: &str) -> Option<String> {
    binding(env, name).as_string()
}

/// Whatever has this name; `undefined` without it.
pub(crate) fn binding(env: &Env, name: &str) -> JsValue {
    js_sys::Reflect::get(env, &name.into()).unwrap_or(JsValue::UNDEFINED)
}

/// What an object stores in, from the state that it is made with.
pub(crate) fn storage(state: &JsValue) -> JsValue {
    js_sys::Reflect::get(state, &"storage".into()).unwrap_or(JsValue::UNDEFINED)
}

/// The clock. It stands still while Wasm computes and moves with every wait.
pub(crate) fn now() -> Timestamp {
    let milliseconds = js_sys::Date::now();
    // A date of this century is far within what both types hold exactly.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    Timestamp::from_milliseconds(milliseconds as u64)
}

/// The moment and a seed, for one call.
pub(crate) fn fresh() -> Result<Fresh, JsValue> {
    Ok(Fresh::new(now(), seed()?))
}

/// Random bytes that are given out once. Asking the platform takes longer than all that a call does with them, so it is asked
/// for many seeds at a time.
fn seed() -> Result<[u8; 32], JsValue> {
    thread_local! {
        static SEEDS: RefCell<Vec<[u8; 32]>> = const { RefCell::new(Vec::new()) };
    }
    SEEDS.with_borrow_mut(|seeds| {
        if let Some(seed) = seeds.pop() {
            return Ok(seed);
        }
        let mut drawn = [[0; 32]; SEEDS_AT_ONCE];
        #[allow(clippy::disallowed_methods)] // this is the host whose chance it is
        getrandom::fill(drawn.as_flattened_mut()).map_err(|_| "no chance to be had")?;
        let [seed, rest @ ..] = drawn;
        seeds.extend(rest);
        Ok(seed)
    })
}
