//! Ledger of a savings co-operative: transfers between accounts, balances, and a settlement
//! that books the members' foreign payments at the rate the bank quotes.
use std::time::{Duration, Instant};

use deadpool_postgres::{
    Config as PgConfig, ManagerConfig, Pool, PoolConfig, RecyclingMethod, Runtime,
};
use dropshot::{
    ApiDescription, ConfigDropshot, ConfigLogging, ConfigLoggingLevel, HttpError, HttpResponseOk,
    Path, RequestContext, ServerBuilder, TypedBody, endpoint,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_postgres::NoTls;

struct Ledger {
    pool: Pool,
    timing: bool,
}

#[derive(Deserialize, JsonSchema)]
struct AccountPath {
    account: i32,
}

#[derive(Deserialize, JsonSchema)]
struct NewTransfer {
    to: i32,
    cents: i64,
    reference: i64,
}

#[derive(Serialize, JsonSchema)]
struct Booked {
    entry: i64,
    account: i32,
}

#[derive(Serialize, JsonSchema)]
struct Balance {
    account: i32,
    holder: String,
    cents: i64,
}

fn internal<E: std::fmt::Display>(e: E) -> HttpError {
    HttpError::for_internal_error(e.to_string())
}

#[endpoint { method = GET, path = "/health" }]
async fn health(_rq: RequestContext<Ledger>) -> Result<HttpResponseOk<String>, HttpError> {
    Ok(HttpResponseOk("ok".to_string()))
}

#[endpoint { method = GET, path = "/accounts/{account}" }]
async fn balance(
    rq: RequestContext<Ledger>,
    path: Path<AccountPath>,
) -> Result<HttpResponseOk<Balance>, HttpError> {
    let account = path.into_inner().account;
    let db = rq.context().pool.get().await.map_err(internal)?;
    let st = db
        .prepare_cached("SELECT holder, cents FROM accounts WHERE id = $1")
        .await
        .map_err(internal)?;
    let row = db.query_one(&st, &[&account]).await.map_err(internal)?;
    Ok(HttpResponseOk(Balance {
        account,
        holder: row.get(0),
        cents: row.get(1),
    }))
}

#[endpoint { method = POST, path = "/accounts/{account}/transfers" }]
async fn transfer(
    rq: RequestContext<Ledger>,
    path: Path<AccountPath>,
    body: TypedBody<NewTransfer>,
) -> Result<HttpResponseOk<Booked>, HttpError> {
    let account = path.into_inner().account;
    let t = body.into_inner();
    let ctx = rq.context();
    let t0 = Instant::now();
    let mut db = ctx.pool.get().await.map_err(internal)?;
    let t1 = Instant::now();
    let ins = db
        .prepare_cached("INSERT INTO entries (debit, credit, cents, reference) VALUES ($1, $2, $3, $4) RETURNING id")
        .await
        .map_err(internal)?;
    let tx = db.transaction().await.map_err(internal)?;
    let row = tx
        .query_one(&ins, &[&account, &t.to, &t.cents, &t.reference])
        .await
        .map_err(internal)?;
    let t2 = Instant::now();
    tx.commit().await.map_err(internal)?;
    if ctx.timing {
        eprintln!(
            "transfer pool={:.1} insert={:.1} commit={:.1}",
            (t1 - t0).as_secs_f64() * 1e3,
            (t2 - t1).as_secs_f64() * 1e3,
            t2.elapsed().as_secs_f64() * 1e3
        );
    }
    Ok(HttpResponseOk(Booked {
        entry: row.get(0),
        account,
    }))
}

/// Books one lot of foreign payments: marks it as taken, asks the bank for the rate, writes the result.
async fn settle(
    pool: &Pool,
    http: &reqwest::Client,
    bank: &str,
    lot: i64,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let mut db = pool.get().await?;
    let tx = db.transaction().await?;
    tx.execute(
        "INSERT INTO settlements (lot, state) VALUES ($1, 'taken')",
        &[&lot],
    )
    .await?;
    let rate: f64 = http
        .get(format!("{bank}/rate/CHF"))
        .send()
        .await?
        .json::<serde_json::Value>()
        .await?["rate"]
        .as_f64()
        .unwrap_or(1.0);
    tx.execute(
        "UPDATE settlements SET state = 'booked', rate = $2 WHERE lot = $1",
        &[&lot, &rate],
    )
    .await?;
    tx.commit().await?;
    Ok(())
}

fn env(name: &str, default: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| default.to_string())
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), String> {
    let mut pg = PgConfig::new();
    pg.host = Some("127.0.0.1".into());
    pg.port = env("DB_PORT", "5432").parse().ok();
    pg.user = Some("ledger".into());
    pg.dbname = Some("ledger".into());
    pg.manager = Some(ManagerConfig {
        recycling_method: RecyclingMethod::Fast,
    });
    pg.pool = Some(PoolConfig::new(24));
    let pool = pg
        .create_pool(Some(Runtime::Tokio1), NoTls)
        .map_err(|e| e.to_string())?;
    // the connections are opened and the statements prepared before the first request
    let mut held = Vec::new();
    for _ in 0..24 {
        // at a start of the whole group the database may still be recovering
        let mut tries = 0;
        let db = loop {
            match pool.get().await {
                Ok(db) => break db,
                Err(e) if tries == 100 => return Err(e.to_string()),
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
            tries += 1;
        };
        db.prepare_cached("SELECT holder, cents FROM accounts WHERE id = $1")
            .await
            .map_err(|e| e.to_string())?;
        db.prepare_cached("INSERT INTO entries (debit, credit, cents, reference) VALUES ($1, $2, $3, $4) RETURNING id")
            .await
            .map_err(|e| e.to_string())?;
        held.push(db);
    }
    drop(held);

    let settle_pool = pool.clone();
    let bank = format!("http://127.0.0.1:{}", env("BANK_PORT", "9000"));
    tokio::spawn(async move {
        let http = reqwest::Client::new();
        let mut tick = tokio::time::interval(Duration::from_millis(700));
        let mut lot = 0i64;
        loop {
            tick.tick().await;
            lot += 1;
            if let Err(e) = settle(&settle_pool, &http, &bank, lot).await {
                eprintln!("settlement {lot}: {e}");
            }
        }
    });

    let log = ConfigLogging::StderrTerminal {
        level: ConfigLoggingLevel::Warn,
    }
    .to_logger("ledger")
    .map_err(|e| e.to_string())?;
    let mut api = ApiDescription::new();
    api.register(health).map_err(|e| e.to_string())?;
    api.register(balance).map_err(|e| e.to_string())?;
    api.register(transfer).map_err(|e| e.to_string())?;
    let config = ConfigDropshot {
        bind_address: format!("127.0.0.1:{}", env("PORT", "8080"))
            .parse()
            .unwrap(),
        ..Default::default()
    };
    let ctx = Ledger {
        pool,
        timing: std::env::var("TIMING").is_ok(),
    };
    let server = ServerBuilder::new(api, ctx, log)
        .config(config)
        .start()
        .map_err(|e| e.to_string())?;
    server.await
}
