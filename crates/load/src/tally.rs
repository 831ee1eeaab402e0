//! What was offered in the measured window, endpoint by endpoint.

use slowpath_core::Nanos;
use slowpath_core::facts::EndpointTally;
use slowpath_core::nanos::Span;
use slowpath_core::plan::{Choice, Choices};

use crate::demand::Demand;

/// Unsent requests whose endpoints are drawn one by one at most; the rest of a larger backlog is
/// split by weight. It keeps the end of a run with an absurd rate within a second, and ten million
/// draws leave a share uncertain by less than one in a thousand.
const MOST_DRAWN: f64 = 1e7;

/// Counts, in the order of the plan's endpoints.
#[derive(Debug)]
pub(crate) struct Tally {
    window: Span,
    endpoints: Vec<EndpointTally>,
}

impl Tally {
    /// Nothing offered yet.
    pub(crate) fn new(window: Span, endpoints: usize) -> Self {
        Self {
            window,
            endpoints: vec![EndpointTally::default(); endpoints],
        }
    }

    /// Whether a request scheduled then counts.
    pub(crate) fn is_measured(&self, scheduled: Nanos) -> bool {
        scheduled >= self.window.begin && scheduled < self.window.end
    }

    /// Counts a request that was taken up.
    pub(crate) fn taken(&mut self, endpoint: u16, scheduled: Nanos) {
        if self.is_measured(scheduled) {
            self.endpoints[usize::from(endpoint)].offered += 1;
        }
    }

    /// Requests counted so far.
    pub(crate) fn offered(&self) -> u64 {
        self.endpoints.iter().map(|tally| tally.offered).sum()
    }

    /// Counts what was due before `closing` and never taken up, then gives the counts.
    pub(crate) fn close(
        mut self,
        demand: &mut Demand,
        choices: &mut Choices,
        weights: &[f64],
        closing: Nanos,
    ) -> Vec<EndpointTally> {
        let last = Nanos::new(closing.get() - 1);
        let mut choice = Choice {
            endpoint: 0,
            picks: Vec::new(),
            uuid: 0,
        };
        let mut drawn = 0.0;
        while drawn < MOST_DRAWN
            && let Some(due) = demand.take(last)
        {
            drawn += 1.0;
            // With one endpoint there is nothing to draw.
            if weights.len() > 1 {
                choices.next_into(&mut choice);
            }
            if self.is_measured(due.scheduled) {
                let tally = &mut self.endpoints[usize::from(choice.endpoint)];
                tally.offered += 1;
                tally.unsent += 1;
            }
        }
        if demand.next().is_some_and(|next| next <= last) {
            self.split(demand, weights, closing);
        }
        self.endpoints
    }

    /// Counts the expected rest of the schedule by weight.
    fn split(&mut self, demand: &Demand, weights: &[f64], closing: Nanos) {
        let before = demand.expected_until(self.window.begin);
        let rest = demand.expected_until(closing.min(self.window.end)) - before;
        let sum: f64 = weights.iter().sum();
        for (tally, weight) in self.endpoints.iter_mut().zip(weights) {
            let share = (rest * weight / sum).round() as u64;
            tally.offered += share;
            tally.unsent += share;
        }
    }
}

#[cfg(test)]
mod tests {
    use slowpath_core::plan::Plan;
    use slowpath_core::scenario::{Arrivals, Endpoint, Escape, LoadDraft, Scenario, Template};

    use super::*;
    use crate::share::Share;

    fn plan(rate_per_s: f64) -> Plan {
        let mut scenario = Scenario::from_url("http://127.0.0.1:1/").unwrap();
        let draft = LoadDraft {
            rate_per_s: Some(rate_per_s),
            arrivals: Some(Arrivals::Uniform),
            ..LoadDraft::default()
        };
        scenario.load = draft.resolve().unwrap();
        let mut second = Endpoint::get("second".into(), Template::literal("/", Escape::Url));
        second.weight = 3.0;
        scenario.endpoints.push(second);
        Plan {
            scenario,
            seed: 1,
            release: None,
        }
    }

    fn unsent(rate_per_s: f64) -> Vec<EndpointTally> {
        let plan = plan(rate_per_s);
        let start = Nanos::new(1_000_000_000);
        let window = Span::new(start.plus(1_000_000_000), start.plus(2_000_000_000));
        let mut demand = Demand::new(&plan, 0, Share { index: 0, of: 1 }, start);
        let mut choices = plan.choices(0);
        Tally::new(window, 2).close(&mut demand, &mut choices, &[1.0, 3.0], window.end)
    }

    #[test]
    fn a_backlog_is_counted_entry_by_entry() {
        let tallies = unsent(20_000.0);
        let offered: u64 = tallies.iter().map(|tally| tally.offered).sum();
        assert_eq!(offered, 20_000, "the warm-up's entries do not count");
        assert!(tallies.iter().all(|tally| tally.offered == tally.unsent));
        assert!(tallies[0].unsent.abs_diff(5_000) < 400, "{tallies:?}");
    }

    #[test]
    fn an_absurd_backlog_is_counted_by_expectation() {
        let tallies = unsent(1e12);
        let offered: u64 = tallies.iter().map(|tally| tally.offered).sum();
        assert_eq!(offered, 1_000_000_000_000);
        assert_eq!(tallies[0].unsent, 250_000_000_000);
    }
}
