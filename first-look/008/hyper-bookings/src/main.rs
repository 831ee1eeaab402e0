// Hotel bookings: rooms, availability and invoices, out of PostgreSQL.
use bytes::Bytes;
use deadpool_postgres::{Manager, Pool};
use http_body_util::Full;
use hyper::{Request, Response, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use std::{env, sync::Arc};
use tokio::{net::TcpListener, sync::Mutex};
use tokio_postgres::{Client, NoTls};

struct App {
    ledger: Mutex<Client>, // one session: invoice numbers are drawn in a transaction of it
    pool: Pool,
}
type Fail = Box<dyn std::error::Error + Send + Sync>;

async fn room(c: &Client, id: i32) -> Result<String, Fail> {
    let r = c
        .query_one("SELECT id, name, price FROM room WHERE id = $1", &[&id])
        .await?;
    Ok(serde_json::json!({"id": r.get::<_, i32>(0), "name": r.get::<_, String>(1), "price": r.get::<_, i32>(2)}).to_string())
}

async fn next_number(app: &App) -> Result<String, Fail> {
    let c = app.ledger.lock().await;
    let r = c
        .query_one("UPDATE counter SET n = n + 1 RETURNING n", &[])
        .await?;
    Ok(format!("{{\"invoice\":{}}}", r.get::<_, i32>(0)))
}

async fn close_day(app: &App) -> Result<String, Fail> {
    let mut c = app.ledger.lock().await;
    let tx = c.transaction().await?;
    let r = tx.query_one("SELECT sum(n.price::bigint * s.nights), count(*) FROM stay s JOIN room n ON n.id = s.room WHERE md5(s.guest) > '4'", &[]).await?;
    tx.execute("UPDATE counter SET n = n + 0", &[]).await?;
    tx.commit().await?;
    Ok(format!("{{\"stays\":{}}}", r.get::<_, i64>(1)))
}

async fn stays(app: &App, id: i32) -> Result<String, Fail> {
    let c = app.pool.get().await?;
    let rows = c
        .query(
            "SELECT guest, nights FROM stay WHERE room = $1 ORDER BY guest",
            &[&id],
        )
        .await?;
    let v: Vec<_> = rows
        .iter()
        .map(|r| serde_json::json!({"guest": r.get::<_, String>(0), "nights": r.get::<_, i32>(1)}))
        .collect();
    Ok(serde_json::to_string(&v)?)
}

async fn handle(app: Arc<App>, req: Request<Incoming>) -> Result<Response<Full<Bytes>>, Fail> {
    let id = req
        .uri()
        .query()
        .and_then(|q| q.strip_prefix("id="))
        .and_then(|v| v.parse().ok())
        .unwrap_or(1);
    let body = match req.uri().path() {
        "/room" => {
            let c = app.pool.get().await?;
            room(&c, id).await
        }
        "/stays" => stays(&app, id).await,
        "/number" => next_number(&app).await,
        "/close-day" => close_day(&app).await,
        _ => Ok("{}".into()),
    };
    Ok(match body {
        Ok(b) => Response::builder()
            .header("content-type", "application/json")
            .body(Full::new(b.into()))?,
        Err(e) => Response::builder()
            .status(500)
            .body(Full::new(e.to_string().into()))?,
    })
}

#[tokio::main]
async fn main() -> Result<(), Fail> {
    let config: tokio_postgres::Config = env::var("DATABASE_URL")?.parse()?;
    let (ledger, conn) = config.connect(NoTls).await?;
    tokio::spawn(conn);
    let pool = Pool::builder(Manager::new(config, NoTls))
        .max_size(8)
        .build()?;
    let app = Arc::new(App {
        ledger: Mutex::new(ledger),
        pool,
    });
    let listener = TcpListener::bind(env::var("LISTEN")?).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let app = app.clone();
        tokio::spawn(async move {
            let _ = http1::Builder::new()
                .serve_connection(
                    TokioIo::new(stream),
                    service_fn(move |r| handle(app.clone(), r)),
                )
                .await;
        });
    }
}
