//! A connection that the server closes about when it is used again: the request meets the close
//! on its way, and fails without a word in any log.

use slowpath_core::scenario::{Arrivals, ConnectionUse, Model, PoolOpen, PoolReuse, Think};
use statrs::distribution::{ContinuousCDF, Gamma};

use super::short_timers::{Purpose, purpose};
use super::{View, finding};
use crate::report::{Finding, Place, Severity};
use crate::wording::{count, duration, percent};
use crate::workload::Demand;

/// How early or late a connection is used and still meets the close: with a loopback client and
/// uvicorn, re-uses failed when they came within 6 ms of the timer, and never 10 ms before it.
const RACE_NS: f64 = 6e6;
/// A wait that ends this close to the timer reaches it once scheduling and the network add up.
const NEAR_NS: f64 = 50e6;

/// Idle connections are closed after so long where nothing else is said: documented defaults. Node
/// announces 5 s and closes a second later (`server.keepAliveTimeoutBuffer`; 6.00 s were measured
/// with 20.20).
const DEFAULTS: [(&str, u64, &str); 6] = [
    ("uvicorn", 5, "--timeout-keep-alive"),
    ("hypercorn", 5, "--keep-alive"),
    ("gunicorn", 2, "--keep-alive"),
    ("node", 6, "server.keepAliveTimeout"),
    ("apache2", 5, "KeepAliveTimeout"),
    ("httpd", 5, "KeepAliveTimeout"),
];

/// A time after which the target closes idle connections.
struct Closing {
    what: String,
    after_ns: f64,
    place: Place,
    change: String,
}

/// How long connections rest before they are used again.
struct Rest {
    who: String,
    wait: Wait,
    /// Re-uses a second.
    rate_per_s: f64,
}

/// What a connection waits for.
enum Wait {
    /// Its user, or the rest that the load gives it.
    Pause(Think),
    /// Its turn: so many requests that arrive at so many a second.
    Turn(Gamma),
    /// The same where requests are evenly spaced.
    Evenly { ns: f64 },
}

impl Wait {
    /// The share of waits that are no longer.
    fn share_within(&self, ns: f64) -> f64 {
        match self {
            Self::Pause(think) => think.share_within(ns),
            Self::Turn(turn) => turn.cdf((ns / 1e9).max(0.0)),
            Self::Evenly { ns: wait } => f64::from(u8::from(ns >= *wait)),
        }
    }

    /// The shortest and the longest; of turns all but one in a thousand on either side.
    fn range_ns(&self) -> (f64, f64) {
        match self {
            Self::Pause(think) => think.range_ns(),
            Self::Turn(turn) => {
                let at = |p| turn.inverse_cdf(p) * 1e9;
                (at(0.001), at(0.999))
            }
            Self::Evenly { ns } => (*ns, *ns),
        }
    }
}

/// Every closing time against every wait.
pub(super) fn check(view: &View<'_>) -> Vec<Finding> {
    if view.scenario.load.connection == ConnectionUse::PerRequest {
        return Vec::new();
    }
    let rests = rests(view);
    let against = |closing: &Closing| -> Vec<Finding> {
        rests
            .iter()
            .filter_map(|rest| race(view, closing, rest))
            .collect()
    };
    closings(view).iter().flat_map(against).collect()
}

fn closings(view: &View<'_>) -> Vec<Closing> {
    let declared: Vec<Closing> = view
        .scenario
        .timers
        .iter()
        .filter(|timer| purpose(&timer.name) == Purpose::KeepAlive)
        .map(|timer| Closing {
            what: timer.name.clone(),
            after_ns: timer.period_ns as f64,
            place: view.at_timer(&timer.name),
            change: timer.name.clone(),
        })
        .collect();
    if declared.is_empty() {
        defaults(view)
    } else {
        declared
    }
}

/// What the command that starts the target is known for.
fn defaults(view: &View<'_>) -> Vec<Closing> {
    let Some(command) = &view.scenario.target.command else {
        return Vec::new();
    };
    let words: Vec<&str> = command
        .iter()
        .filter_map(|word| word.as_literal())
        .collect();
    if words
        .iter()
        .any(|word| word.contains("keep-alive") || word.contains("keepalive"))
    {
        return Vec::new();
    }
    // Gunicorn's default workers close every connection after its response.
    let keeps = ["-k", "--worker-class", "--threads"];
    let keeps = |word: &&str| keeps.iter().any(|option| word.starts_with(option));
    let program = |word: &&str| word.rsplit('/').next().unwrap_or_default().to_owned();
    let known = words
        .iter()
        .map(program)
        .find_map(|program| DEFAULTS.iter().find(|(name, ..)| *name == program))
        .filter(|(name, ..)| *name != "gunicorn" || words.iter().any(keeps));
    known
        .map(|(name, after_s, change)| Closing {
            what: format!("{name}'s default for idle connections"),
            after_ns: *after_s as f64 * 1e9,
            place: Place {
                line: view.lines.key("target", "command"),
                ..Place::default()
            },
            change: (*change).to_owned(),
        })
        .into_iter()
        .collect()
}

fn rests(view: &View<'_>) -> Vec<Rest> {
    let load = &view.scenario.load;
    let total: f64 = view.workload.demands.iter().map(|d| d.rate_per_s).sum();
    if let Some(idle) = load.idle {
        return vec![Rest {
            who: "a pooled connection".to_owned(),
            wait: Wait::Pause(idle),
            rate_per_s: total,
        }];
    }
    match (&load.model, load.connection) {
        (Model::Closed { .. }, ConnectionUse::PerUser) => view
            .workload
            .classes
            .iter()
            .map(|class| Rest {
                who: match class.name.as_str() {
                    "" => "a user".to_owned(),
                    name => format!("a user of class {name}"),
                },
                wait: Wait::Pause(class.think),
                rate_per_s: view.workload.class_rate(class),
            })
            .collect(),
        _ => turns(view, total).into_iter().collect(),
    }
}

/// How many requests come until a connection is used again. Where the one that was used last is
/// next, it is one, since few requests find it busy. Where the one that has been idle for longest
/// is next, each waits until those before it are used. How many those are is known only where all
/// are opened at the start.
fn requests_until_reuse(view: &View<'_>) -> Option<f64> {
    let load = &view.scenario.load;
    match (load.reuse, load.open) {
        (PoolReuse::Recent, _) => Some(1.0),
        (PoolReuse::Oldest, PoolOpen::OnDemand) => None,
        (PoolReuse::Oldest, PoolOpen::AtStart) => {
            let under_way: f64 = view.workload.demands.iter().map(Demand::in_flight).sum();
            Some((f64::from(load.connections) - under_way).floor())
        }
    }
}

/// So many requests take a time with a gamma distribution where they arrive at random.
fn turns(view: &View<'_>, rate_per_s: f64) -> Option<Rest> {
    let load = &view.scenario.load;
    let before = requests_until_reuse(view)?;
    if before < 1.0 || rate_per_s <= 0.0 {
        return None;
    }
    let evenly = matches!(
        load.model,
        Model::Open {
            arrivals: Arrivals::Uniform,
            ..
        }
    );
    let wait = if evenly {
        Wait::Evenly {
            ns: before / rate_per_s * 1e9,
        }
    } else {
        Wait::Turn(Gamma::new(before, rate_per_s).ok()?)
    };
    Some(Rest {
        who: "a pooled connection".to_owned(),
        wait,
        rate_per_s,
    })
}

fn race(view: &View<'_>, closing: &Closing, rest: &Rest) -> Option<Finding> {
    let (min, max) = rest.wait.range_ns();
    let after = closing.after_ns;
    if max < after - NEAR_NS {
        return None;
    }
    let mut found = finding("keep-alive-race", Severity::Warning, closing.place.clone());
    let waits = if min < max {
        format!("{} to {}", duration(min), duration(max))
    } else {
        duration(min)
    };
    let intro = format!(
        "{} rests {waits} before its connection is used again, and {} closes it after {}",
        rest.who,
        closing.what,
        duration(after)
    );
    let reuses = rest.rate_per_s * view.window_s();
    if min > after + NEAR_NS {
        found.text = format!("{intro}: every connection is closed before it is used again");
        found.share = Some(1.0);
    } else {
        let within = |ns| rest.wait.share_within(ns);
        let meets = within(after + RACE_NS) - within(after - RACE_NS);
        let closed = 1.0 - within(after);
        found.text = format!(
            "{intro}: {} of {} re-uses ({}) come within {} of the close and may fail without a \
             trace in the server's log; {} find it closed",
            count(meets * reuses),
            count(reuses),
            percent(meets),
            duration(RACE_NS),
            percent(closed)
        );
        found.share = Some(1.0 - within(after - RACE_NS));
    }
    found.remedy = format!(
        "keep waits well below {}, or set {} well above {}",
        duration(after),
        closing.change,
        duration(max)
    );
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::trial::{found, only};

    fn users(think: &str, rest: &str) -> String {
        format!(
            "[load]\nusers = 10\nthink = \"{think}\"\nduration = \"120s\"\n\
             [[endpoint]]\nname = \"a\"\nrequest = \"GET /\"\n{rest}"
        )
    }

    #[test]
    fn waits_that_end_at_the_timer_race_with_it() {
        let timer = "[timers]\nserver_keep_alive = \"5s\"\n";
        let one = only(
            &found(check, &users("2s..5s", timer)),
            &["2 s to 5 s", "after 5 s"],
        );
        assert!(
            one.share
                .is_some_and(|share| (0.001..0.004).contains(&share)),
            "{one:?}"
        );
        // A third of the waits is longer: those find the connection closed.
        only(
            &found(check, &users("4s..5500ms", timer)),
            &["33 % find it closed"],
        );
        only(
            &found(check, &users("6s", timer)),
            &["every connection is closed"],
        );
    }

    #[test]
    fn shorter_waits_and_longer_timers_are_fine() {
        let timer = "[timers]\nserver_keep_alive = \"5s\"\n";
        assert_eq!(found(check, &users("1s..3s", timer)), []);
        let longer = "[timers]\nserver_keep_alive = \"75s\"\n";
        assert_eq!(found(check, &users("2s..5s", longer)), []);
    }

    #[test]
    fn a_pool_with_more_connections_than_work_lets_them_rest() {
        let text = "[load]\nrate = \"5/s\"\nconnections = 64\n\
                    reuse = \"oldest\"\nopen = \"at-start\"\n\
                    [[endpoint]]\nname = \"a\"\nrequest = \"GET /\"\n\
                    [timers]\nkeepalive = \"5s\"\n";
        // 63 requests at 5/s: 12.6 s with a standard deviation of 1.6 s.
        only(
            &found(check, text),
            &["8.26 s to 18.1 s", "every connection is closed"],
        );
        only(
            &found(
                check,
                &text.replace("[load]", "[load]\narrivals = \"uniform\""),
            ),
            &["12.6 s", "every connection is closed"],
        );
    }

    #[test]
    fn the_connection_used_last_rests_until_the_next_request() {
        let text = |rate: &str| {
            format!(
                "[load]\nrate = \"{rate}\"\nconnections = 64\nduration = \"60s\"\n\
                 [[endpoint]]\nname = \"a\"\nrequest = \"GET /\"\n\
                 [timers]\nkeepalive = \"5s\"\n"
            )
        };
        // All but one gap in a thousand are below 1.4 s.
        assert_eq!(found(check, &text("5/s")), []);
        // Gaps of 2 s on average: exp(-5 / 2) of them are longer than 5 s.
        only(&found(check, &text("0.5/s")), &["8.2 % find it closed"]);
    }

    #[test]
    fn turns_are_spread_around_the_round() {
        // 63 requests at 13/s take 4.85 s on average, with a standard deviation of 0.61 s: 39 %
        // take longer than 5 s, and 12 ms at a density of 0.6 a second hold 0.7 %.
        let text = "[load]\nrate = \"13/s\"\nconnections = 64\nduration = \"60s\"\n\
                    reuse = \"oldest\"\nopen = \"at-start\"\n\
                    [[endpoint]]\nname = \"a\"\nrequest = \"GET /\"\n\
                    [timers]\nkeepalive = \"5s\"\n";
        only(
            &found(check, text),
            &["780 re-uses (0.7 %)", "39 % find it closed"],
        );
    }

    #[test]
    fn defaults_of_known_servers_count_unless_changed() {
        let target = |more: &str| {
            format!(
                "[target]\nurl = \"http://127.0.0.1:{{port}}\"\n\
                 command = [\"uvicorn\", \"app:app\"{more}]\n{}",
                users("2s..5s", "")
            )
        };
        only(&found(check, &target("")), &["uvicorn's default"]);
        assert_eq!(
            found(check, &target(", \"--timeout-keep-alive\", \"75\"")),
            []
        );
        let gunicorn = |more: &str| target(more).replace("uvicorn", "gunicorn");
        assert_eq!(found(check, &gunicorn("")), [], "it keeps none");
        only(
            &found(check, &gunicorn(", \"--threads=4\"")),
            &["gunicorn's default"],
        );
    }
}
