//! How messages reach the server: over HTTP and over standard input and output.
//!
//! A host reads the bytes, hands over one `http::Request<Vec<u8>>` with an absolute URI, and writes the
//! `http::Response<Body>` that comes back. It owns no decision.
//!
//! # What an HTTP host does
//! 1. It reads at most [`BODY_BYTES_MAX`] + 1 bytes of the body and hands over what it has; the router answers 413. It waits
//!    for them within bounds, and marks the request with [`Late`] when they have not come; the router answers 408.
//! 2. It makes one [`crate::fresh::Fresh`] for the request and one `Rc<Site>`, and awaits `http::route`.
//! 3. [`Body::Full`] it writes as it stands. [`Body::Stream`] it pulls, one [`Stream::next`] after another, and writes
//!    each chunk at once; `None` ends the response, and [`Broken`] breaks the transfer off. Between two pulls nothing runs:
//!    each pull makes at most a few bounded calls to the object. When the client leaves, the host drops the stream, and
//!    that stops the work.
//! 4. While a pull of an event stream takes long the host writes comments, so that no proxy takes the stream for dead.
//!    In the Worker the JavaScript entry owns the stream: it pulls, writes heartbeats, and ends the response when Wasm traps.
//! 5. What the router learned for the log comes beside the response, as [`Access`]. Of a stream the outcome is
//!    known when it has ended: [`Stream::outcome`]. One that is dropped before its end has been left by its client.

pub mod compat;
mod exchange;
pub(crate) mod headers;
mod health;
pub mod http;
mod purge;
mod root;
mod sse;
pub mod status;
#[cfg(not(target_family = "wasm"))]
pub mod stdio;
mod streamable;

use std::future::Future;
use std::pin::Pin;

/// The largest body of an MCP message: 256 KiB. A thought has at most 20,000 characters (80 KB), escaped at worst 120 KB.
pub const BODY_BYTES_MAX: usize = 256 * 1024;

/// An extension of a request whose body did not come in time.
#[derive(Clone, Copy, Debug)]
pub struct Late;

/// The body of an HTTP response.
#[derive(Debug)]
pub enum Body {
    Full(Vec<u8>),
    Stream(Stream),
}

/// A response that is made while it is sent.
pub struct Stream(Box<dyn Chunks>);

/// The response cannot be completed. Its status is long sent, so a transfer that ends early is all that can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken;

/// The next chunk of a response, ready to be written; none when it is complete.
pub type Chunk = Result<Option<Vec<u8>>, Broken>;

/// What a [`Stream`] pulls from.
pub trait Chunks {
    fn next(&mut self) -> Pin<Box<dyn Future<Output = Chunk> + '_>>;

    /// What the work came to, once there is no next chunk.
    fn outcome(&self) -> Option<&'static str>;
}

impl Stream {
    pub fn new(chunks: impl Chunks + 'static) -> Self {
        Self(Box::new(chunks))
    }

    pub async fn next(&mut self) -> Chunk {
        self.0.next().await
    }

    pub fn outcome(&self) -> Option<&'static str> {
        self.0.outcome()
    }
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Stream")
    }
}

/// What a log line may know of a request: fixed words and numbers, never a value that a client sent.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// The route's pattern, such as `/mcp`.
    pub route: &'static str,
    /// The kind of the credential that was accepted.
    pub credential: Option<&'static str>,
    /// The method of the protocol, if it is one of ours.
    pub method: Option<&'static str>,
    /// The tool, if it is one of ours.
    pub tool: Option<&'static str>,
    /// The outcome as a fixed word, such as `ok` or an error's code.
    pub outcome: Option<&'static str>,
}
