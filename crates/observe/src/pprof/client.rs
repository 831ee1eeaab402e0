//! Fetches profiles over one connection that is kept.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty, Limited};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::HOST;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use slowpath_core::scenario::{DEFAULT_PPROF_PATH, Url};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::profile::{self, Profile};

/// A profile that takes longer is given up: the target is in a state in which it should not be
/// asked for more.
const LONGEST: Duration = Duration::from_secs(3);
/// The largest answer that is taken; profiles come packed.
const MOST_BYTES: usize = 16 << 20;

/// Where profiles are.
#[derive(Debug)]
pub(super) struct Client {
    url: Url,
    sender: Option<SendRequest<Empty<Bytes>>>,
}

impl Client {
    pub(super) fn new(mut url: Url) -> Self {
        if url.path == "/" {
            DEFAULT_PPROF_PATH.clone_into(&mut url.path);
        }
        while url.path.ends_with('/') {
            url.path.pop();
        }
        Self { url, sender: None }
    }

    /// Where a profile is fetched from.
    pub(super) fn address(&self, name: &str) -> String {
        format!("{}{}/{name}", self.url.origin(), self.url.path)
    }

    /// Fetches a profile and reads it.
    ///
    /// # Errors
    /// With why that failed, as a fragment.
    pub(super) async fn profile(&mut self, name: &str) -> Result<Profile, String> {
        let bytes = self.fetch(name).await?;
        profile::read(&bytes)
    }

    /// Fetches the bytes of a profile. A connection that the target closed is made once more.
    pub(super) async fn fetch(&mut self, name: &str) -> Result<Bytes, String> {
        self.fetch_within(name, LONGEST).await
    }

    /// The same of a profile that the target takes its time for: so long, and as long as any other
    /// may take.
    pub(super) async fn fetch_after(&mut self, name: &str, of: Duration) -> Result<Bytes, String> {
        self.fetch_within(name, of + LONGEST).await
    }

    async fn fetch_within(&mut self, name: &str, longest: Duration) -> Result<Bytes, String> {
        let kept = self
            .sender
            .as_ref()
            .is_some_and(|sender| !sender.is_closed());
        let fetched = timeout(longest, self.ask(name)).await;
        let answer = match fetched {
            Ok(Err(Failure::Connection(_))) if kept => timeout(longest, self.ask(name)).await,
            other => other,
        };
        answer
            .unwrap_or(Err(Failure::Connection(format!(
                "no answer in {} s",
                longest.as_secs()
            ))))
            .map_err(|failure| match failure {
                Failure::Connection(why) => {
                    self.sender = None;
                    why
                }
                Failure::Answer(why) => why,
            })
    }

    async fn ask(&mut self, name: &str) -> Result<Bytes, Failure> {
        let path = format!("{}/{name}", self.url.path);
        let request = Request::get(path).header(HOST, self.url.authority());
        let request = request.body(Empty::new());
        let request = request.map_err(|error| Failure::Answer(error.to_string()))?;
        let mut sender = match self.sender.take().filter(|sender| !sender.is_closed()) {
            Some(sender) => sender,
            None => connect(&self.url).await?,
        };
        let lost = |error: hyper::Error| Failure::Connection(error.to_string());
        sender.ready().await.map_err(lost)?;
        let response = sender.send_request(request).await.map_err(lost)?;
        let status = response.status();
        let body = Limited::new(response.into_body(), MOST_BYTES).collect();
        let body = body.await.map_err(|e| Failure::Connection(e.to_string()))?;
        self.sender = Some(sender);
        if status == StatusCode::OK {
            return Ok(body.to_bytes());
        }
        Err(Failure::Answer(format!("answered with {status}")))
    }
}

/// Why there is no profile.
enum Failure {
    /// What the connection is good for is not known.
    Connection(String),
    /// There is an answer, and it is no profile.
    Answer(String),
}

async fn connect(url: &Url) -> Result<SendRequest<Empty<Bytes>>, Failure> {
    let failed = |error: std::io::Error| Failure::Connection(error.to_string());
    let stream = TcpStream::connect((url.host.as_str(), url.port));
    let stream = stream.await.map_err(failed)?;
    stream.set_nodelay(true).map_err(failed)?;
    let (sender, connection) = handshake(TokioIo::new(stream))
        .await
        .map_err(|error| Failure::Connection(error.to_string()))?;
    tokio::spawn(async move {
        // The senders on it learn of its end.
        let _ = connection.await;
    });
    Ok(sender)
}
