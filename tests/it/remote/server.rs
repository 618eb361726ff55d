//! Support: a web server on this machine that counts requests and misbehaves as a test asks.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// A request that the server received.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// With its query.
    pub(crate) path: String,
    /// Headers by their names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
    /// Number of requests before this one.
    pub(crate) number: usize,
    pub(crate) at: Instant,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// Returns the requested range of a file of `len` bytes.
    pub(crate) fn range(&self, len: usize) -> Option<(usize, usize)> {
        let (first, last) = self.header("range")?.strip_prefix("bytes=")?.split_once('-')?;
        let number = |text: &str| text.parse::<usize>().unwrap();
        Some(match (first, last) {
            ("", last) => (len.saturating_sub(number(last)), len),
            (first, "") => (number(first), len),
            (first, last) => (number(first), len.min(number(last) + 1)),
        })
    }

    pub(crate) fn is_suffix(&self) -> bool {
        self.header("range").is_some_and(|range| range.starts_with("bytes=-"))
    }
}

/// An answer of the server.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: &'static str,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) end: End,
}

/// The end of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The next request.
    Normal,
    /// The connection is closed after this number of bytes of the body.
    CutAt(usize),
    /// Nothing is sent.
    Silent,
    /// Nothing more is sent after this number of bytes of the body.
    StallAt(usize),
    /// Bytes without end, without a length.
    Endless,
    /// The body is sent in chunks, without a length.
    Chunked,
}

impl Answer {
    pub(crate) fn new(status: &'static str) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new(), end: End::Normal }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.retain(|(known, _)| *known != name);
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| *known != name);
        self
    }

    pub(crate) fn ending(mut self, end: End) -> Self {
        self.end = end;
        self
    }
}

/// The entity tag of every file.
pub(crate) const TAG: &str = "\"v1\"";

/// The name of a file that is served under every name.
pub(crate) const ANY: &str = "";

/// Answers as a server without faults.
pub(crate) fn serve(request: &Request, file: &[u8]) -> Answer {
    if request.header("if-match").is_some_and(|tag| tag != TAG) {
        return Answer::new("412 Precondition Failed");
    }
    let date = "Mon, 23 Nov 2026 10:00:00 GMT";
    let common = |answer: Answer| answer.with("ETag", TAG).with("Last-Modified", date);
    let Some((first, end)) = request.range(file.len()) else {
        return common(Answer { body: file.to_vec(), ..Answer::new("200 OK") });
    };
    if first >= end {
        let range = format!("bytes */{}", file.len());
        return Answer::new("416 Range Not Satisfiable").with("Content-Range", range);
    }
    let range = format!("bytes {first}-{}/{}", end - 1, file.len());
    let answer = Answer { body: file[first..end].to_vec(), ..Answer::new("206 Partial Content") };
    common(answer).with("Content-Range", range)
}

type Answering = dyn Fn(&Request, &[u8]) -> Answer + Send + Sync;

struct Shared {
    files: BTreeMap<String, Vec<u8>>,
    answer: Box<Answering>,
    delay: Duration,
    requests: Mutex<Vec<Request>>,
    is_over: AtomicBool,
}

/// A running server. Dropping it stops it.
pub(crate) struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Server {
    /// Serves one file under this name, without faults.
    pub(crate) fn of(name: &str, file: Vec<u8>) -> Self {
        Self::answering(name, file, serve)
    }

    /// Serves one file under this name.
    pub(crate) fn answering(
        name: &str,
        file: Vec<u8>,
        answer: impl Fn(&Request, &[u8]) -> Answer + Send + Sync + 'static,
    ) -> Self {
        Self::start([(name.to_owned(), file)].into(), Duration::ZERO, answer)
    }

    /// Serves files by their names. Each answer is delayed.
    pub(crate) fn start(
        files: BTreeMap<String, Vec<u8>>,
        delay: Duration,
        answer: impl Fn(&Request, &[u8]) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (requests, is_over, answer) =
            (Mutex::default(), AtomicBool::new(false), Box::new(answer));
        let shared = Arc::new(Shared { files, answer, delay, requests, is_over });
        let known = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if known.is_over.load(Ordering::Relaxed) {
                    return;
                }
                let known = Arc::clone(&known);
                // A client that leaves ends its connection.
                thread::spawn(move || known.talk(&stream).ok());
            }
        });
        Self { address, shared }
    }

    /// Returns the URL of a file.
    pub(crate) fn url(&self, name: &str) -> String {
        format!("http://{}/{name}", self.address)
    }

    /// Returns the address of the server.
    pub(crate) fn host(&self) -> String {
        self.address.to_string()
    }

    /// Returns the requests so far, and forgets them.
    pub(crate) fn requests(&self) -> Vec<Request> {
        std::mem::take(&mut *self.shared.requests.lock().unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    /// Answers the requests of one connection.
    fn talk(&self, stream: &TcpStream) -> std::io::Result<()> {
        stream.set_nodelay(true)?;
        let mut lines = BufReader::new(stream.try_clone()?);
        loop {
            let mut line = String::new();
            if lines.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let mut words = line.split(' ');
            let method = words.next().unwrap_or_default().to_owned();
            let target = words.next().unwrap_or_default();
            // A proxy gets the whole URL.
            let path = target.strip_prefix("http://").and_then(|url| url.split_once('/'));
            let path = path.map_or(target.to_owned(), |(_, path)| format!("/{path}"));
            let mut headers = BTreeMap::new();
            loop {
                let mut line = String::new();
                lines.read_line(&mut line)?;
                let Some((name, value)) = line.trim().split_once(':') else { break };
                headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
            }
            let length = headers.get("content-length").and_then(|length| length.parse().ok());
            let mut body = vec![0; length.unwrap_or(0)];
            lines.read_exact(&mut body)?;
            let request = {
                let mut requests = self.requests.lock().unwrap();
                let number = requests.len();
                let request = Request { method, path, headers, body, number, at: Instant::now() };
                requests.push(Request { body: Vec::new(), ..request.clone() });
                request
            };
            thread::sleep(self.delay);
            let name = request.path.split('?').next().unwrap_or_default().trim_start_matches('/');
            let answer = match self.files.get(name).or_else(|| self.files.get(ANY)) {
                Some(file) => (self.answer)(&request, file),
                None => Answer::new("404 Not Found"),
            };
            if !send(stream, &answer)? {
                return Ok(());
            }
        }
    }
}

/// Longer than any test waits.
const LONG: Duration = Duration::from_secs(20);

/// Sends an answer. Returns whether another request may follow.
fn send(mut stream: &TcpStream, answer: &Answer) -> std::io::Result<bool> {
    if answer.end == End::Silent {
        thread::sleep(LONG);
        return Ok(false);
    }
    let mut head = format!("HTTP/1.1 {}\r\n", answer.status);
    for (name, value) in &answer.headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    let is_listed = answer.headers.iter().any(|(name, _)| *name == "Content-Length");
    match answer.end {
        End::Endless | End::Chunked => head.push_str("Transfer-Encoding: chunked\r\n"),
        _ if is_listed => {}
        _ => {
            let _ = write!(head, "Content-Length: {}\r\n", answer.body.len());
        }
    }
    stream.write_all((head + "\r\n").as_bytes())?;
    let chunk =
        |bytes: &[u8]| [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat();
    match answer.end {
        End::Silent => unreachable!("nothing is sent"),
        End::Normal => stream.write_all(&answer.body)?,
        End::CutAt(len) => {
            stream.write_all(&answer.body[..len.min(answer.body.len())])?;
            return Ok(false);
        }
        End::StallAt(len) => {
            stream.write_all(&answer.body[..len.min(answer.body.len())])?;
            thread::sleep(LONG);
            return Ok(false);
        }
        End::Chunked => {
            for piece in answer.body.chunks(10_000) {
                stream.write_all(&chunk(piece))?;
            }
            stream.write_all(b"0\r\n\r\n")?;
        }
        End::Endless => loop {
            stream.write_all(&chunk(&[0; 10_000]))?;
        },
    }
    Ok(true)
}
