use actix_web::{App, HttpServer, Responder, get, web};
use serde::Serialize;

#[derive(Serialize)]
struct Item {
    id: u32,
    name: String,
    price: u32,
}

#[get("/")]
async fn index() -> impl Responder {
    "catalogue"
}

#[get("/items/{id}")]
async fn item(id: web::Path<u32>) -> impl Responder {
    let id = id.into_inner();
    web::Json(Item {
        id,
        name: format!("item {id}"),
        price: 100 + id % 900,
    })
}

#[get("/items")]
async fn items() -> impl Responder {
    web::Json(
        (0..100)
            .map(|id| Item {
                id,
                name: format!("item {id}"),
                price: 100 + id,
            })
            .collect::<Vec<_>>(),
    )
}

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    let port: u16 = std::env::args().nth(1).expect("port").parse().unwrap();
    HttpServer::new(|| App::new().service(index).service(items).service(item))
        .workers(2)
        .bind(("127.0.0.1", port))?
        .run()
        .await
}
