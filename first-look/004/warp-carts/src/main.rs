use std::{convert::Infallible, env};
use warp::{Filter, Reply, http::StatusCode, reply};

async fn show(id: String, cache: memcache::Client) -> Result<impl Reply, Infallible> {
    let found = tokio::task::spawn_blocking(move || cache.get::<String>(&format!("cart:{id}")))
        .await
        .unwrap();
    Ok(match found {
        Ok(Some(cart)) => reply::with_status(cart, StatusCode::OK),
        Ok(None) => reply::with_status("{\"items\":[]}".into(), StatusCode::OK),
        Err(e) => reply::with_status(e.to_string(), StatusCode::BAD_GATEWAY),
    })
}

async fn put(
    id: String,
    cart: serde_json::Value,
    cache: memcache::Client,
) -> Result<impl Reply, Infallible> {
    let text = cart.to_string();
    let stored =
        tokio::task::spawn_blocking(move || cache.set(&format!("cart:{id}"), text.as_str(), 3600))
            .await
            .unwrap();
    Ok(match stored {
        Ok(()) => reply::with_status(String::new(), StatusCode::NO_CONTENT),
        Err(e) => reply::with_status(e.to_string(), StatusCode::BAD_GATEWAY),
    })
}

#[tokio::main]
async fn main() {
    let port: u16 = env::var("PORT").unwrap().parse().unwrap();
    let cache =
        memcache::Client::with_pool_size(env::var("MEMCACHE_URL").unwrap().as_str(), 16).unwrap();
    let cache = warp::any().map(move || cache.clone());
    let health = warp::path!("healthz").map(|| "ok");
    let show = warp::get()
        .and(warp::path!("cart" / String))
        .and(cache.clone())
        .and_then(show);
    let put = warp::put()
        .and(warp::path!("cart" / String))
        .and(warp::body::json())
        .and(cache)
        .and_then(put);
    warp::serve(health.or(show).or(put))
        .run(([127, 0, 0, 1], port))
        .await;
}
