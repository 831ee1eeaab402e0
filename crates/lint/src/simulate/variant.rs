//! Changes to a scenario or its model, as the command line says them.

use std::collections::BTreeSet;

use slowpath_core::model::{Expensive, TargetModel};
use slowpath_core::scenario::{ConnectionUse, Model, Pool, Scenario, Texts};

/// More users, values or slots than this are a typing mistake.
const MOST: u32 = 1_000_000;

/// Changes that are made together, such as `pool:topics=40,slots=2`.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    label: String,
    changes: Vec<Change>,
}

#[derive(Debug, Clone, PartialEq)]
enum Change {
    Pool(String, u32),
    Expensive(String, u32),
    Users(u32),
    Slots(u32),
    Singleflight,
}

/// Why a variant is none, or does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{variant}: {what}")]
pub struct VariantError {
    /// The variant as written.
    pub variant: String,
    /// What is wrong with it.
    pub what: String,
}

impl Variant {
    /// Reads `CHANGE[,CHANGE...]`, where a change is `pool:NAME=N`, `expensive:ENDPOINT=N`,
    /// `users=N`, `slots=N` or `singleflight`.
    ///
    /// # Errors
    /// The first change that is none of these.
    pub fn parse(text: &str) -> Result<Self, VariantError> {
        let changes: Result<Vec<Change>, String> = text.split(',').map(change).collect();
        let fail = |what| VariantError {
            variant: text.to_owned(),
            what,
        };
        Ok(Self {
            label: text.to_owned(),
            changes: changes.map_err(fail)?,
        })
    }

    /// The variant as it was written.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The scenario and model with the changes.
    ///
    /// # Errors
    /// When a change names a pool or endpoint that is not there, or users of an open loop.
    pub fn apply(
        &self,
        scenario: &Scenario,
        model: &TargetModel,
    ) -> Result<(Scenario, TargetModel), VariantError> {
        let (mut scenario, mut model) = (scenario.clone(), model.clone());
        for change in &self.changes {
            change
                .apply(&mut scenario, &mut model)
                .map_err(|what| VariantError {
                    variant: self.label.clone(),
                    what,
                })?;
        }
        Ok((scenario, model))
    }
}

fn change(text: &str) -> Result<Change, String> {
    let text = text.trim();
    if text == "singleflight" {
        return Ok(Change::Singleflight);
    }
    let known = "try pool:NAME=N, expensive:ENDPOINT=N, users=N, slots=N or singleflight";
    let (what, number) = text
        .split_once('=')
        .ok_or_else(|| format!("{text:?} is no change; {known}"))?;
    let number: u32 = number
        .parse()
        .map_err(|_| format!("{number:?} is no whole number"))?;
    if number > MOST || (number == 0 && !what.starts_with("expensive:")) {
        return Err(format!("{number} is not between 1 and {MOST}"));
    }
    match (what, what.split_once(':')) {
        ("users", _) => Ok(Change::Users(number)),
        ("slots", _) => Ok(Change::Slots(number)),
        (_, Some(("pool", name))) => Ok(Change::Pool(name.to_owned(), number)),
        (_, Some(("expensive", name))) => Ok(Change::Expensive(name.to_owned(), number)),
        _ => Err(format!("{what:?} is no change; {known}")),
    }
}

impl Change {
    fn apply(&self, scenario: &mut Scenario, model: &mut TargetModel) -> Result<(), String> {
        match self {
            Self::Pool(name, size) => resize(scenario, name, *size as usize),
            Self::Expensive(name, count) => {
                if !scenario.endpoints.iter().any(|e| e.name == *name) {
                    return Err(format!("there is no endpoint named {name:?}"));
                }
                let known = model.endpoints.iter_mut().find(|e| e.name == *name);
                let endpoint =
                    known.ok_or_else(|| format!("the model says nothing about {name}"))?;
                endpoint.expensive = Expensive::Count(*count);
                Ok(())
            }
            Self::Users(number) => {
                let Model::Closed { users, .. } = &mut scenario.load.model else {
                    return Err("an open loop has no users".to_owned());
                };
                *users = *number;
                if scenario.load.connection == ConnectionUse::PerUser {
                    scenario.load.connections = *number;
                }
                Ok(())
            }
            Self::Slots(slots) => {
                model.slots = Some(*slots);
                Ok(())
            }
            Self::Singleflight => {
                model.singleflight = true;
                Ok(())
            }
        }
    }
}

/// Leaves the first values of a pool, or adds values that it does not have.
fn resize(scenario: &mut Scenario, name: &str, size: usize) -> Result<(), String> {
    let at = scenario.pools.iter().position(|pool| pool.name == name);
    let tied =
        |pool: &Pool| pool.same_row_as.is_some() && (pool.name == name || pool.same_row_as == at);
    if scenario.pools.iter().any(tied) {
        return Err(format!("{name:?} is a column of a table"));
    }
    let pool = scenario
        .pools
        .iter_mut()
        .find(|pool| pool.name == name)
        .ok_or_else(|| format!("there is no pool named {name:?}"))?;
    let mut values: Vec<String> = pool.values.iter().take(size).map(str::to_owned).collect();
    let had = values.len();
    let known: BTreeSet<String> = values.iter().cloned().collect();
    let more = (1..).map(|number| format!("{name} value {number}"));
    let new = more.filter(|value| !known.contains(value));
    values.extend(new.take(size - had));
    pool.values = Texts::from(values);
    if let Some(weights) = &mut pool.weights {
        // New values are as likely as the old ones on average.
        let mean = weights.iter().sum::<f64>() / weights.len() as f64;
        weights.resize(size, mean);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use slowpath_core::model::Times;

    use super::*;
    use crate::checks::trial::scenario;

    #[test]
    fn changes_are_read_and_made() {
        let before = scenario(
            "[load]\nusers = 3\n[pools]\nq = [\"a\", \"b\"]\n\
             [[endpoint]]\nname = \"s\"\nrequest = \"GET /?q={q}\"\n",
        );
        let model = TargetModel::plain(Times::fixed(1));
        let variant = Variant::parse("pool:q=3, users=7,slots=2,singleflight").unwrap();
        let (after, changed) = variant.apply(&before, &model).unwrap();
        assert_eq!(after.pools[0].values, ["a", "b", "q value 1"]);
        assert!(matches!(after.load.model, Model::Closed { users: 7, .. }));
        assert_eq!(after.load.connections, 7);
        assert_eq!((changed.slots, changed.singleflight), (Some(2), true));
        let (narrow, _) = Variant::parse("pool:q=1")
            .unwrap()
            .apply(&before, &model)
            .unwrap();
        assert_eq!(narrow.pools[0].values, ["a"]);
    }

    #[test]
    fn what_is_no_change_is_refused_with_what_would_be() {
        for text in [
            "", "users", "users=x", "users=0", "slots=-1", "pool=3", "speed=2",
        ] {
            assert!(Variant::parse(text).is_err(), "{text}");
        }
        assert!(
            Variant::parse("turbo")
                .unwrap_err()
                .what
                .contains("singleflight")
        );
        let open =
            scenario("[load]\nrate = \"1/s\"\n[[endpoint]]\nname = \"s\"\nrequest = \"GET /\"\n");
        let model = TargetModel::plain(Times::fixed(1));
        for text in ["users=3", "pool:x=3", "expensive:s=1", "expensive:t=1"] {
            let variant = Variant::parse(text).unwrap();
            assert!(variant.apply(&open, &model).is_err(), "{text}");
        }
    }
}
