//! Requests that were left untraced by choice, in the ledger.

use slowpath_diagnose::case::Case;
use slowpath_diagnose::ledger::{Blanks, Claimant, Trust, settle};
use slowpath_diagnose::verdict::Claim;

use crate::case::build;
use crate::case::spec::Case as Text;

/// These were not traced, and what was lasts a second without a break.
const fn blanks(requests: &[u32]) -> Blanks<'_> {
    Blanks {
        requests,
        traced_ns: 1_000_000_000,
    }
}

/// A claimant whose turn is that.
const fn claimant(claims: &[Claim], traced: bool, turn: usize) -> Claimant<'_> {
    Claimant {
        claims,
        traced,
        rank: (Trust::Supported, turn),
    }
}

/// What a cause is given that claims the whole of every request but of those that are blank, one
/// in two, beside one that claims all of the first half of the requests and reads no trace: each with its turn.
fn shares((traced, turn): (bool, usize), other_turn: usize) -> (f64, f64, f64) {
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
    let claimants = [
        claimant(&claims, traced, turn),
        claimant(&first, false, other_turn),
    ];
    let ledger = settle(&record, frame, &claimants, blanks(&blank), 7);
    let given = |i: usize| ledger.settled[i].unwrap().share.share;
    (given(0), given(1), ledger.unexplained)
}

#[test]
fn what_blank_requests_waited_for_is_like_what_the_others_did() {
    // The other one has its turn first, and needs no trace.
    let (own, before, unexplained) = shares((true, 1), 0);
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
    let (own, other, unexplained) = shares((false, 0), 1);
    assert!((0.45..0.55).contains(&own), "{own}");
    assert!(
        (0.2..0.3).contains(&other),
        "{other}: what the first has left"
    );
    assert!((0.2..0.3).contains(&unexplained), "{unexplained}");
}

/// A traced server's requests: nine in ten take 20 ms, the tenth takes 1.5 s. Of `seen` of the
/// short ones it is known that they waited for a lock; a tenth of the long ones wait as a claim
/// says that needs no trace.
fn of_two_lengths(seen: usize, long_seen: usize) -> slowpath_diagnose::ledger::Ledger {
    let text = "name = \"a\"\nexpect = \"nothing\"\nduration = \"20s\"\nrate = 50\n\
                class = [{ share = 0.9, sleep = \"20ms\" }, { share = 0.1, sleep = \"1500ms\" }]";
    let record = build(&Text::parse(text).unwrap());
    let case = Case::new(&record);
    let mut frame = case.endpoints[0].floor.clone().unwrap();
    frame.requests.clone_from(&case.endpoints[0].completed);
    frame.cluster = (0..).take(frame.requests.len()).collect();
    frame.clusters = frame.requests.len() as u32;
    frame.excess_ns = (0..frame.requests.len())
        .map(|position| frame.excess_of_ns(&record, position) as f64)
        .sum();
    let is_long = |i: &u32| case.sample(*i).latency_ns() > 1_000_000_000;
    let (long, short): (Vec<u32>, Vec<u32>) = frame.requests.iter().partition(|i| is_long(i));
    let claim = |&sample: &u32| Claim {
        sample,
        span: case.sample(sample).span(),
    };
    // Of those that were followed two in three waited for the lock.
    let locked = short.iter().take(seen).filter(|i| *i % 3 != 0);
    let locked: Vec<Claim> = locked.map(claim).collect();
    let delayed: Vec<Claim> = long.iter().filter(|i| *i % 2 == 0).map(claim).collect();
    let mut blank: Vec<u32> = short.into_iter().skip(seen).collect();
    blank.extend(long.into_iter().skip(long_seen));
    blank.sort_unstable();
    let claimants = [claimant(&locked, true, 0), claimant(&delayed, false, 1)];
    settle(&record, &frame, &claimants, blanks(&blank), 7)
}

#[test]
fn short_requests_say_nothing_of_those_that_are_never_traced_whole() {
    let ledger = of_two_lengths(400, 0);
    let lock = ledger.settled[0].unwrap().share.share;
    // 20 ms of nine requests are a ninth of what is slow.
    assert!(
        lock < 0.12,
        "{lock}: the lock is given what it had no part in"
    );
    let delay = ledger.settled[1].unwrap();
    assert!((0.35..0.55).contains(&delay.share.share), "{delay:?}");
    assert!(
        delay.clusters >= 6,
        "{delay:?}: a claim without a trace stands"
    );
    let why = &ledger.split[0].why;
    assert_eq!(why, "longer than what was traced without a break");
    let parts: f64 = ledger.split.iter().map(|part| part.share).sum();
    assert!(
        (parts - ledger.unexplained).abs() < 0.02,
        "{:?}",
        ledger.split
    );
}

#[test]
fn a_few_of_a_kind_do_not_speak_for_the_others() {
    let why = |ledger: &slowpath_diagnose::ledger::Ledger| ledger.split[0].why.clone();
    let few = of_two_lengths(400, 6);
    assert_eq!(why(&few), "too few that were as long were traced");
    let many = of_two_lengths(400, 60);
    assert_eq!(why(&many), "before the first byte");
}

#[test]
fn what_few_requests_say_of_many_is_not_known_as_if_all_were_seen() {
    let width = |seen| {
        let share = of_two_lengths(seen, 0).settled[0].unwrap().share;
        assert!(share.low < share.share && share.share < share.high);
        (share.high - share.low) / share.share
    };
    let (few, many) = (width(12), width(700));
    assert!(few > 2.0 * many, "{few} and {many}");
}

/// Of twenty episodes of like requests four were followed, and in so many of these what requests waited for was a lock.
fn of_four_followed(locked: u32, traced: bool) -> slowpath_diagnose::ledger::Settled {
    let text =
        "name = \"a\"\nexpect = \"nothing\"\nduration = \"5s\"\nclass = [{ sleep = \"10ms\" }]";
    let record = build(&Text::parse(text).unwrap());
    let case = Case::new(&record);
    let mut frame = case.endpoints[0].floor.clone().unwrap();
    frame.clusters = 20;
    let n = frame.requests.len() as u32;
    frame.cluster = (0..n).map(|position| position * 20 / n).collect();
    let of = |is_wanted: &dyn Fn(u32) -> bool| -> Vec<u32> {
        let own = frame.requests.iter().zip(&frame.cluster);
        let own = own.filter(|(_, cluster)| is_wanted(**cluster));
        own.map(|(request, _)| *request).collect()
    };
    let is_followed = |cluster: u32| cluster.is_multiple_of(5);
    let blank = of(&|cluster| !is_followed(cluster));
    let claim = |&sample: &u32| Claim {
        sample,
        span: case.sample(sample).span(),
    };
    let claims: Vec<Claim> = of(&|cluster| is_followed(cluster) && cluster < 5 * locked)
        .iter()
        .map(claim)
        .collect();
    let claimants = [claimant(&claims, traced, 0)];
    let ledger = settle(&record, &frame, &claimants, blanks(&blank), 7);
    ledger.settled[0].unwrap()
}

#[test]
fn episodes_that_were_followed_speak_for_the_others() {
    let all = of_four_followed(4, true);
    // Of ten of twenty all four that are drawn have it once in 23 times, of eleven once in 15.
    assert_eq!((all.clusters, all.least), (4, 11));
    assert!(all.is_named(), "{all:?}");
    let some = of_four_followed(1, true);
    assert_eq!((some.clusters, some.least), (1, 1));
    assert!(!some.is_named(), "{some:?}");
    // What needs no trace was looked for in all of them.
    let few = of_four_followed(4, false);
    assert_eq!((few.clusters, few.least), (4, 4));
    assert!(!few.is_named(), "{few:?}");
}
