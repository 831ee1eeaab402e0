// Sign-in service: sessions are looked up in memory, passwords are checked with Argon2id.
use argon2::{Algorithm, Argon2, Params, Version};
use ohkami::claw::{Json, Path};
use ohkami::prelude::*;
use serde::Serialize;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use tokio::sync::Semaphore;

#[derive(Serialize)]
struct Session {
    user: String,
    roles: Vec<String>,
}

#[derive(Serialize)]
struct Signed {
    user: u64,
    token: String,
}

#[derive(Serialize)]
struct Team {
    team: u64,
    members: Vec<Session>,
}

struct State {
    sessions: HashMap<u64, (String, u8)>,
    hasher: Argon2<'static>,
    offload: bool,
    checks: Arc<Semaphore>,
}

static STATE: OnceLock<State> = OnceLock::new();

fn state() -> &'static State {
    STATE.get().unwrap()
}

fn var(name: &str, default: u32) -> u32 {
    std::env::var(name)
        .ok()
        .and_then(|v| v.parse().ok())
        .unwrap_or(default)
}

fn session_of(n: u64) -> Session {
    let (user, level) = &state().sessions[&(n % 20_000)];
    Session {
        user: user.clone(),
        roles: (0..=*level).map(|r| format!("role{r}")).collect(),
    }
}

async fn session(Path(id): Path<u64>) -> Json<Session> {
    Json(session_of(id))
}

async fn team(Path(id): Path<u64>) -> Json<Team> {
    Json(Team {
        team: id,
        members: (0..150).map(|i| session_of(id * 150 + i)).collect(),
    })
}

fn check_password(user: u64) -> Signed {
    let mut out = [0u8; 32];
    state()
        .hasher
        .hash_password_into(
            format!("secret of {user}").as_bytes(),
            b"pepper and salt!",
            &mut out,
        )
        .unwrap();
    Signed {
        user,
        token: out.iter().map(|b| format!("{b:02x}")).collect(),
    }
}

async fn sign_in(Path(id): Path<u64>) -> Json<Signed> {
    if !state().offload {
        return Json(check_password(id));
    }
    let _place = state().checks.acquire().await.unwrap();
    Json(
        tokio::task::spawn_blocking(move || check_password(id))
            .await
            .unwrap(),
    )
}

async fn health() -> &'static str {
    "ok"
}

fn main() {
    let port = std::env::args().nth(1).expect("port");
    let params = Params::new(var("ARGON2_KIB", 19_456), var("ARGON2_PASSES", 2), 1, None).unwrap();
    let _ = STATE.set(State {
        sessions: (0..20_000)
            .map(|i| (i, (format!("user{i:05}"), (i % 5) as u8)))
            .collect(),
        hasher: Argon2::new(Algorithm::Argon2id, Version::V0x13, params),
        offload: var("OFFLOAD", 0) == 1,
        checks: Arc::new(Semaphore::new(2)),
    });
    let threads = var("TOKIO_WORKERS", 1) as usize;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build()
        .unwrap();
    // the server runs as a task of the workers
    runtime.block_on(async move {
        tokio::spawn(async move {
            Ohkami::new((
                "/health".GET(health),
                "/session/:id".GET(session),
                "/team/:id".GET(team),
                "/sign-in/:id".POST(sign_in),
            ))
            .howl(format!("127.0.0.1:{port}"))
            .await
        })
        .await
        .unwrap()
    });
}
