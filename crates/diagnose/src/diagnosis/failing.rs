//! Failures that are a question of their own.

use super::{Diagnosis, EndpointFigures, Place};
use crate::ledger::NAMED_ERRORS;

impl EndpointFigures {
    /// Failures of all kinds.
    pub fn failed(&self) -> u64 {
        self.errors.iter().map(|error| error.count).sum()
    }
}

impl Diagnosis {
    /// Whether a finding is the cause of failures of the endpoint (and pass) of this label.
    pub fn explains_failures_of(&self, label: &str) -> bool {
        let mut of_errors = self
            .findings
            .iter()
            .filter(|finding| finding.place == Place::Errors);
        of_errors.any(|finding| finding.label().is_none_or(|own| own == label))
    }

    /// The endpoints of which so many requests fail that it is an answer or a question of its own
    /// ([`NAMED_ERRORS`]), and no finding is the cause; none where no request of any was completed, since nothing
    /// is judged then.
    pub fn unexplained_failures(&self) -> impl Iterator<Item = &EndpointFigures> {
        let is_judged = self.endpoints.iter().any(|figures| figures.completed > 0);
        self.endpoints.iter().filter(move |figures| {
            let failed = figures.failed();
            let offered = figures.offered.max(failed);
            let is_much = failed > 0 && failed as f64 >= NAMED_ERRORS * offered as f64;
            is_judged && is_much && !self.explains_failures_of(&figures.label())
        })
    }
}
