//! Whether host or service is to blame when repeats differ.

use slowpath_diagnose::diagnosis::{BlameOf, EndpointFigures};

/// Who is to blame for a wide spread over repeats, if it is wide.
pub(crate) fn spread_blame(figures: &EndpointFigures) -> Option<String> {
    let blame = figures.spread_blame.as_ref()?;
    let who = match blame.blame {
        BlameOf::Host => "the repeats differ because the host did",
        BlameOf::Service => "the repeats differ by the service itself, the host held still",
        BlameOf::Unknown => {
            "the repeats differ, whether by the host or by the service is not known"
        }
    };
    Some(format!("{who}: {}", blame.detail))
}
