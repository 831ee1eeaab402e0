//! What the five releases are, and what is true of each.

use std::path::Path;

use serde_json::Value;

/// The folder of the investigation.
pub(super) const INVESTIGATION: &str = "search-tail";
/// What makes the sick ones slow.
pub(super) const CAUSE: &str = "lock-held-over-io";
/// What is predicted of each fix. The fault holds requests for 120 ms, half of it for 60 ms, and both in
/// far more than 1 % of the time; without it a machine that others use has a tail of 12 ms, and so be it.
pub(super) const WELL: &str = "search.p99 in 0.2ms..30ms";

/// A release.
#[derive(Debug)]
pub(super) struct Release {
    pub(super) name: &'static str,
    /// What it is in truth.
    pub(super) what: &'static str,
    /// Options of the lab's server.
    options: &'static [&'static str],
    /// What is supposed and changed before it is measured.
    pub(super) supposed: Option<Supposed>,
    /// Why the investigation is closed as fixed after it.
    pub(super) closed: Option<&'static str>,
    /// What has to become of the newest prediction.
    pub(super) verdict: Option<&'static str>,
    /// How the investigation has to stand then.
    status: &'static str,
}

/// A hypothesis, and the change that is made for its sake.
#[derive(Debug)]
pub(super) struct Supposed {
    pub(super) because: &'static str,
    pub(super) cause: &'static str,
    pub(super) change: &'static str,
}

const SICK: &[&str] = &["--hold-ms", "120"];
const HALF: &[&str] = &["--hold-ms", "60"];
const HEALTHY: &[&str] = &["--healthy"];

pub(super) const RELEASES: [Release; 5] = [
    Release {
        name: "v1.0",
        what: "an exporter holds the lock over its post, for 120 ms",
        options: SICK,
        supposed: None,
        closed: None,
        verdict: None,
        status: "open",
    },
    Release {
        name: "v1.1",
        what: "a wrong fix: nothing has changed",
        options: SICK,
        supposed: Some(Supposed {
            because: "the handlers allocate too much",
            cause: "stop-the-world-pause",
            change: "Buffers are pooled.",
        }),
        closed: None,
        verdict: Some("failed"),
        status: "open",
    },
    Release {
        name: "v1.2",
        what: "half a fix: the lock is held for 60 ms",
        options: HALF,
        supposed: Some(Supposed {
            because: "the exporter holds the lock over its post, and posts half as much now",
            cause: CAUSE,
            change: "The exporter posts smaller batches.",
        }),
        closed: None,
        verdict: Some("failed"),
        status: "open",
    },
    Release {
        name: "v1.3",
        what: "the right fix: nothing waits for the post",
        options: HEALTHY,
        supposed: Some(Supposed {
            because: "the exporter posts outside of the lock",
            cause: CAUSE,
            change: "The batch is copied under the lock and posted outside of it.",
        }),
        closed: Some("v1.3 posts outside of the lock."),
        verdict: Some("held"),
        status: "fixed-and-confirmed",
    },
    Release {
        name: "v1.4",
        what: "a regression: the lock is held for 120 ms again",
        options: SICK,
        supposed: None,
        closed: None,
        verdict: Some("failed"),
        status: "open",
    },
];

/// The scenario of all of them.
pub(super) fn scenario(lab: &Path, release: &Release) -> String {
    let lab = lab.display().to_string();
    let words = [lab.as_str(), CAUSE, "--port", "{port}"];
    let words: Vec<String> = words
        .iter()
        .chain(release.options)
        .map(|word| format!("{word:?}"))
        .collect();
    format!(
        r#"name = "shop"

[target]
url = "http://127.0.0.1:{{port}}"
command = [{}]

[load]
model = "open"
rate = "150/s"
duration = "5s"
warmup = "1s"
repeats = 3

[[endpoint]]
name = "search"
request = "GET /search"
"#,
        words.join(", ")
    )
}

/// Whether threads were followed: what they wait for is not known where they were not.
pub(super) fn is_followed(report: &Value) -> bool {
    !report["trace"].is_null()
}

/// What is named first of the server.
pub(super) fn cause(report: &Value) -> Option<&str> {
    /// What is said of the host and of the tool beside.
    const BESIDE: [&str; 4] = [
        "client-saturation",
        "noisy-neighbour",
        "observer-effect",
        "run-queue-delay",
    ];
    let findings = report["findings"].as_array().into_iter().flatten();
    let mut named = findings.filter_map(|finding| finding["cause"].as_str());
    named.find(|cause| !BESIDE.contains(cause))
}

impl Release {
    /// What the log says otherwise than it is.
    pub(super) fn differs(&self, log: &Value) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut hold = |what: &str, should: &str, is: &Value| {
            if is.as_str() != Some(should) {
                wrong.push(format!(
                    "{}: {what} should be {should}, and is {is}",
                    self.name
                ));
            }
        };
        let all = log["investigations"].as_array().into_iter().flatten();
        let own = all.clone().find(|one| one["id"] == INVESTIGATION);
        let Some(own) = own else {
            return vec![format!("{}: there is no {INVESTIGATION}", self.name)];
        };
        hold("the investigation", self.status, &own["status"]);
        if let Some(verdict) = self.verdict {
            let entries = own["entries"].as_array().into_iter().flatten();
            let mut outcomes = entries.filter(|entry| entry["kind"] == "outcome");
            let is_own = |entry: &&Value| entry["release"] == self.name;
            let outcome = outcomes.rfind(is_own).unwrap_or(&Value::Null);
            hold(
                "the verdict on the prediction",
                verdict,
                &outcome["verdict"],
            );
        }
        wrong
    }

    /// A sick release of which something else is named, or a healthy one with the fault's name.
    pub(super) fn misnamed(&self, first: Option<&str>) -> Option<String> {
        let is_sick = self.options != HEALTHY;
        let is_named = first == Some(CAUSE);
        (is_sick != is_named).then(|| {
            let first = first.unwrap_or("nothing");
            let should = if is_sick { CAUSE } else { "something else" };
            format!(
                "{}: {should} should be named first, and {first} is",
                self.name
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn log(status: &str, verdict: &str) -> Value {
        json!({ "investigations": [{ "id": INVESTIGATION, "status": status, "entries": [
            { "kind": "outcome", "release": "v1.2", "verdict": "undecided" },
            { "kind": "outcome", "release": "v1.3", "verdict": verdict },
        ]}]})
    }

    #[test]
    fn what_the_log_should_say_is_held_against_what_it_says() {
        let right = &RELEASES[3];
        assert_eq!(
            right.differs(&log("fixed-and-confirmed", "held")),
            Vec::<String>::new()
        );
        assert_eq!(
            right.differs(&log("open", "undecided")),
            [
                "v1.3: the investigation should be fixed-and-confirmed, and is \"open\"",
                "v1.3: the verdict on the prediction should be held, and is \"undecided\"",
            ]
        );
        assert_eq!(right.differs(&json!({})), ["v1.3: there is no search-tail"]);
    }

    #[test]
    fn the_fault_is_named_where_it_is_and_only_there() {
        let [sick, .., right, _] = &RELEASES;
        let report = |causes: &[&str]| {
            let findings: Vec<Value> = causes.iter().map(|c| json!({ "cause": c })).collect();
            json!({ "trace": {}, "findings": findings })
        };
        let named = report(&["run-queue-delay", CAUSE]);
        let first = cause(&named);
        assert_eq!(sick.misnamed(first), None);
        assert!(right.misnamed(first).is_some());
        let nothing = report(&[]);
        assert_eq!(right.misnamed(cause(&nothing)), None);
        assert!(sick.misnamed(cause(&nothing)).is_some());
        assert!(is_followed(&nothing) && !is_followed(&json!({ "trace": null })));
    }
}
