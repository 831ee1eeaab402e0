//! Lanes: requests that follow one schedule, or users of one class.

use super::Plan;
use crate::scenario::{Endpoint, Model, Think, UserClass};

/// Requests that share a schedule or a class of users, and with it a stream of choices.
#[derive(Debug, Clone, PartialEq)]
pub struct Lane {
    /// Endpoints, by position in the scenario: the steps of a session, in order, or what is
    /// chosen among by weight.
    pub endpoints: Vec<u16>,
    /// How endpoints follow each other.
    pub order: Order,
    /// Open loop: requests a second, above 0. Closed loop: 0.
    pub rate_per_s: f64,
    /// Closed loop: the pause of the lane's users between an answer and the next request.
    pub think: Think,
}

/// How the endpoints of a lane follow each other.
#[derive(Debug, Clone, PartialEq)]
pub enum Order {
    /// Drawn for each request with these weights, in the order of the endpoints.
    Weighted(Vec<f64>),
    /// One after the other, from the first again after the last.
    Steps,
}

impl Lane {
    /// The steps of a session, if its endpoints are steps.
    pub fn steps(&self) -> Option<&[u16]> {
        matches!(self.order, Order::Steps).then_some(&self.endpoints)
    }

    /// The weights of its endpoints; those of steps are all 1.
    pub fn weights(&self) -> impl Iterator<Item = (u16, f64)> + '_ {
        let weight = |at: usize| match &self.order {
            Order::Weighted(weights) => weights[at],
            Order::Steps => 1.0,
        };
        let endpoints = self.endpoints.iter().enumerate();
        endpoints.map(move |(at, &endpoint)| (endpoint, weight(at)))
    }
}

impl Plan {
    /// The lanes of the load. Open loop: the endpoints that share the load's rate, if there are
    /// any, and then each endpoint with a rate of its own. Closed loop: the classes of users in
    /// the scenario's order; without classes there is one.
    pub fn lanes(&self) -> Vec<Lane> {
        let scenario = &self.scenario;
        match &scenario.load.model {
            Model::Open { rate_per_s, .. } => open(&scenario.endpoints, *rate_per_s),
            Model::Closed { think, .. } if scenario.users.is_empty() => {
                let all = weighted(scenario.endpoints.iter().enumerate());
                vec![Lane {
                    think: *think,
                    ..all
                }]
            }
            Model::Closed { think, .. } => {
                let class = |class| of_class(class, &scenario.endpoints, *think);
                scenario.users.iter().map(class).collect()
            }
        }
    }
}

fn weighted<'e>(endpoints: impl Iterator<Item = (usize, &'e Endpoint)>) -> Lane {
    let (endpoints, weights) = endpoints
        .map(|(position, endpoint)| (position as u16, endpoint.weight))
        .unzip();
    Lane {
        endpoints,
        order: Order::Weighted(weights),
        rate_per_s: 0.0,
        think: Think::default(),
    }
}

fn open(endpoints: &[Endpoint], rate_per_s: f64) -> Vec<Lane> {
    let numbered = || endpoints.iter().enumerate();
    let sharing = weighted(numbered().filter(|(_, endpoint)| endpoint.rate_per_s.is_none()));
    let shared = (!sharing.endpoints.is_empty()).then_some(Lane {
        rate_per_s,
        ..sharing
    });
    let own = numbered().filter_map(|(position, endpoint)| {
        Some(Lane {
            rate_per_s: endpoint.rate_per_s?,
            ..weighted(std::iter::once((position, endpoint)))
        })
    });
    shared.into_iter().chain(own).collect()
}

fn of_class(class: &UserClass, endpoints: &[Endpoint], think: Think) -> Lane {
    let place = |name: &str| {
        let found = endpoints.iter().position(|endpoint| endpoint.name == name);
        found.map(|position| position as u16)
    };
    let (endpoints, order) = if class.steps.is_empty() {
        let named = class.endpoints.iter();
        let (endpoints, weights) = named
            .filter_map(|(name, weight)| Some((place(name)?, *weight)))
            .unzip();
        (endpoints, Order::Weighted(weights))
    } else {
        let steps = class.steps.iter().filter_map(|name| place(name));
        (steps.collect(), Order::Steps)
    };
    Lane {
        endpoints,
        order,
        rate_per_s: 0.0,
        think: class.think.unwrap_or(think),
    }
}
