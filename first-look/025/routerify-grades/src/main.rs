//! Grade book of a course platform. Workers are event loops of one thread each that share a
//! listener, as a preforking server has them; each serves many connections.
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hyper::{Body, Request, Response, Server, StatusCode};
use routerify::prelude::*;
use routerify::{Router, RouterService};
use serde_json::json;

#[derive(Clone)]
struct Lms {
    url: String,
    agent: ureq::Agent,
}

impl Lms {
    /// Passes one grade back to the LMS (the outcomes service of LTI).
    fn replace_result(&self, course: u32, student: u32, score: f64) -> Result<(), String> {
        let body = json!({ "sourcedid": format!("{course}-{student}"), "score": score });
        self.agent
            .post(&format!("{}/outcomes", self.url))
            .send_json(body)
            .map_err(|e| e.to_string())?
            .into_string()
            .map(drop)
            .map_err(|e| e.to_string())
    }
}

struct Course {
    scores: Vec<Vec<f64>>,
}

impl Course {
    fn new(id: u32) -> Course {
        let mut seed = id.wrapping_mul(2654435761).wrapping_add(12345);
        let mut scores = Vec::new();
        for _ in 0..STUDENTS {
            let mut row = Vec::new();
            for _ in 0..40 {
                seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
                row.push(f64::from(seed >> 16) / 65536.0);
            }
            scores.push(row);
        }
        Course { scores }
    }

    fn total(&self, student: u32) -> f64 {
        let row = &self.scores[student as usize % self.scores.len()];
        row.iter().sum::<f64>() / row.len() as f64
    }
}

const STUDENTS: u32 = 24;

struct State {
    courses: Mutex<HashMap<u32, Arc<Course>>>,
    lms: Lms,
    jobs: Option<tokio::sync::mpsc::UnboundedSender<u32>>,
    trace: bool,
}

impl State {
    fn course(&self, id: u32) -> Arc<Course> {
        let mut courses = self.courses.lock().unwrap();
        courses
            .entry(id)
            .or_insert_with(|| Arc::new(Course::new(id)))
            .clone()
    }

    /// Passes the grades of the whole course back.
    fn mass_update(&self, id: u32) {
        let begin = Instant::now();
        let course = self.course(id);
        let mut failed = 0;
        for student in 0..STUDENTS {
            if let Err(error) = self.lms.replace_result(id, student, course.total(student)) {
                failed += 1;
                eprintln!("mass update of {id}: {error}");
            }
        }
        if self.trace {
            eprintln!(
                "{:?} mass update of course {id}: {STUDENTS} grades, {failed} failed, {:.1} ms",
                std::thread::current().name(),
                begin.elapsed().as_secs_f64() * 1e3
            );
        }
    }
}

fn number(request: &Request<Body>, name: &str) -> u32 {
    request
        .param(name)
        .and_then(|s| s.parse().ok())
        .unwrap_or(0)
}

fn reply(status: StatusCode, body: serde_json::Value) -> Response<Body> {
    Response::builder()
        .status(status)
        .header("content-type", "application/json")
        .body(Body::from(body.to_string()))
        .unwrap()
}

async fn health(_: Request<Body>) -> Result<Response<Body>, Infallible> {
    Ok(reply(StatusCode::OK, json!({ "ok": true })))
}

/// The grade page of a student: all sets with their place in the course.
async fn grades(request: Request<Body>) -> Result<Response<Body>, Infallible> {
    let state = request.data::<Arc<State>>().unwrap().clone();
    let (id, student) = (number(&request, "course"), number(&request, "student"));
    let course = state.course(id);
    let row = &course.scores[student as usize % course.scores.len()];
    let sets: Vec<_> = row
        .iter()
        .enumerate()
        .map(|(i, score)| {
            let better = course.scores.iter().filter(|r| r[i] > *score).count();
            json!({ "set": i + 1, "score": score, "rank": better + 1 })
        })
        .collect();
    Ok(reply(
        StatusCode::OK,
        json!({ "student": student, "total": course.total(student), "sets": sets }),
    ))
}

/// An instructor opens the course: the grades are passed back to the LMS behind the reply.
async fn open_course(request: Request<Body>) -> Result<Response<Body>, Infallible> {
    let state = request.data::<Arc<State>>().unwrap().clone();
    let id = number(&request, "course");
    let course = state.course(id);
    match &state.jobs {
        Some(jobs) => {
            let _ = jobs.send(id);
        }
        None => {
            let state = state.clone();
            // once the reply is out: the loop takes it up next
            tokio::task::spawn_local(async move { state.mass_update(id) });
        }
    }
    Ok(reply(
        StatusCode::ACCEPTED,
        json!({ "course": id, "students": course.scores.len(), "mass_update": "started" }),
    ))
}

#[derive(Clone, Copy)]
struct Local;

impl<F: std::future::Future + 'static> hyper::rt::Executor<F> for Local {
    fn execute(&self, future: F) {
        tokio::task::spawn_local(future);
    }
}

fn worker(listener: std::net::TcpListener, state: Arc<State>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async move {
        let router = Router::builder()
            .data(state)
            .get("/health", health)
            .get("/courses/:course/students/:student/grades", grades)
            .post("/courses/:course/open", open_course)
            .build()
            .unwrap();
        let service = RouterService::new(router).unwrap();
        Server::from_tcp(listener)
            .unwrap()
            .tcp_nodelay(true)
            .executor(Local)
            .serve(service)
            .await
            .unwrap();
    });
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let port = arguments.next().expect("PORT");
    let lms_port = arguments.next().expect("LMS_PORT");
    let workers: usize = std::env::var("WORKERS")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(2);
    let queue = std::env::var("MASS_UPDATE")
        .map(|s| s == "job-queue")
        .unwrap_or(false);

    let lms = Lms {
        url: format!("http://127.0.0.1:{lms_port}"),
        agent: ureq::AgentBuilder::new()
            .timeout(Duration::from_secs(20))
            .build(),
    };
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let state = Arc::new(State {
        courses: Mutex::new(HashMap::new()),
        lms,
        jobs: queue.then_some(sender),
        trace: std::env::var("TRACE").is_ok(),
    });
    if queue {
        let state = state.clone();
        std::thread::Builder::new()
            .name("job-queue".into())
            .spawn(move || {
                while let Some(id) = receiver.blocking_recv() {
                    state.mass_update(id);
                }
            })
            .unwrap();
    }
    let listener = std::net::TcpListener::bind(format!("127.0.0.1:{port}")).unwrap();
    listener.set_nonblocking(true).unwrap();
    let threads: Vec<_> = (0..workers)
        .map(|i| {
            let (listener, state) = (listener.try_clone().unwrap(), state.clone());
            std::thread::Builder::new()
                .name(format!("worker-{i}"))
                .spawn(move || worker(listener, state))
                .unwrap()
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}
