//! Ferry fares: a blocking Astra service with all fares in a DashMap; a thread
//! keeps the fares of the live routes fresh from the carrier's booking system.
mod carrier;
mod fares;

use astra::{Body, Request, Response, ResponseBuilder, Server};
use fares::FareTable;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Instant;

const PORTS: [(&str, &str); 8] = [
    ("DOV", "Dover"),
    ("CAL", "Calais"),
    ("HVH", "Hoek van Holland"),
    ("HWC", "Harwich"),
    ("ROS", "Rosslare"),
    ("FIS", "Fishguard"),
    ("KEL", "Kiel"),
    ("OSL", "Oslo"),
];

fn json(status: u16, body: String) -> Response {
    ResponseBuilder::new()
        .status(status)
        .header("content-type", "application/json")
        .body(Body::new(body))
        .unwrap()
}

fn route(req: &Request, table: &FareTable, trace: &Option<Mutex<std::fs::File>>) -> Response {
    let path = req.uri().path();
    let mut parts = path.trim_start_matches('/').splitn(2, '/');
    match (parts.next(), parts.next()) {
        (Some("fares"), Some(id)) => {
            let Ok(id) = id.parse::<u32>() else {
                return json(400, r#"{"error":"bad route"}"#.into());
            };
            let begin = Instant::now();
            let fare = table.find(id);
            if let Some(file) = trace {
                let ms = begin.elapsed().as_secs_f64() * 1e3;
                let _ = writeln!(file.lock().unwrap(), "find {id} {ms:.3}");
            }
            match fare {
                Some(fare) => json(200, serde_json::to_string(&fare).unwrap()),
                None => json(404, r#"{"error":"no such route"}"#.into()),
            }
        }
        (Some("ports"), Some(code)) => match PORTS.iter().find(|p| p.0 == code) {
            Some(p) => json(200, format!(r#"{{"code":"{}","name":"{}"}}"#, p.0, p.1)),
            None => json(404, r#"{"error":"no such port"}"#.into()),
        },
        (Some("health"), None) => json(200, r#"{"ok":true}"#.into()),
        _ => json(404, r#"{"error":"not found"}"#.into()),
    }
}

fn main() {
    let port: u16 = std::env::var("PORT").expect("PORT").parse().expect("PORT");
    let carrier_port: u16 = std::env::var("CARRIER_PORT")
        .expect("CARRIER_PORT")
        .parse()
        .unwrap();
    let fetch_first = std::env::var("FETCH_FIRST").is_ok_and(|v| v == "1");
    let trace = std::env::var("FARES_TRACE")
        .ok()
        .map(|p| Mutex::new(std::fs::File::create(p).unwrap()));

    let table = Arc::new(FareTable::new());
    let refreshed = table.clone();
    std::thread::Builder::new()
        .name("fare-refresh".into())
        .spawn(move || {
            fares::keep_fresh(
                &refreshed,
                &carrier::Carrier::new(carrier_port),
                fetch_first,
            )
        })
        .unwrap();

    Server::bind(("127.0.0.1", port))
        .max_workers(64)
        .serve(move |req: Request, _info| route(&req, &table, &trace))
        .expect("serve");
}
