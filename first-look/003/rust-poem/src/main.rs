use futures_util::stream::{self, StreamExt};
use poem::{EndpointExt, Route, Server, get, handler, listener::TcpListener, web::Query};
use sha2::{Digest, Sha256};
use std::time::Duration;

#[derive(serde::Deserialize)]
struct Page {
    #[serde(default)]
    n: u64,
}

fn env(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|v| v.parse().ok())
        .unwrap_or(default)
}

#[handler]
fn health() -> &'static str {
    "ok"
}

#[handler]
async fn item(Query(p): Query<Page>) -> String {
    tokio::time::sleep(Duration::from_millis(2)).await;
    format!("item {}\n", p.n)
}

/// Asks the label printer, whose driver has only a synchronous interface.
fn print_label(ms: u64) -> String {
    std::thread::sleep(Duration::from_millis(ms));
    "printed\n".to_string()
}

#[handler]
async fn label() -> String {
    let ms = env("PRINTER_MS", 200);
    if env("OFFLOAD", 0) == 1 {
        tokio::task::spawn_blocking(move || print_label(ms))
            .await
            .unwrap()
    } else {
        print_label(ms)
    }
}

#[handler]
async fn thumbnail(Query(p): Query<Page>) -> String {
    // small synchronous work, off the runtime's workers as the documentation asks
    tokio::task::spawn_blocking(move || format!("{:x}", Sha256::digest(p.n.to_be_bytes())))
        .await
        .unwrap()
}

/// Adds up the ledger: all lines are in memory, so the stream is always ready.
#[handler]
async fn ledger() -> String {
    let lines = env("LINES", 10_000);
    let sum = stream::iter(0..lines)
        .fold([0u8; 32], |acc, line| async move {
            let mut acc = acc;
            for _ in 0..24 {
                acc = Sha256::new()
                    .chain_update(acc)
                    .chain_update(line.to_be_bytes())
                    .finalize()
                    .into();
            }
            acc
        })
        .await;
    format!("{:02x?}\n", &sum[..4])
}

fn main() -> std::io::Result<()> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(env("WORKERS", 2) as usize)
        .max_blocking_threads(env("BLOCKING", 512) as usize)
        .enable_all()
        .build()?
        .block_on(async {
            let app = Route::new()
                .at("/health", get(health))
                .at("/item", get(item))
                .at("/label", get(label))
                .at("/thumbnail", get(thumbnail))
                .at("/ledger", get(ledger))
                .with(poem::middleware::NormalizePath::new(
                    poem::middleware::TrailingSlash::Trim,
                ));
            let port = std::env::var("PORT").unwrap();
            Server::new(TcpListener::bind(format!("127.0.0.1:{port}")))
                .run(app)
                .await
        })
}
