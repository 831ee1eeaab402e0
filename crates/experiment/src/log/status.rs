//! How an investigation stands, by its entries.

use serde::{Deserialize, Serialize};
use slowpath_core::investigation::{Decision, Entry, Investigation, Verdict, What};

/// How an investigation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It is not known yet.
    Open,
    /// The cause is known, and nothing had to be changed.
    Explained,
    /// The cause was removed, and a prediction of that held.
    FixedAndConfirmed,
    /// The cause is said to be removed, and no measurement says so.
    FixedUnconfirmed,
    /// The cause is known and stays.
    NotFixed,
    /// There was nothing to investigate.
    Refuted,
}

impl Status {
    /// The words of reports.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Explained => "explained",
            Self::FixedAndConfirmed => "fixed and confirmed",
            Self::FixedUnconfirmed => "fixed, not confirmed",
            Self::NotFixed => "understood, not fixed",
            Self::Refuted => "refuted",
        }
    }

    /// Whether an entry said that it is fixed.
    pub const fn is_fixed(self) -> bool {
        matches!(self, Self::FixedAndConfirmed | Self::FixedUnconfirmed)
    }

    /// Whether its predictions are still waited for: not those of a cause that stays
    /// or that was none.
    pub const fn awaits(self) -> bool {
        !matches!(self, Self::NotFixed | Self::Refuted)
    }
}

/// How an investigation stands, and the entry that made it so; `None` of one that was never closed.
pub fn status(investigation: &Investigation) -> (Status, Option<&Entry>) {
    let mut last = (Status::Open, None);
    let confirmed = is_confirmed(investigation);
    for entry in &investigation.entries {
        match &entry.what {
            What::Reopening => last = (Status::Open, Some(entry)),
            What::Decision(decided) => {
                let status = match decided.decision {
                    Decision::Changed => continue,
                    Decision::Explained => Status::Explained,
                    Decision::Fixed if confirmed => Status::FixedAndConfirmed,
                    Decision::Fixed => Status::FixedUnconfirmed,
                    Decision::NotFixed => Status::NotFixed,
                    Decision::Refuted => Status::Refuted,
                };
                last = (status, Some(entry));
            }
            _ => {}
        }
    }
    last
}

/// Whether the last prediction that a release settled since it was opened last held: an earlier one
/// that failed is a false start. What an experiment showed is no measurement of a fix.
fn is_confirmed(investigation: &Investigation) -> bool {
    let entries = investigation.since_opened_last().iter();
    let mut settled = entries.filter_map(|entry| {
        let What::Outcome(outcome) = &entry.what else {
            return None;
        };
        let counts = outcome.release.is_some() && outcome.verdict.settles();
        counts.then_some(outcome.verdict)
    });
    settled.next_back() == Some(Verdict::Held)
}
