use std::{collections::BTreeMap, env, sync::Arc, thread};
use tiny_http::{Response, Server};

type Index = BTreeMap<u32, String>;

fn build(n: u32, round: u32) -> Index {
    (0..n)
        .map(|i| {
            (
                i.wrapping_mul(2654435761) >> 8,
                format!("row {i} of round {round}"),
            )
        })
        .collect()
}

fn main() {
    let args: Vec<String> = env::args().collect();
    let server = Arc::new(Server::http(("127.0.0.1", args[1].parse::<u16>().unwrap())).unwrap());
    let rows: u32 = args[2].parse().unwrap();
    let index = Arc::new(spin::Mutex::new(build(rows, 0)));
    let workers: Vec<_> = (0..8)
        .map(|_| {
            let (server, index) = (server.clone(), index.clone());
            thread::spawn(move || {
                for request in server.incoming_requests() {
                    let url = request.url().to_string();
                    let text = if let Some(round) = url.strip_prefix("/rebuild/") {
                        let mut guard = index.lock();
                        *guard = build(rows, round.parse().unwrap_or(0));
                        format!("{} rows\n", guard.len())
                    } else {
                        let key = url.trim_start_matches("/row/").parse().unwrap_or(0);
                        let guard = index.lock();
                        guard
                            .range(key..)
                            .next()
                            .map(|(k, v)| format!("{k} {v}\n"))
                            .unwrap_or_default()
                    };
                    let _ = request.respond(Response::from_string(text));
                }
            })
        })
        .collect();
    workers.into_iter().for_each(|w| w.join().unwrap());
}
