//! The terminal view at two widths.

use slowpath_diagnose::diagnosis::{BlameOf, SpreadBlame};
use slowpath_report::{Style, html, markdown, terminal};

use crate::sample;

fn plain(width: usize) -> Style {
    Style {
        color: false,
        width,
        verbose: false,
    }
}

fn verbose(width: usize) -> Style {
    Style {
        verbose: true,
        ..plain(width)
    }
}

#[test]
fn a_tail_with_causes() {
    let diagnosis = sample::diagnosis("static");
    let report = Some(".slowpath/runs/01JD/report.html");
    insta::assert_snapshot!("tail_120", terminal(&diagnosis, &[], plain(120), report));
    insta::assert_snapshot!("tail_80", terminal(&diagnosis, &[], plain(80), report));
    let all = terminal(&diagnosis, &[], verbose(120), report);
    insta::assert_snapshot!("tail_verbose_120", all);
}

#[test]
fn a_confirmed_cause() {
    let (diagnosis, experiments) = (sample::delayed_ack(), [sample::experiment()]);
    insta::assert_snapshot!(
        "confirmed_120",
        terminal(&diagnosis, &experiments, plain(120), None)
    );
    insta::assert_snapshot!(
        "confirmed_80",
        terminal(&diagnosis, &experiments, plain(80), None)
    );
}

#[test]
fn a_healthy_service_and_an_invalid_run() {
    insta::assert_snapshot!(
        "healthy_80",
        terminal(&sample::healthy(), &[], plain(80), None)
    );
    insta::assert_snapshot!(
        "invalid_80",
        terminal(&sample::invalid(), &[], plain(80), None)
    );
}

#[test]
fn an_experiment_on_a_cause_that_is_not_found_is_told_too() {
    let text = terminal(
        &sample::healthy(),
        &[sample::experiment()],
        plain(120),
        None,
    );
    assert!(
        text.contains("\nproved   delayed-ack: confirmed by experiment: p50"),
        "{text}"
    );
}

#[test]
fn each_finding_has_its_sentence_once() {
    for diagnosis in [sample::diagnosis("static"), sample::invalid()] {
        let mut other = diagnosis.clone();
        // Of another endpoint: a question of its own.
        for finding in &mut other.findings {
            finding.endpoint = Some("static".to_owned());
            finding.summary = format!("{} there", finding.summary);
        }
        let mut both = diagnosis;
        both.findings.extend(other.findings);
        let text = terminal(&both, &[], plain(200), None);
        let flat: Vec<&str> = text.split_whitespace().collect();
        let flat = flat.join(" ");
        for finding in &both.findings {
            let begins = flat.matches(&finding.summary).count();
            let longer = flat.matches(&format!("{} there", finding.summary)).count();
            assert_eq!(begins - longer, 1, "{}: {text}", finding.summary);
        }
    }
}

#[test]
fn failures_that_no_cause_explains_are_a_question_in_every_view() {
    let mut diagnosis = sample::diagnosis("static");
    diagnosis.findings.clear();
    diagnosis.unexplained.clear();
    let views = |diagnosis: &_| {
        [
            terminal(diagnosis, &[], plain(120), None),
            markdown(diagnosis, &[]),
            html(diagnosis, &sample::record("static"), &[]),
        ]
    };
    let failed = diagnosis.endpoints[0].failed();
    assert!(failed > 0);
    // Ten times as many were asked for as make it a question, and then a tenth of that.
    diagnosis.endpoints[0].offered = failed * 1000;
    for text in views(&diagnosis) {
        assert!(!text.contains("hy 0.1 % of search fail"), "{text}");
    }
    diagnosis.endpoints[0].offered = failed * 10;
    for text in views(&diagnosis) {
        assert!(text.contains("hy 10 % of search fail"), "{text}");
        assert!(text.contains("unexplained"), "{text}");
    }
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for diagnosis in [
        sample::diagnosis("日本語のエンドポイント"),
        sample::invalid(),
    ] {
        for width in [40, 60, 80, 120, 200] {
            for style in [plain(width), verbose(width)] {
                for line in terminal(&diagnosis, &[sample::experiment()], style, None).lines() {
                    let columns = unicode_width::UnicodeWidthStr::width(line);
                    assert!(columns <= width, "{columns} columns of {width}: {line}");
                }
            }
        }
    }
}

#[test]
fn colour_adds_codes_and_nothing_else() {
    let diagnosis = sample::diagnosis("static");
    let plainly = terminal(&diagnosis, &[], plain(100), None);
    let style = Style {
        color: true,
        ..plain(100)
    };
    let colored = terminal(&diagnosis, &[], style, None);
    assert!(colored.contains("\x1b[1m") && !plainly.contains('\x1b'));
    let mut stripped = String::new();
    for (at, part) in colored.split("\x1b[").enumerate() {
        let text = if at == 0 {
            part
        } else {
            part.split_once('m').unwrap().1
        };
        stripped.push_str(text);
    }
    assert_eq!(stripped, plainly);
}

#[test]
fn names_cannot_steer_the_terminal() {
    let text = terminal(&sample::diagnosis("a\x1b[2Jb\rc"), &[], plain(80), None);
    assert!(
        text.chars().all(|c| c == '\n' || !c.is_control()),
        "{text:?}"
    );
}

#[test]
fn who_is_to_blame_for_a_wide_spread_is_told_in_every_view() {
    for (blame, told) in [
        (BlameOf::Host, "the repeats differ because the host did"),
        (BlameOf::Service, "the repeats differ by the service itself"),
        (
            BlameOf::Unknown,
            "whether by the host or by the service is not known",
        ),
    ] {
        let mut diagnosis = sample::healthy();
        diagnosis.endpoints[0].spread_blame = Some(SpreadBlame {
            blame,
            detail: "the same fixed work took 1.00 ms to 1.01 ms".to_owned(),
        });
        let record = sample::record("static");
        for view in [
            terminal(&diagnosis, &[], plain(200), None),
            markdown(&diagnosis, &[]),
            html(&diagnosis, &record, &[]),
        ] {
            let line = view.lines().find(|line| line.contains(told)).unwrap();
            assert!(line.contains("1.00 ms to 1.01 ms"), "{line}");
        }
    }
}
