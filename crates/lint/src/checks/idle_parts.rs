//! Parts of a scenario that do nothing, or not what they seem to.

use slowpath_core::scenario::{COLD, Endpoint, Model};

use super::{View, finding};
use crate::report::{Finding, Severity};
use crate::wording::{count, duration, percent};
use crate::workload::presence;

/// Users missing from the window on average from which on its rate is not that of the scenario.
const MANY_MISSING: f64 = 0.05;

/// Unused pools and endpoints, passes without a reset, ramps and timeouts that reach
/// into the window.
pub(super) fn check(view: &View<'_>) -> Vec<Finding> {
    let mut found = unused_pools(view);
    found.extend(unasked(view));
    found.extend(passes(view));
    found.extend(ramp(view));
    found.extend(timeout(view));
    found
}

fn unused_pools(view: &View<'_>) -> Vec<Finding> {
    let leader = |pool: usize| view.scenario.pools[pool].same_row_as.unwrap_or(pool);
    let names = |e: &Endpoint, pool: usize| {
        let texts = e.texts();
        texts
            .iter()
            .any(|text| text.pools().any(|named| leader(named) == pool))
    };
    // A table is used when one of its columns is.
    let unused =
        |i: &usize| leader(*i) == *i && !view.scenario.endpoints.iter().any(|e| names(e, *i));
    let one = |i: usize| {
        let mut found = finding("idle-parts", Severity::Warning, view.at_pool(i));
        let name = &view.scenario.pools[i].name;
        found.text = format!("no request names the pool {name}");
        found.remedy = format!("say {{{name}}} in a request, or remove it");
        found
    };
    (0..view.scenario.pools.len())
        .filter(unused)
        .map(one)
        .collect()
}

fn unasked(view: &View<'_>) -> Vec<Finding> {
    let one = |i: usize| {
        let mut found = finding("idle-parts", Severity::Warning, view.at_endpoint(i));
        let name = &view.scenario.endpoints[i].name;
        found.text = format!("no class of users asks for {name}");
        found
            .remedy
            .push_str("name it in the endpoints of a [[user]], or remove it");
        found
    };
    (0..view.scenario.endpoints.len())
        .filter(|&i| view.workload.demands[i].rate_per_s == 0.0)
        .map(one)
        .collect()
}

fn passes(view: &View<'_>) -> Option<Finding> {
    let passes = &view.scenario.load.passes;
    if view.starts_cold() {
        return None;
    }
    let mut found = finding("idle-parts", Severity::Warning, view.at_load("passes"));
    match passes.as_slice() {
        [first, second, ..] => {
            found.text = format!(
                "nothing makes {first:?} differ from {second:?}: what is to be cold is a pass \
                 named {COLD:?}"
            );
        }
        _ if view.scenario.target.reset.is_empty() => return None,
        _ => {
            found.text = format!("the reset steps are never done: no pass is named {COLD:?}");
            found.place.line = view.lines.key("target", "reset");
        }
    }
    found.remedy = format!("passes = [{COLD:?}, \"warm\"]");
    Some(found)
}

fn ramp(view: &View<'_>) -> Option<Finding> {
    let Model::Closed {
        users,
        spawn_per_s: Some(spawn),
        ..
    } = view.scenario.load.model
    else {
        return None;
    };
    let present = presence(&view.scenario.load);
    if 1.0 - present < MANY_MISSING {
        return None;
    }
    let mut found = finding("idle-parts", Severity::Note, view.at_load("spawn"));
    let takes_ns = (f64::from(users) - 1.0) / spawn * 1e9;
    let arrive = format!("users arrive over {}", duration(takes_ns));
    let missing = percent(1.0 - present);
    if view.scenario.load.passes.is_empty() {
        found.text = format!(
            "{arrive}, the warm-up takes {}: {missing} of the window's users are missing on average",
            duration(view.scenario.load.warmup_ns as f64),
        );
        let takes_s = (takes_ns / 1e9).ceil();
        found.remedy = format!("warmup = \"{takes_s}s\" or a faster spawn");
    } else {
        found.text = format!(
            "{arrive} from the begin of a pass on: {missing} of its users are missing on average"
        );
        found.remedy.push_str("a faster spawn, or longer passes");
    }
    found.share = Some(1.0 - present);
    Some(found)
}

fn timeout(view: &View<'_>) -> Option<Finding> {
    view.facts.model?;
    let timeout_s = view.scenario.load.timeout_ns as f64 / 1e9;
    let (i, slowest_s) = (0..view.scenario.endpoints.len())
        .map(|i| (i, view.compute_s(i)))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    if slowest_s < timeout_s {
        return None;
    }
    let mut found = finding("idle-parts", Severity::Warning, view.at_load("timeout"));
    found.text = format!(
        "{} takes {} when it is computed, longer than the timeout of {}: it is given up and \
         never measured",
        view.scenario.endpoints[i].name,
        duration(slowest_s * 1e9),
        duration(timeout_s * 1e9)
    );
    found.remedy = format!("timeout = \"{}s\" or more", count((slowest_s * 2.0).ceil()));
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::trial::{found, found_with, only};

    use slowpath_core::model::{TargetModel, Times};

    use crate::facts::Facts;

    const ONE: &str = "[[endpoint]]\nname = \"a\"\nrequest = \"GET /\"\n";

    #[test]
    fn what_nobody_uses_is_found() {
        let text = format!("[pools]\nq = [\"x\"]\n{ONE}");
        only(&found(check, &text), &["no request names the pool q"]);
        let text = format!(
            "{ONE}[[endpoint]]\nname = \"b\"\nrequest = \"GET /b\"\n\
             [[user]]\nname = \"u\"\nendpoints = {{ a = 1 }}\n"
        );
        only(&found(check, &text), &["no class of users asks for b"]);
    }

    #[test]
    fn passes_need_a_reset() {
        let text = format!("[load]\npasses = [\"first\", \"second\"]\n{ONE}");
        only(&found(check, &text), &["\"first\"", "named \"cold\""]);
        let target = "[target]\nurl = \"http://127.0.0.1:1\"\nreset = [\"POST /clear\"]\n";
        only(&found(check, &format!("{target}{ONE}")), &["never done"]);
        let cold = format!("{target}[load]\npasses = [\"cold\", \"warm\"]\n{ONE}");
        assert_eq!(found(check, &cold), []);
    }

    #[test]
    fn a_ramp_longer_than_the_warm_up_is_noted() {
        let load = |warmup: &str| {
            format!(
                "[load]\nusers = 20\nspawn = \"2/s\"\nduration = \"30s\"\nwarmup = \"{warmup}\"\n{ONE}"
            )
        };
        only(&found(check, &load("1s")), &["over 9.5 s", "missing"]);
        assert_eq!(found(check, &load("10s")), []);
        // Passes send nothing in their warm-up.
        let passes = load("10s").replace("[load]", "[load]\npasses = [\"cold\"]");
        let reset = "[target]\nurl = \"http://127.0.0.1:1\"\nreset = [\"POST /clear\"]\n";
        only(
            &found(check, &format!("{reset}{passes}")),
            &["begin of a pass", "16 %"],
        );
    }

    #[test]
    fn an_answer_longer_than_the_timeout_is_never_measured() {
        let model = TargetModel::plain(Times::fixed(2_000_000_000));
        let facts = Facts {
            model: Some(&model),
            ..Facts::default()
        };
        let load = |timeout: &str| format!("[load]\ntimeout = \"{timeout}\"\n{ONE}");
        only(&found_with(check, &load("1s"), &facts), &["never measured"]);
        assert_eq!(found_with(check, &load("5s"), &facts), []);
    }
}
