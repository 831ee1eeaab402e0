//! What goroutines wait for: a lock, a channel, a time, data of a connection.
//!
//! A goroutine that waits for a channel is queued with `sudog`s that it keeps; for a semaphore too, since Go 1.25. The one of an older
//! version, and the `pollDesc` of one that waits for data, are found on its stack, where the functions of the runtime that park it
//! keep pointers to them: both point back to the goroutine.

use std::collections::BTreeMap;

use rustix::io::Errno;
use slowpath_core::trace::Does;

use super::header::Header;
use super::layout::{Layout, Timer};
use super::memory::{Bytes, Range, half, read, word};
use super::sockets::Descriptor;
use super::stack::Piece;

/// Channels of a `select` that are examined.
const MOST_CASES: usize = 8;
/// A larger descriptor is none (`fs.nr_open` by default).
const MOST_DESCRIPTORS: u64 = 1 << 20;

/// What a goroutine waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Queued {
    /// What it does, where its reason to wait alone does not say.
    pub(super) does: Option<Does>,
    /// The address, or the time, that it waits for; 0 if it is not known.
    pub(super) about: u64,
    /// The descriptor that it waits at.
    pub(super) descriptor: Option<Descriptor>,
}

/// A pointer to something that may be a goroutine's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pointer {
    /// The goroutine's position among those that are examined.
    of: usize,
    at: u64,
}

/// Looks what goroutines wait for whose stacks were read.
pub(super) fn of(
    pid: u32,
    layout: &Layout,
    due: &[Header],
    stacks: &Bytes,
) -> Result<Vec<Queued>, Errno> {
    let mut all = vec![Queued::default(); due.len()];
    let mut found: Vec<Pointer> = Vec::new();
    let mut hidden: Vec<Pointer> = Vec::new();
    for (of, header) in due.iter().enumerate() {
        let is_hidden = match header.does {
            Does::Data => true,
            Does::Lock | Does::Semaphore | Does::Group => header.sudog == 0,
            _ => false,
        };
        if is_hidden {
            let bytes = stacks.get(of).unwrap_or_default();
            let sp = header.at.sp;
            let pointers = Piece { sp, bytes }.pointers((header.low, header.high));
            hidden.extend(pointers.into_iter().map(|at| Pointer { of, at }));
        } else if header.sudog != 0 {
            found.push(Pointer {
                of,
                at: header.sudog,
            });
        }
    }
    let back = read(pid, &ranges(&hidden, 8))?;
    let points_back = |n: &usize| {
        let owner = back.get(*n).and_then(|bytes| word(bytes, 0));
        owner == Some(due[hidden[*n].of].address)
    };
    let own = (0..hidden.len()).filter(points_back).map(|n| hidden[n]);
    let is_data = |pointer: &Pointer| due[pointer.of].does == Does::Data;
    let (polls, semaphores): (Vec<Pointer>, Vec<Pointer>) = own.partition(is_data);
    found.extend(semaphores);
    descriptors(pid, layout, &polls, &hidden, &mut all)?;
    sudogs(pid, layout, due, &found, &mut all)?;
    Ok(all)
}

fn ranges(pointers: &[Pointer], bytes: usize) -> Vec<Range> {
    let range = |pointer: &Pointer| Range {
        address: pointer.at,
        bytes,
    };
    pointers.iter().map(range).collect()
}

/// The descriptors of goroutines that wait for data: `polls` point to what points back to them, one of two fields that follow
/// each other.
fn descriptors(
    pid: u32,
    layout: &Layout,
    polls: &[Pointer],
    pointers: &[Pointer],
    all: &mut [Queued],
) -> Result<(), Errno> {
    let poll = &layout.poll;
    let begin = |pointer: &Pointer, field: usize| Pointer {
        at: pointer.at.saturating_sub((poll.readers + 8 * field) as u64),
        ..*pointer
    };
    // From where it begins if that is the second field.
    let begins: Vec<Pointer> = polls.iter().map(|pointer| begin(pointer, 1)).collect();
    let read = read(pid, &ranges(&begins, 8 + poll.bytes()))?;
    for (n, pointer) in polls.iter().enumerate() {
        let Some(bytes) = read.get(n) else { continue };
        let as_field = |field: usize| {
            let offset = 8 * (1 - field);
            let fd = word(bytes, offset + poll.fd)?;
            let turn = word(bytes, offset + poll.fd + 8)?;
            (fd > 0 && fd < MOST_DESCRIPTORS).then_some(Descriptor {
                pid,
                fd: fd as u32,
                place: begin(pointer, field).at,
                turn,
            })
        };
        // Its begin stands on the stack as well, as a rule.
        let is_seen = |field: &usize| pointers.contains(&begin(pointer, *field));
        let field = [0, 1].into_iter().find(is_seen).unwrap_or(0);
        let own = &mut all[pointer.of].descriptor;
        *own = own.or_else(|| as_field(field));
    }
    Ok(())
}

/// What goroutines are queued for.
fn sudogs(
    pid: u32,
    layout: &Layout,
    due: &[Header],
    first: &[Pointer],
    all: &mut [Queued],
) -> Result<(), Errno> {
    let mut cases: Vec<Pointer> = Vec::new();
    let mut next = first.to_vec();
    for _ in 0..MOST_CASES {
        let bytes = read(pid, &ranges(&next, layout.sudog.bytes()))?;
        let mut later = Vec::new();
        for (n, &Pointer { of, .. }) in next.iter().enumerate() {
            let Some(bytes) = bytes.get(n) else { continue };
            let word_at = |offset: usize| word(bytes, offset).unwrap_or(0);
            // Another one may have it by now.
            if word_at(0) != due[of].address {
                continue;
            }
            let channel = word_at(layout.sudog.channel);
            if channel == 0 {
                all[of].about = word_at(layout.sudog.elem);
                continue;
            }
            cases.push(Pointer { of, at: channel });
            let link = word_at(layout.sudog.link);
            if due[of].does == Does::Select && link != 0 {
                later.push(Pointer { of, at: link });
            }
        }
        if later.is_empty() {
            break;
        }
        next = later;
    }
    channels(pid, layout, due, &cases, all)
}

/// What is known of a channel.
#[derive(Clone, Copy, Debug)]
struct Case {
    address: u64,
    /// Whether what is sent on it holds nothing: that it is sent, or that the channel is closed, is all.
    is_signal: bool,
    /// Whether it has a buffer and that is full: only those wait for it that send.
    is_full: bool,
    /// When it is sent by a timer; 0 if it is not.
    when: u64,
}

/// Reads the channels that goroutines wait for.
fn channels(
    pid: u32,
    layout: &Layout,
    due: &[Header],
    cases: &[Pointer],
    all: &mut [Queued],
) -> Result<(), Errno> {
    let bytes = read(pid, &ranges(cases, layout.channel.bytes()))?;
    let timer = layout.channel.timer;
    let timer_of = |n: usize, timer: &Timer| word(bytes.get(n)?, timer.at);
    let timers: Vec<Pointer> = (0..cases.len())
        .map(|n| Pointer {
            of: n,
            at: timer.as_ref().and_then(|t| timer_of(n, t)).unwrap_or(0),
        })
        .collect();
    let when = timer.map_or(0, |timer| timer.when);
    let times = read(pid, &ranges(&timers, when + 8))?;
    let mut by_goroutine: BTreeMap<usize, Vec<Case>> = BTreeMap::new();
    for (n, pointer) in cases.iter().enumerate() {
        let element = bytes.get(n).and_then(|b| half(b, layout.channel.element));
        let at = times.get(n).and_then(|bytes| word(bytes, when));
        by_goroutine.entry(pointer.of).or_default().push(Case {
            address: pointer.at,
            // Its size has two bytes.
            is_signal: element.is_some_and(|bytes| bytes as u16 == 0),
            is_full: bytes.get(n).is_some_and(is_full),
            when: at.filter(|_| timers[n].at != 0).unwrap_or(0),
        });
    }
    for (of, own) in by_goroutine {
        let (does, about) = for_channels(due[of].does, &own);
        all[of].does = does;
        all[of].about = about;
    }
    Ok(())
}

/// Whether a channel has a buffer that holds as much as it can: `qcount` and `dataqsiz` are its first two fields.
fn is_full(channel: &[u8]) -> bool {
    let count = word(channel, 0);
    count.is_some_and(|count| count > 0) && count == word(channel, 8)
}

/// What a goroutine does that waits for channels, if that says more than its reason to wait, and what it waits for.
fn for_channels(does: Does, cases: &[Case]) -> (Option<Does>, u64) {
    let timed = cases.iter().find(|case| case.when != 0);
    // A `select` mostly waits for one thing, and beside it for a time or the end of the request.
    let only = |is_it: fn(&Case) -> bool| {
        let mut all = cases.iter().filter(|case| is_it(case));
        all.next().filter(|_| all.next().is_none())
    };
    let full = only(|case| case.is_full);
    let result = only(|case| !case.is_signal && case.when == 0);
    let others_signal = cases.iter().all(|case| case.when != 0 || case.is_signal);
    match (does, timed, full, result) {
        (Does::Receive, Some(timed), ..) => (Some(Does::Sleep), timed.when),
        (Does::Select, _, Some(full), _) => (Some(Does::Send), full.address),
        (Does::Select, Some(timed), ..) if others_signal => (Some(Does::Until), timed.when),
        (Does::Select, _, _, Some(result)) => (Some(Does::Receive), result.address),
        _ => (None, cases.first().map_or(0, |case| case.address)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_beside_signals_may_be_a_sleep() {
        let case = |address, is_signal, when| Case {
            address,
            is_signal,
            is_full: false,
            when,
        };
        let (done, result, timer) = (case(1, true, 0), case(2, false, 0), case(3, false, 70));
        let of = for_channels;
        assert_eq!(of(Does::Receive, &[timer]), (Some(Does::Sleep), 70));
        assert_eq!(of(Does::Select, &[done, timer]), (Some(Does::Until), 70));
        assert_eq!(of(Does::Send, &[result]), (None, 2));
        assert_eq!(of(Does::Select, &[done]), (None, 1));
    }

    #[test]
    fn a_select_waits_for_its_only_place_or_result() {
        let case = |address, is_signal, is_full, when| Case {
            address,
            is_signal,
            is_full,
            when,
        };
        let (done, timer) = (case(1, true, false, 0), case(3, false, false, 70));
        let (result, place) = (case(2, false, false, 0), case(4, true, true, 0));
        let of = |cases: &[Case]| for_channels(Does::Select, cases);
        assert_eq!(of(&[done, place, timer]), (Some(Does::Send), 4));
        assert_eq!(of(&[done, result, timer]), (Some(Does::Receive), 2));
        assert_eq!(of(&[result, case(5, false, false, 0)]), (None, 2));
    }

    #[test]
    fn a_channel_is_full_that_has_a_buffer() {
        let channel = |count: u64, size: u64| [count.to_ne_bytes(), size.to_ne_bytes()].concat();
        assert!(is_full(&channel(2, 2)));
        assert!(!is_full(&channel(1, 2)) && !is_full(&channel(0, 0)));
        assert!(!is_full(&[0; 9]));
    }

    /// The memory that is read is this process's own.
    #[test]
    fn a_descriptor_is_found_by_what_points_back() {
        let layout = Layout::of(26).unwrap();
        let goroutine = 0xc000_1230_u64;
        // link, fd, fdseq, atomicInfo, rg, wg
        let poll = [0_u64, 11, 3, 0, goroutine, 0];
        let at = std::ptr::from_ref(&poll) as u64;
        let mut all = vec![Queued::default()];
        let pointer = |at| Pointer { of: 0, at };
        let (poll, reader) = (pointer(at), pointer(at + 32));
        let own = std::process::id();
        descriptors(own, &layout, &[reader], &[poll, reader], &mut all).unwrap();
        let expected = Descriptor {
            pid: own,
            fd: 11,
            place: at,
            turn: 3,
        };
        assert_eq!(all[0].descriptor, Some(expected));
    }
}
