//! Gateway in front of the document archive.
//!
//! The case workers' application asks it to put a finished document into the
//! archive (`POST /documents/{id}/archive`); the gateway takes the file from
//! the spool and PUTs it to the archive's HTTP interface.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::BytesMut;
use http::{Method, Response, StatusCode};
use isahc::config::{Configurable, ExpectContinue};
use isahc::{AsyncBody, AsyncReadResponseExt, HttpClient, Request};
use pingora_core::apps::http_app::ServeHttp;
use pingora_core::protocols::http::ServerSession;
use pingora_core::server::Server;
use pingora_core::server::configuration::ServerConf;
use pingora_core::services::listening::Service;
use serde_json::{Value, json};

/// Files above this size are not read into memory first.
const STREAM_ABOVE: u64 = 64 * 1024;

#[derive(Clone)]
struct Document {
    title: String,
    path: PathBuf,
    size: u64,
}

struct Gateway {
    archive: String,
    client: HttpClient,
    documents: BTreeMap<u32, Document>,
    receipts: Mutex<BTreeMap<u32, String>>,
    trace: bool,
}

impl Gateway {
    fn new() -> Result<Self, Box<dyn std::error::Error>> {
        let wait = env_number("EXPECT_WAIT_MS", 0);
        let expect = match wait {
            0 => ExpectContinue::disabled(),
            ms => ExpectContinue::timeout(Duration::from_millis(ms)),
        };
        let client = HttpClient::builder()
            .expect_continue(expect)
            .timeout(Duration::from_secs(10))
            .max_connections_per_host(32)
            .build()?;

        let spool = PathBuf::from(std::env::var("SPOOL")?);
        let index: Value = serde_json::from_slice(&std::fs::read(spool.join("index.json"))?)?;
        let mut documents = BTreeMap::new();
        for entry in index.as_array().ok_or("index.json")? {
            let id = entry["id"].as_u64().ok_or("id")? as u32;
            let path = spool.join(entry["file"].as_str().ok_or("file")?);
            let size = std::fs::metadata(&path)?.len();
            let title = entry["title"].as_str().unwrap_or("").to_string();
            documents.insert(id, Document { title, path, size });
        }
        Ok(Gateway {
            archive: format!("http://127.0.0.1:{}", std::env::var("ARCHIVE_PORT")?),
            client,
            documents,
            receipts: Mutex::new(BTreeMap::new()),
            trace: std::env::var_os("GATEWAY_TRACE").is_some(),
        })
    }

    /// Puts one file into the archive and returns the archive's receipt.
    async fn put(
        &self,
        id: u32,
        doc: &Document,
    ) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
        let body = if doc.size > STREAM_ABOVE {
            AsyncBody::from_reader(async_fs::File::open(&doc.path).await?)
        } else {
            AsyncBody::from(async_fs::read(&doc.path).await?)
        };
        let request = Request::builder()
            .method("PUT")
            .uri(format!("{}/objects/{}", self.archive, id))
            .header("content-type", "application/pdf")
            .body(body)?;
        let mut answer = self.client.send_async(request).await?;
        let receipt = String::from_utf8(answer.bytes().await?)?;
        if !answer.status().is_success() {
            return Err(format!("archive answered {}", answer.status()).into());
        }
        Ok(receipt)
    }

    async fn archive(&self, id: u32) -> (StatusCode, Value) {
        let Some(doc) = self.documents.get(&id) else {
            return (StatusCode::NOT_FOUND, json!({"error": "no such document"}));
        };
        let start = Instant::now();
        let result = self.put(id, doc).await;
        if self.trace {
            eprintln!(
                "put id={} size={} streamed={} ms={:.1}",
                id,
                doc.size,
                doc.size > STREAM_ABOVE,
                start.elapsed().as_secs_f64() * 1e3
            );
        }
        match result {
            Ok(receipt) => {
                self.receipts.lock().unwrap().insert(id, receipt.clone());
                (StatusCode::OK, json!({"id": id, "receipt": receipt}))
            }
            Err(e) => {
                log::error!("document {id}: {e}");
                (StatusCode::BAD_GATEWAY, json!({"error": e.to_string()}))
            }
        }
    }

    fn describe(&self, id: u32) -> (StatusCode, Value) {
        match self.documents.get(&id) {
            None => (StatusCode::NOT_FOUND, json!({"error": "no such document"})),
            Some(doc) => {
                let receipt = self.receipts.lock().unwrap().get(&id).cloned();
                (
                    StatusCode::OK,
                    json!({"id": id, "title": doc.title, "size": doc.size, "receipt": receipt}),
                )
            }
        }
    }
}

#[async_trait]
impl ServeHttp for Gateway {
    async fn response(&self, session: &mut ServerSession) -> Response<Vec<u8>> {
        let method = session.req_header().method.clone();
        let path = session.req_header().uri.path().to_string();
        let mut body = BytesMut::new();
        loop {
            match session.read_request_body().await {
                Ok(Some(part)) => body.extend_from_slice(&part),
                Ok(None) => break,
                Err(e) => {
                    log::warn!("reading a request's body: {e}");
                    return answer(StatusCode::BAD_REQUEST, json!({"error": "body"}));
                }
            }
        }
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        let (status, value) = match (method, parts.as_slice()) {
            (Method::GET, ["health"]) => {
                (StatusCode::OK, json!({"documents": self.documents.len()}))
            }
            (Method::GET, ["documents", id]) => match id.parse() {
                Ok(id) => self.describe(id),
                Err(_) => (StatusCode::BAD_REQUEST, json!({"error": "id"})),
            },
            (Method::POST, ["documents", id, "archive"]) => match id.parse() {
                Ok(id) => self.archive(id).await,
                Err(_) => (StatusCode::BAD_REQUEST, json!({"error": "id"})),
            },
            _ => (StatusCode::NOT_FOUND, json!({"error": "no such page"})),
        };
        answer(status, value)
    }
}

fn answer(status: StatusCode, value: Value) -> Response<Vec<u8>> {
    let body = value.to_string().into_bytes();
    Response::builder()
        .status(status)
        .header(http::header::CONTENT_TYPE, "application/json")
        .header(http::header::CONTENT_LENGTH, body.len())
        .body(body)
        .unwrap()
}

fn env_number(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|v| v.parse().ok())
        .unwrap_or(default)
}

fn main() {
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("warn")).init();
    let port = env_number("PORT", 8080);
    let gateway = Gateway::new().expect("gateway");

    let mut conf = ServerConf::default();
    conf.threads = 2;
    conf.grace_period_seconds = Some(0);
    conf.graceful_shutdown_timeout_seconds = Some(1);
    let mut server = Server::new_with_opt_and_conf(None, conf);
    server.bootstrap();

    let mut service = Service::new("documents".to_string(), gateway);
    service.add_tcp(&format!("127.0.0.1:{port}"));
    server.add_service(service);
    server.run_forever();
}
