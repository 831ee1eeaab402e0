//! Meal orders of hospital wards: Nickel 0.11; every change of an order goes to the audit trail (syslog).
#[macro_use]
extern crate nickel;

use nickel::status::StatusCode;
use nickel::{HttpRouter, MediaType, Nickel};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Instant;
use syslog::{BasicLogger, Facility, Formatter3164};

#[derive(Clone, Default)]
struct Order {
    meal: String,
    diet: String,
    changes: u64,
}

const MEALS: [(&str, u32); 6] = [
    ("soup", 310),
    ("stew", 540),
    ("pasta", 620),
    ("fish", 410),
    ("salad", 260),
    ("risotto", 505),
];

fn main() {
    let env = |k: &str, d: &str| std::env::var(k).unwrap_or_else(|_| d.to_string());
    let formatter = Formatter3164 {
        facility: Facility::LOG_LOCAL3,
        hostname: None,
        process: "wards".into(),
        pid: std::process::id(),
    };
    let logger =
        syslog::unix_custom(formatter, env("AUDIT_SOCKET", "/dev/log")).expect("audit socket");
    log::set_boxed_logger(Box::new(BasicLogger::new(logger))).unwrap();
    log::set_max_level(log::LevelFilter::Info);

    let orders: Arc<RwLock<HashMap<u32, Order>>> = Arc::new(RwLock::new(HashMap::new()));
    for bed in 1..=400 {
        orders.write().unwrap().insert(
            bed,
            Order {
                meal: MEALS[bed as usize % 6].0.into(),
                diet: "normal".into(),
                changes: 0,
            },
        );
    }
    let timing = std::env::var("TIMING_LOG")
        .ok()
        .map(|p| Arc::new(Mutex::new(std::fs::File::create(p).unwrap())));
    let mut server = Nickel::new();
    server.options = nickel::Options::default()
        .thread_count(Some(64))
        .output_on_listen(false);

    let o = orders.clone();
    server.post("/beds/:bed/order", middleware! { |req, mut res|
        let mut text = String::new();
        let _ = req.origin.read_to_string(&mut text);
        let bed: u32 = req.param("bed").and_then(|b| b.parse().ok()).unwrap_or(0);
        let doc: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        let meal = doc["meal"].as_str().unwrap_or("").to_string();
        res.set(MediaType::Json);
        if !MEALS.iter().any(|m| m.0 == meal) {
            res.set(StatusCode::BadRequest);
            "{\"error\":\"meal\"}".to_string()
        } else {
            let start = Instant::now();
            log::info!(target: "audit", "request bed={} meal={} by=ward-{} body={}", bed, meal, bed / 20, text);
            let (before, after) = {
                let mut all = o.write().unwrap();
                let order = all.entry(bed).or_default();
                let before = order.meal.clone();
                order.meal = meal;
                order.changes += 1;
                (before, order.clone())
            };
            log::info!(target: "audit", "changed bed={} from={} to={} diet={} changes={}", bed, before, after.meal, after.diet, after.changes);
            if let Some(t) = &timing {
                let ms = start.elapsed().as_secs_f64() * 1e3;
                let _ = writeln!(t.lock().unwrap(), "{:.1}", ms);
            }
            format!("{{\"bed\":{},\"meal\":\"{}\",\"changes\":{}}}", bed, after.meal, after.changes)
        }
    });
    let o = orders.clone();
    server.get(
        "/beds/:bed",
        middleware! { |req, mut res|
            let bed: u32 = req.param("bed").and_then(|b| b.parse().ok()).unwrap_or(0);
            res.set(MediaType::Json);
            let order = o.read().unwrap().get(&bed).cloned().unwrap_or_default();
            format!("{{\"bed\":{},\"meal\":\"{}\",\"diet\":\"{}\"}}", bed, order.meal, order.diet)
        },
    );
    server.get("/meals", middleware! { |_req, mut res|
        res.set(MediaType::Json);
        serde_json::json!(MEALS.iter().map(|m| serde_json::json!({"meal": m.0, "kcal": m.1})).collect::<Vec<_>>()).to_string()
    });
    server
        .listen(format!("127.0.0.1:{}", env("PORT", "8080")))
        .unwrap();
}
