use sqlx::Row;
use sqlx::postgres::{PgPool, PgPoolOptions};
use tide::{Request, Response, Result};

type Req = Request<PgPool>;

fn var(name: &str, default: u32) -> u32 {
    std::env::var(name)
        .ok()
        .and_then(|v| v.parse().ok())
        .unwrap_or(default)
}

fn id(req: &Req) -> Result<i32> {
    Ok((req.param("id")?.parse::<u64>()? % 400 + 1) as i32)
}

fn json(value: serde_json::Value) -> Response {
    Response::builder(200).body(value).build()
}

async fn room(req: Req) -> Result {
    let row = sqlx::query("SELECT id, hotel, kind, beds FROM room WHERE id = $1")
        .bind(id(&req)?)
        .fetch_one(req.state())
        .await?;
    Ok(json(serde_json::json!({
        "room": row.get::<i32, _>(0), "hotel": row.get::<i32, _>(1), "kind": row.get::<&str, _>(2), "beds": row.get::<i32, _>(3)
    })))
}

async fn hotel(req: Req) -> Result {
    let rows =
        sqlx::query("SELECT id, day::text FROM stay WHERE hotel = $1 ORDER BY day LIMIT 200")
            .bind(id(&req)? % 20)
            .fetch_all(req.state())
            .await?;
    let stays: Vec<_> = rows
        .iter()
        .map(|r| serde_json::json!([r.get::<i32, _>(0), r.get::<&str, _>(1)]))
        .collect();
    Ok(json(serde_json::json!({ "stays": stays })))
}

async fn availability(req: Req) -> Result {
    // the function asks the booking portal through its foreign table
    let row = sqlx::query("SELECT portal_availability($1)")
        .bind(id(&req)?)
        .fetch_one(req.state())
        .await?;
    Ok(json(serde_json::json!({ "free": row.get::<i64, _>(0) })))
}

#[async_std::main]
async fn main() -> Result<()> {
    let port: u16 = std::env::args().nth(1).expect("port").parse()?;
    let size = var("DB_POOL", 10);
    let pool = PgPoolOptions::new()
        .max_connections(size)
        .min_connections(size)
        .connect(&std::env::var("DATABASE_URL")?)
        .await?;
    let mut app = tide::with_state(pool);
    app.at("/health").get(|_| async { Ok("ok") });
    app.at("/room/:id").get(room);
    app.at("/hotel/:id").get(hotel);
    app.at("/availability/:id").get(availability);
    // accepted connections inherit TCP_NODELAY from the listener
    let listener = std::net::TcpListener::bind(("127.0.0.1", port))?;
    socket2::SockRef::from(&listener).set_tcp_nodelay(true)?;
    listener.set_nonblocking(true)?;
    app.listen(async_std::net::TcpListener::from(listener))
        .await?;
    Ok(())
}
