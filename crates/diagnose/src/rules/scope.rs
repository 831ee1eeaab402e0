//! A rule, matched with the requests of an endpoint.

use slowpath_attribution::{Basis, Line, Path, Place as StationPlace, Slice, State};
use slowpath_core::catalogue as name;

use super::Rule;
use crate::attribute::{EndpointAttribution, LOG};
use crate::callees::Callees;
use crate::case::{Case, EndpointCase};
use crate::diagnosis::Place;
use crate::engines::{Engines, long_commands};
use crate::multiples::multiples;
use crate::own_sleeps;
use crate::scanned_files::{self, ScannedFiles};
use crate::trace::inside::Inside;
use crate::verdict::Claim;

/// Causes that a server may be slow by which is asked.
const OF_CALLEES: [&str; 2] = [name::BATCH_WINDOW, name::UPSTREAM_TIMEOUT];

/// How the names of threads begin that libraries of logs write with, in the 15 characters that the kernel keeps and without their
/// numbers: `AsyncAppender-Worker-` of logback (`AsyncAppenderBase.start`), `AsyncAppender-Dispatcher-` of Log4j 1, and of Log4j 2, whose
/// threads are called `Log4j2-` (`Log4jThread`), `Log4j2-TF-1-AsyncLogger` and `Log4j2-AsyncAppenderEventDispatcher-`.
const LOGGERS: [&str; 3] = ["AsyncAppender-", "LogNjN-TF-", "LogNjN-AsyncApp"];

/// What a rule is matched with: what an endpoint's requests show together decides which of several rules matches a slice.
pub(super) struct Scope<'a> {
    attribution: &'a EndpointAttribution,
    rule: &'a Rule,
    /// What sleeps of their threads are called, where the rule is about sleeps.
    sleeps: Option<&'static str>,
    /// … and what those of a runtime's own threads are called, where that was read.
    sampled_sleeps: Option<&'static str>,
    callees: &'a Callees,
    /// The database engines that compute for their answers, where the rule is about replies or queries; none otherwise.
    engines: Engines,
    /// Whether slow requests look at many files, where the rule is about that; not otherwise.
    files: ScannedFiles,
}

impl<'a> Scope<'a> {
    pub(super) fn of(
        (case, inside): (&Case<'_>, &'a Inside<'_>),
        endpoint: &'a EndpointCase,
        rule: &'a Rule,
    ) -> Self {
        let attribution = endpoint.attribution(case);
        let sleeps = match rule.cause {
            name::FIXED_DELAY | name::POLL_TICK => {
                own_sleeps::cause((case, inside), endpoint, attribution)
            }
            _ => None,
        };
        let sampled_sleeps = match rule.cause {
            name::FIXED_DELAY | name::POLL_TICK => {
                let again = has_sampled_sleeps(attribution)
                    && !own_sleeps::sleep_between_questions(attribution)
                    && multiples(case, endpoint).is_some();
                Some(if again {
                    name::POLL_TICK
                } else {
                    name::FIXED_DELAY
                })
            }
            _ => None,
        };
        let engines = match rule.cause {
            name::SLOW_SCAN | name::SLOW_DEPENDENCY => {
                let commands = long_commands(inside);
                Engines::of(&attribution.actors, &attribution.paths, &commands)
            }
            _ => Engines::default(),
        };
        let has_queries = || {
            let mut paths = attribution.paths.iter();
            paths.any(|path| !engines.queries(&attribution.actors, path).is_empty())
        };
        let files = match rule.cause {
            name::SLOW_SCAN if !has_queries() => {
                ScannedFiles::of(&attribution.actors, &attribution.paths)
            }
            _ => ScannedFiles::default(),
        };
        Self {
            attribution,
            rule,
            sleeps,
            sampled_sleeps,
            callees: inside.callees(case),
            engines,
            files,
        }
    }

    /// What to do about it.
    pub(super) const fn remedy(&self) -> &'static str {
        if self.files.are_some() {
            scanned_files::REMEDY
        } else {
            self.rule.remedy
        }
    }

    /// The parts of a request that the rule matches.
    fn matched<'p>(&self, path: &'p Path) -> Vec<&'p Slice> {
        let queries = self.engines.queries(&self.attribution.actors, path);
        if self.rule.cause == name::SLOW_SCAN {
            return if self.files.are_some() {
                self.files.parts(&self.attribution.actors, path)
            } else {
                queries
            };
        }
        let slices = path.slices.iter();
        let own =
            slices.filter(|slice| (self.rule.matches)(slice) && self.is_found(path.sample, slice));
        own.filter(|slice| !queries.contains(slice)).collect()
    }

    fn is_found(&self, sample: u32, slice: &Slice) -> bool {
        // That another request has what is waited for is no kind of place: how many there are shows that.
        let station = self
            .attribution
            .station
            .as_ref()
            .map(|station| station.place);
        let logs = slice.basis == Basis::Sampled && self.is_of_log(slice)
            || slice.state == State::Lock && self.is_for_a_logger(slice);
        let callee = self.callees.cause(sample, slice);
        match slice.state {
            _ if logs || self.rule.cause == name::LOG_FLUSH => {
                logs && self.rule.cause == name::LOG_FLUSH
            }
            State::Reply if callee.is_some() || OF_CALLEES.contains(&self.rule.cause) => {
                callee == Some(self.rule.cause)
            }
            State::Sleep if self.stands(slice, own_sleeps::is_in_limiter) => {
                self.rule.cause == name::RATE_LIMIT
            }
            State::Sleep if self.stands(slice, own_sleeps::is_in_retrier) => {
                self.rule.cause == name::RETRY_BACKOFF
            }
            // Of a runtime that was read it is known what is waited for, and that it is this request which sleeps.
            State::Sleep if slice.basis == Basis::Sampled => {
                self.sampled_sleeps == Some(self.rule.cause)
            }
            _ if slice.basis == Basis::Sampled => true,
            State::Sleep => self.sleeps == Some(self.rule.cause),
            State::Queued(
                place @ (StationPlace::Permits | StationPlace::One | StationPlace::Mailbox),
            ) => station == Some(place),
            _ => true,
        }
    }

    /// Whether the one that a request waits for stands in a function of this kind.
    fn stands(&self, slice: &Slice, is: fn(&[String]) -> bool) -> bool {
        let actor = self.attribution.actors.get(slice.actor as usize);
        actor.is_some_and(|actor| is(&actor.stack))
    }

    /// Whether what a request waits for is that a log takes a line.
    fn is_of_log(&self, slice: &Slice) -> bool {
        let actor = self.attribution.actors.get(slice.actor as usize);
        slice.activity == State::SendBlocked && actor.is_some_and(|actor| actor.peer == LOG)
    }

    /// Whether what a request waits for is given by the thread with which a library of logs writes the lines that requests put into
    /// its queue: that is full.
    fn is_for_a_logger(&self, slice: &Slice) -> bool {
        let actor = self.attribution.actors.get(slice.actor as usize);
        let is_logger = |thread: &str| LOGGERS.iter().any(|name| thread.starts_with(name));
        actor.is_some_and(|actor| is_logger(&actor.thread))
    }

    /// The time of requests that the rule matches.
    pub(super) fn claims(&self) -> Vec<Claim> {
        let mut claims = Vec::new();
        for path in &self.attribution.paths {
            let own = self.matched(path).into_iter();
            let known = own.filter(|slice| slice.basis != Basis::Unknown);
            claims.extend(known.map(|s| Claim::between(path.sample, (s.begin, s.end))));
        }
        claims
    }

    /// The largest line of what the rule matches.
    pub(super) fn largest(
        &self,
        case: &Case<'_>,
        endpoint: &EndpointCase,
        place: Place,
    ) -> Option<Line> {
        let frame = endpoint.frame(place)?;
        let mut paths = self.attribution.frame(case, frame, place);
        paths.unobserved = 0.0;
        for path in &mut paths.paths {
            path.slices = self.matched(path).into_iter().copied().collect();
        }
        let lines = self.attribution.breakdown(&paths).lines;
        lines.into_iter().find(|line| {
            line.state
                .is_some_and(|state| !matches!(state, State::Unknown(_)))
        })
    }
}

/// Whether requests are seen to sleep where a runtime's own threads were read.
fn has_sampled_sleeps(attribution: &EndpointAttribution) -> bool {
    let is_one = |slice: &Slice| slice.state == State::Sleep && slice.basis == Basis::Sampled;
    let mut paths = attribution.paths.iter();
    paths.any(|path| path.slices.iter().any(is_one))
}

#[cfg(test)]
mod tests {
    use super::LOGGERS;
    use crate::attribute::without_digits;

    #[test]
    fn threads_of_loggers_are_known_by_what_the_kernel_keeps_of_their_names() {
        let is_logger = |name: &str| {
            let kept: String = name.chars().take(15).collect();
            let kept = without_digits(&kept);
            LOGGERS.iter().any(|logger| kept.starts_with(logger))
        };
        for name in [
            "AsyncAppender-Worker-ASYNC",
            "AsyncAppender-Dispatcher-Thread-2",
            "Log4j2-TF-1-AsyncLogger[app]-1",
            "Log4j2-AsyncAppenderEventDispatcher-1-Async",
        ] {
            assert!(is_logger(name), "{name}");
        }
        assert!(!is_logger("http-nio-8080-exec-1") && !is_logger("pool-1-thread-1"));
    }
}
