//! The pages in Chromium, over its debugging pipe: nothing has to be installed beside it.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};

use super::{Serving, story};
use crate::comparing::id;
use crate::replays::{copied, fixture};
use crate::support::{is_root, skipped};

/// How long an answer of a browser on a busy machine may take before the test gives up.
const PATIENCE: Duration = Duration::from_mins(1);

/// Widths in CSS pixels: of a phone, and of a desk.
const WIDTHS: [u32; 2] = [390, 1280];

/// A browser that ends with the test.
struct Chromium {
    child: Child,
    asks: File,
    told: Receiver<Value>,
    session: Option<String>,
    asked: u64,
    events: Vec<Value>,
}

/// The browser, wherever it is.
fn program() -> Option<PathBuf> {
    let names = [
        "chromium",
        "chromium-browser",
        "google-chrome",
        "google-chrome-stable",
    ];
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let mut all = names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    all.find(|program| program.is_file())
}

impl Chromium {
    fn start(folder: &Path) -> Option<Self> {
        let program = program()?;
        let (asks, tells) = (folder.join("asks"), folder.join("tells"));
        for pipe in [&asks, &tells] {
            mknodat(CWD, pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        }
        // The pipe's ends are descriptors 3 and 4 of the browser.
        let script = "pipes=$1; shift; exec \"$@\" 3<\"$pipes/asks\" 4>\"$pipes/tells\"";
        let child = Command::new("sh")
            .args(["-c", script, "sh"])
            .arg(folder)
            .arg(program)
            .args(["--headless", "--disable-gpu", "--remote-debugging-pipe"])
            .args(is_root().then_some("--no-sandbox"))
            .arg(format!(
                "--user-data-dir={}",
                folder.join("profile").display()
            ))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let asks = OpenOptions::new().write(true).open(asks).unwrap();
        let mut reads = File::open(tells).unwrap();
        let (tell, told) = channel();
        thread::spawn(move || {
            let mut left: Vec<u8> = Vec::new();
            let mut chunk = vec![0; 65_536];
            while let Ok(length @ 1..) = reads.read(&mut chunk) {
                left.extend(&chunk[..length]);
                while let Some(end) = left.iter().position(|byte| *byte == 0) {
                    let message: Vec<u8> = left.drain(..=end).collect();
                    let message = serde_json::from_slice(&message[..end]).unwrap();
                    if tell.send(message).is_err() {
                        return;
                    }
                }
            }
        });
        let mut browser = Self {
            child,
            asks,
            told,
            session: None,
            asked: 0,
            events: Vec::new(),
        };
        let target = browser.ask("Target.createTarget", &json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = browser.ask("Target.attachToTarget", &attach);
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log"] {
            browser.ask(&format!("{domain}.enable"), &json!({}));
        }
        Some(browser)
    }

    fn next(&self) -> Value {
        self.told
            .recv_timeout(PATIENCE)
            .expect("the browser answers")
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        let mut message = json!({ "id": self.asked, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        write!(self.asks, "{message}\0").unwrap();
        loop {
            let told = self.next();
            if told["id"] == json!(self.asked) {
                assert!(told["error"].is_null(), "{method}: {told}");
                return told["result"].clone();
            }
            self.events.push(told);
        }
    }

    /// Opens a page and waits until all of it is there; what the console says is returned.
    fn open(&mut self, url: &str) -> Vec<String> {
        self.events.clear();
        self.ask("Page.navigate", &json!({ "url": url }));
        let is = |event: &Value, method: &str| event["method"] == method;
        while !self
            .events
            .iter()
            .any(|event| is(event, "Page.loadEventFired"))
        {
            let event = self.next();
            self.events.push(event);
        }
        // Whatever the page's script does, it has done before this is answered.
        self.eval("1");
        let said = self.events.iter().filter(|event| {
            is(event, "Runtime.exceptionThrown")
                || is(event, "Log.entryAdded")
                || is(event, "Runtime.consoleAPICalled")
        });
        said.map(|event| event["params"].to_string()).collect()
    }

    fn eval(&mut self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "returnByValue": true });
        self.ask("Runtime.evaluate", &params)["result"]["value"].clone()
    }

    fn emulate(&mut self, width: u32, scheme: &str) {
        let size = json!({
            "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600
        });
        self.ask("Emulation.setDeviceMetricsOverride", &size);
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.ask("Emulation.setEmulatedMedia", &media);
    }

    fn press(&mut self, key: &str, code: u32) {
        for kind in ["rawKeyDown", "keyUp"] {
            let params = json!({
                "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code
            });
            self.ask("Input.dispatchKeyEvent", &params);
        }
    }

    /// What has the focus.
    fn focused(&mut self) -> String {
        let of = "(a => a.getAttribute('href') || a.tagName + ' ' + (a.name || a.id))";
        let told = self.eval(&format!("{of}(document.activeElement)"));
        told.as_str().unwrap_or_default().to_owned()
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // Its children end with it; what is left of it goes with the folder.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn pages_fit_a_phone_are_dark_and_light_and_need_no_pointer() {
    let folder = tempfile::tempdir().unwrap();
    let pipes = tempfile::tempdir().unwrap();
    let Some(mut browser) = Chromium::start(pipes.path()) else {
        skipped("there is no Chromium");
        return;
    };
    story(folder.path());
    let measured = folder.path().join(".slowpath/runs").join(id(30));
    copied(&fixture("spans"), &measured);
    let serving = Serving::start(folder.path());
    let url = |path: &str| format!("http://{}{path}", serving.address);
    let run = format!("/runs/{}", id(30));
    let pages = [
        "/",
        "/releases",
        "/history",
        "/history/shop",
        "/compare?a=v8&b=v9",
        "/investigations",
        "/investigations/search-tail",
        &run,
        "/runs/last",
    ];
    let mut grounds = Vec::new();
    for (width, scheme) in WIDTHS.into_iter().zip(["dark", "light"]) {
        browser.emulate(width, scheme);
        for path in pages {
            let said = browser.open(&url(path));
            assert_eq!(said, Vec::<String>::new(), "{path} at {width}");
            let over =
                "document.documentElement.scrollWidth - document.documentElement.clientWidth";
            assert_eq!(
                browser.eval(over),
                json!(0),
                "{path} is too wide at {width}"
            );
            assert_eq!(
                browser.eval("document.querySelectorAll('h1').length"),
                json!(1),
                "{path}"
            );
        }
        grounds.push(browser.eval("getComputedStyle(document.body).backgroundColor"));
    }
    assert_ne!(grounds[0], grounds[1], "dark and light differ");
    by_keyboard(&mut browser, &url("/"));
}

/// The list of runs, from the first stop of the keyboard to the button that compares two.
fn by_keyboard(browser: &mut Chromium, list: &str) {
    // The first stop leads past the way to the other pages, then they come in their order.
    browser.open(list);
    let mut stops = Vec::new();
    for _ in 0..7 {
        browser.press("Tab", 9);
        stops.push(browser.focused());
    }
    let expected = [
        "#content",
        "/",
        "/",
        "/releases",
        "/history",
        "/compare",
        "/investigations",
    ];
    assert_eq!(stops, expected);
    let ring = browser.eval("getComputedStyle(document.activeElement).outlineStyle");
    assert_eq!(ring, json!("solid"), "the focus is seen");
    // On to the two runs that a comparison begins with, and to its button.
    let mut more = Vec::new();
    while !more.iter().any(|stop: &String| stop.starts_with("BUTTON")) {
        assert!(more.len() < 80, "{more:?}");
        browser.press("Tab", 9);
        more.push(browser.focused());
    }
    assert!(more.iter().any(|stop| stop == "INPUT a") && more.iter().any(|stop| stop == "INPUT b"));
    browser.events.clear();
    browser.press(" ", 32);
    while !browser
        .events
        .iter()
        .any(|event| event["method"] == "Page.loadEventFired")
    {
        let event = browser.next();
        browser.events.push(event);
    }
    let title = browser.eval("document.querySelector('h1').textContent");
    assert_eq!(title, json!("Compare shop"));
}
