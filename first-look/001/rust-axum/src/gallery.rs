use axum::{Router, extract::State, routing::get};
use std::sync::Arc;
use tokio::sync::Semaphore;

#[derive(Clone)]
struct App {
    http: reqwest::Client,
    imaging: String,
    permits: Arc<Semaphore>,
}

async fn ask(app: &App, path: &str) -> String {
    let _permit = app.permits.acquire().await.unwrap();
    app.http
        .get(format!("{}{}", app.imaging, path))
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap()
}

async fn preview(State(app): State<App>) -> String {
    ask(&app, "/preview").await
}

async fn render(State(app): State<App>) -> String {
    ask(&app, "/render").await
}

#[tokio::main]
async fn main() {
    let port = std::env::args().nth(1).expect("port");
    let imaging = std::env::var("IMAGING_URL").expect("IMAGING_URL");
    let parallel = std::env::var("IMAGING_PARALLEL")
        .ok()
        .and_then(|p| p.parse().ok())
        .unwrap_or(3);
    let app = App {
        http: reqwest::Client::new(),
        imaging,
        permits: Arc::new(Semaphore::new(parallel)),
    };
    let router = Router::new()
        .route("/health", get(|| async { "ok" }))
        .route("/preview", get(preview))
        .route("/render", get(render))
        .with_state(app);
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}"))
        .await
        .unwrap();
    axum::serve(listener, router).await.unwrap();
}
