//! An HTTP/2 server without TLS that answers each request as a function says.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use bytes::Bytes;
use h2::RecvStream;
use h2::server::{Builder, SendResponse};
use http::{Request, Response, StatusCode};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

pub(crate) type Asked = Request<RecvStream>;
pub(crate) type Answering = SendResponse<Bytes>;
type Work = Pin<Box<dyn Future<Output = ()>>>;

/// What the server does beside answering.
#[derive(Clone, Copy, Default)]
pub(crate) struct Manner {
    /// Streams that it takes at once on a connection.
    pub(crate) most_streams: Option<u32>,
    /// Says after so many requests on a connection that it takes no more (GOAWAY).
    pub(crate) retires_after: Option<u32>,
    /// Drops a connection at the request of this number on it, counted from 1.
    pub(crate) drops_at: Option<u32>,
}

/// What was seen.
#[derive(Clone, Default)]
pub(crate) struct Seen {
    pub(crate) requests: u32,
    pub(crate) connections: u32,
    /// The most requests under way at once on a connection.
    pub(crate) most_at_once: u32,
    pub(crate) headers: Vec<http::request::Parts>,
}

/// Ends with its scope.
pub(crate) struct Http2Server {
    pub(crate) address: SocketAddr,
    pub(crate) seen: Arc<Mutex<Seen>>,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Http2Server {
    pub(crate) fn start(
        manner: Manner,
        answer: impl Fn(Asked, Answering) -> Work + Send + 'static,
    ) -> Self {
        let (end, ended) = oneshot::channel();
        let (tell, told) = mpsc::channel();
        let seen = Arc::<Mutex<Seen>>::default();
        let theirs = Arc::clone(&seen);
        let thread = std::thread::spawn(move || {
            let options = tokio::runtime::LocalOptions::default();
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build_local(options)
                .unwrap();
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                tell.send(listener.local_addr().unwrap()).unwrap();
                let answer = Rc::new(answer);
                let accepting = async {
                    loop {
                        let (stream, _) = listener.accept().await.unwrap();
                        theirs.lock().unwrap().connections += 1;
                        let (answer, theirs) = (Rc::clone(&answer), Arc::clone(&theirs));
                        tokio::task::spawn_local(serve(stream, manner, answer, theirs));
                    }
                };
                tokio::select! {
                    () = accepting => {}
                    _ = ended => {}
                }
            });
        });
        Self {
            address: told.recv().unwrap(),
            seen,
            end: Some(end),
            thread: Some(thread),
        }
    }
}

impl Drop for Http2Server {
    fn drop(&mut self) {
        let _ = self.end.take().unwrap().send(());
        self.thread.take().unwrap().join().unwrap();
    }
}

async fn serve<F: Fn(Asked, Answering) -> Work + 'static>(
    stream: TcpStream,
    manner: Manner,
    answer: Rc<F>,
    seen: Arc<Mutex<Seen>>,
) {
    stream.set_nodelay(true).unwrap();
    let mut builder = Builder::new();
    // What still arrives for a stream that was answered early counts as an error of the client; from
    // 1,024 of them on, which a fast run reaches, h2 takes it for an attack and ends the connection.
    builder.max_local_error_reset_streams(None);
    if let Some(most) = manner.most_streams {
        builder.max_concurrent_streams(most);
    }
    let Ok(mut connection) = builder.handshake::<_, Bytes>(stream).await else {
        return;
    };
    let (mut taken, under_way) = (0, Rc::new(std::cell::Cell::new(0)));
    while let Some(Ok((request, respond))) = connection.accept().await {
        taken += 1;
        if manner.drops_at == Some(taken) {
            return;
        }
        under_way.set(under_way.get() + 1);
        {
            let mut seen = seen.lock().unwrap();
            seen.requests += 1;
            seen.most_at_once = seen.most_at_once.max(under_way.get());
            let (parts, incoming) = request.into_parts();
            seen.headers.push(parts.clone());
            let work = answer(Request::from_parts(parts, incoming), respond);
            let under_way = Rc::clone(&under_way);
            tokio::task::spawn_local(async move {
                work.await;
                under_way.set(under_way.get() - 1);
            });
        }
        if manner.retires_after == Some(taken) {
            connection.graceful_shutdown();
        }
    }
}

/// A small whole response.
pub(crate) fn ok(mut respond: Answering) {
    let head = Response::new(());
    // The client may have gone.
    if let Ok(mut body) = respond.send_response(head, false) {
        let _ = body.send_data(Bytes::from_static(b"hits"), true);
    }
}

/// A response with this status and no body.
pub(crate) fn empty(mut respond: Answering, status: u16) {
    let mut head = Response::new(());
    *head.status_mut() = StatusCode::from_u16(status).unwrap();
    let _ = respond.send_response(head, true);
}

/// The number in a request to `/{seq}`.
pub(crate) fn seq(request: &Asked) -> u32 {
    let path = request.uri().path();
    path.trim_start_matches('/').parse().unwrap()
}
