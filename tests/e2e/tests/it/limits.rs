//! Bodies, batches, depths and heads that are too large, and bodies that do not come: refused, bounded and forgotten.

use std::io::{BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::Instant;

use e2e::client::{Reply, TIMEOUT, connect, read};
use e2e::mcp::Tools;
use e2e::{TOKEN, Worker};
use serde_json::{Value, json};

const MIB: usize = 1024 * 1024;
const BODY_BYTES_MAX: usize = 256 * 1024;
/// Bodies that are sent at once.
const LANES: usize = 8;
/// What Wasm's memory may grow by: each of those is read until it is seen to be too large, into a buffer that doubles.
const GROWTH_BYTES_MAX: usize = LANES * 2 * BODY_BYTES_MAX;

fn head(address: SocketAddr, more: &str) -> String {
    format!(
        "POST /mcp-compat HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {TOKEN}\r\n\
         content-type: application/json\r\n{more}\r\n"
    )
}

fn address(worker: &Worker) -> SocketAddr {
    ([127, 0, 0, 1], worker.port()).into()
}

/// Sends a head and then `mebibytes` of body, as chunks or as announced, while the reply is awaited. The server may
/// answer, and hang up, long before all of it is sent.
fn send_large(worker: &Worker, mebibytes: usize, is_chunked: bool) -> Reply {
    let address = address(worker);
    let mut connection = connect(address).unwrap();
    let mut sender = connection.get_ref().try_clone().unwrap();
    let sending = thread::spawn(move || {
        let framing = match is_chunked {
            true => "transfer-encoding: chunked\r\n".to_owned(),
            false => format!("content-length: {}\r\n", mebibytes * MIB),
        };
        let part = vec![b' '; 64 * 1024];
        sender.write_all(head(address, &framing).as_bytes())?;
        for _ in 0..mebibytes * 16 {
            if is_chunked {
                write!(sender, "{:x}\r\n", part.len())?;
            }
            sender.write_all(&part)?;
            if is_chunked {
                sender.write_all(b"\r\n")?;
            }
        }
        if is_chunked {
            sender.write_all(b"0\r\n\r\n")?;
        }
        std::io::Result::Ok(())
    });
    let (reply, _) = read(&mut connection).expect("a reply");
    drop(connection);
    // How far the sender came is the server's to say.
    let _ = sending.join().unwrap();
    reply
}

#[track_caller]
fn is_too_large(reply: &Reply) {
    assert_eq!(reply.status, 413, "{}", reply.text());
    let told = reply.json();
    let advice = ["error", "class", "retry"].map(|member| told[member].clone());
    assert_eq!(advice, ["payload_too_large", "limit", "fix_input"]);
    assert_eq!(told["bytesMax"], BODY_BYTES_MAX);
}

#[test]
fn a_body_is_measured_while_it_is_read_and_twenty_mebibytes_are_never_held() {
    let worker = Worker::start_breakable(&[]);
    let memory = |worker: &Worker| worker.probe()["memoryBytes"].as_u64().unwrap();
    let sequence = Tools::new(&worker).think_all(&["kept"]);
    let before = memory(&worker);
    for is_chunked in [true, false] {
        is_too_large(&send_large(&worker, 20, is_chunked));
    }
    thread::scope(|scope| {
        for lane in 0..LANES {
            let worker = &worker;
            scope.spawn(move || is_too_large(&send_large(worker, 20, lane % 2 == 0)));
        }
    });
    let grown = memory(&worker).saturating_sub(before);
    assert!(grown <= GROWTH_BYTES_MAX as u64, "{grown} bytes");
    assert_eq!(Tools::new(&worker).read_texts(&sequence, 50), ["kept"]);
}

#[test]
fn the_largest_body_is_taken_and_one_byte_more_is_not() {
    let worker = Worker::start();
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    let bearer = format!("Bearer {TOKEN}");
    for (bytes, status) in [(BODY_BYTES_MAX, 200), (BODY_BYTES_MAX + 1, 413)] {
        let body = format!("{ping}{}", " ".repeat(bytes - ping.len()));
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
        ];
        let reply = worker
            .client()
            .send("POST", "/mcp-compat", &headers, body.as_bytes());
        assert_eq!(reply.status, status, "{bytes}");
        // To a stranger the size is not even judged.
        let reply = worker
            .client()
            .send("POST", "/mcp-compat", &headers[1..], body.as_bytes());
        assert_eq!(reply.status, 401, "{bytes}");
    }
}

#[test]
fn batches_and_depths_have_an_end() {
    let worker = Worker::start();
    let bearer = format!("Bearer {TOKEN}");
    let send = |body: &str| {
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
            ("mcp-protocol-version", "2025-03-26"),
        ];
        worker
            .client()
            .send("POST", "/mcp-compat", &headers, body.as_bytes())
    };
    let batch = |count: u32| -> String {
        let ping = |id| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
        (0..count).map(ping).collect::<Value>().to_string()
    };
    assert_eq!(send(&batch(50)).json().as_array().unwrap().len(), 50);
    let refused = send(&batch(51));
    assert_eq!(
        (refused.status, &refused.json()["error"]["code"]),
        (400, &json!(-32600))
    );
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = |depth: usize| {
            let (open, close) = (open.repeat(depth), close.repeat(depth));
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":{open}1{close}}}}}"#)
        };
        assert_eq!(send(&deep(100)).json()["result"], json!({}));
        for depth in [200, 20_000] {
            let refused = send(&deep(depth));
            assert_eq!(
                (refused.status, &refused.json()["error"]["code"]),
                (400, &json!(-32700))
            );
        }
    }
    assert_eq!(send(&batch(1)).status, 200);
}

/// The platform reads the head; the edge of Cloudflare takes even less of it than workerd.
#[test]
fn a_head_without_end_is_refused_and_the_server_goes_on() {
    let worker = Worker::start();
    let long = "x".repeat(MIB);
    for head in [
        format!(
            "GET /healthz HTTP/1.1\r\nhost: {}\r\nx-long: {long}\r\n\r\n",
            address(&worker)
        ),
        format!(
            "GET /healthz?{long} HTTP/1.1\r\nhost: {}\r\n\r\n",
            address(&worker)
        ),
    ] {
        let mut connection = TcpStream::connect(address(&worker)).unwrap();
        // It may hang up in the middle of what is sent.
        let _ = connection.write_all(head.as_bytes());
        let mut answer = Vec::new();
        let _ = BufReader::new(connection).read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer);
        let is_refused = answer.is_empty() || answer.starts_with("HTTP/1.1 4");
        assert!(is_refused, "{answer}");
        assert_eq!(worker.get("/healthz").status, 200);
    }
}

/// A client in the middle of a request. Before it asked for something else and has not read the answer: so when it is
/// dropped the system resets the connection, which the server sees at once.
fn in_the_middle(worker: &Worker, body: &[u8], length: usize) -> TcpStream {
    let address = address(worker);
    let mut connection = TcpStream::connect(address).unwrap();
    let first = format!("GET /healthz HTTP/1.1\r\nhost: {address}\r\n\r\n");
    connection.write_all(first.as_bytes()).unwrap();
    assert_eq!(connection.peek(&mut [0]).unwrap(), 1);
    let head = head(address, &format!("content-length: {length}\r\n"));
    connection
        .write_all(&[head.as_bytes(), body].concat())
        .unwrap();
    connection
}

/// A request whose client has gone is over for the platform, which settles nothing any more that it waits for: what waited
/// in Wasm would be there for ever.
#[test]
fn clients_that_leave_take_everything_with_them() {
    const AT_ONCE: u64 = 20;
    const ROUNDS: u64 = 10;
    let worker = Worker::start_breakable(&[]);
    let probe = |member: &str| worker.probe()[member].as_u64().unwrap();
    let append = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "sequentialthinking", "arguments": {
            "thought": "left behind ".repeat(1_600), "thoughtNumber": 1, "totalThoughts": 9, "nextThoughtNeeded": true,
        },
    } })
    .to_string();
    let half = vec![b' '; 100_000];
    let plan = [("x-fault", "store-stub slow 1000000")];
    worker.client().send("GET", "/healthz", &plan, b"");
    let wait = |is_so: &dyn Fn() -> bool| {
        let start = Instant::now();
        while !is_so() {
            assert!(start.elapsed() < TIMEOUT, "{:?}", worker.log());
            thread::yield_now();
        }
    };
    let (mut left, mut ended) = (probe("left"), 0);
    let mut round = || {
        let bodies = (0..AT_ONCE).map(|_| in_the_middle(&worker, &half, 2 * half.len()));
        let calls = (0..AT_ONCE).map(|_| in_the_middle(&worker, append.as_bytes(), append.len()));
        let clients: Vec<_> = bodies.chain(calls).collect();
        // All calls are waiting for the object when their clients hang up, and go on to their end: each has its line.
        left -= AT_ONCE;
        wait(&|| probe("left") <= left);
        drop(clients);
        ended += AT_ONCE;
        let is_of_a_call = |line: &&String| line.contains("sequentialthinking");
        wait(&|| worker.log().iter().filter(is_of_a_call).count() as u64 >= ended);
    };
    round();
    round();
    let before = probe("memoryBytes");
    for _ in 0..ROUNDS {
        round();
    }
    let grown = probe("memoryBytes") - before;
    // Half of what would be there if only the calls had stayed.
    let stayed = ROUNDS * AT_ONCE * append.len() as u64;
    assert!(grown < stayed / 2, "{grown} bytes");
}

/// A client that announces a body and does not send it, or not all of it, is not waited for for ever, and nobody waits for
/// it meanwhile.
#[test]
fn a_body_that_does_not_come_is_given_up() {
    let worker = Worker::start_breakable(&[]);
    let headers = [("x-hurry", "1")];
    worker.client().send("GET", "/healthz", &headers, b"");
    let framings = [
        "content-length: 100\r\n",
        "content-length: 900000\r\n",
        "transfer-encoding: chunked\r\n",
    ];
    let waiting: Vec<_> = framings
        .iter()
        .map(|framing| {
            let mut connection = connect(address(&worker)).unwrap();
            let beginning = format!("{}{}", head(address(&worker), framing), "1\r\n{\r\n");
            connection
                .get_mut()
                .write_all(beginning.as_bytes())
                .unwrap();
            connection
        })
        .collect();
    assert_eq!(
        Tools::new(&worker).post("ping", &json!({}), &[]).status,
        200
    );
    for mut connection in waiting {
        let (reply, _) = read(&mut connection).expect("a reply");
        assert_eq!(reply.status, 408, "{}", reply.text());
        let told = reply.json();
        let advice = ["error", "class", "retry"].map(|member| told[member].clone());
        assert_eq!(advice, ["request_timeout", "input", "later"]);
        let request_id = reply.header("x-request-id").unwrap();
        let log = worker.whole_log();
        assert!(log.iter().any(|line| line.contains(&request_id)), "{log:?}");
    }
}
