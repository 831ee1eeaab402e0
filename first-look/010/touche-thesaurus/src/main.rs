use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, RwLock};
use std::time::{Duration, Instant};
use touche::{Body, Request, Response, Server};

#[derive(Default)]
struct Thesaurus {
    words: Vec<String>,
    by_stem: HashMap<String, Vec<usize>>,
}

impl Thesaurus {
    fn load(n: usize) -> Self {
        let mut t = Thesaurus::default();
        for i in 0..n {
            t.words
                .push(format!("word{:05}x{:03}", i % 9000, (i * 7919) % 911));
        }
        t.reindex();
        t
    }
    /// Groups all words by stem and sorts each group.
    fn reindex(&mut self) {
        let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (i, w) in self.words.iter().enumerate() {
            groups.entry(w[..9].to_string()).or_default().push(i);
        }
        for g in groups.values_mut() {
            g.sort_by(|a, b| self.words[*a].cmp(&self.words[*b]));
        }
        self.by_stem = groups.into_iter().collect();
    }
    fn similar(&self, stem: &str) -> String {
        match self.by_stem.get(stem) {
            Some(ids) => ids
                .iter()
                .take(20)
                .map(|i| self.words[*i].as_str())
                .collect::<Vec<_>>()
                .join("\n"),
            None => String::new(),
        }
    }
}

fn main() {
    let port: u16 = std::env::args().nth(1).unwrap().parse().unwrap();
    let words: usize = std::env::var("WORDS")
        .unwrap_or("200000".into())
        .parse()
        .unwrap();
    let every: u64 = std::env::var("REFRESH_MS")
        .unwrap_or("0".into())
        .parse()
        .unwrap();
    let data = Arc::new(RwLock::new(Thesaurus::load(words)));
    if every > 0 {
        let data = data.clone();
        std::thread::Builder::new()
            .name("refresh".into())
            .spawn(move || {
                loop {
                    std::thread::sleep(Duration::from_millis(every));
                    let began = Instant::now();
                    let mut t = data.write().unwrap();
                    let new = format!("word{:05}x{:03}", began.elapsed().subsec_nanos() % 9000, 7);
                    t.words.push(new);
                    t.reindex();
                    drop(t);
                    if std::env::var("VERBOSE").is_ok() {
                        eprintln!("refreshed in {:?}", began.elapsed());
                    }
                }
            })
            .unwrap();
    }
    Server::builder()
        .bind(("127.0.0.1", port))
        .serve(move |req: Request<Body>| {
            let path = req.uri().path();
            match path.strip_prefix("/similar/") {
                Some(stem) => {
                    Response::builder().body(Body::from(data.read().unwrap().similar(stem)))
                }
                None if path == "/" => Response::builder().body(Body::from("thesaurus\n")),
                None => Response::builder().status(404).body(Body::empty()),
            }
        })
        .expect("serve");
}
