//! `slowpath serve`: a local web page over what is stored.
//!
//! Here is wiring alone: what a page shows is judged by the crates that judge, and drawn by `report`.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use axum::Router;
use axum::middleware::from_fn_with_state;
use slowpath_report::site::Site;
use tokio::net::UnixStream;

use crate::cli::ServeArgs;
use crate::exit::{Exit, Problem};
use crate::{interrupt, out, store};

mod answer;
mod compare;
mod guard;
mod history;
mod log;
mod run;
mod runs;
mod shelf;

use answer::{Served, route};
use guard::Guard;
use shelf::Shelf;

/// How long a page that is being made may still take once slowpath is asked to end.
const GRACE: Duration = Duration::from_secs(1);

/// The value of `schema` in what `--json` writes.
const SCHEMA: &str = "slowpath.serve/1";

/// Listens, says where, and answers until it is interrupted.
pub(crate) fn serve(args: &ServeArgs) -> Result<Exit> {
    store::check_copy(args.json.as_deref())?;
    // A second interrupt ends slowpath at once.
    interrupt::flag().context("listen to signals")?;
    let ended = interrupt::told().context("listen to signals")?;
    let listener = listen(args.listen)?;
    let address = listener.local_addr().context("ask for the own address")?;
    let url = format!("http://{address}/");
    if !address.ip().is_loopback() {
        out::say(&format!(
            "anyone who can reach {address} can read all runs, with commands and environments: there \
             is no password"
        ));
    }
    let told = serde_json::json!({ "schema": SCHEMA, "url": url });
    store::write_copy(args.json.as_deref(), &format!("{told:#}\n"))?;
    let served = Arc::new(Served {
        site: Site {
            project: project(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        },
        shelf: Shelf::new(PathBuf::from(store::RUNS)),
        log: args.dir.clone(),
    });
    let app = routes(served, Guard::new(address.ip()));
    out::answer(&format!("{url}\n"));
    out::say("Ctrl-C ends it");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("start the runtime")?;
    let done = runtime.block_on(until_ended(listener, app, ended));
    // A page whose reader is gone is not waited for.
    runtime.shutdown_background();
    done?;
    Ok(Exit::Interrupted)
}

fn listen(address: SocketAddr) -> Result<TcpListener, Problem> {
    let listener = TcpListener::bind(address).map_err(|error| {
        let remedy = match error.kind() {
            std::io::ErrorKind::AddrInUse => {
                "another `slowpath serve` may listen there already; --listen 127.0.0.1:0 takes a \
                 free port"
            }
            _ => "--listen 127.0.0.1:0 takes a free port of this machine alone",
        };
        Problem::environment(format!("cannot listen on {address}: {error}"), remedy)
    })?;
    listener.set_nonblocking(true).map_err(|error| {
        Problem::environment(format!("cannot listen on {address}: {error}"), "try again")
    })?;
    Ok(listener)
}

/// What the project is called: the folder that slowpath was started in.
fn project() -> String {
    let folder = std::env::current_dir().unwrap_or_default();
    let name = folder.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn routes(served: Arc<Served>, guard: Guard) -> Router {
    Router::new()
        .route("/", route(runs::list))
        .route("/runs", route(runs::list))
        .route("/runs/{id}", route(run::report))
        .route("/releases", route(history::releases))
        .route("/history", route(history::history))
        .route("/history/{name}", route(history::history))
        .route("/compare", route(compare::compare))
        .route("/investigations", route(log::investigations))
        .route("/investigations/{id}", route(log::thread))
        .route("/investigations/{id}/files/{file}", route(log::file))
        .fallback(route(answer::beside))
        .layer(from_fn_with_state(Arc::new(guard), guard::pass))
        .with_state(served)
}

/// Answers until an interrupt comes, and then as long as pages that were asked for take.
async fn until_ended(
    listener: TcpListener,
    app: Router,
    ended: std::os::unix::net::UnixStream,
) -> Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener).context("listen")?;
    let ended = UnixStream::from_std(ended).context("listen to signals")?;
    let (tell, told) = tokio::sync::oneshot::channel::<()>();
    let answering = axum::serve(listener, app).with_graceful_shutdown(async {
        // Whether it was signalled or the other end is gone, it is to end.
        let _ = told.await;
    });
    let answering = tokio::spawn(answering.into_future());
    ended.readable().await.context("wait for a signal")?;
    let _ = tell.send(());
    // A browser may hold a connection open without ever asking.
    let _ = tokio::time::timeout(GRACE, answering).await;
    Ok(())
}
