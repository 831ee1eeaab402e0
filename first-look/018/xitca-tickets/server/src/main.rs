//! The box office of a theatre on xitca-web: a sold ticket goes to the spooler
//! of the ticket printers over its line protocol:
//!
//!     PRINT <desk> <bytes> <bytes of the memo>\n<ticket><memo>   ->   QUEUED <number>\n

use std::{
    env,
    fs::File,
    io::{self, Write},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use deadpool::managed::{self, Metrics, RecycleResult};
use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
};
use xitca_web::{
    App,
    error::Error,
    handler::{handler_service, json::Json, params::Params, state::StateRef},
    route::{get, post},
};

struct Spooler {
    address: String,
    nodelay: bool,
}

impl managed::Manager for Spooler {
    type Type = BufReader<TcpStream>;
    type Error = io::Error;

    async fn create(&self) -> io::Result<Self::Type> {
        let stream = TcpStream::connect(&self.address).await?;
        stream.set_nodelay(self.nodelay)?;
        Ok(BufReader::new(stream))
    }

    async fn recycle(&self, _: &mut Self::Type, _: &Metrics) -> RecycleResult<io::Error> {
        Ok(())
    }
}

#[derive(Clone)]
struct Office {
    spooler: managed::Pool<Spooler>,
    sold: Arc<Mutex<Vec<u32>>>,
    timing: Option<Arc<Mutex<File>>>,
}

#[derive(Deserialize)]
struct Order {
    show: u32,
    desk: u32,
    name: String,
    #[serde(default)]
    memo: String,
}

#[derive(Serialize)]
struct Printed {
    seat: usize,
    job: u64,
}

#[derive(Serialize)]
struct Seat {
    seat: usize,
    row: usize,
    price: u32,
    sold: u32,
}

fn price(seat: usize) -> u32 {
    5900 - 100 * (seat as u32 / 24)
}

impl Office {
    async fn print(&self, desk: u32, ticket: &str, memo: &str) -> io::Result<u64> {
        let mut conn = self.spooler.get().await.map_err(io::Error::other)?;
        let begun = Instant::now();
        let job = format!("PRINT {} {} {}\n{}", desk, ticket.len(), memo.len(), ticket);
        conn.write_all(job.as_bytes()).await?;
        if !memo.is_empty() {
            conn.write_all(memo.as_bytes()).await?;
        }
        let mut line = String::new();
        conn.read_line(&mut line).await?;
        if let Some(log) = &self.timing {
            let _ = writeln!(
                log.lock().unwrap(),
                "{} {:.1} ms",
                if memo.is_empty() { "plain" } else { "memo" },
                begun.elapsed().as_secs_f64() * 1e3
            );
        }
        line.trim_end()
            .strip_prefix("QUEUED ")
            .and_then(|n| n.parse().ok())
            .ok_or_else(|| io::Error::other(format!("spooler: {line:?}")))
    }
}

async fn sell(
    Params(seat): Params<usize>,
    StateRef(office): StateRef<'_, Office>,
    Json(order): Json<Order>,
) -> Result<Json<Printed>, Error> {
    let text = format!(
        "Theatre at the Harbour\nshow {}\nseat {} row {}\n{}\nprice {}.{:02}\n",
        order.show,
        seat,
        1 + seat / 24,
        order.name,
        price(seat) / 100,
        price(seat) % 100
    );
    let job = office.print(order.desk, &text, &order.memo).await?;
    if let Some(n) = office.sold.lock().unwrap().get_mut(seat) {
        *n += 1;
    }
    Ok(Json(Printed { seat, job }))
}

async fn seat(Params(seat): Params<usize>, StateRef(office): StateRef<'_, Office>) -> Json<Seat> {
    let sold = office.sold.lock().unwrap().get(seat).copied().unwrap_or(0);
    Json(Seat {
        seat,
        row: 1 + seat / 24,
        price: price(seat),
        sold,
    })
}

async fn health(StateRef(office): StateRef<'_, Office>) -> Json<u32> {
    Json(office.sold.lock().unwrap().iter().sum())
}

fn main() -> io::Result<()> {
    let port: u16 = env::var("PORT").unwrap().parse().unwrap();
    let spooler = Spooler {
        address: format!("127.0.0.1:{}", env::var("SPOOLER_PORT").unwrap()),
        nodelay: env::var("SPOOLER_NODELAY").is_ok_and(|v| v == "1"),
    };
    let office = Office {
        spooler: managed::Pool::builder(spooler).max_size(8).build().unwrap(),
        sold: Arc::new(Mutex::new(vec![0; 480])),
        timing: env::var("TIMING_LOG")
            .ok()
            .map(|p| Arc::new(Mutex::new(File::create(p).unwrap()))),
    };
    App::new()
        .at("/health", get(handler_service(health)))
        .at("/seats/{seat}", get(handler_service(seat)))
        .at("/tickets/{seat}", post(handler_service(sell)))
        .with_state(office)
        .serve()
        .worker_threads(2)
        .disable_signal()
        .keep_alive_timeout(Duration::from_secs(120))
        .bind(("127.0.0.1", port))?
        .run()
        .wait()
}
