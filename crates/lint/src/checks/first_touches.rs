//! Keys asked for the first time inside a measured window: the cold path is in the tail, and what
//! the first pass leaves untouched is cold in the second.

use slowpath_core::scenario::COLD;

use super::{View, finding};
use crate::report::{Finding, Place, Severity};
use crate::wording::{count, percent};
use crate::workload::Workload;

/// First touches that reach p99.
const REACHES_P99: f64 = 0.01;
/// Cold keys expected in the second pass from which on "warm" is the wrong word for it: more
/// likely than not there is at least one among two of them.
const STILL_COLD: f64 = 0.5;
/// Endpoints named in one finding; the table has them all.
const NAMED: usize = 4;

/// First touches in the window, and those left for the second pass.
pub(super) fn check(view: &View<'_>) -> Vec<Finding> {
    [in_window(view), in_second_pass(view)]
        .into_iter()
        .flatten()
        .collect()
}

/// An endpoint with so many cold requests.
struct Cold {
    endpoint: usize,
    touches: f64,
    of: f64,
}

fn collect(view: &View<'_>, cold: impl Fn(usize) -> Option<Cold>) -> Vec<Cold> {
    let mut all: Vec<Cold> = (0..view.scenario.endpoints.len())
        .filter_map(cold)
        .collect();
    all.sort_by(|a, b| (b.touches / b.of).total_cmp(&(a.touches / a.of)));
    all
}

fn in_window(view: &View<'_>) -> Option<Finding> {
    let all = collect(view, |i| {
        let keys = view.spaces[i].keys.as_ref()?;
        let n = view.workload.demands[i].requests;
        let touches = keys.touched_after(view.touched_before(i), n);
        // A single key is cold once, and that is well known.
        let counts = keys.count() > 1.5 && n >= 1.0 && touches / n >= REACHES_P99;
        counts.then_some(Cold {
            endpoint: i,
            touches,
            of: n,
        })
    });
    let worst = all.first()?;
    let mut found = finding("first-touches", Severity::Note, place(view, &all));
    found.text = format!(
        "keys are asked for the first time inside the window: {}. If the target caches them, \
         the cold path starts near p{:.0} of {}",
        list(view, &all),
        ((1.0 - worst.touches / worst.of) * 100.0).floor().max(0.0),
        view.scenario.endpoints[worst.endpoint].name
    );
    found
        .remedy
        .push_str("read cold and warm requests apart, or warm up until every key was asked for");
    found.share = Some(worst.touches / worst.of);
    Some(found)
}

/// Passes ask for the same keys in the same order. Where computed answers were slow in the first
/// one, users get further in the second, and what they ask for there is asked for the first time.
fn in_second_pass(view: &View<'_>) -> Option<Finding> {
    let passes = &view.scenario.load.passes;
    if passes.len() < 2 || passes[0] != COLD {
        return None;
    }
    let mut quick = view.model.clone();
    for endpoint in quick.endpoints.iter_mut().filter(|e| e.cached) {
        endpoint.backend = None;
    }
    let warm = Workload::of(view.scenario, &view.spaces, &quick).demands;
    let all = collect(view, |i| {
        let keys = view.spaces[i].keys.as_ref()?;
        let n = view.workload.demands[i].requests;
        let more = (warm[i].requests - n).max(0.0);
        let touches = keys.touched_after(view.touched_before(i) + n, more);
        let cold = Cold {
            endpoint: i,
            touches,
            of: warm[i].requests,
        };
        (touches >= STILL_COLD).then_some(cold)
    });
    let worst = all.first()?;
    let mut found = finding("first-touches", Severity::Warning, place(view, &all));
    found.place.line = found.place.line.or(view.lines.key("load", "passes"));
    found.text = format!(
        "{:?} is not warm: quicker answers let users get further in the same questions than in \
         {:?}, to keys that are asked for the first time: {}. A slow tail there is expected and \
         no regression",
        passes[1],
        passes[0],
        list(view, &all)
    );
    found
        .remedy
        .push_str("make the passes longer, the pools smaller, or pick values in sequence");
    found.share = Some(worst.touches / worst.of);
    Some(found)
}

fn place(view: &View<'_>, all: &[Cold]) -> Place {
    match all {
        [one] => view.at_endpoint(one.endpoint),
        _ => Place::default(),
    }
}

fn list(view: &View<'_>, all: &[Cold]) -> String {
    let said: Vec<String> = all
        .iter()
        .take(NAMED)
        .map(|cold| {
            format!(
                "{} {} of {} ({})",
                view.scenario.endpoints[cold.endpoint].name,
                count(cold.touches),
                count(cold.of),
                percent(cold.touches / cold.of)
            )
        })
        .collect();
    match all.len().saturating_sub(NAMED) {
        0 => said.join(", "),
        more => format!("{} and {more} more", said.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use slowpath_core::model::{EndpointModel, TargetModel, Times};

    use super::*;
    use crate::checks::trial::{found, found_with, only};
    use crate::facts::Facts;

    fn passes(users: u32, values: usize) -> String {
        let values: Vec<String> = (0..values).map(|i| format!("\"v{i}\"")).collect();
        format!(
            "[target]\nurl = \"http://127.0.0.1:1\"\nreset = [\"POST /clear\"]\n\
             [load]\nusers = {users}\nthink = \"1s\"\nduration = \"20s\"\n\
             passes = [\"cold\", \"warm\"]\n\
             [pools]\nq = [{}]\n[[endpoint]]\nname = \"a\"\nrequest = \"GET /?q={{q}}\"\n",
            values.join(", ")
        )
    }

    /// A target that computes for a second what it has not computed yet.
    fn slow() -> TargetModel {
        let quick = Times::fixed(1_000_000);
        let mut model = TargetModel::plain(quick.clone());
        model.endpoints.push(EndpointModel {
            backend: Some(Times::fixed(1_000_000_000)),
            ..EndpointModel::plain("a", quick)
        });
        model
    }

    #[test]
    fn a_quicker_second_pass_gets_to_keys_that_the_first_left_untouched() {
        let model = slow();
        let facts = Facts {
            model: Some(&model),
            ..Facts::default()
        };
        let all = found_with(check, &passes(1, 30), &facts);
        let texts: Vec<&str> = all.iter().map(|f| f.text.as_str()).collect();
        assert_eq!(all.len(), 2, "{texts:?}");
        // The first asks some 11 times, the second 20 times, the first 11 for the same.
        assert!(texts[1].contains("\"warm\" is not warm"), "{texts:?}");
        assert!(texts[1].contains(" of 20 "), "{texts:?}");
    }

    #[test]
    fn the_same_questions_at_the_same_speed_find_their_answers() {
        // 20 draws of 30: 30 x (1 - (29/30)^20) = 14.8 cold ones, all in the first pass.
        only(&found(check, &passes(1, 30)), &["a 15 of 20"]);
    }

    #[test]
    fn many_requests_of_few_keys_are_warm() {
        assert_eq!(found(check, &passes(100, 3)), []);
        let one = only(&found(check, &passes(1, 3)), &["a 3.0 of 20"]);
        assert_eq!(one.severity, Severity::Note);
    }

    /// A pool of so many values, asked 1,000 times after 100 in the warm-up.
    fn large(values: usize, pool: &str) -> String {
        let values: Vec<String> = (0..values).map(|i| format!("\"v{i}\"")).collect();
        format!(
            "[load]\nrate = \"100/s\"\nduration = \"10s\"\nwarmup = \"1s\"\n\
             [pools]\nq = {{ values = [{}], {pool} }}\n\
             [[endpoint]]\nname = \"a\"\nrequest = \"GET /?q={{q}}\"\n",
            values.join(", ")
        )
    }

    #[test]
    fn large_pools_are_drawn_as_they_say() {
        // More than can be listed by name.
        const MANY: usize = 25_000;
        for pick in ["pick = \"unique\"", "pick = \"sequence\""] {
            only(
                &found(check, &large(MANY, pick)),
                &["a 1,000 of 1,000 (100 %)"],
            );
        }
        // One value takes half of the requests, the others share the rest.
        let weights: Vec<String> = (0..MANY)
            .map(|i| {
                if i == 0 {
                    (MANY - 1).to_string()
                } else {
                    "1".to_owned()
                }
            })
            .collect();
        let weighted = large(MANY, &format!("weights = [{}]", weights.join(", ")));
        only(&found(check, &weighted), &["a 494 of 1,000 (49 %)"]);
    }
}
