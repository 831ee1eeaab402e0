//! Recipes of a cooking site on Nickel: recipes from memcached (behind
//! twemproxy), from SQLite where the cache has none.
extern crate nickel;

use std::cell::RefCell;
use std::collections::HashMap;
use std::env;
use std::fs::File;
use std::io::{Read, Write};
use std::sync::Mutex;
use std::time::Instant;

use memcache::{Client, ConnectionManager, Url};
use nickel::status::StatusCode;
use nickel::{HttpRouter, MediaType, MiddlewareResult, Nickel, Options, Request, Response};
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};

struct App {
    cache: Client,
    db: String,
    ratings: Mutex<HashMap<i64, (u64, u64)>>,
    timing: Option<Mutex<File>>,
}

thread_local!(static DB: RefCell<Option<Connection>> = const { RefCell::new(None) });

impl App {
    fn with_db<T>(
        &self,
        f: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        DB.with(|slot| {
            let mut slot = slot.borrow_mut();
            if slot.is_none() {
                *slot = Some(Connection::open_with_flags(
                    &self.db,
                    OpenFlags::SQLITE_OPEN_READ_ONLY,
                )?);
            }
            f(slot.as_ref().unwrap())
        })
    }

    fn recipe_from_db(&self, id: i64) -> rusqlite::Result<Option<String>> {
        self.with_db(|db| {
            let title: Option<String> = db
                .prepare_cached("SELECT title FROM recipes WHERE id = ?")?
                .query_row(params![id], |r| r.get(0))
                .optional()?;
            let title = match title {
                Some(t) => t,
                None => return Ok(None),
            };
            let mut st = db.prepare_cached("SELECT amount, name FROM ingredients WHERE recipe = ? ORDER BY place")?;
            let list: rusqlite::Result<Vec<serde_json::Value>> = st
                .query_map(params![id], |r| {
                    Ok(serde_json::json!({ "amount": r.get::<_, String>(0)?, "name": r.get::<_, String>(1)? }))
                })?
                .collect();
            Ok(Some(serde_json::json!({ "id": id, "title": title, "ingredients": list? }).to_string()))
        })
    }

    fn recipe(&self, id: i64) -> rusqlite::Result<Option<String>> {
        let key = format!("recipe:{}", id);
        let t0 = Instant::now();
        let cached = self.cache.get::<String>(&key);
        if let Some(log) = &self.timing {
            let what = match &cached {
                Ok(Some(_)) => "hit".to_string(),
                Ok(None) => "miss".to_string(),
                Err(e) => format!("error {}", e),
            };
            let _ = writeln!(
                log.lock().unwrap(),
                "{:.1} ms {} {}",
                t0.elapsed().as_secs_f64() * 1e3,
                key,
                what
            );
        }
        match cached {
            Ok(Some(text)) => return Ok(Some(text)),
            Ok(None) => (),
            Err(_) => return self.recipe_from_db(id), // a cache that is away is no reason to fail
        }
        let text = self.recipe_from_db(id)?;
        if let Some(text) = &text {
            let _ = self.cache.set(&key, text.as_str(), 3600);
        }
        Ok(text)
    }
}

fn id_of(req: &Request<App>) -> i64 {
    req.param("id").and_then(|s| s.parse().ok()).unwrap_or(-1)
}

fn answer<'a>(
    mut res: Response<'a, App>,
    r: rusqlite::Result<Option<String>>,
) -> MiddlewareResult<'a, App> {
    match r {
        Ok(Some(text)) => {
            res.set(MediaType::Json);
            res.send(text)
        }
        Ok(None) => {
            res.set(StatusCode::NotFound);
            res.send("no such recipe\n")
        }
        Err(e) => {
            res.set(StatusCode::InternalServerError);
            res.send(e.to_string())
        }
    }
}

fn health<'a>(_req: &mut Request<App>, res: Response<'a, App>) -> MiddlewareResult<'a, App> {
    let app = res.data();
    // fill what the front page shows
    for id in 1..=60 {
        let _ = app.recipe(id);
    }
    let n =
        app.with_db(|db| db.query_row("SELECT count(*) FROM recipes", [], |r| r.get::<_, i64>(0)));
    answer(res, n.map(|n| Some(format!("{{\"recipes\":{}}}\n", n))))
}

fn recipe<'a>(req: &mut Request<App>, res: Response<'a, App>) -> MiddlewareResult<'a, App> {
    let r = res.data().recipe(id_of(req));
    answer(res, r)
}

fn with_ingredient<'a>(
    req: &mut Request<App>,
    res: Response<'a, App>,
) -> MiddlewareResult<'a, App> {
    let name = req.param("name").unwrap_or("").to_string();
    let r = res.data().with_db(|db| {
        let mut st = db.prepare_cached(
            "SELECT recipe FROM ingredients WHERE name = ? ORDER BY recipe LIMIT 20",
        )?;
        let ids: rusqlite::Result<Vec<i64>> = st.query_map(params![name], |r| r.get(0))?.collect();
        Ok(Some(
            serde_json::json!({ "ingredient": name, "recipes": ids? }).to_string(),
        ))
    });
    answer(res, r)
}

fn rate<'a>(req: &mut Request<App>, res: Response<'a, App>) -> MiddlewareResult<'a, App> {
    let id = id_of(req);
    let mut body = String::new();
    let _ = req.origin.read_to_string(&mut body);
    let stars = serde_json::from_str::<serde_json::Value>(&body)
        .ok()
        .and_then(|v| v["stars"].as_u64())
        .unwrap_or(0);
    let text = {
        let mut all = res.data().ratings.lock().unwrap();
        let r = all.entry(id).or_insert((0, 0));
        r.0 += 1;
        r.1 += stars % 6;
        serde_json::json!({ "recipe": id, "ratings": r.0, "mean": r.1 as f64 / r.0 as f64 })
            .to_string()
    };
    answer(res, Ok(Some(text)))
}

fn main() {
    let port = env::var("PORT").unwrap();
    let cache = format!(
        "memcache://127.0.0.1:{}?protocol=ascii&timeout=3",
        env::var("CACHE_PORT").unwrap()
    );
    // the test would be a "version" to the proxy before each use
    let pool = memcache::Pool::builder()
        .max_size(40)
        .test_on_check_out(false)
        .build(ConnectionManager::new(Url::parse(&cache).unwrap()))
        .unwrap();
    let app = App {
        cache: Client::with_pool(pool).unwrap(),
        db: env::var("DB").unwrap(),
        ratings: Mutex::new(HashMap::new()),
        timing: env::var("TIMING_LOG")
            .ok()
            .map(|p| Mutex::new(File::create(p).unwrap())),
    };
    let mut server = Nickel::with_data(app);
    server.options = Options::default()
        .thread_count(Some(64))
        .output_on_listen(false);
    server.get("/health", health);
    server.get("/recipes/:id", recipe);
    server.get("/with/:name", with_ingredient);
    server.post("/ratings/:id", rate);
    let _ = server.listen(format!("127.0.0.1:{}", port)).unwrap();
}
