//! The scenario of one level.

use slowpath_core::scenario::{
    ConnectionUse, Endpoint, Escape, Overrides, Part, PoolOpen, PoolReuse, Scenario, Template,
};
use slowpath_experiment::sweep::{Dimension, Grid};

use crate::exit::Problem;

/// The placeholder of the size in a scenario or URL.
const PLACEHOLDER: &str = "{size}";
/// Bodies are kept in each window's manifest; larger ones would make the records unwieldy.
const BODY_MOST: f64 = 16.0 * 1024.0 * 1024.0;

/// The scenario at a level; everything else stays as it is.
pub(super) fn at_level(
    scenario: &Scenario,
    dimension: Dimension,
    level: f64,
) -> Result<Scenario, Problem> {
    let mut varied = scenario.clone();
    match dimension {
        Dimension::Connections => {
            let connections = Some(level as u32);
            let by = Overrides {
                connections,
                ..Overrides::default()
            };
            varied.load = overridden(scenario, &by)?;
            if varied.load.connection == ConnectionUse::Pool {
                // A pool that grows on demand would be as large at each level as the load needs.
                varied.load.open = PoolOpen::AtStart;
                varied.load.reuse = PoolReuse::Oldest;
            }
        }
        Dimension::Rate => {
            let by = Overrides {
                rate_per_s: Some(level),
                ..Overrides::default()
            };
            varied.load = overridden(scenario, &by)?;
        }
        Dimension::Size => sized(&mut varied.endpoints, level as u64),
    }
    Ok(varied)
}

/// The load with what the command line says.
pub(super) fn overridden(
    scenario: &Scenario,
    by: &Overrides,
) -> Result<slowpath_core::scenario::Load, Problem> {
    scenario.load.overridden(by).map_err(|mistakes| {
        let lines: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        Problem::usage(lines.join("\n"), "slowpath sweep --help")
    })
}

/// Refuses sizes that cannot be sent as they would have to be.
pub(super) fn check(scenario: &Scenario, grid: &Grid) -> Result<(), Problem> {
    let largest = grid.levels.last().copied().unwrap_or_default();
    let fills = !scenario.endpoints.iter().any(names_size);
    if grid.dimension == Dimension::Size && fills && largest > BODY_MOST {
        let what = "bodies of more than 16 MiB are not filled here";
        return Err(Problem::usage(
            what,
            "let the server make them: say {size} in the request",
        ));
    }
    Ok(())
}

/// Puts a size where endpoints say `{size}`; where none does, fills every body with that many
/// bytes, and makes a GET that had none a POST.
fn sized(endpoints: &mut [Endpoint], bytes: u64) {
    if endpoints.iter().any(names_size) {
        let text = bytes.to_string();
        for endpoint in endpoints {
            for template in templates(endpoint) {
                replace(template, &text);
            }
        }
        return;
    }
    for endpoint in endpoints {
        if endpoint.body.is_none() && endpoint.method == "GET" {
            "POST".clone_into(&mut endpoint.method);
        }
        let body = "x".repeat(bytes as usize);
        endpoint.body = Some(Template::literal(&body, Escape::None));
    }
}

fn names_size(endpoint: &Endpoint) -> bool {
    let mut endpoint = endpoint.clone();
    templates(&mut endpoint).any(|template| {
        let named = |part: &Part| matches!(part, Part::Literal(text) if text.contains(PLACEHOLDER));
        template.parts.iter().any(named)
    })
}

/// Every text of a request.
fn templates(endpoint: &mut Endpoint) -> impl Iterator<Item = &mut Template> {
    let headers = endpoint.headers.iter_mut().map(|(_, value)| value);
    [&mut endpoint.path]
        .into_iter()
        .chain(headers)
        .chain(&mut endpoint.body)
        .chain(&mut endpoint.key)
}

fn replace(template: &mut Template, text: &str) {
    for part in &mut template.parts {
        if let Part::Literal(literal) = part {
            *literal = literal.replace(PLACEHOLDER, text);
        }
    }
}

#[cfg(test)]
mod tests {
    use slowpath_core::scenario::Model;

    use super::*;

    fn scenario(url: &str) -> Scenario {
        Scenario::from_url(url).unwrap()
    }

    #[test]
    fn connections_are_users_of_a_closed_loop_and_a_rate_opens_it() {
        let base = scenario("http://127.0.0.1/");
        let load = at_level(&base, Dimension::Connections, 40.0).unwrap().load;
        assert!(matches!(load.model, Model::Closed { users: 40, .. }) && load.connections == 40);
        let load = at_level(&base, Dimension::Rate, 12.5).unwrap().load;
        assert!(
            matches!(load.model, Model::Open { rate_per_s, .. } if (rate_per_s - 12.5).abs() < 1e-9)
        );
        let open = Scenario { load, ..base };
        let load = at_level(&open, Dimension::Connections, 40.0).unwrap().load;
        assert!(matches!(load.model, Model::Open { .. }) && load.connections == 40);
        assert_eq!(
            (load.open, load.reuse),
            (PoolOpen::AtStart, PoolReuse::Oldest)
        );
    }

    #[test]
    fn a_size_goes_where_it_is_named_or_else_into_the_body() {
        let named = at_level(
            &scenario("http://127.0.0.1/blob?n={size}"),
            Dimension::Size,
            4096.0,
        );
        let endpoint = &named.unwrap().endpoints[0];
        assert_eq!(endpoint.path.as_literal(), Some("/blob?n=4096"));
        assert_eq!((endpoint.method.as_str(), &endpoint.body), ("GET", &None));
        let filled = at_level(&scenario("http://127.0.0.1/put"), Dimension::Size, 3.0).unwrap();
        let endpoint = &filled.endpoints[0];
        assert_eq!(endpoint.method, "POST");
        assert_eq!(endpoint.body.as_ref().unwrap().as_literal(), Some("xxx"));
    }

    #[test]
    fn huge_bodies_are_refused_but_huge_names_are_not() {
        let grid = Grid::parse("size=1KiB,1GiB", None).unwrap();
        assert!(check(&scenario("http://127.0.0.1/put"), &grid).is_err());
        assert!(check(&scenario("http://127.0.0.1/blob/{size}"), &grid).is_ok());
    }
}
