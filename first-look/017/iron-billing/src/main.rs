//! Billing service: issues invoices and writes each issued document to the audit log (stdout, kept by svlogd).
use iron::headers::ContentType;
use iron::prelude::*;
use iron::status;
use router::Router;
use serde::Serialize;
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

#[derive(Serialize, Clone)]
struct Position {
    line: u32,
    article: String,
    text: String,
    quantity: u32,
    net_cents: u64,
    vat_percent: u8,
}

#[derive(Serialize, Clone)]
struct Invoice {
    id: u32,
    customer: String,
    currency: &'static str,
    positions: Vec<Position>,
}

impl Invoice {
    fn sample(id: u32) -> Invoice {
        let n = 36 + id % 5;
        Invoice {
            id,
            customer: format!("C-{:05}", id * 37 % 99991),
            currency: "EUR",
            positions: (1..=n)
                .map(|line| Position {
                    line,
                    article: format!("A{:06}", (id * 131 + line * 977) % 999983),
                    text: format!(
                        "Hydraulic fitting {} mm, galvanised, batch {}",
                        6 + line % 30,
                        (id * line) % 4096
                    ),
                    quantity: 1 + (id + line) % 12,
                    net_cents: 195 + ((id * 7 + line * 113) % 20000) as u64,
                    vat_percent: if line % 9 == 0 { 7 } else { 19 },
                })
                .collect(),
        }
    }

    fn gross_cents(&self) -> u64 {
        self.positions
            .iter()
            .map(|p| p.net_cents * p.quantity as u64 * (100 + p.vat_percent as u64) / 100)
            .sum()
    }
}

/// Measures writes to stdout when BILLING_TIMING is set.
struct TimedStdout;

impl Write for TimedStdout {
    fn write(&mut self, b: &[u8]) -> io::Result<usize> {
        let t = Instant::now();
        let mut out = io::stdout().lock();
        let lock = t.elapsed();
        let r = out.write(b);
        drop(out);
        eprintln!(
            "log write of {} bytes: lock {:.1} ms, all {:.1} ms",
            b.len(),
            lock.as_secs_f64() * 1e3,
            t.elapsed().as_secs_f64() * 1e3
        );
        r
    }
    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}

fn json(body: String) -> IronResult<Response> {
    let mut r = Response::with((status::Ok, body));
    r.headers.set(ContentType::json());
    Ok(r)
}

fn id_of(req: &Request) -> Option<u32> {
    req.extensions.get::<Router>()?.find("id")?.parse().ok()
}

fn main() {
    let _guard;
    let log = tracing_subscriber::fmt()
        .json()
        .with_max_level(tracing::Level::INFO);
    if std::env::var("LOG_WRITER").as_deref() == Ok("nonblocking") {
        let (writer, guard) = tracing_appender::non_blocking(io::stdout());
        _guard = guard;
        log.with_writer(writer).init();
    } else if std::env::var("BILLING_TIMING").is_ok() {
        log.with_writer(|| TimedStdout).init();
    } else {
        log.with_writer(io::stdout).init();
    }

    let invoices: Arc<HashMap<u32, Invoice>> =
        Arc::new((1..=400).map(|i| (i, Invoice::sample(i))).collect());
    let issued = Arc::new(AtomicU64::new(0));
    let mut router = Router::new();

    let all = invoices.clone();
    router.post(
        "/invoices/:id/issue",
        move |req: &mut Request| -> IronResult<Response> {
            let Some(inv) = id_of(req).and_then(|id| all.get(&id)) else { return Ok(Response::with(status::NotFound)) };
            let mut order = String::new();
            if req.body.read_to_string(&mut order).is_err() {
                return Ok(Response::with(status::BadRequest));
            }
            let run = serde_json::from_str::<serde_json::Value>(&order).ok().and_then(|o| o["run"].as_u64()).unwrap_or(0);
            let number = issued.fetch_add(1, Ordering::Relaxed) + 1;
            let document = serde_json::to_string(inv).unwrap();
            tracing::info!(target: "audit", run, number, gross_cents = inv.gross_cents(), document = %document, "invoice issued");
            json(format!("{{\"number\":{},\"gross_cents\":{}}}", number, inv.gross_cents()))
        },
        "issue",
    );
    let all = invoices.clone();
    router.get(
        "/invoices/:id/total",
        move |req: &mut Request| -> IronResult<Response> {
            let Some(inv) = id_of(req).and_then(|id| all.get(&id)) else {
                return Ok(Response::with(status::NotFound));
            };
            tracing::debug!(target: "audit", id = inv.id, "total asked");
            json(format!(
                "{{\"id\":{},\"gross_cents\":{}}}",
                inv.id,
                inv.gross_cents()
            ))
        },
        "total",
    );
    router.get(
        "/health/",
        |_: &mut Request| json("{\"ok\":true}".into()),
        "health",
    );

    let port = std::env::var("PORT").unwrap_or_else(|_| "8080".into());
    let mut iron = Iron::new(router);
    iron.threads = 80;
    let _listening = iron.http(format!("127.0.0.1:{port}")).expect("listen");
}
