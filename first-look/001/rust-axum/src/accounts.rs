use axum::{
    Router,
    extract::{Query, State},
    routing::get,
};
use serde::Deserialize;
use std::sync::Arc;

#[derive(Deserialize)]
struct Credentials {
    user: String,
    password: String,
}

async fn page() -> &'static str {
    "<h1>welcome</h1>"
}

async fn login(State(hash): State<Arc<String>>, Query(c): Query<Credentials>) -> String {
    match bcrypt::verify(&c.password, &hash) {
        Ok(true) => format!("hello {}", c.user),
        _ => "wrong user or password".to_string(),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let port = std::env::args().nth(1).expect("port");
    let cost = std::env::var("BCRYPT_COST")
        .ok()
        .and_then(|c| c.parse().ok())
        .unwrap_or(10);
    let hash = Arc::new(bcrypt::hash("secret", cost).unwrap());
    let app = Router::new()
        .route("/", get(page))
        .route("/login", get(login))
        .with_state(hash);
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}"))
        .await
        .unwrap();
    axum::serve(listener, app).await.unwrap();
}
