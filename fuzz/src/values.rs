//! Values that only this server can have made: cursors, and what stands sealed in the database.

use std::hash::{DefaultHasher, Hash, Hasher};

use durable_thinking::clock::Timestamp;
use durable_thinking::fresh::Fresh;
use durable_thinking::page::{CHARACTERS_DEFAULT, Cursor, LIMIT_DEFAULT, Order, Query, View};
use durable_thinking::seal::{Field, Keys};
use durable_thinking::sequence_id::SequenceId;

fn query(view: View) -> Query {
    Query {
        sequence_id: SequenceId::new([1; 16]),
        view,
        order: Order::Asc,
        branch: None,
        limit: LIMIT_DEFAULT,
        characters_max: CHARACTERS_DEFAULT,
        cursor: None,
    }
}

/// 16 bytes that depend on all of `data`.
fn mixed(data: &[u8]) -> [u8; 16] {
    let mut hasher = DefaultHasher::new();
    data.hash(&mut hasher);
    u128::from(hasher.finish()).to_be_bytes()
}

/// A text as a cursor: it is refused, or it is one that this server would write. Made from numbers, a cursor serves its own
/// query and no other.
pub fn cursor(data: &[u8]) {
    let keys = Keys::derive(&SequenceId::new([1; 16]));
    let own = query(View::All);
    if let Ok(text) = std::str::from_utf8(data)
        && let Ok(read) = Cursor::parse(text, &keys, &own)
    {
        assert_eq!(read.render(&keys, &own), text.trim());
    }
    let Some((last, rest)) = data.split_first_chunk::<4>() else {
        return;
    };
    let Some((newest, damage)) = rest.split_first_chunk::<4>() else {
        return;
    };
    let cursor = Cursor {
        last: u32::from_be_bytes(*last),
        newest: u32::from_be_bytes(*newest),
    };
    // With other keys for every input: what the fuzzer has seen of one cursor would let it write another.
    let keys = Keys::derive(&SequenceId::new(mixed(data)));
    let text = cursor.render(&keys, &own);
    assert_eq!(Cursor::parse(&text, &keys, &own), Ok(cursor));
    assert!(Cursor::parse(&text, &keys, &query(View::Active)).is_err());
    let mut damaged = text.clone().into_bytes();
    for (byte, flip) in damaged.iter_mut().zip(damage) {
        *byte ^= flip;
    }
    if let Ok(damaged) = String::from_utf8(damaged)
        && damaged.trim() != text
    {
        assert!(Cursor::parse(&damaged, &keys, &own).is_err(), "{damaged}");
    }
}

/// Bytes as a sealed value: nothing opens that was not sealed here. Sealed, a text opens whole, in its place, undamaged.
pub fn sealed(data: &[u8]) {
    let keys = Keys::derive(&SequenceId::new([1; 16]));
    assert!(keys.open(Field::Title, data).is_err());
    let Some((at, text)) = data.split_first() else {
        return;
    };
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    let fresh = Fresh::new(Timestamp::from_milliseconds(0), [*at; 32]);
    let mut sealed = keys.seal(Field::Thought(7), text, &fresh);
    assert_eq!(keys.open(Field::Thought(7), &sealed).as_deref(), Ok(text));
    for other in [
        Field::Thought(8),
        Field::Title,
        Field::Branch(7),
        Field::Origin,
    ] {
        assert!(keys.open(other, &sealed).is_err());
    }
    let place = usize::from(*at) % sealed.len();
    sealed[place] ^= 1 << (*at % 8);
    assert!(keys.open(Field::Thought(7), &sealed).is_err());
    sealed.truncate(place);
    assert!(keys.open(Field::Thought(7), &sealed).is_err());
}
