//! Section fronts of a newspaper: the items come from the content API, a call to it goes through a
//! circuit breaker, and where there is no answer the front as it was last pressed is served.
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use failsafe::futures::CircuitBreaker;
use failsafe::{Config, Error, StateMachine, backoff, failure_policy};
use hyper::client::{Client, HttpConnector};
use roa::http::StatusCode;
use roa::http::header::{CONTENT_TYPE, HeaderValue};
use roa::preload::*;
use roa::router::{Router, get};
use roa::{App, Context, throw};
use serde::{Deserialize, Serialize};

#[derive(Clone, Serialize, Deserialize)]
struct Item {
    id: String,
    headline: String,
    published: u64,
    words: u32,
}

#[derive(Serialize)]
struct Front<'a> {
    section: &'a str,
    fresh: bool,
    lead: Option<&'a Item>,
    more: Vec<&'a Item>,
}

type Breaker = StateMachine<failure_policy::ConsecutiveFailures<backoff::Constant>, ()>;

#[derive(Clone)]
struct Site {
    capi: Arc<String>,
    client: Client<HttpConnector>,
    breaker: Breaker,
    timeout: Duration,
    pressed: Arc<HashMap<String, Vec<Item>>>,
}

impl Site {
    async fn ask(&self, section: &str) -> Result<Vec<Item>, String> {
        let uri = format!("{}/search?section={}", self.capi, section)
            .parse()
            .map_err(|_| "uri".to_string())?;
        let answer = self.client.get(uri).await.map_err(|e| e.to_string())?;
        let body = hyper::body::to_bytes(answer.into_body())
            .await
            .map_err(|e| e.to_string())?;
        serde_json::from_slice(&body).map_err(|e| e.to_string())
    }

    async fn items(&self, section: &str) -> Option<Vec<Item>> {
        let call = async {
            match tokio::time::timeout(self.timeout, self.ask(section)).await {
                Ok(answer) => answer,
                Err(_) => Err("the content API gave no answer in time".to_string()),
            }
        };
        match self.breaker.call(call).await {
            Ok(items) => Some(items),
            Err(Error::Inner(_)) | Err(Error::Rejected) => None,
        }
    }
}

fn json(ctx: &mut Context<Site>, body: Vec<u8>) {
    ctx.resp
        .headers
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    ctx.resp.write(body);
}

async fn front(ctx: &mut Context<Site>) -> roa::Result {
    let section = ctx.must_param("section")?.to_string();
    let site: Site = Site::clone(ctx);
    let Some(last) = site.pressed.get(&section) else {
        throw!(StatusCode::NOT_FOUND)
    };
    let answer = site.items(&section).await;
    let fresh = answer.is_some();
    let mut items = answer.unwrap_or_else(|| last.clone());
    items.sort_by(|a, b| b.published.cmp(&a.published));
    let front = Front {
        section: &section,
        fresh,
        lead: items.first(),
        more: items.iter().skip(1).take(20).collect(),
    };
    json(ctx, serde_json::to_vec(&front).unwrap());
    Ok(())
}

async fn nav(ctx: &mut Context<Site>) -> roa::Result {
    let mut sections: Vec<String> = ctx.pressed.keys().cloned().collect();
    sections.sort();
    json(ctx, serde_json::to_vec(&sections).unwrap());
    Ok(())
}

fn number(name: &str) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|v| v.parse().ok())
        .unwrap_or_else(|| panic!("{name} is not set"))
}

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pressed: HashMap<String, Vec<Item>> =
        serde_json::from_slice(&std::fs::read(std::env::var("PRESSED")?)?)?;
    let policy = failure_policy::consecutive_failures(
        number("CAPI_MAX_FAILURES") as u32,
        backoff::constant(Duration::from_secs(number("CAPI_RESET_SECONDS"))),
    );
    let site = Site {
        capi: Arc::new(std::env::var("CAPI_URL")?),
        client: Client::builder().pool_max_idle_per_host(64).build_http(),
        breaker: Config::new().failure_policy(policy).build(),
        timeout: Duration::from_millis(number("CAPI_TIMEOUT_MS")),
        pressed: Arc::new(pressed),
    };
    let router = Router::new()
        .on("/fronts/:section", get(front))
        .on("/nav", get(nav));
    let app = App::state(site).end(router.routes("/")?);
    let address = format!("127.0.0.1:{}", std::env::args().nth(1).expect("port"));
    app.listen(address, |a| eprintln!("listening on {a}"))?
        .await?;
    Ok(())
}
