//! What could not be looked for, reported once for all causes that lack the same.

use slowpath_diagnose::diagnosis::Diagnosis;

/// Causes that lack the same.
pub(crate) struct Blind<'a> {
    causes: Vec<&'a str>,
    missing: &'a str,
    /// What would show it; empty if nothing is known.
    pub(crate) remedy: &'a str,
}

/// Causes that are listed in short; the others are counted.
const LISTED: usize = 3;

impl Blind<'_> {
    /// The same with a few of many causes.
    pub(crate) fn in_short(&self) -> String {
        let listed = self.causes.iter().take(LISTED).copied();
        let listed: Vec<&str> = listed.collect();
        let more = match self.causes.len().saturating_sub(LISTED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{}{more}: {}", listed.join(", "), self.missing)
    }

    /// The causes, and what is missing to judge them.
    pub(crate) fn text(&self) -> String {
        format!("{}: {}", self.causes.join(", "), self.missing)
    }
}

/// All of them, in the order in which the first of each is judged.
pub(crate) fn blind(diagnosis: &Diagnosis) -> Vec<Blind<'_>> {
    let mut all: Vec<Blind<'_>> = Vec::new();
    for one in &diagnosis.blind {
        let same = |of: &&mut Blind<'_>| of.missing == one.missing && of.remedy == one.remedy;
        match all.iter_mut().find(same) {
            Some(of) => of.causes.push(&one.cause),
            None => all.push(Blind {
                causes: vec![&one.cause],
                missing: &one.missing,
                remedy: &one.remedy,
            }),
        }
    }
    all
}
