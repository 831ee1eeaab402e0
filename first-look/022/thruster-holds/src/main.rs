//! Seat holds of a cinema: Thruster on its Hyper server, deadpool-postgres.
mod store;

use hyper::Body;
use serde::Deserialize;
use store::Store;
use thruster::context::context_ext::ContextExt;
use thruster::context::hyper_request::HyperRequest;
use thruster::context::typed_hyper_context::TypedHyperContext;
use thruster::hyper_server::HyperServer;
use thruster::{App, Context, MiddlewareNext, MiddlewareResult, ThrusterServer};
use thruster::{m, middleware_fn};

type Ctx = TypedHyperContext<Store>;

#[derive(Deserialize)]
struct HoldRequest {
    show_id: i32,
    seat: i32,
    guest: String,
}

fn generate_context(request: HyperRequest, store: &Store, _path: &str) -> Ctx {
    Ctx::new(request, store.clone())
}

fn answer(context: &mut Ctx, status: u16, body: String) {
    context.status = status;
    context.set("Content-Type", "application/json");
    context.body = Body::from(body);
}

#[middleware_fn]
async fn hold(mut context: Ctx, _next: MiddlewareNext<Ctx>) -> MiddlewareResult<Ctx> {
    let parsed = match context.body_string().await {
        Ok(text) => serde_json::from_str::<HoldRequest>(&text).map_err(|e| e.to_string()),
        Err(_) => Err("unreadable".to_string()),
    };
    match parsed {
        Ok(h) => {
            let store = context.extra.clone();
            match store.hold(h.show_id, h.seat, &h.guest).await {
                Ok(id) => answer(&mut context, 201, format!(r#"{{"hold":{id}}}"#)),
                Err(e) => answer(&mut context, 500, format!(r#"{{"error":"{e}"}}"#)),
            }
        }
        Err(_) => answer(&mut context, 400, r#"{"error":"bad hold"}"#.into()),
    }
    Ok(context)
}

#[middleware_fn]
async fn show(mut context: Ctx, _next: MiddlewareNext<Ctx>) -> MiddlewareResult<Ctx> {
    let id = context
        .params()
        .get("id")
        .and_then(|p| p.param.parse::<i32>().ok())
        .unwrap_or(0);
    let store = context.extra.clone();
    match store.show(id).await {
        Ok(Some(show)) => answer(&mut context, 200, serde_json::to_string(&show).unwrap()),
        Ok(None) => answer(&mut context, 404, r#"{"error":"no such show"}"#.into()),
        Err(e) => answer(&mut context, 500, format!(r#"{{"error":"{e}"}}"#)),
    }
    Ok(context)
}

#[middleware_fn]
async fn health(mut context: Ctx, _next: MiddlewareNext<Ctx>) -> MiddlewareResult<Ctx> {
    answer(&mut context, 200, r#"{"ok":true}"#.into());
    Ok(context)
}

#[tokio::main]
async fn main() {
    let port: u16 = std::env::var("PORT").expect("PORT").parse().expect("PORT");
    let db_port: u16 = std::env::var("DB_PORT")
        .expect("DB_PORT")
        .parse()
        .expect("DB_PORT");
    let store = Store::connect(db_port).await;
    let app = App::<HyperRequest, Ctx, Store>::create(generate_context, store)
        .post("/holds", m![hold])
        .get("/shows/:id", m![show])
        .get("/health", m![health]);
    HyperServer::new(app).build("127.0.0.1", port).await;
}
