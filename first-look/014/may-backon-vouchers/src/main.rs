// The voucher desk of a shop on may_minihttp (coroutines of may).
// GET /vouchers/ID asks the issuer whether the voucher is good; a refused call
// is tried again by backon with an exponential delay, which begins at
// RETRY_FIRST_MS and is slept in the coroutine of the request.
use backon::{BlockingRetryable, ExponentialBuilder};
use may::net::TcpStream;
use may::sync::Mutex;
use may_minihttp::{HttpServer, HttpService, Request, Response};
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

struct Issuer {
    addr: String,
    idle: Mutex<Vec<TcpStream>>,
    first_delay: Duration,
    trace: bool,
}

impl Issuer {
    fn ask(&self, id: &str) -> io::Result<String> {
        let kept = self.idle.lock().unwrap().pop();
        let mut conn = match kept {
            Some(c) => c,
            None => {
                let c = TcpStream::connect(self.addr.as_str())?;
                c.set_nodelay(true)?;
                c
            }
        };
        conn.write_all(format!("CHECK {id}\n").as_bytes())?;
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
        let text = String::from_utf8_lossy(&line).trim().to_string();
        if text == "BUSY" {
            return Err(io::Error::new(io::ErrorKind::WouldBlock, "issuer is busy"));
        }
        Ok(text)
    }

    fn check(&self, id: &str) -> io::Result<String> {
        let start = Instant::now();
        let mut pauses = Duration::ZERO;
        let delays = ExponentialBuilder::default()
            .with_min_delay(self.first_delay)
            .with_factor(2.0)
            .with_max_times(4);
        let answer = (|| self.ask(id))
            .retry(delays)
            .sleep(may::coroutine::sleep)
            .notify(|_, pause| pauses += pause)
            .call();
        if self.trace {
            let ms = |d: Duration| d.as_secs_f64() * 1000.0;
            eprintln!(
                "voucher total {:.1} backoff {:.1}",
                ms(start.elapsed()),
                ms(pauses)
            );
        }
        answer
    }
}

#[derive(Clone)]
struct Desk {
    issuer: Arc<Issuer>,
}

impl HttpService for Desk {
    fn call(&mut self, req: Request, res: &mut Response) -> io::Result<()> {
        let path = req.path();
        if path == "/health" {
            res.body("ok\n");
        } else if let Some(id) = path.strip_prefix("/vouchers/") {
            match self.issuer.check(id) {
                Ok(cents) => {
                    res.header("Content-Type: application/json");
                    res.body_vec(format!("{{\"good\":true,\"cents\":{cents}}}\n").into_bytes());
                }
                Err(e) => {
                    eprintln!("issuer: {e}");
                    res.status_code(502, "Bad Gateway");
                }
            }
        } else {
            res.status_code(404, "Not Found");
        }
        Ok(())
    }
}

fn main() {
    let var = |n: &str| std::env::var(n).unwrap_or_else(|_| panic!("{n} is not set"));
    may::config().set_stack_size(0x4000);
    let issuer = Arc::new(Issuer {
        addr: var("ISSUER_ADDR"),
        idle: Mutex::new(Vec::new()),
        first_delay: Duration::from_millis(var("RETRY_FIRST_MS").parse().expect("RETRY_FIRST_MS")),
        trace: std::env::var("TRACE").is_ok(),
    });
    let server = HttpServer(Desk { issuer }).start(format!("127.0.0.1:{}", var("PORT")));
    server.expect("listen").join().expect("serve");
}
