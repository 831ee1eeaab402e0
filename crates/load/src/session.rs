//! What one user of a closed loop carries from request to request.

use slowpath_core::plan::Lane;

/// The variables that a user has extracted, and how far it is in its steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Session {
    /// For each variable of the scenario, whether it has a value.
    known: Vec<bool>,
    /// The values; what stands where none is known is left over and means nothing.
    values: Vec<String>,
    step: usize,
    /// Whether an answer lacked what was to be extracted from it.
    broken: bool,
}

impl Session {
    /// A session that has just begun, of a scenario with so many variables.
    pub(crate) fn new(variables: usize) -> Self {
        Self {
            known: vec![false; variables],
            values: vec![String::new(); variables],
            ..Self::default()
        }
    }

    /// For each variable, whether it is known.
    pub(crate) fn known(&self) -> &[bool] {
        &self.known
    }

    /// The value of each variable.
    pub(crate) fn values(&self) -> &[String] {
        &self.values
    }

    /// Sets a variable, in the memory of its last value.
    pub(crate) fn set(&mut self, variable: usize, value: &str) {
        self.known[variable] = true;
        value.clone_into(&mut self.values[variable]);
    }

    /// An answer lacked what was to be extracted from it. Variables keep their last values.
    pub(crate) fn lacks(&mut self) {
        self.broken = true;
    }

    /// The endpoint that is next, where a step says which.
    pub(crate) fn endpoint(&self, lane: &Lane) -> Option<u16> {
        lane.steps().map(|steps| steps[self.step % steps.len()])
    }

    /// Goes on after a request. Steps start again, with no variable known, after the last one and
    /// where something could not be extracted.
    pub(crate) fn advance(&mut self, lane: &Lane) {
        let broken = std::mem::take(&mut self.broken);
        let Some(steps) = lane.steps() else { return };
        self.step += 1;
        if broken || self.step >= steps.len() {
            self.step = 0;
            self.known.fill(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use slowpath_core::plan::Order;
    use slowpath_core::scenario::Think;

    use super::*;

    fn lane(order: Order) -> Lane {
        Lane {
            endpoints: vec![4, 2, 7],
            order,
            rate_per_s: 0.0,
            think: Think::default(),
        }
    }

    #[test]
    fn steps_follow_each_other_and_start_again() {
        let (steps, mut session) = (lane(Order::Steps), Session::new(1));
        let mut visited = Vec::new();
        for _ in 0..4 {
            visited.push(session.endpoint(&steps).unwrap());
            session.set(0, "x");
            session.advance(&steps);
        }
        assert_eq!(visited, [4, 2, 7, 4]);
        assert_eq!(session.known(), [true]);
        session.lacks();
        session.advance(&steps);
        assert_eq!(
            (session.endpoint(&steps), session.known()),
            (Some(4), &[false][..])
        );
        session.advance(&steps);
        assert_eq!(session.endpoint(&steps), Some(2), "one fault restarts once");
    }

    #[test]
    fn weighted_users_keep_what_they_know() {
        let weighted = lane(Order::Weighted(vec![1.0; 3]));
        let mut session = Session::new(2);
        session.set(1, "old");
        session.set(1, "new");
        session.lacks();
        session.advance(&weighted);
        assert_eq!(session.endpoint(&weighted), None);
        assert_eq!(session.known(), [false, true]);
        assert_eq!(session.values()[1], "new");
    }
}
