//! Snapshots of the database volume: `snapshot PORT DB_PORT STORAGE_PORT lock|transaction`.
//! Listens on PORT as a health check.
use mysql::prelude::*;
use mysql::{Conn, OptsBuilder};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// Asks the storage for a snapshot and waits for its answer.
fn storage(port: &str) -> std::io::Result<()> {
    let mut s = TcpStream::connect(format!("127.0.0.1:{port}"))?;
    s.write_all(b"POST /volumes/shop/snapshots HTTP/1.0\r\nContent-Length: 0\r\n\r\n")?;
    let mut text = String::new();
    s.read_to_string(&mut text)?;
    Ok(())
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let health = TcpListener::bind(format!("127.0.0.1:{}", args[1])).unwrap();
    std::thread::spawn(move || {
        for c in health.incoming() {
            drop(c)
        }
    });
    let options = OptsBuilder::new()
        .ip_or_hostname(Some("127.0.0.1"))
        .tcp_port(args[2].parse().unwrap())
        .prefer_socket(false)
        .user(Some("shop"))
        .pass(Some("shop"))
        .db_name(Some("shop"));
    let mut db = Conn::new(options).unwrap();
    let lock = args[4] == "lock";
    loop {
        let start = Instant::now();
        db.query_drop(if lock {
            "FLUSH TABLES WITH READ LOCK"
        } else {
            "START TRANSACTION WITH CONSISTENT SNAPSHOT"
        })
        .unwrap();
        let locked = Instant::now();
        let _ = storage(&args[3]);
        let held = locked.elapsed();
        db.query_drop(if lock { "UNLOCK TABLES" } else { "COMMIT" })
            .unwrap();
        eprintln!(
            "lock {:.1} held {:.1}",
            (locked - start).as_secs_f64() * 1e3,
            held.as_secs_f64() * 1e3
        );
        std::thread::sleep(Duration::from_millis(600));
    }
}
