//! What the detectors found, weighed: claims are settled frame by frame, and what is heavy enough
//! is named.

use slowpath_core::catalogue::{PROVABLE, SLOW_DEPENDENCY};
use slowpath_core::spread::{Spread, map};

use crate::case::{Case, EndpointCase};
use crate::cell::{are_followed, checked, without_others};
use crate::detectors::{Entry, Examine};
use crate::diagnosis::{Culprit, EPISODES_MAX, Finding, Grade, Place, Prediction, Unexplained};
use crate::figures::{round, share};
use crate::frame::Frame;
use crate::imported::blinded;
use crate::ledger::{Claimant, Ledger, NAMED_ERRORS, NAMED_SHARE_LOW, Settled, Trust, settle};
use crate::materiality::is_material;
use crate::overlap::is_one_call;
use crate::ruled_out::{Explained, FrameMass};
use crate::rules;
use crate::trace::looked::Looked;
use crate::verdict::{Amount, Claim, Found, Verdict};

/// What one detector said: a verdict for the run, or one for each endpoint.
pub(crate) struct Answer {
    pub(crate) entry: &'static Entry,
    pub(crate) run: Option<Verdict>,
    pub(crate) endpoints: Vec<Verdict>,
    /// For each endpoint, whether what is claimed could be claimed of followed requests only: a rule rests on the trace, whatever its
    /// detector reads.
    traced: Vec<bool>,
}

impl Answer {
    pub(crate) fn of(case: &Case<'_>, entry: &'static Entry) -> Self {
        let imported = case.record.manifest.imported.as_ref();
        let worth = |verdict| match imported {
            Some(imported) => blinded(verdict, imported),
            None => verdict,
        };
        // Where the pattern of a detector was not seen, or in a part of the time only, a rule over the attribution may know
        // the cause.
        let or_by_rule = |endpoint: &EndpointCase, verdict: Verdict| {
            let by_detector = entry.reads_trace() || are_followed(case, endpoint, &verdict);
            let Some(rule) = rules::found(case, endpoint, entry.name) else {
                return (verdict, by_detector);
            };
            // What a lead leaves open is not settled by more of the same.
            let is_open = match &verdict {
                Verdict::Lead { .. } => !rules::settles(case, endpoint, entry.name),
                verdict => matches!(verdict, Verdict::Found(_)),
            };
            let is_wider = claimed_ns(&rule) > claimed_ns(&verdict).map(|pattern| WIDER * pattern);
            if is_open && !is_wider {
                (verdict, by_detector)
            } else {
                (rule, true)
            }
        };
        let examine: &dyn Fn(&EndpointCase) -> Verdict = match &entry.detector.examine {
            Examine::Run(examine) => {
                return Self {
                    entry,
                    run: Some(worth(examine(case))),
                    endpoints: Vec::new(),
                    traced: Vec::new(),
                };
            }
            Examine::Endpoint(examine) | Examine::Traced(examine) => {
                &|endpoint| examine(case, endpoint)
            }
            Examine::Followed(examine) => &|endpoint| match Looked::at(case, endpoint) {
                Ok(looked) => examine(case, endpoint, &looked),
                Err(blind) => *blind,
            },
        };
        let endpoints = case.endpoints.iter();
        let judged = |e| {
            let (verdict, traced) = or_by_rule(e, examine(e));
            let verdict = without_others(case, e, entry, verdict);
            (worth(checked(case, e, entry, verdict)), traced)
        };
        let (endpoints, traced) = endpoints.map(judged).unzip();
        Self {
            entry,
            run: None,
            endpoints,
            traced,
        }
    }

    pub(crate) fn verdicts(&self) -> impl Iterator<Item = &Verdict> {
        self.run.iter().chain(&self.endpoints)
    }
}

/// A rule says more than the pattern of a detector, which knows its evidence better, if it explains so many times the time.
const WIDER: f64 = 1.5;

/// The time that a verdict claims.
fn claimed_ns(verdict: &Verdict) -> Option<f64> {
    match verdict {
        Verdict::Found(Found {
            amount: Amount::Claims(claims),
            ..
        })
        | Verdict::Lead { claims, .. } => Some(sum_ns(claims)),
        Verdict::Found(_) => Some(f64::INFINITY),
        _ => None,
    }
}

fn sum_ns(claims: &[Claim]) -> f64 {
    claims.iter().map(|claim| claim.span.len_ns() as f64).sum()
}

/// All that is claimed of one frame, settled as if each cause were named.
struct Hearing<'a> {
    place: Place,
    frame: &'a Frame,
    claimants: Vec<Candidate<'a>>,
    ledger: Ledger,
}

/// The position of an answer, what it found, and the claims.
type Candidate<'a> = (usize, &'a Found, &'a [Claim]);

impl<'a> Hearing<'a> {
    fn of(
        case: &'a Case<'_>,
        answers: &'a [Answer],
        position: usize,
        place: Place,
    ) -> Option<Self> {
        let frame = case.endpoints[position].frame(place)?;
        let mut claimants = Vec::new();
        for (index, answer) in answers.iter().enumerate() {
            if let Some(Verdict::Found(found)) = answer.endpoints.get(position)
                && let Amount::Claims(claims) = &found.amount
                && found.place == place
            {
                claimants.push((index, found, claims.as_slice()));
            }
        }
        let seed = case.record.manifest.plan.seed;
        let ledger = settle(
            case.record,
            frame,
            &pairs(answers, position, &claimants),
            case.blank(),
            seed,
        );
        Some(Self {
            place,
            frame,
            claimants,
            ledger,
        })
    }
}

/// What the candidates claim of the endpoint at a position, each with its turn.
fn pairs<'a>(
    answers: &'a [Answer],
    position: usize,
    candidates: &[Candidate<'a>],
) -> Vec<Claimant<'a>> {
    let claimant = |&(index, found, claims): &Candidate<'a>| {
        let traced = answers[index].traced[position];
        // What a trace shows is there, also where what it is called is only suspected.
        let trust = match found.grade {
            Grade::Suspected if !traced => Trust::Suspected,
            _ => Trust::Supported,
        };
        Claimant {
            claims,
            traced,
            rank: (trust, index),
        }
    };
    candidates.iter().map(claimant).collect()
}

/// What became of one verdict that found something.
pub(crate) enum Weight {
    /// Named.
    Named,
    /// Not enough to be named.
    Light {
        /// Its share of the excess, beside the others.
        share: f64,
        /// The most that it could be: the upper end of that share, and of what is supported if it were the only one.
        most: f64,
        /// Independent episodes that it rests on.
        episodes: usize,
    },
    /// It makes requests fail, but only this share of those offered.
    Rare(f64),
    /// It lies where nothing is slow enough to matter.
    Moot,
    /// It found nothing.
    Nothing,
}

impl Weight {
    fn light(settled: Option<Settled>, most: Option<Settled>) -> Self {
        Self::Light {
            share: settled.map_or(0.0, |settled| settled.share.share),
            most: most.map_or(0.0, |most| most.share.high),
            episodes: settled.map_or(0, |settled| settled.clusters),
        }
    }

    /// Whether it explains so little that it is as good as absent.
    pub(crate) fn is_small(&self) -> bool {
        match self {
            Self::Light { share, .. } => *share < NAMED_SHARE_LOW,
            Self::Moot => true,
            Self::Named | Self::Rare(_) | Self::Nothing => false,
        }
    }
}

/// A finding with what it is ranked by.
pub(crate) struct Ranked {
    pub(crate) finding: Finding,
    invalidates: bool,
    may_be_the_work: bool,
    pub(crate) harm: f64,
}

impl Ranked {
    /// What makes the measurement invalid; errors; what is supported; what is suspected; floors that may be the work itself.
    pub(crate) fn order(&self) -> u8 {
        if self.invalidates {
            0
        } else if self.finding.place == Place::Errors {
            1
        } else if self.may_be_the_work && self.finding.place == Place::Floor {
            4
        } else if self.finding.grade == Grade::Suspected {
            3
        } else {
            2
        }
    }
}

/// What is named, and what is left, while the answers are weighed.
pub(crate) struct Trial<'a, 'r> {
    case: &'a Case<'r>,
    pub(crate) findings: Vec<Ranked>,
    pub(crate) unexplained: Vec<Unexplained>,
}

impl<'a, 'r> Trial<'a, 'r> {
    /// Nothing named yet.
    pub(crate) fn of(case: &'a Case<'r>) -> Self {
        Self {
            case,
            findings: Vec::new(),
            unexplained: Vec::new(),
        }
    }

    /// What the excess of each endpoint and frame is made of, beside what supported findings claim of
    /// it.
    pub(crate) fn masses(&self, answers: &[Answer], weights: &[Vec<Weight>]) -> Vec<FrameMass> {
        let mut masses = Vec::new();
        for (position, endpoint) in self.case.endpoints.iter().enumerate() {
            let mut claims = Explained::default();
            for (answer, weights) in answers.iter().zip(weights) {
                if let Some(Verdict::Found(found)) = answer.endpoints.get(position)
                    && matches!(weights.get(position), Some(Weight::Named))
                    && found.grade == Grade::Supported
                    && !rules::is_one_of_several(self.case, endpoint, answer.entry.name)
                    && let Amount::Claims(own) = &found.amount
                {
                    let of_replies = answer.entry.name == SLOW_DEPENDENCY;
                    for of_request in own.chunk_by(|a, b| a.sample == b.sample) {
                        if !of_replies || is_one_call(of_request) {
                            claims.add(of_request, !of_replies);
                        }
                    }
                }
            }
            claims.settle();
            let attribution = endpoint.attribution(self.case);
            let frames = [Place::Tail, Place::Floor].into_iter();
            masses.extend(
                frames.filter_map(|place| attribution.mass(self.case, endpoint, place, &claims)),
            );
        }
        masses
    }

    /// Settles every frame and names what is heavy enough; answers run parallel to `answers`,
    /// one weight an endpoint (or one for the run).
    pub(crate) fn weigh(&mut self, answers: &[Answer], spread: &dyn Spread) -> Vec<Vec<Weight>> {
        let mut weights: Vec<Vec<Weight>> = answers.iter().map(|a| self.weigh_run(a)).collect();
        let (case, frames) = (self.case, 2 * self.case.endpoints.len());
        let settled = map(spread, frames, |k| {
            Hearing::of(case, answers, k / 2, [Place::Tail, Place::Floor][k % 2])
        });
        let mut settled = settled.into_iter();
        for (position, endpoint) in self.case.endpoints.iter().enumerate() {
            for (weights, answer) in weights.iter_mut().zip(answers) {
                if let Some(Verdict::Lead { place, .. }) = answer.endpoints.get(position)
                    && matches!(place, Place::Tail | Place::Floor)
                    && endpoint.frame(*place).is_none()
                {
                    weights[position] = Weight::Moot;
                }
            }
            for hearing in settled.by_ref().take(2).flatten() {
                self.weigh_frame(answers, &mut weights, position, endpoint, hearing);
            }
            self.weigh_errors(answers, &mut weights, position, endpoint);
        }
        weights
    }

    fn weigh_run(&mut self, answer: &Answer) -> Vec<Weight> {
        match &answer.run {
            None => answer.endpoints.iter().map(|_| Weight::Nothing).collect(),
            Some(Verdict::Found(found)) => {
                let Amount::Measurement(part) = found.amount else {
                    return vec![Weight::Nothing];
                };
                let settled = (part, part, part);
                self.name(answer.entry, found, None, settled, f64::INFINITY, true);
                vec![Weight::Named]
            }
            Some(_) => vec![Weight::Nothing],
        }
    }

    fn weigh_frame(
        &mut self,
        answers: &[Answer],
        weights: &mut [Vec<Weight>],
        position: usize,
        endpoint: &EndpointCase,
        hearing: Hearing<'_>,
    ) {
        let Hearing {
            place,
            frame,
            claimants,
            ledger: all,
        } = hearing;
        let pairs = pairs(answers, position, &claimants);
        let record = self.case.record;
        let seed = record.manifest.plan.seed;
        for (i, &(index, found, _)) in claimants.iter().enumerate() {
            // What is only suspected is ruled out by what is supported and explains the same time.
            let most = if found.grade == Grade::Supported {
                settle(record, frame, &pairs[i..=i], self.case.blank(), seed).settled[0]
            } else {
                all.settled[i]
            };
            weights[index][position] = Weight::light(all.settled[i], most);
        }
        // What is not named explains nothing: it is neither taken from others nor from the rest.
        let mut named: Vec<usize> = (0..pairs.len())
            .filter(|&i| all.settled[i].is_some_and(|settled| settled.is_named()))
            .collect();
        let shares = named
            .iter()
            .filter_map(|&i| Some(all.settled[i]?.share.share));
        if !is_material(self.case, endpoint, place, (frame, shares.sum())) {
            named.clear();
        }
        let (pairs, ledger) = if named.len() == pairs.len() {
            (pairs, all)
        } else {
            let pairs: Vec<Claimant<'_>> = named.iter().map(|&i| pairs[i]).collect();
            let ledger = settle(record, frame, &pairs, self.case.blank(), seed);
            (pairs, ledger)
        };
        for (settled, &i) in ledger.settled.iter().zip(&named) {
            let (index, found, _) = claimants[i];
            let Some(Settled { share, .. }) = settled else {
                continue;
            };
            let part = (share.share, share.low, share.high);
            let harm = self.harm(endpoint, place, found, share.share);
            let entry = answers[index].entry;
            self.name(entry, found, Some(endpoint), part, harm, false);
            weights[index][position] = Weight::Named;
        }
        for (index, answer) in answers.iter().enumerate() {
            if let Some(Verdict::Lead {
                claims, place: at, ..
            }) = answer.endpoints.get(position)
                && *at == place
                && let Some(weight) = self.rest_of(frame, &pairs, (answer.entry, claims))
            {
                weights[index][position] = weight;
            }
        }
        let explains = !claimants.is_empty();
        self.note_unexplained(endpoint, place, &ledger, explains);
    }

    /// What named causes leave of a lead, if that is too little to be named.
    fn rest_of(
        &self,
        frame: &Frame,
        pairs: &[Claimant<'_>],
        (entry, claims): (&Entry, &[Claim]),
    ) -> Option<Weight> {
        let mut all = pairs.to_vec();
        all.push(Claimant {
            claims,
            traced: entry.reads_trace(),
            rank: (Trust::Lead, usize::MAX),
        });
        let record = self.case.record;
        let ledger = settle(
            record,
            frame,
            &all,
            self.case.blank(),
            record.manifest.plan.seed,
        );
        match ledger.settled.last().copied().flatten() {
            Some(settled) if settled.is_named() => None,
            settled => Some(Weight::light(settled, settled)),
        }
    }

    fn weigh_errors(
        &mut self,
        answers: &[Answer],
        weights: &mut [Vec<Weight>],
        position: usize,
        endpoint: &EndpointCase,
    ) {
        for (index, answer) in answers.iter().enumerate() {
            let Some(Verdict::Found(found)) = answer.endpoints.get(position) else {
                continue;
            };
            let Amount::Failures { failed, of } = found.amount else {
                continue;
            };
            let part = failed as f64 / of.max(1) as f64;
            let touched = failed as f64 / endpoint.offered.max(1) as f64;
            weights[index][position] = if touched >= NAMED_ERRORS {
                let (low, high) = slowpath_core::stats::beta::clopper_pearson(failed, of);
                self.name(
                    answer.entry,
                    found,
                    Some(endpoint),
                    (part, low, high),
                    touched,
                    false,
                );
                Weight::Named
            } else {
                Weight::Rare(touched)
            };
        }
    }

    /// How much a cause hurts, to rank by: its share of the excess x the sum of
    /// ln(latency / reference) over the requests that it touches. The logarithm makes ten requests
    /// of twice the time worse than one of ten times. The frame of a floor holds the middle half
    /// of the requests only, but a floor is in all of them: the sum is over all that are claimed.
    fn harm(&self, endpoint: &EndpointCase, place: Place, found: &Found, part: f64) -> f64 {
        let (Some(frame), Amount::Claims(claims)) = (endpoint.frame(place), &found.amount) else {
            return 0.0;
        };
        let reference = frame.reference_ns.max(1) as f64;
        let mut claimed: Vec<u32> = claims.iter().map(|claim| claim.sample).collect();
        claimed.sort_unstable();
        claimed.dedup();
        let touched = |i: &u32| place == Place::Floor || frame.position(*i).is_some();
        let logs = claimed.into_iter().filter(touched).map(|i| {
            let latency = self.case.sample(i).latency_ns() as f64;
            (latency / reference).max(1.0).ln()
        });
        part * logs.sum::<f64>()
    }

    fn name(
        &mut self,
        entry: &Entry,
        found: &Found,
        endpoint: Option<&EndpointCase>,
        (part, low, high): (f64, f64, f64),
        harm: f64,
        invalidates: bool,
    ) {
        let finding = Finding {
            cause: entry.name.to_owned(),
            or: endpoint.map_or_else(Vec::new, |e| rules::or(self.case, e, entry.name)),
            endpoint: endpoint.map(|e| e.name.clone()),
            pass: None,
            place: found.place,
            share: share(part),
            share_low: share(low),
            share_high: share(high),
            grade: found.grade,
            summary: found.summary.clone(),
            evidence: found.evidence.clone(),
            culprit: rounded(&found.culprit),
            prediction: found.prediction.clone().map(rounded_prediction),
            next: next_step(entry.name, &self.case.record.manifest.id),
            episodes_s: self.episodes(endpoint, found.place),
        };
        let may_be_the_work = entry.detector.may_be_the_work;
        self.findings.push(Ranked {
            finding,
            invalidates,
            may_be_the_work,
            harm,
        });
    }

    fn episodes(&self, endpoint: Option<&EndpointCase>, place: Place) -> Vec<[f64; 2]> {
        let frame = endpoint.and_then(|e| e.frame(place));
        let spans = frame.map_or(&[][..], |f| f.episodes.as_slice());
        let at = |at| round(self.case.seconds(at), 1e3);
        spans
            .iter()
            .take(EPISODES_MAX)
            .map(|s| [at(s.begin), at(s.end)])
            .collect()
    }

    /// The tail's remainder is always printed; the floor's only when a floor is at issue.
    fn note_unexplained(
        &mut self,
        endpoint: &EndpointCase,
        place: Place,
        ledger: &Ledger,
        explains: bool,
    ) {
        let Some(frame) = endpoint.frame(place) else {
            return;
        };
        if place == Place::Floor && !explains {
            return;
        }
        let mut split = ledger.split.clone();
        for part in &mut split {
            part.share = share(part.share);
        }
        self.unexplained.push(Unexplained {
            endpoint: endpoint.name.clone(),
            pass: None,
            place,
            share: share(ledger.unexplained),
            excess_s: round(frame.excess_ns / 1e9, 1e3),
            slow: frame.requests.len() as u64,
            of: (endpoint.completed.len() + endpoint.failed.len()) as u64,
            fast_ms: round(frame.reference_ns as f64 / 1e6, 1e6),
            material: place == Place::Tail
                && is_material(self.case, endpoint, place, (frame, ledger.unexplained)),
            split,
        });
    }
}

fn rounded(culprit: &Culprit) -> Culprit {
    let mut culprit = culprit.clone();
    culprit.constant_ms = culprit.constant_ms.map(|v| round(v, 1e6));
    culprit.period_ms = culprit.period_ms.map(|v| round(v, 1e6));
    culprit
}

fn rounded_prediction(mut p: Prediction) -> Prediction {
    (p.low_ms, p.high_ms) = (round(p.low_ms, 1e6), round(p.high_ms, 1e6));
    p
}

fn next_step(cause: &str, id: &str) -> String {
    if PROVABLE.contains(&cause) {
        format!("slowpath prove {id} --cause {cause}")
    } else {
        format!("slowpath causes {cause}")
    }
}
