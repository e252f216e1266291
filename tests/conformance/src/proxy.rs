//! Stands before the Worker and brings the token, since the suite can bring none. Everything else passes as it comes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

/// Starts on a free port before the server at `target` and returns its address.
pub fn start(target: SocketAddr, token: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let line = format!("Authorization: Bearer {token}\r\n");
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let line = line.clone();
            std::thread::spawn(move || connection(&client.unwrap(), target, &line));
        }
    });
    origin
}

fn connection(client: &TcpStream, target: SocketAddr, line: &str) {
    let Ok(server) = TcpStream::connect(target) else {
        return;
    };
    let (mut from, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    std::thread::spawn(move || {
        // Either end may close at any time.
        let _ = std::io::copy(&mut from, &mut to);
        let _ = to.shutdown(std::net::Shutdown::Both);
    });
    let _ = forward(&mut BufReader::new(client), &server, line);
    let _ = server.shutdown(std::net::Shutdown::Both);
}

/// Passes requests on, each with the line put after its first.
fn forward(client: &mut impl BufRead, mut server: &TcpStream, added: &str) -> std::io::Result<()> {
    loop {
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let start = head.len();
            if client.read_line(&mut head)? == 0 {
                return Ok(());
            }
            if start == 0 {
                head.push_str(added);
                continue;
            }
            let line = head[start..].to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
            if line == "\r\n" {
                break;
            }
        }
        server.write_all(head.as_bytes())?;
        std::io::copy(&mut client.by_ref().take(length), &mut server)?;
    }
}
