use std::{sync::Arc, time::Duration};

use moka::future::Cache;
use salvo::prelude::*;
use tokio_postgres::{Client, NoTls};

struct App {
    db: Vec<Client>,
    menus: Cache<String, Arc<String>>,
}

static APP: std::sync::OnceLock<App> = std::sync::OnceLock::new();

impl App {
    async fn load_menu(&self, city: &str) -> Arc<String> {
        let n = city.len() % self.db.len();
        let rows = self.db[n]
            .query(
                "select d.name, count(*)::bigint, avg(o.price)::float8
                   from orders o join dishes d on d.id = o.dish_id
                  where o.city = $1 group by d.name order by 2 desc, 1 limit 12",
                &[&city],
            )
            .await
            .expect("menu query");
        let dishes: Vec<_> = rows
            .iter()
            .map(|r| serde_json::json!({"dish": r.get::<_, String>(0), "sold": r.get::<_, i64>(1), "price": r.get::<_, f64>(2)}))
            .collect();
        Arc::new(serde_json::json!({"city": city, "dishes": dishes}).to_string())
    }
}

#[handler]
async fn menu(req: &mut Request, res: &mut Response) {
    let city = req
        .query::<String>("city")
        .unwrap_or_else(|| "porto".into());
    let app: &'static App = APP.get().unwrap();
    let body = app.menus.get_with_by_ref(&city, app.load_menu(&city)).await;
    res.render(Text::Json(body.to_string()));
}

#[handler]
async fn health() -> &'static str {
    "ok"
}

#[tokio::main]
async fn main() {
    let port = std::env::var("PORT").unwrap();
    let ttl: u64 = std::env::var("MENU_TTL_MS").unwrap().parse().unwrap();
    let dsn = std::env::var("DATABASE_URL").unwrap();
    let mut db = Vec::new();
    for _ in 0..4 {
        let (client, conn) = tokio_postgres::connect(&dsn, NoTls).await.expect("connect");
        tokio::spawn(conn);
        db.push(client);
    }
    let menus = Cache::builder()
        .max_capacity(1000)
        .time_to_live(Duration::from_millis(ttl))
        .build();
    APP.set(App { db, menus }).ok();
    let router = Router::new()
        .push(Router::with_path("menu").get(menu))
        .push(Router::with_path("health").get(health));
    let acceptor = TcpListener::new(format!("127.0.0.1:{port}")).bind().await;
    Server::new(acceptor).serve(router).await;
}
