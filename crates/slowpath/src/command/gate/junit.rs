//! Gates as JUnit XML: a test case each.

use anyhow::Result;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use slowpath_core::gates::{GateAnswer, GateOutcome};

/// The report. A gate that cannot be decided is a skipped case, since most readers know no other
/// word for it; a failed one if `strict`.
pub(super) fn xml(name: &str, outcomes: &[GateOutcome], strict: bool) -> Result<String> {
    let mut suite = TestSuite::new(name);
    for outcome in outcomes {
        let told = match outcome.takes.as_str() {
            "" => outcome.text.clone(),
            takes => format!("{}; it would take: {takes}", outcome.text),
        };
        let mut status = match outcome.answer {
            GateAnswer::Holds => TestCaseStatus::success(),
            GateAnswer::CannotTell if !strict => TestCaseStatus::skipped(),
            _ => TestCaseStatus::non_success(NonSuccessKind::Failure),
        };
        status.set_message(told.clone());
        let mut case = TestCase::new(outcome.that.clone(), status);
        case.set_classname("slowpath.gate");
        case.set_system_out(told);
        suite.add_test_case(case);
    }
    let mut report = Report::new("slowpath gate");
    report.add_test_suite(suite);
    Ok(report.to_string()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_gate_is_a_case_and_the_report_reads_back() {
        let outcome = |answer, that: &str| GateOutcome {
            that: that.to_owned(),
            line: 12,
            answer,
            value: None,
            low: None,
            high: None,
            text: "p99 is 3 ms & more".to_owned(),
            takes: String::new(),
        };
        let outcomes = [
            outcome(GateAnswer::Holds, "a.p99 < 1s"),
            outcome(GateAnswer::Fails, "\"<b>\".p99 < 1s"),
            outcome(GateAnswer::CannotTell, "c"),
        ];
        let read = |strict| {
            let text = xml("shop", &outcomes, strict).unwrap();
            Report::deserialize_from_str(&text).unwrap()
        };
        let report = read(false);
        assert_eq!((report.tests, report.failures), (3, 1));
        let suite = &report.test_suites[0];
        let skipped = |case: &TestCase| matches!(case.status, TestCaseStatus::Skipped { .. });
        let which: Vec<bool> = suite.test_cases.iter().map(skipped).collect();
        assert_eq!(which, [false, false, true]);
        assert_eq!(suite.test_cases[1].name.as_str(), "\"<b>\".p99 < 1s");
        assert_eq!(read(true).failures, 2);
    }
}
