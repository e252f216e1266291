//! A small HTTP/1.1 client that sends exactly what it is told and keeps its connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Longer than anything may take here: a reply that never comes fails the test.
const TIMEOUT: Duration = Duration::from_secs(20);

/// One connection, opened when it is first needed.
pub struct Client {
    address: SocketAddr,
    connection: Option<BufReader<TcpStream>>,
}

#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Client {
    pub fn new(address: SocketAddr) -> Self {
        Self {
            address,
            connection: None,
        }
    }

    /// Sends a request and reads the whole reply. `Host` and `Content-Length` are added unless given.
    pub fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Reply {
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        let has = |name: &str| {
            headers
                .iter()
                .any(|(given, _)| given.eq_ignore_ascii_case(name))
        };
        if !has("host") {
            head.push_str(&format!("host: {}\r\n", self.address));
        }
        if !has("content-length") && !has("transfer-encoding") && !body.is_empty() {
            head.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        self.exchange(&[head.as_bytes(), body].concat())
    }

    /// Sends these bytes and reads one reply.
    pub fn exchange(&mut self, bytes: &[u8]) -> Reply {
        let address = self.address;
        let mut connection = self.connection.take().unwrap_or_else(|| {
            let stream = TcpStream::connect(address).expect("the server listens");
            stream.set_read_timeout(Some(TIMEOUT)).unwrap();
            stream.set_nodelay(true).unwrap();
            BufReader::new(stream)
        });
        connection
            .get_mut()
            .write_all(bytes)
            .expect("the request is sent");
        let (reply, stays_open) = read(&mut connection).expect("a whole reply comes in time");
        if stays_open {
            self.connection = Some(connection);
        }
        reply
    }
}

impl Reply {
    /// The values of a header, joined as HTTP allows.
    pub fn header(&self, name: &str) -> Option<String> {
        let values: Vec<_> = self
            .headers
            .iter()
            .filter(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
            .collect();
        (!values.is_empty()).then(|| values.join(", "))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {} {}", self.status, self.text()))
    }
}

fn read(connection: &mut BufReader<TcpStream>) -> std::io::Result<(Reply, bool)> {
    let status_line = read_line(connection)?;
    let status = status_line
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok())
        .ok_or_else(|| std::io::Error::other(format!("no status in {status_line:?}")))?;
    let mut headers = Vec::new();
    loop {
        let line = read_line(connection)?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    let mut reply = Reply {
        status,
        headers,
        body: Vec::new(),
    };
    let closes = reply
        .header("connection")
        .is_some_and(|value| value == "close");
    if reply.header("transfer-encoding").is_some() {
        while let size @ 1.. = read_size(connection)? {
            let start = reply.body.len();
            reply.body.resize(start + size, 0);
            connection.read_exact(&mut reply.body[start..])?;
            read_line(connection)?;
        }
        read_line(connection)?;
    } else if let Some(length) = reply.header("content-length") {
        reply.body = vec![0; length.parse().map_err(std::io::Error::other)?];
        connection.read_exact(&mut reply.body)?;
    } else if !matches!(status, 204 | 304) {
        connection.read_to_end(&mut reply.body)?;
        return Ok((reply, false));
    }
    Ok((reply, !closes))
}

fn read_size(connection: &mut BufReader<TcpStream>) -> std::io::Result<usize> {
    usize::from_str_radix(&read_line(connection)?, 16).map_err(std::io::Error::other)
}

fn read_line(connection: &mut BufReader<TcpStream>) -> std::io::Result<String> {
    let mut line = String::new();
    if connection.read_line(&mut line)? == 0 {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end().to_owned())
}
