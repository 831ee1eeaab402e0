use deadpool_postgres::{Config, Pool, PoolConfig, Runtime};
use gotham::handler::HandlerError;
use gotham::helpers::http::response::create_response;
use gotham::hyper::{Body, Response, StatusCode};
use gotham::middleware::state::StateMiddleware;
use gotham::pipeline::{single_middleware, single_pipeline};
use gotham::prelude::*;
use gotham::router::{Router, build_router};
use gotham::state::State;
use serde::{Deserialize, Serialize};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tokio_postgres::NoTls;

#[derive(Clone, StateData)]
struct Db(Arc<AssertUnwindSafe<Pool>>);

#[derive(Deserialize, StateData, StaticResponseExtender)]
struct IdPath {
    id: i32,
}

#[derive(Serialize)]
struct Line {
    sku: String,
    quantity: i32,
    cents: i32,
}

#[derive(Serialize)]
struct Order {
    id: i32,
    placed: String,
    lines: Vec<Line>,
}

fn json<T: Serialize>(state: &State, value: &T) -> Response<Body> {
    create_response(
        state,
        StatusCode::OK,
        mime::APPLICATION_JSON,
        serde_json::to_vec(value).unwrap(),
    )
}

async fn lines_of(db: &deadpool_postgres::Object, order: i32) -> Result<Vec<Line>, HandlerError> {
    let stmt = db
        .prepare_cached("SELECT sku, quantity, cents FROM lines WHERE order_id = $1 ORDER BY id")
        .await?;
    let rows = db.query(&stmt, &[&order]).await?;
    Ok(rows
        .iter()
        .map(|r| Line {
            sku: r.get(0),
            quantity: r.get(1),
            cents: r.get(2),
        })
        .collect())
}

/// one order with its lines
async fn order(state: &mut State) -> Result<Response<Body>, HandlerError> {
    let id = IdPath::borrow_from(state).id;
    let db = Db::borrow_from(state).0.get().await?;
    let stmt = db
        .prepare_cached("SELECT id, placed::text FROM orders WHERE id = $1")
        .await?;
    let row = db.query_one(&stmt, &[&id]).await?;
    let order = Order {
        id: row.get(0),
        placed: row.get(1),
        lines: lines_of(&db, id).await?,
    };
    Ok(json(state, &order))
}

/// all orders of a customer, newest first, each with its lines
async fn customer(state: &mut State) -> Result<Response<Body>, HandlerError> {
    let id = IdPath::borrow_from(state).id;
    let db = Db::borrow_from(state).0.get().await?;
    let stmt = db
        .prepare_cached(
            "SELECT id, placed::text FROM orders WHERE customer_id = $1 ORDER BY id DESC",
        )
        .await?;
    let mut orders = Vec::new();
    for row in db.query(&stmt, &[&id]).await? {
        let lines = lines_of(&db, row.get(0)).await?;
        orders.push(Order {
            id: row.get(0),
            placed: row.get(1),
            lines,
        });
    }
    Ok(json(state, &orders))
}

fn router(db: Db) -> Router {
    let (chain, pipelines) = single_pipeline(single_middleware(StateMiddleware::new(db)));
    build_router(chain, pipelines, |route| {
        route.get("/health").to(|state: State| (state, "ok"));
        route
            .get("/orders/:id")
            .with_path_extractor::<IdPath>()
            .to_async_borrowing(order);
        route
            .get("/customers/:id/orders")
            .with_path_extractor::<IdPath>()
            .to_async_borrowing(customer);
    })
}

fn main() {
    let port = std::env::args().nth(1).expect("port");
    let mut cfg = Config::new();
    cfg.url = std::env::var("DATABASE_URL").ok();
    cfg.pool = Some(PoolConfig::new(8));
    let pool = cfg.create_pool(Some(Runtime::Tokio1), NoTls).expect("pool");
    gotham::start(
        format!("127.0.0.1:{port}"),
        router(Db(Arc::new(AssertUnwindSafe(pool)))),
    )
    .expect("listen");
}
