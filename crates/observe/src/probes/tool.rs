//! slowpath itself: its CPU time, and whether its load loops had to wait for a CPU.

use slowpath_core::signal::{
    Signal, TOOL_CPU_SYSTEM, TOOL_CPU_USER, TOOL_LOOP_RUN, TOOL_LOOP_RUN_DELAY,
};
use slowpath_core::timeline::Subject;

use super::process::ticks_to_ns;
use super::source::Files;
use super::text::{Stat, schedstat};
use super::{Out, Probe, Scene, USUAL_NS};

pub(super) const CADENCE_NS: u64 = USUAL_NS;
pub(super) const OF_TARGET: bool = false;
pub(super) const SIGNALS: &[&Signal] = &[
    &TOOL_CPU_USER,
    &TOOL_CPU_SYSTEM,
    &TOOL_LOOP_RUN,
    &TOOL_LOOP_RUN_DELAY,
];
const OF_STAT: &[&Signal] = &[&TOOL_CPU_USER, &TOOL_CPU_SYSTEM];
const OF_LOOP: &[&Signal] = &[&TOOL_LOOP_RUN, &TOOL_LOOP_RUN_DELAY];

/// What is remembered from turn to turn.
#[derive(Debug, Default)]
pub(super) struct State {
    files: Files,
}

impl Probe for State {
    fn read(&mut self, scene: &Scene, out: &mut Out) {
        self.process(scene, out);
        let loops = (scene.loop_tids)();
        if loops.is_empty() {
            out.missing_unless_read(OF_LOOP, "no load loop ran", "");
        }
        for (number, tid) in loops.into_iter().enumerate() {
            let label = match number {
                0 => String::new(),
                _ => number.to_string(),
            };
            self.load_loop(scene, tid, label, out);
        }
    }
}

impl State {
    fn process(&mut self, scene: &Scene, out: &mut Out) {
        let path = scene.proc_root.join("self/stat");
        match self.files.read_short(&path) {
            Ok(file) => match Stat::parse(&file.text) {
                Some(stat) => {
                    let (user, system) = (stat.user_ticks, stat.system_ticks);
                    out.push(
                        &TOOL_CPU_USER,
                        Subject::Tool,
                        file.window,
                        ticks_to_ns(user),
                    );
                    out.push(
                        &TOOL_CPU_SYSTEM,
                        Subject::Tool,
                        file.window,
                        ticks_to_ns(system),
                    );
                }
                None => out.not_understood(OF_STAT, &path),
            },
            Err(error) => out.failed(OF_STAT, &path, error),
        }
    }

    fn load_loop(&mut self, scene: &Scene, tid: u32, label: String, out: &mut Out) {
        let path = scene.proc_root.join(format!("self/task/{tid}/schedstat"));
        match self.files.read_short(&path) {
            Ok(file) => match schedstat(&file.text) {
                Some((run, delay)) => {
                    for (signal, label, value) in [
                        (&TOOL_LOOP_RUN, label.clone(), run),
                        (&TOOL_LOOP_RUN_DELAY, label, delay),
                    ] {
                        let (subject, value) = (Subject::Tool, value as f64);
                        out.push_labelled(signal, subject, label, file.window, value);
                    }
                }
                None => out.not_understood(OF_LOOP, &path),
            },
            Err(error) => out.failed(OF_LOOP, &path, error),
        }
    }
}
