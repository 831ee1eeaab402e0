//! Shipping desk: what a parcel costs with a partner carrier. Partners are reached by name; the resolver
//! is the service's own (the image has no resolver daemon, and nothing caches), set up from the environment
//! as /etc/resolv.conf would be.
use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    ConnectionConfig, LookupIpStrategy, NameServerConfig, ProtocolConfig, ResolveHosts,
    ResolverConfig,
};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use silent::prelude::*;
use std::env;
use std::net::{IpAddr, SocketAddr};
use std::sync::OnceLock;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

struct Desk {
    resolver: TokioResolver,
    partner_port: u16,
}

static DESK: OnceLock<Desk> = OnceLock::new();

fn var(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} is not set"))
}

fn resolver() -> TokioResolver {
    let mut connection = ConnectionConfig::new(ProtocolConfig::Udp);
    connection.port = var("DNS_PORT").parse().expect("DNS_PORT");
    let server = NameServerConfig::new(IpAddr::from([127, 0, 0, 1]), true, vec![connection]);
    let mut builder = TokioResolver::builder_with_config(
        ResolverConfig::from_name_servers(vec![server]),
        TokioRuntimeProvider::default(),
    );
    let options = builder.options_mut();
    options.timeout = Duration::from_secs(1); // options timeout:1
    options.attempts = 2;
    options.cache_size = 0;
    options.use_hosts_file = ResolveHosts::Never;
    // RESOLVE_FAMILY=unspec asks for A and AAAA at once, as getaddrinfo(AF_UNSPEC) does
    options.ip_strategy = match var("RESOLVE_FAMILY").as_str() {
        "inet" => LookupIpStrategy::Ipv4Only,
        _ => LookupIpStrategy::Ipv4AndIpv6,
    };
    builder.build().expect("resolver")
}

async fn ask_partner(carrier: &str, zone: u32, grams: u32) -> std::result::Result<String, String> {
    let desk = DESK.get().expect("desk");
    let name = format!("{carrier}.partners.example.");
    let found = desk
        .resolver
        .lookup_ip(name.as_str())
        .await
        .map_err(|e| format!("{name}: {e}"))?;
    let ip = found.iter().find(IpAddr::is_ipv4).ok_or("no address")?;
    let mut stream = TcpStream::connect(SocketAddr::new(ip, desk.partner_port))
        .await
        .map_err(|e| e.to_string())?;
    let request =
        format!("GET /price?zone={zone}&grams={grams} HTTP/1.0\r\nHost: {carrier}\r\n\r\n");
    stream
        .write_all(request.as_bytes())
        .await
        .map_err(|e| e.to_string())?;
    let mut answer = String::new();
    stream
        .read_to_string(&mut answer)
        .await
        .map_err(|e| e.to_string())?;
    answer
        .split_once("\r\n\r\n")
        .map(|(_, body)| body.to_owned())
        .ok_or_else(|| "short answer".to_owned())
}

async fn quote(request: Request) -> Result<Response> {
    let carrier: String = request.get_path_params("carrier")?;
    let zone: i32 = request.get_path_params("zone")?;
    let zone = zone.unsigned_abs();
    let grams = 200 + zone * 37 % 1900;
    match ask_partner(&carrier, zone, grams).await {
        Ok(body) => {
            let price: serde_json::Value = serde_json::from_str(&body).unwrap_or_default();
            Ok(Response::json(&serde_json::json!({
                "carrier": carrier, "zone": zone, "grams": grams,
                "cents": price["cents"], "with_handling": price["cents"].as_u64().unwrap_or(0) + 120,
            })))
        }
        Err(why) => Ok(Response::text(&why).with_status(StatusCode::BAD_GATEWAY)),
    }
}

// the own zone table: no partner is asked
async fn zone(request: Request) -> Result<Response> {
    let zone: i32 = request.get_path_params("zone")?;
    let zone = zone.unsigned_abs();
    let countries: Vec<String> = (0..12u32)
        .map(|n| format!("C{:03}", (zone * 31 + n * 17) % 240))
        .collect();
    Ok(Response::json(
        &serde_json::json!({ "zone": zone, "countries": countries, "days": 1 + zone % 6 }),
    ))
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let port: u16 = var("PORT").parse().expect("PORT");
    let _ = DESK.set(Desk {
        resolver: resolver(),
        partner_port: var("PARTNER_PORT").parse().expect("PARTNER_PORT"),
    });
    let route = Route::new("")
        .append(Route::new("quotes/<carrier>/<zone:int>").get(quote))
        .append(Route::new("zones/<zone:int>").get(zone))
        .append(Route::new("health").get(|_req: Request| async { Ok("ok") }));
    Server::new()
        .bind(SocketAddr::from(([127, 0, 0, 1], port)))
        .serve(route)
        .await;
}
