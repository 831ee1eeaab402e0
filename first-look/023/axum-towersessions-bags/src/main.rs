//! Shopping bags: axum with tower-sessions, sessions in a session service of the company (HTTP).
use std::net::SocketAddr;

use async_trait::async_trait;
use axum::{
    BoxError, Json, Router,
    error_handling::HandleErrorLayer,
    extract::Query,
    http::StatusCode,
    response::IntoResponse,
    routing::{get, post},
};
use serde::{Deserialize, Serialize};
use tower::ServiceBuilder;
use tower_sessions::{Expiry, Session, SessionManagerLayer, SessionStore, session::Id};

#[derive(Debug, thiserror::Error)]
enum StoreError {
    #[error(transparent)]
    Http(#[from] Box<ureq::Error>),
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Join(#[from] tokio::task::JoinError),
}

/// Sessions live in the session service: GET, PUT and DELETE /sessions/ID. The company's client of it
/// is a blocking one, so it runs on tokio's threads for blocking work.
#[derive(Clone)]
struct RemoteStore {
    agent: ureq::Agent,
    base: String,
}

impl RemoteStore {
    async fn call(
        &self,
        method: &'static str,
        id: &Id,
        body: Vec<u8>,
    ) -> Result<Option<String>, StoreError> {
        let agent = self.agent.clone();
        let url = format!("{}/sessions/{}", self.base, id);
        tokio::task::spawn_blocking(
            move || match agent.request(method, &url).send_bytes(&body) {
                Ok(response) => Ok(Some(response.into_string()?)),
                Err(ureq::Error::Status(404, _)) => Ok(None),
                Err(e) => Err(Box::new(e).into()),
            },
        )
        .await?
    }
}

#[async_trait]
impl SessionStore for RemoteStore {
    type Error = StoreError;

    async fn save(&self, session: &Session) -> Result<(), StoreError> {
        let body = serde_json::to_vec(session)?;
        self.call("PUT", session.id(), body).await.map(|_| ())
    }

    async fn load(&self, id: &Id) -> Result<Option<Session>, StoreError> {
        match self.call("GET", id, Vec::new()).await? {
            Some(body) => Ok(Some(serde_json::from_str(&body)?)),
            None => Ok(None),
        }
    }

    async fn delete(&self, id: &Id) -> Result<(), StoreError> {
        self.call("DELETE", id, Vec::new()).await.map(|_| ())
    }
}

#[derive(Debug, Default, Clone, Serialize, Deserialize)]
struct Bag {
    items: Vec<(u32, u32)>,
}

#[derive(Deserialize)]
struct Item {
    sku: u32,
}

const PRICES: [u32; 8] = [1299, 499, 2450, 899, 150, 3999, 725, 1049];

async fn show(session: Session) -> impl IntoResponse {
    let bag: Bag = session.get("bag").ok().flatten().unwrap_or_default();
    let total: u64 = bag
        .items
        .iter()
        .map(|(s, n)| u64::from(PRICES[*s as usize % 8]) * u64::from(*n))
        .sum();
    Json(serde_json::json!({ "lines": bag.items.len(), "total": total, "items": bag.items }))
}

async fn add(session: Session, Query(item): Query<Item>) -> impl IntoResponse {
    let mut bag: Bag = session.get("bag").ok().flatten().unwrap_or_default();
    match bag.items.iter_mut().find(|(s, _)| *s == item.sku) {
        Some(line) => line.1 += 1,
        None => bag.items.push((item.sku, 1)),
    }
    session.insert("bag", &bag).expect("bag");
    Json(serde_json::json!({ "lines": bag.items.len() }))
}

async fn serve(port: u16, base: String, threads: usize) {
    let store = RemoteStore {
        agent: ureq::AgentBuilder::new()
            .max_idle_connections_per_host(64)
            .build(),
        base,
    };
    let sessions = ServiceBuilder::new()
        .layer(HandleErrorLayer::new(|e: BoxError| async move {
            (StatusCode::SERVICE_UNAVAILABLE, e.to_string())
        }))
        .layer(
            SessionManagerLayer::new(store)
                .with_secure(false)
                .with_name("bag_session")
                .with_expiry(Expiry::OnInactivity(time::Duration::hours(2))),
        );
    let app = Router::new()
        .route("/bag", get(show))
        .route("/bag/items", post(add))
        .layer(sessions)
        .route("/health", get(|| async { "ok" }));
    eprintln!("bags on {port}, {threads} worker threads");
    axum::Server::bind(&SocketAddr::from(([127, 0, 0, 1], port)))
        .serve(app.into_make_service())
        .await
        .expect("server");
}

fn main() {
    let var = |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.into());
    let threads = var("WORKER_THREADS", "16").parse().expect("WORKER_THREADS");
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build()
        .expect("runtime")
        .block_on(serve(
            var("PORT", "8080").parse().expect("PORT"),
            var("SESSION_SERVICE", ""),
            threads,
        ));
}
