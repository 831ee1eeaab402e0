//! A model of the target: what its answers take, and what they wait for.
//!
//! Written by hand or taken from a run, and used to judge a workload before it is sent. It knows
//! one thing that percentiles do not: that an answer which is not cached yet needs a backend with
//! few parallel slots, so that answers to different questions wait for each other.

use serde::{Deserialize, Serialize};

/// How long something takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Times {
    /// Uniformly drawn, in nanoseconds, both ends included.
    Uniform {
        /// The shortest.
        min_ns: u64,
        /// The longest; not below `min_ns`.
        max_ns: u64,
    },
    /// Drawn from measured times in nanoseconds; at least one.
    Measured(Vec<u64>),
}

impl Times {
    /// Always the same.
    pub fn fixed(ns: u64) -> Self {
        Self::Uniform {
            min_ns: ns,
            max_ns: ns,
        }
    }

    /// The mean in nanoseconds.
    pub fn mean_ns(&self) -> f64 {
        match self {
            Self::Uniform { min_ns, max_ns } => f64::midpoint(*min_ns as f64, *max_ns as f64),
            Self::Measured(times) => {
                times.iter().map(|&ns| ns as f64).sum::<f64>() / times.len().max(1) as f64
            }
        }
    }
}

/// Which keys of an endpoint need the backend when they are not cached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Expensive {
    /// So many of them, the first ones; adding keys adds cheap ones.
    Count(u32),
    /// This share of them, from 0 to 1; adding keys adds expensive ones too.
    Share(f64),
    /// Those named.
    Keys(Vec<String>),
}

/// What the answers of one endpoint take.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EndpointModel {
    /// The endpoint's name in the scenario.
    pub name: String,
    /// What every answer takes beside the backend.
    pub latency: Times,
    /// What an answer takes on the backend when it has to be computed; `None`: it needs none.
    pub backend: Option<Times>,
    /// Whether computed answers are kept and given again to the same key.
    pub cached: bool,
    /// How long a computed answer is kept, in nanoseconds; `None` keeps it for the whole run.
    pub ttl_ns: Option<u64>,
    /// The keys that need the backend.
    pub expensive: Expensive,
}

impl EndpointModel {
    /// An endpoint that takes `latency` and needs no backend.
    pub fn plain(name: &str, latency: Times) -> Self {
        Self {
            name: name.to_owned(),
            latency,
            backend: None,
            cached: true,
            ttl_ns: None,
            expensive: Expensive::Share(1.0),
        }
    }
}

/// The target as a workload meets it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetModel {
    /// How many computations the backend runs at once, the others waiting in order of arrival;
    /// `None`: as many as it is asked for.
    pub slots: Option<u32>,
    /// Whether requests for a key that is being computed wait for that computation instead of
    /// starting their own.
    pub singleflight: bool,
    /// What answers take at endpoints that are not listed.
    pub latency: Times,
    /// Endpoints with times of their own.
    pub endpoints: Vec<EndpointModel>,
}

impl TargetModel {
    /// A target whose every answer takes the same time.
    pub fn plain(latency: Times) -> Self {
        Self {
            slots: None,
            singleflight: false,
            latency,
            endpoints: Vec::new(),
        }
    }

    /// The model of the endpoint of this name.
    pub fn endpoint(&self, name: &str) -> EndpointModel {
        let known = self.endpoints.iter().find(|e| e.name == name);
        known.map_or_else(
            || EndpointModel::plain(name, self.latency.clone()),
            Clone::clone,
        )
    }
}
