//! Serves the fixture until it is stopped, to try the suite by hand.

use conformance::{proxy, serve};

fn main() {
    eprintln!("{}/mcp", proxy::start(serve::start(), e2e::TOKEN));
    std::thread::park();
}
