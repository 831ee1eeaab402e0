//! Requests that a trace tells nothing of by choice, in the ledger.

use slowpath_diagnose::case::Case;
use slowpath_diagnose::ledger::settle;
use slowpath_diagnose::verdict::Claim;

use crate::case::build;
use crate::case::spec::Case as Text;

/// What a cause is given that claims the whole of every request but of those that are blank, one
/// in two, beside one that claims all of the first half of the requests.
fn shares(cause: &str, other: &str) -> (f64, f64, f64) {
    let text =
        "name = \"a\"\nexpect = \"nothing\"\nduration = \"5s\"\nclass = [{ sleep = \"10ms\" }]";
    let record = build(&Text::parse(text).unwrap());
    let case = Case::new(&record);
    let frame = case.endpoints[0].floor.as_ref().unwrap();
    let (blank, seen): (Vec<u32>, Vec<u32>) = frame.requests.iter().partition(|i| *i % 2 == 0);
    let claim = |&sample: &u32| Claim {
        sample,
        span: case.sample(sample).span(),
    };
    let claims: Vec<Claim> = seen.iter().map(claim).collect();
    let half = &frame.requests[..frame.requests.len() / 2];
    let first: Vec<Claim> = half.iter().map(claim).collect();
    let claimants = [(cause, claims.as_slice()), (other, first.as_slice())];
    let ledger = settle(&record, frame, &claimants, &blank, 7);
    let given = |i: usize| ledger.settled[i].unwrap().share.share;
    (given(0), given(1), ledger.unexplained)
}

#[test]
fn what_blank_requests_waited_for_is_like_what_the_others_did() {
    // The other one has its turn first, and needs no trace.
    let (own, before, unexplained) = shares("lock-held-over-io", "cpu-saturation");
    assert!(
        (0.45..0.55).contains(&before),
        "{before}: it has its own everywhere"
    );
    assert!(
        (0.45..0.55).contains(&own),
        "{own}: and of the rest all, blank or not"
    );
    assert!(unexplained < 0.02, "{unexplained}");
}

#[test]
fn only_causes_that_are_read_from_a_trace_get_a_share_of_them() {
    let (own, other, unexplained) = shares("delayed-ack", "cpu-saturation");
    assert!((0.45..0.55).contains(&own), "{own}");
    assert!(
        (0.2..0.3).contains(&other),
        "{other}: what the first has left"
    );
    assert!((0.2..0.3).contains(&unexplained), "{unexplained}");
}
