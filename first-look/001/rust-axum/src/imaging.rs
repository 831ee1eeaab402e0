use axum::{Router, routing::get};
use std::time::Duration;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let port = std::env::args().nth(1).expect("port");
    let router = Router::new()
        .route(
            "/preview",
            get(|| async {
                tokio::time::sleep(Duration::from_millis(3)).await;
                "preview"
            }),
        )
        .route(
            "/render",
            get(|| async {
                tokio::time::sleep(Duration::from_millis(220)).await;
                "picture"
            }),
        );
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}"))
        .await
        .unwrap();
    axum::serve(listener, router).await.unwrap();
}
