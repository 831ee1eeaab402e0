//! What the target reported of requests is read back as it was, finished or not.

use proptest::collection::vec;
use proptest::prelude::*;
use slowpath_core::nanos::Nanos;
use slowpath_core::spans::{AppSpan, AppSpans, SpanKind};
use slowpath_record::RunWriter;

use crate::arbitrary::{cases, manifest};

fn instant() -> impl Strategy<Value = Nanos> {
    (1..=i64::MAX as u64).prop_map(Nanos::new)
}

/// The spans of a repeat, whose names stand in the order of their first use.
fn spans(repeat: u16) -> impl Strategy<Value = AppSpans> {
    let ids = (any::<u64>(), any::<u64>(), any::<u64>());
    let kind = proptest::sample::select(&SpanKind::ALL[..]);
    let span = (
        0..4_u32,
        ids,
        kind,
        any::<bool>(),
        instant(),
        instant(),
        "[a-zß.]{0,6}",
    );
    vec(span, 0..40).prop_map(move |mut rows| {
        rows.sort_by_key(|row| row.0);
        let mut all = AppSpans::default();
        for (serial, (id, parent, thread), kind, error, begin, end, name) in rows {
            // The same text is a name once and a service once.
            let names = [&mut all.names, &mut all.services].map(|table| {
                let known = table.iter().position(|text| *text == name);
                let place = known.unwrap_or_else(|| {
                    table.push(name.clone());
                    table.len() - 1
                });
                place as u32
            });
            all.spans.push(AppSpan {
                serial,
                repeat,
                kind,
                error,
                id,
                parent,
                name: names[0],
                service: names[1],
                thread,
                begin,
                end,
            });
        }
        all.spans.sort_by_key(AppSpan::order);
        all
    })
}

/// What spans say, whatever the positions of their names are.
fn told(all: &AppSpans) -> Vec<(AppSpan, String, String)> {
    let service = |span: &AppSpan| all.services[span.service as usize].clone();
    let bare = |span: &AppSpan| AppSpan {
        name: 0,
        service: 0,
        ..*span
    };
    let tell = |span| (bare(span), all.name(span).to_owned(), service(span));
    all.spans.iter().map(tell).collect()
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn spans_come_back(first in spans(0), second in spans(1)) {
        let dir = tempfile::tempdir().unwrap();
        let run = dir.path().join("run");
        let writer = RunWriter::create(&run, &manifest()).unwrap();
        writer.spans(0, &first).unwrap();
        writer.spans(1, &second).unwrap();
        let mut all = first;
        all.append(&second);
        prop_assert_eq!(told(&slowpath_record::read(&run).unwrap().spans), told(&all));
        writer.finish(&manifest()).unwrap();
        prop_assert_eq!(told(&slowpath_record::read(&run).unwrap().spans), told(&all));
    }
}

#[test]
fn a_file_of_spans_that_was_changed_or_is_gone_is_damage() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let writer = RunWriter::create(&run, &manifest()).unwrap();
    let span = AppSpan {
        serial: 1,
        repeat: 0,
        kind: SpanKind::Server,
        error: false,
        id: 1,
        parent: 0,
        name: 0,
        service: 0,
        thread: 0,
        begin: Nanos::new(1),
        end: Nanos::new(2),
    };
    let spans = AppSpans {
        names: vec!["GET /".into()],
        services: vec!["shop".into()],
        spans: vec![span],
    };
    writer.spans(0, &spans).unwrap();
    writer.finish(&manifest()).unwrap();
    assert_eq!(slowpath_record::read(&run).unwrap().spans.spans, [span]);
    let path = run.join("spans/0.parquet");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[20] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let error = slowpath_record::read(&run).unwrap_err().to_string();
    assert!(error.contains("checksum"), "{error}");
    std::fs::remove_file(&path).unwrap();
    slowpath_record::read(&run).unwrap_err();
}
