//! A small HTTP/1.1 client that sends exactly what it is told and keeps its connection.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Longer than anything may take here: a reply that never comes fails the test.
pub const TIMEOUT: Duration = Duration::from_secs(20);

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
        self.try_send(method, path, headers, body)
            .expect("the server answers in time")
    }

    /// As [`Client::send`], to a server that may be gone.
    pub fn try_send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> io::Result<Reply> {
        let mut connection = self.connection()?;
        self.write(&mut connection, method, path, headers, body)?;
        let (reply, stays_open) = read(&mut connection)?;
        if stays_open {
            self.connection = Some(connection);
        }
        Ok(reply)
    }

    /// Sends a request and reads no more than the head of the reply. Dropping what comes back closes the connection.
    pub fn open(
        mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Stream {
        let mut connection = self.connection().expect("the server listens");
        self.write(&mut connection, method, path, headers, body)
            .expect("the request is sent");
        let head = read_head(&mut connection).expect("a head comes in time");
        Stream { head, connection }
    }

    fn write(
        &self,
        connection: &mut BufReader<TcpStream>,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> io::Result<()> {
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
        let bytes = [head.as_bytes(), body].concat();
        connection.get_mut().write_all(&bytes)
    }

    fn connection(&mut self) -> io::Result<BufReader<TcpStream>> {
        match self.connection.take() {
            Some(connection) => Ok(connection),
            None => connect(self.address),
        }
    }
}

/// A reply whose body is read chunk by chunk.
pub struct Stream {
    pub head: Reply,
    connection: BufReader<TcpStream>,
}

/// What comes next of a body in chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chunk {
    Data(Vec<u8>),
    /// The reply is complete.
    End,
    /// The connection ended and the reply did not.
    Broken,
}

impl Stream {
    /// The next chunk, as soon as it is there.
    pub fn next_chunk(&mut self) -> Chunk {
        assert!(self.head.header("transfer-encoding").is_some());
        match read_chunk(&mut self.connection) {
            Ok(data) if data.is_empty() => Chunk::End,
            Ok(data) => Chunk::Data(data),
            Err(error) => {
                assert_ne!(error.kind(), ErrorKind::WouldBlock, "nothing came in time");
                Chunk::Broken
            }
        }
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

/// A connection on which a reply that never comes is an error.
pub fn connect(address: SocketAddr) -> io::Result<BufReader<TcpStream>> {
    let stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_nodelay(true)?;
    Ok(BufReader::new(stream))
}

fn read_head(connection: &mut BufReader<TcpStream>) -> io::Result<Reply> {
    let status_line = read_line(connection)?;
    let status = status_line
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok())
        .ok_or_else(|| io::Error::other(format!("no status in {status_line:?}")))?;
    let mut headers = Vec::new();
    loop {
        let line = read_line(connection)?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    Ok(Reply {
        status,
        headers,
        body: Vec::new(),
    })
}

/// Reads a reply, and whether the connection stays open after it.
pub fn read(connection: &mut BufReader<TcpStream>) -> io::Result<(Reply, bool)> {
    let mut reply = read_head(connection)?;
    let closes = reply
        .header("connection")
        .is_some_and(|value| value == "close");
    if reply.header("transfer-encoding").is_some() {
        loop {
            let chunk = read_chunk(connection)?;
            if chunk.is_empty() {
                break;
            }
            reply.body.extend(chunk);
        }
    } else if let Some(length) = reply.header("content-length") {
        reply.body = vec![0; length.parse().map_err(io::Error::other)?];
        connection.read_exact(&mut reply.body)?;
    } else if !matches!(reply.status, 204 | 304) {
        connection.read_to_end(&mut reply.body)?;
        return Ok((reply, false));
    }
    Ok((reply, !closes))
}

/// One chunk with its frame; an empty one is the last.
fn read_chunk(connection: &mut BufReader<TcpStream>) -> io::Result<Vec<u8>> {
    let size = usize::from_str_radix(&read_line(connection)?, 16).map_err(io::Error::other)?;
    let mut chunk = vec![0; size];
    connection.read_exact(&mut chunk)?;
    read_line(connection)?;
    Ok(chunk)
}

fn read_line(connection: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut line = String::new();
    if connection.read_line(&mut line)? == 0 {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end().to_owned())
}
