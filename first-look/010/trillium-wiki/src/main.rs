use pulldown_cmark::{Options, Parser, html};
use std::fmt::Write;
use trillium::Conn;
use trillium_router::{Router, RouterConnExt};

/// Page n of the wiki: a few headings, lists, tables and paragraphs.
fn source(n: usize, sections: usize) -> String {
    let mut s = format!("# Page {n}\n\n");
    for i in 0..sections {
        let _ = write!(
            s,
            "## Section {i}\n\nSee [page {}](/page/{}) for *details* of `item{i}`.\n\n",
            n + i,
            n + i
        );
        for k in 0..8 {
            let _ = write!(s, "- entry **{k}** of {i}, with ~~old~~ new text\n");
        }
        s.push_str("\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\n");
    }
    s
}

async fn page(conn: Conn) -> Conn {
    let n: usize = conn.param("n").and_then(|p| p.parse().ok()).unwrap_or(1);
    let sections: usize = std::env::var("SECTIONS")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(60);
    let text = source(n, sections);
    let mut out = String::with_capacity(text.len() * 2);
    html::push_html(&mut out, Parser::new_ext(&text, Options::all()));
    conn.ok(out)
}

fn main() {
    let port: u16 = std::env::args().nth(1).unwrap().parse().unwrap();
    trillium_smol::config()
        .with_host("127.0.0.1")
        .with_port(port)
        .with_nodelay()
        .run(Router::new().get("/", "wiki\n").get("/page/:n", page));
}
