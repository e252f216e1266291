//! The native host: a store in this process, and the pipe of standard input and output.

use std::future::Future;
use std::io::{self, BufReader, Write};
use std::pin::pin;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::task::{Context, Poll, Waker};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::clock::Timestamp;
use crate::database::Database;
use crate::fresh::Fresh;
use crate::log::database_fault;
use crate::mcp::{Server, ToolHost};
use crate::refusal::Refusal;
use crate::settings::Settings;
use crate::store::{self, Store};
use crate::tools::{self, Call, Outcome};
use crate::transport::stdio::{Line, Session, read_line};

/// Lines that wait while one is being answered.
const LINES_AHEAD: usize = 16;

/// Runs tool calls on a store in the same process.
pub struct Local<D> {
    pub store: Store<D>,
    pub settings: Settings,
}

impl<D: Database> ToolHost for Local<D> {
    async fn call(&self, call: &Call, fresh: &Fresh) -> Result<Outcome, Refusal> {
        tools::run(call, &self.store, &self.settings, fresh).map_err(|error| match error {
            store::Error::Refused(refusal) => refusal,
            store::Error::Fault(fault) => {
                let request_id = fresh.request_id();
                eprintln!("{}", database_fault(&request_id, &fault).text);
                store::shown(&fault, &request_id)
            }
        })
    }

    async fn check(&self, _: &Fresh) -> Result<(), Refusal> {
        Ok(())
    }
}

/// The clock and a seed of this process, for one request.
#[allow(clippy::disallowed_methods)] // this is the host whose clock and chance they are
pub fn fresh() -> io::Result<Fresh> {
    let elapsed = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let milliseconds = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(io::Error::other)?;
    Ok(Fresh::new(Timestamp::from_milliseconds(milliseconds), seed))
}

/// The value of a future that never waits: everything below a native host is ready at the first poll.
pub fn ready<T>(future: impl Future<Output = T>) -> io::Result<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Ok(value),
        Poll::Pending => Err(io::Error::other("a call waited, and nothing could wake it")),
    }
}

/// Serves one client until it closes the pipe.
pub fn serve<S: Server>(server: S, mut output: impl Write) -> io::Result<()> {
    let (sender, lines) = sync_channel(LINES_AHEAD);
    // Detached on purpose: it ends with the pipe, or with the process.
    std::thread::spawn(move || {
        let mut input = BufReader::new(io::stdin());
        while let Ok(Some(line)) = read_line(&mut input) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    let mut session = Session::new(server);
    while take_in(&mut session, &lines) {
        for line in ready(session.answer(&fresh()?))? {
            output.write_all(line.as_bytes())?;
            output.write_all(b"\n")?;
        }
        output.flush()?;
    }
    Ok(())
}

/// Takes in every line that has come, waiting for one when there is nothing to do. `false` when no more will come.
fn take_in<S: Server>(session: &mut Session<S>, lines: &Receiver<Line>) -> bool {
    if session.is_idle() {
        match lines.recv() {
            Ok(line) => session.take(&line),
            Err(_) => return false,
        }
    }
    for _ in 0..LINES_AHEAD {
        match lines.try_recv() {
            Ok(line) => session.take(&line),
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
        }
    }
    true
}
