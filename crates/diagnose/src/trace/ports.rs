//! Where the target listened.

use std::collections::BTreeSet;

use slowpath_core::facts::TargetFacts;
use slowpath_core::record::Manifest;

/// The ports that the target listened on in the repeats of a run: one that is restarted for each may get
/// another port each time. Empty if none is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ports(BTreeSet<u16>);

impl Ports {
    /// Those of a run: what its repeats record, and the one in its URL, which is the last repeat's (one that was
    /// killed recorded none). None of a Unix socket, whatever its URL says.
    pub(crate) fn of(manifest: &Manifest) -> Self {
        if manifest.plan.scenario.target.unix_socket.is_some() {
            return Self::default();
        }
        let told = manifest.repeats.iter().filter_map(|repeat| repeat.port);
        Self(told.chain(of_url(&manifest.target.url)).collect())
    }

    /// Those of others that the target is configured with: any number in its variables and in its command that may be one,
    /// but those that it listens on itself.
    pub(crate) fn told_to(target: &TargetFacts, own: &Self) -> Self {
        let words = target.environment.iter().map(|(_, value)| value);
        let numbers = words
            .chain(target.command.iter().flatten())
            .flat_map(|word| word.split(|c: char| !c.is_ascii_digit()));
        let told = numbers.filter_map(|number| number.parse().ok());
        Self(told.filter(|&port| port > 0 && !own.holds(port)).collect())
    }

    /// Those of these that something is known about.
    pub(crate) fn retain(mut self, mut is_known: impl FnMut(u16) -> bool) -> Self {
        self.0.retain(|&port| is_known(port));
        self
    }

    /// Whether this is one of them.
    pub(crate) fn holds(&self, port: u16) -> bool {
        self.0.contains(&port)
    }

    /// Whether this is one of them, for all that is known.
    pub(crate) fn may_hold(&self, port: u16) -> bool {
        self.0.is_empty() || self.holds(port)
    }

    /// Whether one of them is of this kind.
    pub(crate) fn any(&self, is_of: impl Fn(u16) -> bool) -> bool {
        self.0.iter().any(|&port| is_of(port))
    }
}

impl FromIterator<u16> for Ports {
    fn from_iter<T: IntoIterator<Item = u16>>(ports: T) -> Self {
        Self(ports.into_iter().collect())
    }
}

/// The port in a URL, or that of its scheme.
fn of_url(url: &str) -> Option<u16> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let authority = authority.rsplit('@').next()?;
    let port = authority.rsplit_once(':').map(|(_, port)| port.parse());
    match port {
        Some(Ok(port)) => Some(port),
        _ if scheme == "https" => Some(443),
        _ => Some(80),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_read_from_urls() {
        assert_eq!(of_url("http://127.0.0.1:8080"), Some(8080));
        assert_eq!(of_url("http://[::1]:81/a:b"), Some(81));
        assert_eq!(of_url("https://shop.example/a:9"), Some(443));
        assert_eq!(of_url("http://shop.example?q"), Some(80));
        assert_eq!(of_url("shop"), None);
    }

    #[test]
    fn ports_of_others_are_in_variables_and_in_the_command() {
        let word = |text: &str| text.to_owned();
        let target = TargetFacts {
            command: Some(vec![
                word("./shop"),
                word("--port=8080"),
                word("--cache=10.0.0.1:6379"),
            ]),
            environment: vec![
                (word("DB"), word("postgres://me@db:5432/x")),
                (word("N"), word("99999")),
            ],
            ..TargetFacts::default()
        };
        let told = Ports::told_to(&target, &Ports::from_iter([8080]));
        assert!(told.holds(5432) && told.holds(6379));
        assert!(!told.holds(8080) && !told.holds(0));
    }

    #[test]
    fn what_is_not_known_may_be_any() {
        let ports = Ports::from_iter([80, 81]);
        assert!(ports.holds(81) && !ports.may_hold(82));
        let none = ports.retain(|port| port == 82);
        assert!(none.may_hold(80) && !none.holds(80));
    }
}
