//! HTTP/1.1 on loopback around the product's router: one thread for each connection, gone with the test.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::rc::Rc;

use durable_thinking::auth::TokenOnly;
use durable_thinking::config::Config;
use durable_thinking::local::{fresh, ready};
use durable_thinking::transport::Body;
use durable_thinking::transport::http::{Site, route};
use e2e::TOKEN;
use http::{Request, Response};

use crate::fixture::Fixture;

/// Starts the fixture on a free port and returns its address. It wants the token of every server under test.
pub fn start() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            std::thread::spawn(move || connection(&stream.unwrap()));
        }
    });
    address
}

/// Answers the requests of one connection until its client closes it.
fn connection(stream: &TcpStream) {
    let site = Rc::new(Site {
        config: Config::parse(|name| (name == "MCP_API_TOKEN").then(|| TOKEN.to_owned())),
        server: Fixture,
        authorization: TokenOnly,
    });
    let mut input = BufReader::new(stream);
    while let Some(request) = read(&mut input) {
        let (response, _) = ready(route(request, Rc::clone(&site), fresh().unwrap())).unwrap();
        if write(stream, response).is_err() {
            return;
        }
    }
}

fn read(input: &mut impl BufRead) -> Option<Request<Vec<u8>>> {
    let mut line = String::new();
    input.read_line(&mut line).ok().filter(|bytes| *bytes > 0)?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?, words.next()?);
    let mut builder = Request::builder().method(method);
    let (mut length, mut host) = (0, String::new());
    loop {
        let mut line = String::new();
        input.read_line(&mut line).ok().filter(|bytes| *bytes > 0)?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        let value = value.trim();
        if name.eq_ignore_ascii_case("content-length") {
            length = value.parse().ok()?;
        }
        if name.eq_ignore_ascii_case("host") {
            host = value.to_owned();
        }
        builder = builder.header(name, value);
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body).ok()?;
    builder
        .uri(format!("http://{host}{target}"))
        .body(body)
        .ok()
}

fn write(mut stream: &TcpStream, response: Response<Body>) -> std::io::Result<()> {
    let (head, body) = response.into_parts();
    write!(stream, "HTTP/1.1 {}\r\n", head.status)?;
    for (name, value) in &head.headers {
        write!(stream, "{name}: {}\r\n", value.to_str().unwrap())?;
    }
    match body {
        Body::Full(body) => {
            write!(stream, "content-length: {}\r\n\r\n", body.len())?;
            stream.write_all(&body)
        }
        Body::Stream(mut chunks) => {
            write!(stream, "transfer-encoding: chunked\r\n\r\n")?;
            let mut next = || {
                ready(chunks.next())?.map_err(|_| std::io::Error::other("the response breaks off"))
            };
            while let Some(chunk) = next()? {
                write!(stream, "{:x}\r\n", chunk.len())?;
                stream.write_all(&chunk)?;
                write!(stream, "\r\n")?;
            }
            write!(stream, "0\r\n\r\n")
        }
    }
}
