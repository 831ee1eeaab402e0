//! What a finding advises follows from who it is.

use super::cases::JUDGED;

fn summary(case: &str) -> &'static str {
    let judged = JUDGED.iter().flat_map(|(_, judged)| judged);
    let mut judged = judged.filter(|judged| judged.fenced.case.name == case);
    let diagnosis = &judged.next().unwrap().diagnosis;
    &diagnosis.findings[0].summary
}

#[test]
fn threads_of_the_server_itself_are_not_helped_by_cpus_of_its_own() {
    let own = summary("threads that compute for long keep the others from the CPU");
    assert!(
        own.contains("more threads that are ready to run than CPUs"),
        "{own}"
    );
    assert!(own.contains("its own thread"), "{own}");
    let others = summary("a neighbour that has the CPU for a while");
    assert!(others.contains("give each CPUs of its own"), "{others}");
    assert!(others.contains("another process on the host"), "{others}");
}

#[test]
fn a_lead_where_nothing_is_slow_is_cleared_and_says_so() {
    let judged = JUDGED.iter().flat_map(|(_, judged)| judged);
    let name = "a fast server that waits as briefly as slowpath does";
    let mut judged = judged.filter(|judged| judged.fenced.case.name == name);
    let cleared = &judged.next().unwrap().diagnosis.cleared;
    let cleared = cleared
        .iter()
        .find(|cleared| cleared.cause == "run-queue-delay");
    let text = &cleared.unwrap().text;
    assert!(text.contains("its effect is negligible"), "{text}");
}
