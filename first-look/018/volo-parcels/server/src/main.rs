//! Parcel tracking: the handhelds of the depots post scans, customers ask where
//! a parcel is.  Volo-HTTP, deadpool-postgres, PostgreSQL.

use std::{env, fs::File, io::Write, net::SocketAddr, sync::Arc, sync::Mutex, time::Instant};

use deadpool_postgres::{Config, ManagerConfig, Pool, PoolConfig, RecyclingMethod, Runtime};
use serde::{Deserialize, Serialize};
use tokio_postgres::NoTls;
use volo::net::Address;
use volo_http::{
    http::StatusCode,
    server::{
        IntoResponse, Server,
        extract::Json,
        param::PathParams,
        route::{Router, get, post},
    },
    utils::Extension,
};

#[derive(Clone)]
struct App {
    pool: Pool,
    timing: Option<Arc<Mutex<File>>>,
}

#[derive(Deserialize)]
struct Scan {
    depot: i32,
    event: String,
    device: i64,
}

#[derive(Serialize)]
struct Parcel {
    id: i32,
    state: String,
    depot: i32,
    scans: i32,
}

#[derive(Serialize)]
struct Depot {
    id: i32,
    name: String,
    parcels: i64,
}

#[derive(Serialize)]
struct Accepted {
    parcel: i32,
    scans: i32,
}

type Failure = (StatusCode, String);

fn failed(e: impl std::fmt::Display) -> Failure {
    (StatusCode::INTERNAL_SERVER_ERROR, e.to_string())
}

async fn health(Extension(app): Extension<App>) -> Result<&'static str, Failure> {
    let db = app.pool.get().await.map_err(failed)?;
    db.query_one("SELECT 1", &[]).await.map_err(failed)?;
    Ok("ok\n")
}

async fn parcel(
    PathParams(id): PathParams<i32>,
    Extension(app): Extension<App>,
) -> Result<impl IntoResponse, Failure> {
    let db = app.pool.get().await.map_err(failed)?;
    let st = db
        .prepare_cached("SELECT id, state, depot, scans FROM parcels WHERE id = $1")
        .await
        .map_err(failed)?;
    match db.query_opt(&st, &[&id]).await.map_err(failed)? {
        Some(r) => Ok(Json(Parcel {
            id: r.get(0),
            state: r.get(1),
            depot: r.get(2),
            scans: r.get(3),
        })),
        None => Err((StatusCode::NOT_FOUND, format!("no parcel {id}\n"))),
    }
}

async fn depot(
    PathParams(id): PathParams<i32>,
    Extension(app): Extension<App>,
) -> Result<impl IntoResponse, Failure> {
    let db = app.pool.get().await.map_err(failed)?;
    let st = db
        .prepare_cached(
            "SELECT d.id, d.name, (SELECT count(*) FROM parcels p WHERE p.depot = d.id)
               FROM depots d WHERE d.id = $1",
        )
        .await
        .map_err(failed)?;
    match db.query_opt(&st, &[&id]).await.map_err(failed)? {
        Some(r) => Ok(Json(Depot {
            id: r.get(0),
            name: r.get(1),
            parcels: r.get(2),
        })),
        None => Err((StatusCode::NOT_FOUND, format!("no depot {id}\n"))),
    }
}

/// A scan is only acknowledged to the handheld when it is durable.
async fn scan(
    PathParams(id): PathParams<i32>,
    Extension(app): Extension<App>,
    Json(scan): Json<Scan>,
) -> Result<impl IntoResponse, Failure> {
    let t0 = Instant::now();
    let mut db = app.pool.get().await.map_err(failed)?;
    let insert = db
        .prepare_cached("INSERT INTO scans (parcel, depot, event, device) VALUES ($1, $2, $3, $4)")
        .await
        .map_err(failed)?;
    let update = db
        .prepare_cached(
            "UPDATE parcels SET state = $2, depot = $3, scans = scans + 1 WHERE id = $1 RETURNING scans",
        )
        .await
        .map_err(failed)?;
    let t1 = Instant::now();
    let tx = db.transaction().await.map_err(failed)?;
    tx.execute(&insert, &[&id, &scan.depot, &scan.event, &scan.device])
        .await
        .map_err(failed)?;
    let row = tx
        .query_one(&update, &[&id, &scan.event, &scan.depot])
        .await
        .map_err(failed)?;
    let t2 = Instant::now();
    tx.commit().await.map_err(failed)?;
    if let Some(log) = &app.timing {
        let _ = writeln!(
            log.lock().unwrap(),
            "pool {:.1} statements {:.1} commit {:.1}",
            (t1 - t0).as_secs_f64() * 1e3,
            (t2 - t1).as_secs_f64() * 1e3,
            t2.elapsed().as_secs_f64() * 1e3
        );
    }
    Ok(Json(Accepted {
        parcel: id,
        scans: row.get(0),
    }))
}

fn main() {
    let port: u16 = env::var("PORT").unwrap().parse().unwrap();
    let mut cfg = Config::new();
    cfg.host = Some("127.0.0.1".into());
    cfg.port = Some(env::var("DB_PORT").unwrap().parse().unwrap());
    cfg.user = Some("postgres".into());
    cfg.dbname = Some("parcels".into());
    cfg.manager = Some(ManagerConfig {
        recycling_method: RecyclingMethod::Fast,
    });
    cfg.pool = Some(PoolConfig::new(16));
    let app = App {
        pool: cfg.create_pool(Some(Runtime::Tokio1), NoTls).unwrap(),
        timing: env::var("TIMING_LOG")
            .ok()
            .map(|p| Arc::new(Mutex::new(File::create(p).unwrap()))),
    };
    let rt = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    rt.block_on(async move {
        let router = Router::new()
            .route("/health", get(health))
            .route("/parcels/{id}", get(parcel))
            .route("/depots/{id}", get(depot))
            .route("/scans/{id}", post(scan))
            .layer(Extension(app));
        let addr: SocketAddr = ([127, 0, 0, 1], port).into();
        tokio::select! {
            r = Server::new(router).run(Address::from(addr)) => r.unwrap(),
            _ = terminated() => (),
        }
    });
    std::process::exit(0);
}

async fn terminated() {
    use tokio::signal::unix::{SignalKind, signal};
    signal(SignalKind::terminate()).unwrap().recv().await;
}
