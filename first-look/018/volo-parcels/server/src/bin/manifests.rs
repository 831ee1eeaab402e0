//! Takes over the carriers' manifests: one connection per carrier, one
//! transaction per manifest, the lines are inserted as the carrier sends them.
//! manifests PORT FILE-WITH-DB-PORT
//! Answers each connection on PORT with the number of manifests (for checks).

use std::{
    env,
    sync::Arc,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use tokio::{io::AsyncWriteExt, net::TcpListener, time};
use tokio_postgres::NoTls;

async fn carrier(
    n: i32,
    db_port: String,
    done: Arc<AtomicU64>,
) -> Result<(), tokio_postgres::Error> {
    let dsn = format!("host=127.0.0.1 port={db_port} user=postgres dbname=parcels");
    let (mut db, connection) = loop {
        match tokio_postgres::connect(&dsn, NoTls).await {
            Ok(c) => break c,
            Err(_) => time::sleep(Duration::from_millis(200)).await,
        }
    };
    tokio::spawn(connection);
    let st = db
        .prepare("INSERT INTO manifest_lines (carrier, line, text) VALUES ($1, $2, $3)")
        .await?;
    let mut every = time::interval(Duration::from_millis(650));
    loop {
        every.tick().await;
        let tx = db.transaction().await?;
        for line in 0..12 {
            tx.execute(&st, &[&n, &line, &format!("carrier {n}, line {line}")])
                .await?;
            time::sleep(Duration::from_millis(9)).await; // the carrier's next line
        }
        tx.commit().await?;
        done.fetch_add(1, Ordering::Relaxed);
    }
}

fn main() {
    let args: Vec<String> = env::args().collect();
    let rt = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    rt.block_on(async move {
        let done = Arc::new(AtomicU64::new(0));
        let db_port = loop {
            match std::fs::read_to_string(&args[2]) {
                Ok(s) if !s.trim().is_empty() => break s.trim().to_string(),
                _ => time::sleep(Duration::from_millis(100)).await,
            }
        };
        let listener = TcpListener::bind(format!("127.0.0.1:{}", args[1]))
            .await
            .unwrap();
        let mut carriers = Vec::new();
        for n in 1..=2 {
            carriers.push(tokio::spawn(carrier(n, db_port.clone(), done.clone())));
        }
        loop {
            if let Ok((mut s, _)) = listener.accept().await {
                let _ = s
                    .write_all(format!("{}\n", done.load(Ordering::Relaxed)).as_bytes())
                    .await;
            }
        }
    });
}
