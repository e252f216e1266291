//! The wire format between the Worker and its objects, and of what comes back to the program from a cache or a cookie.
//!
//! It is postcard, the version before it in one byte. Fields have no names there, so any change of a type that crosses makes
//! another [`VERSION`]; a test holds the two together. While a new program is being deployed, a Worker may meet an object
//! that still runs the old one: each refuses the other's version, and a repeat a moment later meets the new one.

use serde::{Deserialize, Serialize};

pub const VERSION: u8 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("the message is of another version of the program")]
    Version,
    #[error("the message is damaged")]
    Damaged,
}

pub fn write(value: &impl Serialize) -> Result<Vec<u8>, Error> {
    postcard::to_extend(value, vec![VERSION]).map_err(|_| Error::Damaged)
}

/// Reads a whole message: nothing may follow it.
pub fn read<'a, T: Deserialize<'a>>(message: &'a [u8]) -> Result<T, Error> {
    let (version, body) = message.split_first().ok_or(Error::Damaged)?;
    if *version != VERSION {
        return Err(Error::Version);
    }
    match postcard::take_from_bytes(body) {
        Ok((value, [])) => Ok(value),
        _ => Err(Error::Damaged),
    }
}

/// Bytes of a fixed length as one piece, for `#[serde(with = "wire::bytes")]`: an array would cross item by item.
pub(crate) mod bytes {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<const N: usize, S: Serializer>(
        bytes: &[u8; N],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytes)
    }

    pub(crate) fn deserialize<'de, const N: usize, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<[u8; N], D::Error> {
        let bytes = <&[u8]>::deserialize(deserializer)?;
        bytes
            .try_into()
            .map_err(|_| serde::de::Error::custom("not bytes of this length"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, VERSION, read, write};

    #[test]
    fn a_message_is_read_whole_or_not_at_all() {
        let message = write(&("text", 7_u32)).unwrap();
        assert_eq!(read::<(String, u32)>(&message), Ok(("text".to_owned(), 7)));
        let mut longer = message.clone();
        longer.push(0);
        let mut other = message.clone();
        other[0] = VERSION + 1;
        let shorter = &message[..message.len() - 1];
        for (message, error) in [
            (&longer[..], Error::Damaged),
            (shorter, Error::Damaged),
            (&[], Error::Damaged),
            (&other, Error::Version),
        ] {
            assert_eq!(read::<(String, u32)>(message), Err(error), "{message:?}");
        }
    }
}
