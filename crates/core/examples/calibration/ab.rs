//! Comparisons of two settings: false claims, and what is found.

use slowpath_core::stats::family::{Compared, Member, RATIO_LEAST, Verdict, compare};
use slowpath_core::stats::fdr::{CLAIMED_UP_TO, benjamini_hochberg, benjamini_yekutieli};
use slowpath_core::stats::paired::{differences, paired};
use slowpath_core::stats::power::{ALPHA, Design, POWER};
use slowpath_core::stats::ranks::{mann_whitney, signed_rank};
use slowpath_core::stats::welch::welch;

use crate::draw::Draw;
use crate::row::{Bar, Row, Settings};

const ENDPOINTS: usize = 20;

/// Deviation of a run's p50, p90, p95 and p99, on the logarithm.
const NOISE: [f64; 4] = [0.02, 0.03, 0.04, 0.06];

/// How much a host's level changes from one pair to the next, for all endpoints alike.
const HOST: f64 = 0.05;

const PAIRS: usize = 5;

/// Ratio of what is slower, on the logarithm: 12 %.
const EFFECT: f64 = 0.12;

const REPS: u64 = 1000;

/// False claims and power of families of eighty, and what the order of runs does.
pub(crate) fn rows(settings: &Settings) -> Vec<Row> {
    let mut rows = without_difference(settings);
    rows.extend(with_differences(settings));
    rows.push(at_the_margin(settings));
    rows.extend(as_planned(settings));
    rows.extend(orders(settings));
    rows
}

/// One endpoint's percentile: its figures of all pairs, and whether they really differ.
struct Series {
    level: usize,
    a: Vec<f64>,
    b: Vec<f64>,
    differs: bool,
}

/// Five pairs of runs. Percentiles of one run move together, endpoints scatter differently, and
/// the host moves all of a pair. Every `each`th endpoint is slower with B.
fn campaign(draw: &mut Draw, each: Option<usize>, effect: f64) -> Vec<Series> {
    let host: Vec<f64> = (0..PAIRS).map(|_| HOST * draw.normal()).collect();
    let mut all = Vec::new();
    for endpoint in 0..ENDPOINTS {
        let differs = each.is_some_and(|each| endpoint % each == 0);
        let shared: Vec<[f64; 2]> = host
            .iter()
            .map(|_| [draw.normal(), draw.normal()])
            .collect();
        for (level, noise) in NOISE.into_iter().enumerate() {
            let sd = noise * (0.3 * draw.normal()).exp();
            let mut run = |host: f64, shared: f64, shift: f64| {
                let own = 0.5f64.sqrt() * (shared + draw.normal());
                (host + sd * own + shift).exp()
            };
            let shift = if differs { effect } else { 0.0 };
            let (mut a, mut b) = (Vec::new(), Vec::new());
            for (host, shared) in host.iter().zip(&shared) {
                a.push(run(*host, shared[0], 0.0));
                b.push(run(*host, shared[1], shift));
            }
            all.push(Series {
                level,
                a,
                b,
                differs,
            });
        }
    }
    all
}

/// Which series are claimed to differ.
fn claimed(campaign: &[Series]) -> Vec<bool> {
    verdicts(campaign)
        .into_iter()
        .map(|verdict| verdict == Verdict::Different)
        .collect()
}

fn verdicts(campaign: &[Series]) -> Vec<Verdict> {
    let found = compare(&members(campaign)).into_iter();
    found
        .map(|found| found.expect("all are positive").verdict)
        .collect()
}

fn members(campaign: &[Series]) -> Vec<Member> {
    let member = |series: &Series| Member {
        level: series.level as u32,
        differences: differences(&series.a, &series.b).expect("all are positive"),
        ratio_least: RATIO_LEAST,
    };
    campaign.iter().map(member).collect()
}

/// Which series a test of single series finds among all.
fn by_single(campaign: &[Series], p: impl Fn(&Series) -> f64) -> Vec<bool> {
    let ps: Vec<f64> = campaign.iter().map(p).collect();
    let adjusted = benjamini_hochberg(&ps).into_iter();
    adjusted.map(|p| p <= CLAIMED_UP_TO).collect()
}

fn without_difference(settings: &Settings) -> Vec<Row> {
    let reps = settings.reps(REPS);
    let mut draw = Draw::new(settings.seed, 1);
    let (mut any, mut chance, mut same) = (0, 0, Vec::new());
    for _ in 0..reps {
        let campaign = campaign(&mut draw, None, 0.0);
        let compared = compare(&members(&campaign));
        let compared: Vec<_> = compared.into_iter().flatten().collect();
        let count = |wanted| {
            compared
                .iter()
                .filter(|found| found.verdict == wanted)
                .count()
        };
        any += u64::from(count(Verdict::Different) > 0);
        chance += u64::from(compared.iter().any(|found| found.significant));
        same.push(count(Verdict::Equivalent) as f64 / compared.len() as f64);
    }
    vec![
        Row::share(
            "A/A, 80 tests, 5 pairs: any claim",
            any,
            reps,
            Bar::AtMost(0.08),
        ),
        Row::share(
            "the same: any beyond chance, of any size",
            chance,
            reps,
            Bar::AtMost(0.08),
        ),
        Row::mean("the same: share found equivalent", &same, Bar::Shown),
    ]
}

fn with_differences(settings: &Settings) -> Vec<Row> {
    let reps = settings.reps(REPS);
    let mut draw = Draw::new(settings.seed, 2);
    let mut found: [Claims; 6] = Default::default();
    for _ in 0..reps {
        let campaign = campaign(&mut draw, Some(4), EFFECT);
        found[0].add(&campaign, &claimed(&campaign));
        found[1].add(&campaign, &by_single(&campaign, t_paired));
        let t = |series: &Series| welch(&series.a, &series.b).map_or(1.0, |ratio| ratio.p);
        found[2].add(&campaign, &by_single(&campaign, t));
        let u = |series: &Series| mann_whitney(&series.a, &series.b).map_or(1.0, |test| test.p);
        found[3].add(&campaign, &by_single(&campaign, u));
        let w = |series: &Series| {
            let d = differences(&series.a, &series.b).expect("all are positive");
            signed_rank(&d).map_or(1.0, |test| test.p)
        };
        found[4].add(&campaign, &by_single(&campaign, w));
        let ps: Vec<f64> = campaign.iter().map(t_paired).collect();
        let adjusted = benjamini_yekutieli(&ps).into_iter();
        let claimed: Vec<bool> = adjusted.map(|p| p <= CLAIMED_UP_TO).collect();
        found[5].add(&campaign, &claimed);
    }
    let [moderated, plain, unpaired, ranks, signed, wary] = &found;
    let gain: Vec<f64> = moderated
        .power
        .iter()
        .zip(&plain.power)
        .map(|(a, b)| a - b)
        .collect();
    vec![
        Row::mean(
            "20 of 80 differ by 12 %: share of false claims",
            &moderated.false_share,
            Bar::AtMost(0.06),
        ),
        Row::mean("the same: share found", &moderated.power, Bar::Shown),
        Row::mean("the same by plain paired t", &plain.power, Bar::Shown),
        Row::mean("the same by Welch", &unpaired.power, Bar::Shown),
        Row::mean("the same by Mann-Whitney", &ranks.power, Bar::Shown),
        Row::mean(
            "the same by Wilcoxon's signed ranks",
            &signed.power,
            Bar::Shown,
        ),
        Row::mean(
            "the same by plain paired t and Benjamini-Yekutieli",
            &wary.power,
            Bar::Shown,
        ),
        Row::mean(
            "found more than by plain paired t",
            &gain,
            Bar::AtLeast(0.10),
        ),
    ]
}

/// Plain paired t.
fn t_paired(series: &Series) -> f64 {
    paired(&series.a, &series.b).map_or(1.0, |ratio| ratio.p)
}

/// What a method claims, campaign by campaign.
#[derive(Default)]
struct Claims {
    /// Part of the claims that is false.
    false_share: Vec<f64>,
    /// Part of the differences that is claimed.
    power: Vec<f64>,
}

impl Claims {
    fn add(&mut self, campaign: &[Series], claimed: &[bool]) {
        let (mut right, mut wrong, mut all) = (0.0, 0.0, 0.0);
        for (series, claimed) in campaign.iter().zip(claimed) {
            all += f64::from(u8::from(series.differs));
            let counter = if series.differs {
                &mut right
            } else {
                &mut wrong
            };
            *counter += f64::from(u8::from(*claimed));
        }
        self.false_share.push(wrong / f64::max(right + wrong, 1.0));
        self.power.push(right / all);
    }
}

/// Settings that differ by just what counts as equivalent.
fn at_the_margin(settings: &Settings) -> Row {
    let reps = settings.reps(REPS);
    let mut draw = Draw::new(settings.seed, 3);
    let mut shares = Vec::new();
    for _ in 0..reps {
        let verdicts = verdicts(&campaign(&mut draw, Some(1), RATIO_LEAST.ln()));
        let same = verdicts
            .iter()
            .filter(|verdict| **verdict == Verdict::Equivalent)
            .count();
        shares.push(same as f64 / verdicts.len() as f64);
    }
    Row::mean(
        "a true ratio of 1.05 is found equivalent",
        &shares,
        Bar::AtMost(0.06),
    )
}

/// The ratio that is printed beforehand as detectable is claimed in four of five cases: alone,
/// and among the seven figures of an endpoint by many pairs on a noisy host, of which each says
/// little.
fn as_planned(settings: &Settings) -> Vec<Row> {
    let reps = settings.reps(10 * REPS);
    let mut draw = Draw::new(settings.seed, 4);
    let mut row = |(pairs, sd, family): (usize, f64, u32)| {
        let design = Design {
            alpha: ALPHA / f64::from(family),
            ..Design::default()
        };
        let ratio = design
            .detectable_ratio(pairs, sd)
            .expect("that many pairs see something");
        let mut found = 0;
        for _ in 0..reps {
            let member = |level: u32| {
                let shift = if level == 0 { ratio.ln() } else { 0.0 };
                Member {
                    level,
                    differences: (0..pairs).map(|_| shift + sd * draw.normal()).collect(),
                    ratio_least: RATIO_LEAST,
                }
            };
            let claims = compare(&(0..family).map(member).collect::<Vec<_>>());
            let is_claim = |found: &Compared| found.verdict == Verdict::Different;
            found += u64::from(claims[0].as_ref().is_ok_and(is_claim));
        }
        let what = format!("{pairs} pairs, sd {sd}, of {family}: detectable {ratio:.3} is claimed");
        Row::share(what, found, reps, Bar::AtLeast(POWER - 0.01))
    };
    [(PAIRS, 0.05, 1), (20, 0.15, 7)].map(&mut row).into()
}

/// A host that becomes 10 % slower during a campaign without a difference.
fn orders(settings: &Settings) -> Vec<Row> {
    const DRIFT: f64 = 0.10;
    const NOISE: f64 = 0.03;
    let reps = settings.reps(10 * REPS);
    let mut draw = Draw::new(settings.seed, 5);
    let mut rows = Vec::new();
    for pairs in [5, 8] {
        let (mut blocks, mut interleaved) = (0, 0);
        for _ in 0..reps {
            let n = 2 * pairs;
            let figures: Vec<f64> = (0..n)
                .map(|i| (DRIFT * i as f64 / (n - 1) as f64 + NOISE * draw.normal()).exp())
                .collect();
            let is_claimed = |p: f64| u64::from(p <= 0.05);
            let apart = welch(&figures[..pairs], &figures[pairs..]).expect("all are positive");
            blocks += is_claimed(apart.p);
            // A B, B A, A B, ...
            let sides = figures.chunks(2).enumerate().map(|(i, pair)| match i % 2 {
                0 => (pair[0], pair[1]),
                _ => (pair[1], pair[0]),
            });
            let (a, b): (Vec<f64>, Vec<f64>) = sides.unzip();
            interleaved += is_claimed(paired(&a, &b).expect("all are positive").p);
        }
        let what = format!("{pairs} pairs, drift 10 %, ABBA: false claim");
        rows.push(Row::share(what, interleaved, reps, Bar::AtMost(0.065)));
        let what = format!("{pairs} a side, drift 10 %, AAAABBBB: false claim");
        rows.push(Row::share(what, blocks, reps, Bar::Shown));
    }
    rows
}
