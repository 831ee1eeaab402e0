use ntex::web::{
    self, App, HttpResponse,
    types::{Path, State},
};
use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::{Arc, mpsc};

#[derive(serde::Serialize, Clone)]
struct Player {
    id: u32,
    name: String,
    points: u64,
}

struct Board {
    ranking: Vec<Player>,
    rank_of: HashMap<u32, usize>,
}

struct Game {
    board: RwLock<Board>,
    results: mpsc::SyncSender<(u32, u64)>,
}

impl Board {
    fn rank(&mut self) {
        self.ranking
            .sort_by(|a, b| b.points.cmp(&a.points).then(a.name.cmp(&b.name)));
        self.rank_of = self
            .ranking
            .iter()
            .enumerate()
            .map(|(i, p)| (p.id, i + 1))
            .collect();
    }
}

async fn player(id: Path<u32>, game: State<Arc<Game>>) -> HttpResponse {
    let board = game.board.read();
    match board.rank_of.get(&id) {
        Some(&rank) => {
            let p = &board.ranking[rank - 1];
            HttpResponse::Ok().json(
                &serde_json::json!({"id": p.id, "name": p.name, "points": p.points, "rank": rank}),
            )
        }
        None => HttpResponse::NotFound().finish(),
    }
}

async fn result(path: Path<(u32, u64)>, game: State<Arc<Game>>) -> HttpResponse {
    let _ = game.results.try_send(*path);
    HttpResponse::Accepted().finish()
}

#[ntex::main]
async fn main() -> std::io::Result<()> {
    let port: u16 = std::env::args().nth(1).unwrap().parse().unwrap();
    let players: u32 = std::env::args().nth(2).unwrap().parse().unwrap();
    let mut board = Board {
        ranking: Vec::new(),
        rank_of: HashMap::new(),
    };
    for id in 1..=players {
        board.ranking.push(Player {
            id,
            name: format!("player {id}"),
            points: (id as u64 * 7919) % 100_003,
        });
    }
    board.rank();
    let (results, inbox) = mpsc::sync_channel(1000);
    let game = Arc::new(Game {
        board: RwLock::new(board),
        results,
    });
    let g = game.clone();
    std::thread::Builder::new()
        .name("ranking".into())
        .spawn(move || {
            for (id, points) in inbox {
                let mut board = g.board.write();
                if let Some(&rank) = board.rank_of.get(&id) {
                    board.ranking[rank - 1].points += points;
                    board.rank();
                }
            }
        })?;
    web::server(move || {
        App::new()
            .state(game.clone())
            .route("/player/{id}", web::get().to(player))
            .route("/result/{id}/{points}", web::post().to(result))
    })
    .workers(4)
    .bind(("127.0.0.1", port))?
    .run()
    .await
}
