// Stock of a web shop: oxhttp (a thread per connection) over a redb database in memory.
use oxhttp::Server;
use oxhttp::model::{Body, Method, Request, Response, StatusCode};
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition, backends::InMemoryBackend};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::{Duration, Instant};

const STOCK: TableDefinition<u64, (u32, u64)> = TableDefinition::new("stock"); // pieces, price in cents
const ARTICLES: u64 = 120_000;

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn article(request: &Request<Body>) -> u64 {
    request
        .uri()
        .path()
        .rsplit('/')
        .next()
        .and_then(|id| id.parse::<u64>().ok())
        .unwrap_or(0)
        % ARTICLES
}

fn show(db: &Database, id: u64) -> Result<String, Failure> {
    let read = db.begin_read()?;
    let table = read.open_table(STOCK)?;
    let (pieces, cents) = table.get(id)?.map(|row| row.value()).unwrap_or_default();
    Ok(format!(
        "{{\"article\":{id},\"pieces\":{pieces},\"cents\":{cents}}}"
    ))
}

fn reserve(db: &Database, id: u64) -> Result<String, Failure> {
    let write = db.begin_write()?;
    let left = {
        let mut table = write.open_table(STOCK)?;
        let (pieces, cents) = table.get(id)?.map(|row| row.value()).unwrap_or_default();
        let left = if pieces == 0 { 100 } else { pieces - 1 };
        table.insert(id, (left, cents))?;
        left
    };
    write.commit()?;
    Ok(format!("{{\"article\":{id},\"left\":{left}}}"))
}

/// Takes over the supplier's prices, `batch` articles in a transaction.
fn import_prices(
    db: &Database,
    round: u64,
    from: u64,
    count: u64,
    batch: u64,
) -> Result<(), Failure> {
    let mut next = from;
    while next < from + count {
        let write = db.begin_write()?;
        {
            let mut table = write.open_table(STOCK)?;
            for n in next..(next + batch).min(from + count) {
                let id = n % ARTICLES;
                let pieces = table.get(id)?.map(|row| row.value().0).unwrap_or(50);
                table.insert(id, (pieces, 100 + (id * 37 + round * 11) % 9_000))?;
            }
        }
        write.commit()?;
        next += batch;
        std::thread::yield_now();
    }
    Ok(())
}

fn main() -> Result<(), Failure> {
    let port: u16 = std::env::args()
        .nth(1)
        .and_then(|p| p.parse().ok())
        .expect("port");
    let set = |name: &str, default: u64| {
        std::env::var(name)
            .ok()
            .and_then(|v| v.parse().ok())
            .unwrap_or(default)
    };
    let (rows, batch, every) = (
        set("FEED_ROWS", 100_000),
        set("FEED_BATCH", 100_000),
        set("FEED_MS", 700),
    );
    let db = Arc::new(Database::builder().create_with_backend(InMemoryBackend::new())?);
    import_prices(&db, 0, 0, ARTICLES, ARTICLES)?;
    let feed = db.clone();
    std::thread::Builder::new()
        .name("price-feed".into())
        .spawn(move || {
            for round in 1.. {
                std::thread::sleep(Duration::from_millis(every));
                let begin = Instant::now();
                if let Err(e) = import_prices(&feed, round, round * rows, rows, batch) {
                    eprintln!("price feed: {e}");
                }
                eprintln!(
                    "price feed: {rows} articles in {} ms",
                    begin.elapsed().as_millis()
                );
            }
        })?;
    Server::new(move |request| {
        let path = request.uri().path().to_owned();
        let answer = if path.starts_with("/stock/") {
            show(&db, article(request))
        } else if path.starts_with("/reserve/") && *request.method() == Method::POST {
            reserve(&db, article(request))
        } else {
            Ok("{}".into())
        };
        let (status, body) = match answer {
            Ok(body) => (StatusCode::OK, body),
            Err(e) => (StatusCode::INTERNAL_SERVER_ERROR, e.to_string()),
        };
        Response::builder()
            .status(status)
            .header("Content-Type", "application/json")
            .body(Body::from(body))
            .unwrap()
    })
    .bind((Ipv4Addr::LOCALHOST, port))
    .spawn()?
    .join()?;
    Ok(())
}
