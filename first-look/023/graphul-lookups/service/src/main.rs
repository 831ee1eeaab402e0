//! Parts catalogue of a dealer network. The database is a libSQL server in another region; as on an edge
//! platform, each invocation makes its own client from DATABASE_URL. The scheme of that URL decides what the
//! client speaks: ws:// Hrana over a WebSocket (the default since the upgrade), http:// the pipeline over HTTP.
use graphul::{
    Context, Graphul, IntoResponse,
    extract::Json,
    http::{Methods, StatusCode, response::Response},
};
use libsql_client::{Client, Config, ResultSet, Statement, Value, args};
use serde_json::{Value as Js, json};

async fn open() -> anyhow::Result<Client> {
    let url = std::env::var("DATABASE_URL")?;
    Client::from_config(Config::new(url.as_str())?).await
}

async fn close(client: Client) {
    if let Client::Hrana(c) = client {
        let _ = c.shutdown().await;
    }
}

fn rows(rs: &ResultSet) -> Vec<Js> {
    rs.rows
        .iter()
        .map(|r| {
            let mut o = serde_json::Map::new();
            for (c, v) in rs.columns.iter().zip(r.values.iter()) {
                let v = match v {
                    Value::Integer { value } => json!(value),
                    Value::Float { value } => json!(value),
                    Value::Text { value } => json!(value),
                    _ => Js::Null,
                };
                o.insert(c.clone(), v);
            }
            Js::Object(o)
        })
        .collect()
}

async fn query(sql: &str, values: &[Value]) -> anyhow::Result<Vec<Js>> {
    let client = open().await?;
    let rs = client.execute(Statement::with_args(sql, values)).await;
    close(client).await;
    Ok(rows(&rs?))
}

fn answer(r: anyhow::Result<Js>) -> Response {
    match r {
        Ok(v) => Json(v).into_response(),
        Err(e) => {
            eprintln!("query failed: {e:#}");
            (StatusCode::SERVICE_UNAVAILABLE, "database").into_response()
        }
    }
}

async fn part(c: Context) -> Response {
    let id: i64 = c.params("id").parse().unwrap_or(0);
    answer(
        query(
            "SELECT p.id, p.number, p.title, p.price, g.title AS grp FROM part p JOIN grp g ON g.id = p.grp WHERE p.id = ?",
            args!(id),
        )
        .await
        .map(|r| json!({ "part": r })),
    )
}

async fn stock(c: Context) -> Response {
    let id: i64 = c.params("id").parse().unwrap_or(0);
    answer(
        query(
            "SELECT depot, quantity FROM stock WHERE part = ? ORDER BY depot",
            args!(id),
        )
        .await
        .map(|r| json!({ "stock": r })),
    )
}

#[tokio::main]
async fn main() {
    let port = std::env::args().nth(1).expect("port");
    let mut app = Graphul::new();
    app.get("/health", || async { "ok" });
    app.get("/parts/:id", part);
    app.get("/parts/:id/stock", stock);
    app.run(&format!("127.0.0.1:{port}")).await;
}
