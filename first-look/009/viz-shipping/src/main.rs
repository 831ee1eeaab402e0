use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};
use reqwest_retry::{Jitter, RetryTransientMiddleware, policies::ExponentialBackoff};
use std::io::Write;
use std::{net::SocketAddr, sync::Arc, time::Duration};
use tokio::net::TcpListener;
use viz::{
    IntoResponse, Request, RequestExt, Response, ResponseExt, Result, Router, StatusCode, serve,
    types::State,
};

struct App {
    http: ClientWithMiddleware,
    carrier: String,
    labels: Vec<String>,
}

async fn health(_: Request) -> Result<&'static str> {
    Ok("ok\n")
}

// Price of a parcel: asks the carrier for the tariff of its zone.
async fn price(req: Request) -> Result<Response> {
    let app = req.state::<Arc<App>>().unwrap();
    let zone: u32 = req.param("zone")?;
    let answer = app
        .http
        .get(format!("{}/tariff/{}.json", app.carrier, zone % 8))
        .send()
        .await;
    match answer {
        Ok(r) if r.status().is_success() => {
            let v: serde_json::Value = r.json().await.unwrap_or_default();
            Ok(Response::json(
                serde_json::json!({ "zone": zone, "tariff": v }),
            )?)
        }
        _ => Ok((StatusCode::BAD_GATEWAY, "carrier\n").into_response()),
    }
}

// The manifest of a day: all labels, as gzip.
async fn manifest(req: Request) -> Result<Response> {
    let app = req.state::<Arc<App>>().unwrap();
    let day: usize = req.param("day")?;
    let gz = tokio::task::spawn_blocking(move || {
        let mut enc = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
        for (i, l) in app.labels.iter().enumerate().skip(day % 50) {
            writeln!(enc, "{day};{i};{l}").unwrap();
        }
        enc.finish().unwrap()
    })
    .await
    .unwrap();
    let mut res = gz.into_response();
    res.headers_mut()
        .insert("content-encoding", "gzip".parse().unwrap());
    Ok(res)
}

#[tokio::main]
async fn main() {
    let port: u16 = std::env::args().nth(1).unwrap().parse().unwrap();
    let carrier = std::env::args().nth(2).unwrap_or_default();
    let policy = ExponentialBackoff::builder()
        .retry_bounds(Duration::from_millis(100), Duration::from_millis(800))
        .jitter(Jitter::None)
        .build_with_max_retries(4);
    let http = ClientBuilder::new(reqwest::Client::new())
        .with(RetryTransientMiddleware::new_with_policy(policy))
        .build();
    let labels = (0..1600u64)
        .map(|i| {
            format!(
                "{:016x} street {} house {}",
                i.wrapping_mul(0x9e3779b97f4a7c15),
                i * 7919 % 9973,
                i % 211
            )
        })
        .collect();
    let app = Router::new()
        .get("/health", health)
        .get("/price/:zone", price)
        .get("/manifest/:day", manifest)
        .with(State::new(Arc::new(App {
            http,
            carrier,
            labels,
        })));
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], port)))
        .await
        .unwrap();
    serve(listener, app).await.unwrap();
}
