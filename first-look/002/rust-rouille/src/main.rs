use rouille::{Response, router};
use std::collections::BTreeMap;
use std::env;
use std::sync::Mutex;

#[derive(Clone)]
struct Item {
    name: String,
    count: u64,
    price: f64,
    sold: Vec<u32>,
}

fn forecast(item: &Item) -> f64 {
    // exponential smoothing over the daily sales, best factor of a small grid
    let mut best = (f64::MAX, 0.0);
    for step in 1..20 {
        let a = step as f64 / 20.0;
        let (mut level, mut err) = (item.sold[0] as f64, 0.0);
        for &s in &item.sold[1..] {
            let e = s as f64 - level;
            err += e * e;
            level += a * e;
        }
        if err < best.0 {
            best = (err, level);
        }
    }
    best.1
}

fn main() {
    let port = env::var("PORT").unwrap_or("8000".into());
    let items: u64 = env::var("ITEMS")
        .ok()
        .and_then(|v| v.parse().ok())
        .unwrap_or(1000);
    let mut stock = BTreeMap::new();
    for id in 0..items {
        let sold = (0..365u64)
            .map(|d| ((id * 7919 + d * 104729) % 97) as u32)
            .collect();
        stock.insert(
            id,
            Item {
                name: format!("item {id}"),
                count: id % 50,
                price: 1.0 + (id % 900) as f64 / 10.0,
                sold,
            },
        );
    }
    let stock = Mutex::new(stock);
    eprintln!("listening on {port}");
    rouille::start_server(format!("127.0.0.1:{port}"), move |request| {
        router!(request,
            (GET) (/) => { Response::text("ok") },
            (GET) (/item/{id: u64}) => {
                let stock = stock.lock().unwrap();
                match stock.get(&(id % items)) {
                    Some(i) => Response::text(format!("{} {} {:.2}\n", i.name, i.count, i.price)),
                    None => Response::empty_404(),
                }
            },
            (GET) (/reorder) => {
                let stock = stock.lock().unwrap();
                let mut lines: Vec<(f64, &str)> = stock
                    .values()
                    .map(|i| (forecast(i) - i.count as f64, i.name.as_str()))
                    .collect();
                lines.sort_by(|a, b| b.0.total_cmp(&a.0));
                let text: String = lines.iter().take(20).map(|(n, name)| format!("{name} {n:.1}\n")).collect();
                Response::text(text)
            },
            _ => Response::empty_404()
        )
    });
}
