//! Stock of a warehouse: Saphir 3.1 (hyper, tokio) and the mysql crate on MariaDB.
use mysql::prelude::*;
use mysql::{OptsBuilder, Pool, PoolConstraints, PoolOpts};
use saphir::prelude::*;
use serde_json::{Value, json};
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Instant;

struct Store {
    pool: Pool,
    timing: Option<Mutex<std::fs::File>>,
}

impl Store {
    fn note(&self, what: &str, start: Instant) {
        if let Some(t) = &self.timing {
            let _ = writeln!(
                t.lock().unwrap(),
                "{} {:.1}",
                what,
                start.elapsed().as_secs_f64() * 1e3
            );
        }
    }

    fn show(&self, sku: u32) -> mysql::Result<Option<Value>> {
        let start = Instant::now();
        let mut db = self.pool.get_conn()?;
        let row: Option<(String, i64, i64)> = db.exec_first(
            "SELECT name, on_hand, reserved FROM stock WHERE sku = ?",
            (sku,),
        )?;
        self.note("select", start);
        Ok(row.map(|(name, on_hand, reserved)| json!({"sku": sku, "name": name, "on_hand": on_hand, "reserved": reserved})))
    }

    fn reserve(&self, sku: u32, n: i64) -> mysql::Result<Option<Value>> {
        let start = Instant::now();
        let mut db = self.pool.get_conn()?;
        self.note("pool", start);
        let start = Instant::now();
        db.exec_drop(
            "UPDATE stock SET reserved = (reserved + ?) MOD 1000 WHERE sku = ?",
            (1 + n % 3, sku),
        )?;
        self.note("update", start);
        Ok(Some(json!({"sku": sku, "rows": db.affected_rows()})))
    }
}

/// Runs a query on tokio's threads for blocking work.
async fn blocking<F>(f: F) -> (u16, Json<Value>)
where
    F: FnOnce() -> mysql::Result<Option<Value>> + Send + 'static,
{
    match tokio::task::spawn_blocking(f).await {
        Ok(Ok(Some(doc))) => (200, Json(doc)),
        Ok(Ok(None)) => (404, Json(json!({"error": "sku"}))),
        Ok(Err(e)) => (500, Json(json!({"error": e.to_string()}))),
        Err(e) => (500, Json(json!({"error": e.to_string()}))),
    }
}

struct StockController(Arc<Store>);

#[controller(name = "stock")]
impl StockController {
    #[get("/<sku>")]
    async fn show(&self, sku: u32) -> (u16, Json<Value>) {
        let store = self.0.clone();
        blocking(move || store.show(sku)).await
    }
}

struct ReservationController(Arc<Store>);

#[controller(name = "reservations")]
impl ReservationController {
    #[post("/<sku>")]
    async fn reserve(&self, sku: u32, body: Json<Value>) -> (u16, Json<Value>) {
        let store = self.0.clone();
        let n = body.into_inner()["n"].as_i64().unwrap_or(0);
        blocking(move || store.reserve(sku, n)).await
    }
}

async fn health(_req: Request) -> (u16, String) {
    (200, "ok".to_string())
}

#[tokio::main]
async fn main() -> Result<(), SaphirError> {
    let env = |k: &str| std::env::var(k).unwrap();
    let options = OptsBuilder::new()
        .ip_or_hostname(Some("127.0.0.1"))
        .tcp_port(env("DB_PORT").parse().unwrap())
        .prefer_socket(false)
        .user(Some("shop"))
        .pass(Some("shop"))
        .db_name(Some("shop"))
        .pool_opts(
            PoolOpts::new()
                .with_constraints(PoolConstraints::new(24, 48).unwrap())
                .with_reset_connection(false),
        );
    let timing = std::env::var("TIMING_LOG")
        .ok()
        .map(|p| Mutex::new(std::fs::File::create(p).unwrap()));
    let store = Arc::new(Store {
        pool: Pool::new(options).unwrap(),
        timing,
    });
    Server::builder()
        .configure_listener(|l| {
            l.interface(&format!("127.0.0.1:{}", env("PORT")))
                .request_timeout(None)
        })
        .configure_router(|r| {
            r.route("/health", Method::GET, health)
                .controller(StockController(store.clone()))
                .controller(ReservationController(store))
        })
        .build()
        .run()
        .await
}
