use r2d2_sqlite::SqliteConnectionManager;
use rocket::serde::{Serialize, json::Json};
use rocket::tokio::task::spawn_blocking;
use rocket::{State, get, launch, routes};

type Pool = r2d2::Pool<SqliteConnectionManager>;

#[derive(Serialize)]
#[serde(crate = "rocket::serde")]
struct Book {
    id: i64,
    title: String,
    shelf: i64,
    loans: i64,
}

fn books(pool: &Pool, sql: &str, arg: i64) -> Vec<Book> {
    let db = pool.get().expect("connection");
    let mut q = db.prepare_cached(sql).unwrap();
    q.query_map([arg], |r| {
        Ok(Book {
            id: r.get(0)?,
            title: r.get(1)?,
            shelf: r.get(2)?,
            loans: r.get(3)?,
        })
    })
    .unwrap()
    .map(Result::unwrap)
    .collect()
}

/// The most borrowed books of one shelf.
#[get("/shelves/<shelf>")]
async fn shelf(pool: &State<Pool>, shelf: i64) -> Json<Vec<Book>> {
    let pool = pool.inner().clone();
    Json(spawn_blocking(move || books(&pool, "select b.id, title, shelf, count(l.id) from books b left join loans l on l.book = b.id where shelf = ?1 group by b.id order by 4 desc, 1 limit 10", shelf)).await.unwrap())
}

/// Everything of a floor (ten shelves), for the stocktaking.
#[get("/floors/<floor>")]
async fn floor(pool: &State<Pool>, floor: i64) -> Json<Vec<Book>> {
    let pool = pool.inner().clone();
    Json(spawn_blocking(move || books(&pool, "select b.id, title, shelf, count(l.id) from books b left join loans l on l.book = b.id where shelf / 10 = ?1 group by b.id", floor)).await.unwrap())
}

#[get("/health")]
fn health() -> &'static str {
    "ok"
}

#[launch]
fn library() -> _ {
    let file = std::env::var("LIBRARY_DB").expect("LIBRARY_DB");
    let db = rusqlite::Connection::open(&file).unwrap();
    db.execute_batch(
        "pragma journal_mode = wal; pragma synchronous = off;
         create table if not exists books (id integer primary key, title text, shelf int);
         create table if not exists loans (id integer primary key, book int);
         delete from books; delete from loans;
         with recursive n(i) as (select 1 union all select i + 1 from n where i < 12000)
           insert into books select i, 'Book number ' || i, i % 40 from n;
         with recursive n(i) as (select 1 union all select i + 1 from n where i < 120000)
           insert into loans select i, 1 + (i * 7919) % 12000 from n;
         create index if not exists shelves on books (shelf);
         create index if not exists books_lent on loans (book);",
    )
    .unwrap();
    drop(db);
    let pool = r2d2::Pool::builder()
        .max_size(6)
        .build(SqliteConnectionManager::file(&file))
        .unwrap();
    rocket::build()
        .manage(pool)
        .mount("/", routes![shelf, floor, health])
}
