//! Shared code snippets of a team ("paste bin") as a GraphQL API.
//! `snippet` renders the code to HTML with syntect on tokio's blocking pool,
//! `author` only looks into a table.
mod highlight;
mod seed;

use std::{collections::HashMap, env, sync::Arc, time::Duration};

use async_graphql::{Context, EmptyMutation, EmptySubscription, Object, Schema, SimpleObject};
use async_graphql_axum::{GraphQLRequest, GraphQLResponse};
use axum::{Router, extract::State, routing, serve::ListenerExt};

pub struct Stored {
    pub id: String,
    pub title: String,
    pub extension: &'static str,
    pub code: String,
    pub author: String,
}

#[derive(SimpleObject, Clone)]
struct Author {
    id: String,
    name: String,
    team: String,
    snippets: Vec<String>,
}

#[derive(SimpleObject)]
struct Snippet {
    id: String,
    title: String,
    language: String,
    author: String,
    lines: usize,
    html: String,
}

struct Store {
    snippets: HashMap<String, Arc<Stored>>,
    authors: HashMap<String, Author>,
}

struct Query;

#[Object]
impl Query {
    async fn snippet(&self, ctx: &Context<'_>, id: String) -> async_graphql::Result<Snippet> {
        let store = ctx.data::<Arc<Store>>()?;
        let stored = store.snippets.get(&id).cloned().ok_or("no such snippet")?;
        let work = stored.clone();
        let html = tokio::task::spawn_blocking(move || highlight::render(&work)).await??;
        Ok(Snippet {
            id: stored.id.clone(),
            title: stored.title.clone(),
            language: stored.extension.to_string(),
            author: stored.author.clone(),
            lines: stored.code.lines().count(),
            html,
        })
    }

    async fn author(&self, ctx: &Context<'_>, id: String) -> async_graphql::Result<Author> {
        let store = ctx.data::<Arc<Store>>()?;
        Ok(store.authors.get(&id).cloned().ok_or("no such author")?)
    }
}

type Api = Schema<Query, EmptyMutation, EmptySubscription>;

async fn graphql(State(api): State<Api>, request: GraphQLRequest) -> GraphQLResponse {
    api.execute(request.into_inner()).await.into()
}

async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    let snippets: HashMap<_, _> = seed::snippets()
        .into_iter()
        .map(|s| (s.id.clone(), Arc::new(s)))
        .collect();
    let authors = seed::authors()
        .into_iter()
        .map(|(id, name, team)| {
            let mut own: Vec<String> = snippets
                .values()
                .filter(|s| s.author == id)
                .map(|s| s.id.clone())
                .collect();
            own.sort();
            let author = Author {
                id: id.clone(),
                name,
                team,
                snippets: own,
            };
            (id, author)
        })
        .collect();
    highlight::prepare(snippets.values().map(|s| s.as_ref()))?;
    let api = Schema::build(Query, EmptyMutation, EmptySubscription)
        .data(Arc::new(Store { snippets, authors }))
        .finish();
    let app = Router::new()
        .route("/graphql", routing::post(graphql))
        .route("/health", routing::get(|| async { "ok" }))
        .with_state(api);
    let port = env::var("PORT")?;
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}"))
        .await?
        .tap_io(|tcp| {
            let _ = tcp.set_nodelay(true);
        });
    axum::serve(listener, app).await?;
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let keep: u64 = env::var("BLOCKING_KEEP_ALIVE_MS")
        .ok()
        .and_then(|v| v.parse().ok())
        .unwrap_or(10_000);
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(4)
        .thread_keep_alive(Duration::from_millis(keep))
        .enable_all()
        .build()?
        .block_on(serve())
}
