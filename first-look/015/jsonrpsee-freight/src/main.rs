//! Freight desk: a JSON-RPC server. Quotes come from the carrier's API over one HTTP/2 connection;
//! every 0.7 s the desk also asks the same API where its shipments under way are.
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use jsonrpsee::RpcModule;
use jsonrpsee::server::Server;
use jsonrpsee::types::ErrorObjectOwned;
use serde_json::{Value, json};

struct Desk {
    http: reqwest::Client,
    carrier: String,
    timing: bool,
    moving: AtomicU64,
}

impl Desk {
    async fn ask(&self, path: &str) -> Result<Value, reqwest::Error> {
        self.http
            .get(format!("{}{}", self.carrier, path))
            .send()
            .await?
            .error_for_status()?
            .json()
            .await
    }
}

fn fail<E: std::fmt::Display>(e: E) -> ErrorObjectOwned {
    ErrorObjectOwned::owned(-32000, e.to_string(), None::<()>)
}

fn env(name: &str, default: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| default.to_string())
}

async fn sweep(desk: Arc<Desk>) {
    let mut tick = tokio::time::interval(Duration::from_millis(700));
    loop {
        tick.tick().await;
        let t0 = Instant::now();
        let all = (0..14).map(|i| {
            let desk = desk.clone();
            async move { desk.ask(&format!("/shipments/{i}")).await }
        });
        let found = futures::future::join_all(all)
            .await
            .into_iter()
            .filter(|r| r.is_ok())
            .count();
        desk.moving.store(found as u64, Ordering::Relaxed);
        if desk.timing {
            eprintln!(
                "sweep found={found} took={:.1}",
                t0.elapsed().as_secs_f64() * 1e3
            );
        }
    }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let http = reqwest::Client::builder()
        .http2_prior_knowledge()
        .tcp_nodelay(true)
        .build()?;
    let desk = Arc::new(Desk {
        http,
        carrier: format!("http://127.0.0.1:{}", env("CARRIER_PORT", "9000")),
        timing: std::env::var("TIMING").is_ok(),
        moving: AtomicU64::new(0),
    });
    desk.ask("/quotes/0").await?; // opens the connection
    tokio::spawn(sweep(desk.clone()));

    let mut module = RpcModule::from_arc(desk);
    module.register_async_method("freight_quote", |params, desk, _ext| async move {
        let (parcel,): (u64,) = params.parse()?;
        let t0 = Instant::now();
        let quote = desk.ask(&format!("/quotes/{parcel}")).await.map_err(fail)?;
        if desk.timing {
            eprintln!(
                "quote took={:.1} carrier={}",
                t0.elapsed().as_secs_f64() * 1e3,
                quote["took"]
            );
        }
        Ok::<Value, ErrorObjectOwned>(json!({ "parcel": parcel, "quote": quote }))
    })?;
    module.register_method("freight_zone", |params, desk, _ext| {
        let (parcel,): (u64,) = params.parse()?;
        Ok::<Value, ErrorObjectOwned>(
            json!({ "zone": parcel % 7, "moving": desk.moving.load(Ordering::Relaxed) }),
        )
    })?;
    let server = Server::builder()
        .build(format!("127.0.0.1:{}", env("PORT", "8080")))
        .await?;
    let handle = server.start(module);
    let mut term = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    term.recv().await;
    handle.stop()?;
    Ok(())
}
