//! Records that were made of another tool's requests: what they cannot show is said, and no cause
//! is named or cleared from what is not in them.

use slowpath_core::catalogue;
use slowpath_core::record::Imported;

use crate::diagnosis::{Check, Status};
use crate::verdict::{Verdict, human, percent};

/// A rate that may be further off than this is reported to be: it is what two runs differ by anyway.
const RATE_OFF: f64 = 0.05;

/// The checks that take the place of the one of our own load loop; the requests lie in `window_ns`.
pub(crate) fn checks(imported: &Imported, window_ns: f64) -> Vec<Check> {
    let tool = &imported.tool;
    let warn = |name: &str, detail: String| Check {
        check: name.to_owned(),
        status: Status::Warn,
        value: None,
        detail,
    };
    let precision = match imported.precision_ns {
        0 | 1 => String::new(),
        ns => format!(
            "; its instants are known to {}, which blurs whatever is judged over time{}",
            human(ns as f64),
            rate_off(ns as f64, window_ns)
        ),
    };
    let mut checks = vec![
        warn(
            catalogue::COORDINATED_OMISSION,
            format!(
                "imported from {tool}: latency starts when the request was sent: coordinated \
                 omission cannot be excluded{precision}"
            ),
        ),
        warn(
            catalogue::CLIENT_SATURATION,
            format!(
                "imported from {tool}: whether it kept up with its own load is not in the file"
            ),
        ),
    ];
    let notes = imported.notes.iter();
    checks.extend(notes.map(|note| warn("imported", note.clone())));
    checks
}

/// The first and the last instant may each be off by the precision.
fn rate_off(precision_ns: f64, window_ns: f64) -> String {
    let off = 2.0 * precision_ns / window_ns;
    if off >= 1.0 {
        "; rates cannot be computed from it".to_owned()
    } else if off > RATE_OFF {
        format!(
            "; true rates are up to {} higher",
            percent(off / (1.0 - off))
        )
    } else {
        String::new()
    }
}

/// What a detector's verdict on such a record is worth: without a schedule, connections and the
/// server's own counters nothing is found or cleared.
pub(crate) fn blinded(verdict: Verdict, imported: &Imported) -> Verdict {
    match verdict {
        Verdict::Blind { missing, .. } | Verdict::Lead { missing, .. } => Verdict::Blind {
            missing,
            remedy: remedy(),
        },
        Verdict::Found(_) | Verdict::Absent(_) => Verdict::Blind {
            missing: format!(
                "the schedule, the connections and the server, which are not in what {} wrote",
                imported.tool
            ),
            remedy: remedy(),
        },
    }
}

fn remedy() -> String {
    "load the target with slowpath run".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_found_or_cleared_from_what_is_not_there() {
        let imported = Imported {
            tool: "k6".to_owned(),
            format: "k6-csv".to_owned(),
            files: vec!["out.csv".to_owned()],
            precision_ns: 1_000_000_000,
            notes: vec!["2 results are left out".to_owned()],
        };
        let cleared = Verdict::Absent("no request waited".to_owned());
        let Verdict::Blind { missing, .. } = blinded(cleared, &imported) else {
            panic!("a cause was cleared");
        };
        assert!(missing.contains("k6"));
        let checks = checks(&imported, 21e9);
        let [omission, client, note] = checks.as_slice() else {
            panic!("{checks:?}");
        };
        assert_eq!(note.detail, "2 results are left out");
        assert_eq!(
            omission.detail,
            "imported from k6: latency starts when the request was sent: coordinated omission \
             cannot be excluded; its instants are known to 1.00 s, which blurs whatever is judged \
             over time; true rates are up to 11 % higher"
        );
        assert_eq!(
            (omission.status, client.status),
            (Status::Warn, Status::Warn)
        );
    }
}
