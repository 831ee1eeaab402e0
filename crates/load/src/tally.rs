//! What was offered in the measured window, endpoint by endpoint.

use slowpath_core::Nanos;
use slowpath_core::facts::EndpointTally;
use slowpath_core::nanos::Span;
use slowpath_core::plan::{Choices, Lane};

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
        lanes: &[Lane],
        closing: Nanos,
    ) -> Vec<EndpointTally> {
        let last = Nanos::new(closing.get() - 1);
        let mut drawn = 0.0;
        while drawn < MOST_DRAWN
            && let Some(due) = demand.take(last)
        {
            drawn += 1.0;
            if self.is_measured(due.scheduled) {
                self.unsent(choices.unsent_endpoint(due.lane), 1);
            }
        }
        if demand.next().is_some_and(|next| next <= last) {
            self.split(demand, lanes, closing);
        }
        self.endpoints
    }

    fn unsent(&mut self, endpoint: u16, requests: u64) {
        let tally = &mut self.endpoints[usize::from(endpoint)];
        tally.offered += requests;
        tally.unsent += requests;
    }

    /// Counts the expected rest of the schedules by weight.
    fn split(&mut self, demand: &Demand, lanes: &[Lane], closing: Nanos) {
        let end = closing.min(self.window.end);
        for (number, lane) in lanes.iter().enumerate() {
            let rest = demand.expected(number, self.window.begin, end);
            let sum: f64 = lane.weights().map(|(_, weight)| weight).sum();
            for (endpoint, weight) in lane.weights() {
                self.unsent(endpoint, (rest * weight / sum).round() as u64);
            }
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
        unsent_of(&plan(rate_per_s))
    }

    fn unsent_of(plan: &Plan) -> Vec<EndpointTally> {
        let start = Nanos::new(1_000_000_000);
        let window = Span::new(start.plus(1_000_000_000), start.plus(2_000_000_000));
        let lanes = plan.lanes();
        let mut demand = Demand::new(plan, 0, Share { index: 0, of: 1 }, &lanes, start);
        let mut choices = plan.choices(0);
        Tally::new(window, 2).close(&mut demand, &mut choices, &lanes, window.end)
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

    #[test]
    fn an_endpoint_with_a_rate_of_its_own_is_counted_by_it() {
        let mut plan = plan(1_000.0);
        plan.scenario.endpoints[1].rate_per_s = Some(50.0);
        let offered = |plan: &Plan| {
            let tallies = unsent_of(plan);
            [tallies[0].offered, tallies[1].offered]
        };
        assert_eq!(offered(&plan), [1_000, 50]);
        plan.scenario.endpoints[1].rate_per_s = Some(1e11);
        let [shared, own] = offered(&plan);
        assert_eq!(own, 100_000_000_000);
        assert!(shared.abs_diff(1_000) <= 1, "{shared}");
    }
}
