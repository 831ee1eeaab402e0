// The credit scoring service of a lender on may_minihttp (coroutines of may).
//
// GET  /score/ID    asks the credit bureau for one score
// POST /reports/ID  takes an order for a household report (202 at once); the
//                   report asks the bureau for its two halves in coroutines
//                   of its own
// GET  /health
//
// All calls to the bureau take a permit of one semaphore, as the contract
// allows BUREAU_PERMITS calls at a time.
use may::net::TcpStream;
use may::sync::{Mutex, Semphore};
use may_minihttp::{HttpServer, HttpService, Request, Response};
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Instant;

struct Bureau {
    addr: String,
    permits: Semphore,
    idle: Mutex<Vec<TcpStream>>,
    trace: bool,
}

impl Bureau {
    fn ask(&self, question: &str) -> io::Result<String> {
        let start = Instant::now();
        self.permits.wait();
        let waited = start.elapsed();
        let answer = self.exchange(question);
        self.permits.post();
        if self.trace {
            eprintln!(
                "{} permit {:.1} bureau {:.1}",
                question.split(' ').next().unwrap_or(""),
                waited.as_secs_f64() * 1000.0,
                (start.elapsed() - waited).as_secs_f64() * 1000.0
            );
        }
        answer
    }

    fn exchange(&self, question: &str) -> io::Result<String> {
        let kept = self.idle.lock().unwrap().pop();
        let mut conn = match kept {
            Some(c) => c,
            None => {
                let c = TcpStream::connect(self.addr.as_str())?;
                c.set_nodelay(true)?;
                c
            }
        };
        conn.write_all(question.as_bytes())?;
        let mut line = Vec::new();
        let mut buf = [0u8; 256];
        while line.last() != Some(&b'\n') {
            let n = conn.read(&mut buf)?;
            if n == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            line.extend_from_slice(&buf[..n]);
        }
        self.idle.lock().unwrap().push(conn);
        Ok(String::from_utf8_lossy(&line).trim().to_string())
    }
}

#[derive(Clone)]
struct Scoring {
    bureau: Arc<Bureau>,
}

impl HttpService for Scoring {
    fn call(&mut self, req: Request, res: &mut Response) -> io::Result<()> {
        let path = req.path().to_string();
        if path == "/health" {
            res.body("ok\n");
        } else if let Some(id) = path.strip_prefix("/score/") {
            res.header("Content-Type: application/json");
            match self.bureau.ask(&format!("SCORE {id}\n")) {
                Ok(score) => res.body_vec(format!("{{\"score\":{score}}}\n").into_bytes()),
                Err(e) => {
                    eprintln!("bureau: {e}");
                    res.status_code(502, "Bad Gateway");
                }
            }
        } else if let (Some(id), "POST") = (path.strip_prefix("/reports/"), req.method()) {
            for half in ["payments", "contracts"] {
                let (bureau, question) = (self.bureau.clone(), format!("REPORT {id} {half}\n"));
                let job = move || {
                    if let Err(e) = bureau.ask(&question) {
                        eprintln!("report: {e}");
                    }
                };
                may::go!(job);
            }
            res.status_code(202, "Accepted");
            res.body("ordered\n");
        } else {
            res.status_code(404, "Not Found");
        }
        Ok(())
    }
}

fn main() {
    let var = |n: &str| std::env::var(n).unwrap_or_else(|_| panic!("{n} is not set"));
    may::config().set_stack_size(0x4000);
    let bureau = Arc::new(Bureau {
        addr: var("BUREAU_ADDR"),
        permits: Semphore::new(var("BUREAU_PERMITS").parse().expect("BUREAU_PERMITS")),
        idle: Mutex::new(Vec::new()),
        trace: std::env::var("TRACE").is_ok(),
    });
    let server = HttpServer(Scoring { bureau }).start(format!("127.0.0.1:{}", var("PORT")));
    server.expect("listen").join().expect("serve");
}
