//! Shipping desk: nearest depots, and quotes that a carrier is asked for.
//! The carrier's client (ureq) blocks its caller; CARRIER_CALLS says where that happens:
//! "inline" on the thread that runs the request, "dedicated" on the threads that tokio keeps for blocking work.
use rweb::{Filter, Rejection, get};
use serde::Serialize;
use std::sync::OnceLock;
use std::time::Duration;

struct Depot {
    id: u32,
    lat: f64,
    lon: f64,
}

#[derive(Serialize)]
struct Near {
    depot: u32,
    km: f64,
}

#[derive(Serialize)]
struct Quote {
    parcel: u32,
    cents: u64,
    depot: u32,
}

static DEPOTS: OnceLock<Vec<Depot>> = OnceLock::new();
static CARRIER: OnceLock<(ureq::Agent, String)> = OnceLock::new();

fn depots() -> &'static [Depot] {
    DEPOTS.get_or_init(|| {
        let mut x: u64 = 88172645463325252;
        let mut next = move || {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            (x % 1_000_000) as f64 / 1_000_000.0
        };
        (0..3000)
            .map(|id| Depot {
                id,
                lat: 36.0 + 24.0 * next(),
                lon: -9.0 + 33.0 * next(),
            })
            .collect()
    })
}

fn nearest(lat: f64, lon: f64, n: usize) -> Vec<Near> {
    let mut all: Vec<Near> = depots()
        .iter()
        .map(|d| {
            let (a, b) = (lat.to_radians(), d.lat.to_radians());
            let h = ((b - a) / 2.0).sin().powi(2)
                + a.cos() * b.cos() * ((d.lon - lon).to_radians() / 2.0).sin().powi(2);
            Near {
                depot: d.id,
                km: 12742.0 * h.sqrt().asin(),
            }
        })
        .collect();
    all.sort_by(|a, b| a.km.total_cmp(&b.km));
    all.truncate(n);
    all
}

fn place(id: u32) -> (f64, f64) {
    (
        36.0 + (id * 7919 % 2400) as f64 / 100.0,
        -9.0 + (id * 104729 % 3300) as f64 / 100.0,
    )
}

/// Asks the carrier; blocks until it has answered.
fn ask_carrier(parcel: u32) -> Result<Quote, String> {
    let (agent, base) = CARRIER.get().unwrap();
    let (lat, lon) = place(parcel);
    let depot = nearest(lat, lon, 1).remove(0);
    let text = agent
        .get(&format!("{base}/rates?parcel={parcel}&km={:.0}", depot.km))
        .call()
        .map_err(|e| e.to_string())?
        .into_string()
        .map_err(|e| e.to_string())?;
    let answer: serde_json::Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    Ok(Quote {
        parcel,
        cents: answer["cents"].as_u64().unwrap_or(0),
        depot: depot.depot,
    })
}

#[derive(Debug)]
struct CarrierFailed;
impl rweb::reject::Reject for CarrierFailed {}

#[get("/health")]
fn health() -> String {
    format!("{} depots", depots().len())
}

#[get("/depots/{place_id}")]
fn depots_near(place_id: u32) -> String {
    let (lat, lon) = place(place_id);
    serde_json::to_string(&nearest(lat, lon, 5)).unwrap()
}

async fn quote(parcel: u32) -> Result<String, Rejection> {
    let answer = if std::env::var("CARRIER_CALLS").as_deref() == Ok("dedicated") {
        tokio::task::spawn_blocking(move || ask_carrier(parcel))
            .await
            .unwrap()
    } else {
        ask_carrier(parcel)
    };
    match answer {
        Ok(quote) => Ok(serde_json::to_string(&quote).unwrap()),
        Err(e) => {
            eprintln!("carrier: {e}");
            Err(rweb::reject::custom(CarrierFailed))
        }
    }
}

#[get("/quotes/{parcel}")]
async fn quotes(parcel: u32) -> Result<String, Rejection> {
    quote(parcel).await
}

#[tokio::main]
async fn main() {
    let mut args = std::env::args().skip(1);
    let port: u16 = args.next().and_then(|p| p.parse().ok()).expect("port");
    let base = args.next().expect("carrier's address");
    let agent = ureq::AgentBuilder::new()
        .timeout(Duration::from_secs(10))
        .max_idle_connections(64)
        .max_idle_connections_per_host(64)
        .build();
    let _ = CARRIER.set((agent, base));
    depots();
    let routes = health().or(depots_near()).or(quotes());
    rweb::serve(routes).run(([127, 0, 0, 1], port)).await;
}
