//! `slowpath ab`: two settings in interleaved pairs of blocks.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::Result;
use slowpath_core::plan::Plan as RunPlan;
use slowpath_core::scenario::Toggle;
use slowpath_diagnose::verdict;
use slowpath_experiment::ab::{
    Ab, Arm, Block, PILOT_PAIRS, Plan, SCHEMA, Verdict, analyse, sees_words, thresholds,
};
use slowpath_observe::guardian::Guardian;
use slowpath_observe::host::Examiner;

use crate::cli::AbArgs;
use crate::command::run::{directory, read_what, remove_if_empty};
use crate::exit::{Exit, Problem};
use crate::measure::{Alone, Measurement, measure};
use crate::present::Judged;
use crate::toggles::Toggled;
use crate::{interrupt, notes, out, session, store};

pub(crate) mod again;
mod arms;
mod memory;

use arms::Arms;

/// What starting, reading and judging a block takes, until it is known: seconds.
const OVERHEAD_S: f64 = 0.7;
/// The folder of all blocks, in that of the comparison.
const BLOCKS: &str = "blocks";
/// The block before the first pair, in it.
const BEFORE: &str = "000-before";
/// A block that cannot be measured is tried so often before the target counts as gone.
const ATTEMPTS: u32 = 3;

/// Plans, measures, judges, prints.
pub(crate) fn ab(args: &AbArgs) -> Result<Exit> {
    let (scenario, text) = read_what(&args.what, &args.reach)?;
    let arms = Arms::of(scenario, args)?;
    args.pid.map_or(Ok(()), session::check_pid)?;
    store::check_copy(args.json.as_deref())?;
    let stop = interrupt::flag()?;
    let guardian = session::guardian()?;
    let id = notes::new_id();
    let dir = directory(args.out.as_deref(), &id)?;
    let host = memory::hostname();
    let plan = plan(args, &arms, &host);
    if !args.quiet {
        out::say(&announcement(&plan));
    }
    let mut comparer = Comparer {
        ab: blank(id, &arms, host, plan),
        dir: dir.path().to_owned(),
        arms,
        text,
        args,
        stop,
        guardian: &guardian,
        examiner: Examiner::default(),
        began: Instant::now(),
    };
    let done = comparer.all();
    if comparer.ab.blocks.is_empty() {
        let blocks = dir.path().join(BLOCKS);
        remove_if_empty(&blocks.join(BEFORE));
        // Left where the log of a target that did not get ready is in it.
        let _ = std::fs::remove_dir(&blocks);
        dir.remove_if_empty();
        done?;
        return Err(Problem::interrupted().into());
    }
    comparer.finish(done.err())
}

/// Fixes everything that may not depend on what is measured.
fn plan(args: &AbArgs, arms: &Arms, host: &str) -> Plan {
    let load = &arms.a.load;
    let book = memory::read(host, &arms.a.name);
    let noise = book.known(&memory::load(load));
    let mut plan = Plan {
        compared: arms.compared.clone(),
        seed: args.seed.unwrap_or_else(notes::entropy),
        pairs: 0,
        may_grow: args.pairs.is_none() && noise.is_empty(),
        pairs_most: args.pairs_most,
        window_ns: load.duration_ns,
        warmup_ns: load.warmup_ns,
        effect: args.effect,
        endpoints: arms.a.endpoints.iter().map(|e| e.name.clone()).collect(),
        noise,
    };
    plan.pairs = args.pairs.unwrap_or_else(|| plan.pairs_for(&plan.noise));
    plan
}

/// What will be done, and what it can see: said before the first block.
fn announcement(plan: &Plan) -> String {
    let lasts = human(plan.lasts_s(OVERHEAD_S));
    let mut text = format!(
        "{} pairs of blocks of {} after {} of warm-up, and one block before: about {lasts} \
         (seed {})\n",
        plan.pairs,
        verdict::human(plan.window_ns as f64),
        verdict::human(plan.warmup_ns as f64),
        plan.seed
    );
    let sees = plan.sees(&plan.noise);
    if sees.is_empty() {
        text.push_str(
            "no noise estimate for this host and such blocks yet: what they can see is printed \
             after the first pairs",
        );
    } else {
        let from = plan.noise.iter().map(|noise| noise.from).max().unwrap_or(1);
        let from = verdict::plural(from as u64, "earlier comparison");
        let words = sees_words(&sees);
        let pairs = plan.pairs;
        let _ = write!(
            text,
            "with this host's noise (of {from}) {pairs} pairs can see {words}"
        );
    }
    text
}

fn human(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..=119 => format!("{whole} s"),
        _ => format!("{} min", whole.div_ceil(60)),
    }
}

fn blank(id: String, arms: &Arms, host: String, plan: Plan) -> Ab {
    Ab {
        schema: SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        id,
        name: arms.a.name.clone(),
        host,
        began: notes::now_utc(),
        analysis: analyse(&plan, &[]),
        plan,
        thresholds: Vec::new(),
        blocks: Vec::new(),
        troubles: Vec::new(),
        interrupted: false,
    }
}

/// A comparison under way.
struct Comparer<'a> {
    ab: Ab,
    dir: PathBuf,
    arms: Arms,
    text: Option<String>,
    args: &'a AbArgs,
    stop: Arc<AtomicBool>,
    guardian: &'a Guardian,
    examiner: Examiner,
    began: Instant,
}

impl Comparer<'_> {
    /// The block before, then the pairs, until all are measured, the user interrupts, or the
    /// target is gone.
    fn all(&mut self) -> Result<()> {
        if !self.block(None, Arm::A)? {
            return Ok(());
        }
        let mut pair = 0;
        while pair < self.ab.plan.pairs {
            let order = self.ab.plan.order();
            for arm in order[pair as usize] {
                if !self.block(Some(pair), arm)? {
                    return Ok(());
                }
            }
            pair += 1;
            if pair == PILOT_PAIRS {
                self.see();
            }
        }
        Ok(())
    }

    /// Says what the scatter of the first pairs lets be seen, and lets it raise their number.
    /// Whether they differ is not examined.
    fn see(&mut self) {
        if !self.ab.plan.noise.is_empty() {
            return;
        }
        let noise = analyse(&self.ab.plan, &self.ab.blocks).noise;
        let needed = self.ab.plan.pairs_for(&noise);
        let plan = &mut self.ab.plan;
        let mut text = String::new();
        if plan.may_grow && needed > plan.pairs {
            plan.pairs = needed;
            text = format!("the first pairs scatter, so there will be {needed}; ");
        }
        if !self.args.quiet {
            let words = sees_words(&plan.sees(&noise));
            let pairs = plan.pairs;
            out::say(&format!(
                "{text}with this host's noise {pairs} pairs can see {words}"
            ));
        }
    }

    /// Measures one block. Whether to go on.
    fn block(&mut self, pair: Option<u32>, arm: Arm) -> Result<bool> {
        for attempt in 1.. {
            if interrupt::came(&self.stop) {
                self.ab.interrupted = true;
                return Ok(false);
            }
            match self.measured(pair, arm, attempt) {
                _ if interrupt::came(&self.stop) => {
                    self.ab.interrupted = true;
                    return Ok(false);
                }
                Ok(block) => {
                    self.ab.blocks.push(block);
                    self.save()?;
                    self.tell();
                    break;
                }
                Err(error) if self.ab.blocks.is_empty() || attempt == ATTEMPTS => {
                    return Err(error);
                }
                Err(error) => {
                    let first = error.to_string();
                    let first = first.lines().next().unwrap_or_default().to_owned();
                    self.ab.troubles.push(first);
                }
            }
        }
        Ok(true)
    }

    fn measured(&mut self, pair: Option<u32>, arm: Arm, attempt: u32) -> Result<Block> {
        let name = match (pair, attempt) {
            (None, _) => BEFORE.to_owned(),
            (Some(_), 1) => format!("{:03}-{}", self.ab.blocks.len(), arm.name()),
            (Some(_), n) => format!("{:03}-{}-{n}", self.ab.blocks.len(), arm.name()),
        };
        let name = format!("{BLOCKS}/{name}");
        let dir = self.dir.join(&name);
        std::fs::create_dir_all(&dir).map_err(|error| {
            Problem::environment(
                format!("cannot create {}: {error}", dir.display()),
                "give --out a directory that can be written",
            )
        })?;
        let scenario = self.arms.scenario(arm);
        let wanted = Measurement {
            id: notes::new_id(),
            dir: &dir,
            plan: RunPlan {
                scenario: scenario.clone(),
                seed: self.ab.plan.seed_of(pair.unwrap_or(u32::MAX)),
                release: None,
            },
            scenario_text: self.text.clone(),
            pid: self.args.pid,
            quiet: true,
            stop: Arc::clone(&self.stop),
            guardian: self.guardian,
            examiner: &self.examiner,
            trace: false,
            profile: None,
        };
        match self.arms.live() {
            Some(toggle) => {
                let mut toggled = self.toggled(toggle, arm, &dir);
                measure(&wanted, &mut toggled)?;
            }
            None => drop(measure(&wanted, &mut Alone)?),
        }
        let judged = Judged::read(&dir)?;
        if pair.is_none() {
            self.ab.thresholds = thresholds(&judged.record);
        }
        let figures = judged.figures();
        let thresholds = &self.ab.thresholds;
        Ok(Block::of(
            pair,
            arm,
            name,
            &judged.record,
            &figures,
            thresholds,
        ))
    }

    fn toggled<'s>(&'s self, toggle: &'s Toggle, arm: Arm, dir: &Path) -> Toggled<'s> {
        let scenario = self.arms.scenario(arm);
        Toggled::new(
            self.guardian,
            scenario,
            toggle,
            arm == Arm::B,
            dir,
            &self.stop,
        )
    }

    /// Says on a terminal how far it is; figures would be a look at what is not finished.
    fn tell(&self) {
        use std::io::IsTerminal;
        if self.args.quiet || !std::io::stderr().is_terminal() {
            return;
        }
        let done = self.ab.blocks.len();
        let all = 2 * self.ab.plan.pairs as usize + 1;
        let each = self.began.elapsed().as_secs_f64() / done as f64;
        let left = human(each * all.saturating_sub(done) as f64);
        let arm = self.ab.blocks.last().map_or("", |block| block.arm.name());
        out::say(&format!("{done:>3}/{all} {arm}; about {left} left"));
    }

    /// Writes what there is: a kill from here on loses nothing of it.
    fn save(&mut self) -> Result<()> {
        self.ab.analysis = analyse(&self.ab.plan, &self.ab.blocks);
        again::write(&self.dir, "ab.json", &slowpath_report::ab_json(&self.ab))?;
        Ok(())
    }

    /// Writes the views, prints the answer, and says how it ended.
    fn finish(mut self, error: Option<anyhow::Error>) -> Result<Exit> {
        let saved = self.save();
        let place = self.dir.display().to_string();
        let answer = slowpath_report::ab_terminal(&self.ab, out::style(), &place);
        out::answer(&answer);
        saved?;
        again::write(&self.dir, "ab.md", &slowpath_report::ab_markdown(&self.ab))?;
        store::write_copy(
            self.args.json.as_deref(),
            &slowpath_report::ab_json(&self.ab),
        )?;
        if let Some(error) = error {
            return Err(error);
        }
        if !self.ab.interrupted {
            memory::remember(&self.ab, &self.arms.a.load)?;
        }
        Ok(self.exit())
    }

    fn exit(&self) -> Exit {
        let blocks = || self.ab.blocks.iter().filter(|block| block.pair.is_some());
        let offered: u64 = blocks().map(|block| block.offered).sum();
        let failed: u64 = blocks().map(|block| block.failed).sum();
        let nothing = |verdict| self.ab.analysis.with(verdict).next().is_none();
        if self.ab.interrupted {
            Exit::Interrupted
        } else if self.ab.analysis.pairs == 0 && nothing(Verdict::Different) {
            Exit::Invalid
        } else if failed as f64 > self.args.allow_errors * offered as f64 {
            Exit::Failures
        } else {
            Exit::Done
        }
    }
}
