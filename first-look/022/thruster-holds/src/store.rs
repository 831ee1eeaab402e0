use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod};
use serde::Serialize;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tokio_postgres::NoTls;

#[derive(Serialize)]
pub struct Show {
    pub id: i32,
    pub title: String,
    pub hall: i32,
    pub starts: String,
    pub free: i32,
}

#[derive(Clone)]
pub struct Store {
    pool: Pool,
    trace: Option<Arc<Mutex<std::fs::File>>>,
}

impl Store {
    pub async fn connect(port: u16) -> Self {
        let mut config = tokio_postgres::Config::new();
        config
            .host("127.0.0.1")
            .port(port)
            .user("cinema")
            .dbname("cinema")
            .application_name("holds");
        let manager = Manager::from_config(
            config,
            NoTls,
            ManagerConfig {
                recycling_method: RecyclingMethod::Fast,
            },
        );
        let pool = Pool::builder(manager).max_size(32).build().unwrap();
        // open some connections before the first requests come
        let mut open = Vec::new();
        for _ in 0..16 {
            open.push(pool.get().await.expect("database"));
        }
        drop(open);
        let trace = std::env::var("HOLDS_TRACE")
            .ok()
            .map(|p| Arc::new(Mutex::new(std::fs::File::create(p).unwrap())));
        Store { pool, trace }
    }

    pub async fn hold(
        &self,
        show: i32,
        seat: i32,
        guest: &str,
    ) -> Result<i64, Box<dyn std::error::Error + Send + Sync>> {
        let begin = Instant::now();
        let mut client = self.pool.get().await?;
        let got = begin.elapsed();
        let tx = client.transaction().await?;
        let insert = tx
            .prepare_cached(
                "INSERT INTO holds (show_id, seat, guest) VALUES ($1, $2, $3) RETURNING id",
            )
            .await?;
        let id: i64 = tx.query_one(&insert, &[&show, &seat, &guest]).await?.get(0);
        let inserted = begin.elapsed();
        tx.commit().await?;
        if let Some(file) = &self.trace {
            let done = begin.elapsed();
            let _ = writeln!(
                file.lock().unwrap(),
                "hold pool {:.2} insert {:.2} commit {:.2}",
                got.as_secs_f64() * 1e3,
                (inserted - got).as_secs_f64() * 1e3,
                (done - inserted).as_secs_f64() * 1e3
            );
        }
        Ok(id)
    }

    pub async fn show(
        &self,
        id: i32,
    ) -> Result<Option<Show>, Box<dyn std::error::Error + Send + Sync>> {
        let client = self.pool.get().await?;
        let select = client
            .prepare_cached("SELECT id, title, hall, starts, free FROM shows WHERE id = $1")
            .await?;
        let row = client.query_opt(&select, &[&id]).await?;
        Ok(row.map(|r| Show {
            id: r.get(0),
            title: r.get(1),
            hall: r.get(2),
            starts: r.get(3),
            free: r.get(4),
        }))
    }
}
