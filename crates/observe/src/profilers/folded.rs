//! Folded stacks: a line for each stack, outermost first, and how often it was seen.
//!
//! ```text
//! main;handle (server.py:27);scramble (server.py:9) 412
//! ```
//!
//! That is what flame graphs are drawn from: py-spy (`-f raw`), async-profiler (`-o collapsed`),
//! `stackcollapse-perf.pl`, rbspy, `dtrace`. It says not what was counted.

use std::collections::BTreeMap;

use slowpath_core::profile_pass::CpuSamples;
use slowpath_core::profiles::UNNAMED;

use super::place::{code, ends, is_java, place};
use crate::pprof::gather::{Gather, samples};

/// Lines that are reported, where many have a mistake.
const MISTAKES_MOST: usize = 3;

/// Whether a text is probably one: its first lines end with numbers, and some have several functions.
pub(super) fn is_one(text: &str) -> bool {
    const LOOKED_AT: usize = 20;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let lines: Vec<&str> = lines.take(LOOKED_AT).collect();
    !lines.is_empty()
        && lines.iter().all(|line| split(line).is_some())
        && lines.iter().any(|line| line.contains(';'))
}

/// The stack and the count of a line. py-spy has lines without a stack, for threads that were without
/// a function.
fn split(line: &str) -> Option<(&str, u64)> {
    let (stack, count) = line.trim_end().rsplit_once([' ', '\t'])?;
    Some((stack.trim(), count.parse().ok()?))
}

/// Reads the samples of one slice.
///
/// # Errors
/// With the lines that are none, as fragments; or when there is no room for the stacks.
pub(crate) fn read(
    text: &str,
    slice: u16,
    gather: &mut Gather,
) -> Result<Vec<CpuSamples>, Vec<String>> {
    let is_java = is_java(text);
    let mut counted: BTreeMap<u32, u64> = BTreeMap::new();
    let (mut mistakes, mut wrong) = (Vec::new(), 0_usize);
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((stack, count)) = split(line) else {
            wrong += 1;
            if wrong <= MISTAKES_MOST {
                mistakes.push(format!("line {number} does not end with a count"));
            }
            continue;
        };
        let frames: Vec<&str> = stack.split(';').filter(|f| !f.trim().is_empty()).collect();
        let lines = ends(&frames).map(|frame| place(frame, is_java));
        let nothing = || code(&format!("[no stack]{UNNAMED}"), "", 0);
        let lines = lines.chain(frames.is_empty().then(nothing));
        let Some(stack) = gather.stack_of(lines) else {
            return Err(vec![Gather::no_room()]);
        };
        let sum = counted.entry(stack).or_default();
        *sum = sum.saturating_add(count);
    }
    if wrong > mistakes.len() {
        mistakes.push(format!("{} more lines do not", wrong - mistakes.len()));
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    Ok(samples(slice, counted))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::place::MOST_DEEP;
    use super::*;

    const PY_SPY: &str = "\
        <module> (server.py:34);serve_forever (socketserver.py:238);wait (threading.py:327) 8\n\
        handle (server.py:25);scramble (server.py:9) 90\n\
        handle (server.py:25);scramble (server.py:10) 10\n\n";

    fn told(text: &str) -> Result<Vec<(String, u64)>, Vec<String>> {
        let mut gather = Gather::new(0);
        let samples = read(text, 0, &mut gather)?;
        let tables = gather.done();
        let first = |stack| {
            tables
                .stack(stack)
                .next()
                .map_or(String::new(), ToString::to_string)
        };
        Ok(samples.iter().map(|s| (first(s.stack), s.count)).collect())
    }

    #[test]
    fn the_last_function_is_the_innermost() {
        assert!(is_one(PY_SPY));
        assert_eq!(told(" 2\n").unwrap(), [("[no stack].?".to_owned(), 2)]);
        let expected = [
            ("threading.wait (threading.py:327)", 8),
            ("server.scramble (server.py:9)", 90),
            ("server.scramble (server.py:10)", 10),
        ];
        let expected = expected.map(|(place, count)| (place.to_owned(), count));
        assert_eq!(told(PY_SPY).unwrap(), expected);
        let java = "java/lang/Thread.run_[j];com/shop/Cart.add_[j];tcp_sendmsg_[k] 7\n";
        assert_eq!(told(java).unwrap()[0].0, "tcp_sendmsg (kernel)");
    }

    #[test]
    fn the_ends_of_a_deep_stack_are_kept() {
        let deep: Vec<String> = (0..1000).map(|n| format!("f{n}")).collect();
        let mut gather = Gather::new(0);
        read(&format!("{} 1", deep.join(";")), 0, &mut gather).unwrap();
        let tables = gather.done();
        let stack: Vec<String> = tables.stack(0).map(ToString::to_string).collect();
        assert_eq!(stack.len(), 2 * MOST_DEEP);
        assert_eq!(
            (stack[0].as_str(), stack[2 * MOST_DEEP - 1].as_str()),
            ("f999", "f0")
        );
    }

    #[test]
    fn lines_that_are_none_are_told_all_at_once() {
        let text = "a;b 1\na;b\na;b x\n 3\na;b -1\na;b 1.5\n";
        let mistakes = told(text).unwrap_err();
        assert_eq!(mistakes[0], "line 2 does not end with a count");
        assert_eq!(mistakes[3], "1 more lines do not");
        assert!(!is_one(text) && !is_one("") && !is_one("requests 12\n"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[a-c;() \n:0-9]{0,200}") {
            match told(&text) {
                Ok(samples) => prop_assert!(samples.iter().all(|(_, count)| *count > 0)),
                Err(why) => prop_assert!(!why.is_empty()),
            }
        }
    }
}
