//! The goroutines of one process, look by look.
//!
//! The process runs on while it is read: what is read in one call may not fit what the next one reads. Each goroutine is
//! therefore read again once its stack was read, and one that has moved on has no stack then.

use std::collections::{BTreeMap, HashMap};

use rustix::io::Errno;
use slowpath_core::Nanos;
use slowpath_core::nanos::{MILLISECOND, SECOND};
use slowpath_core::trace::{Does, Look, NO_SOCKET, NO_STACK, Stay};

use super::header::{Header, is_there};
use super::memory::{Bytes, Range, half, read, read_one, word};
use super::program::Program;
use super::queued::{self, Queued};
use super::sockets::Sockets;
use super::stack::Piece;
use crate::symbols::{RawStack, Symbolizer, User};

/// Goroutines examined in one look: these and their stacks take some hundred microseconds.
const MOST_LOOKED_AT: usize = 2_000;
/// Goroutines whose status is asked for in one look.
const MOST_KNOWN: usize = 65_536;
/// Stacks read in one look: with eight kilobytes each they are two megabytes.
const MOST_STACKS: usize = 256;
/// Stacks whose numbers are remembered: a server shows some hundreds.
const MOST_CHAINS: usize = 16_384;
/// So much of a stack is read: thirty functions take some six kilobytes.
const STACK_BYTES: u64 = 8_192;
/// The stack of a goroutine that seems to wait on is read again for so long: one that waits in the same function as before
/// may have been called from another line. Later ones are those of connections that nothing comes from.
const AGAIN_NS: u64 = SECOND;
/// … and so often.
const AGAIN_EVERY_NS: u64 = 20 * MILLISECOND;

/// What is known of a goroutine that waits.
#[derive(Debug)]
struct Known {
    header: Header,
    stay: Stay,
    /// The look that found it last.
    turn: u64,
    /// When its stack was read.
    read_at: Nanos,
}

/// The goroutines of a process.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) pid: u32,
    program: Program,
    /// Where all goroutines lie that there were ever; their places are used again.
    all: Vec<u64>,
    /// By number.
    known: BTreeMap<u64, Known>,
    /// The numbers of stacks that were met.
    chains: HashMap<Box<[u64]>, u32>,
    /// Looks so far.
    turn: u64,
}

impl Process {
    pub(super) fn new(pid: u32, program: Program) -> Self {
        Self {
            pid,
            program,
            all: Vec::new(),
            known: BTreeMap::new(),
            chains: HashMap::new(),
            turn: 0,
        }
    }

    /// Looks at all goroutines once; what has ended since the look before goes to `out`.
    ///
    /// # Errors
    ///
    /// If the process has ended, or may no longer be read.
    pub(super) fn look(
        &mut self,
        now: Nanos,
        (symbolizer, sockets): (&mut Symbolizer, &mut Sockets),
        out: &mut Vec<Stay>,
    ) -> Result<Look, Errno> {
        self.list()?;
        let (found, mut left_out) = self.headers()?;
        let due: Vec<Header> = found
            .iter()
            .filter(|header| self.is_due(header, now))
            .copied()
            .collect();
        left_out += due.len().saturating_sub(MOST_STACKS);
        let due = &due[..due.len().min(MOST_STACKS)];
        let read = self.stacks(due)?;
        let queued = queued::of(self.pid, &self.program.layout, due, &read)?;
        let again = self.again(due)?;
        self.turn += 1;
        let mut fresh: BTreeMap<u64, (u32, Queued)> = BTreeMap::new();
        for (place, header) in due.iter().enumerate() {
            if !again[place].is_some_and(|again| again.is_still(header)) {
                continue;
            }
            let stack = read.get(place).map_or(NO_STACK, |bytes| {
                let sp = header.at.sp;
                let chain = Piece { sp, bytes }.frames(header.at.pc, header.at.bp);
                self.number(symbolizer, chain)
            });
            fresh.insert(header.id, (stack, queued[place]));
        }
        for header in &found {
            self.note(header, now, fresh.get(&header.id), sockets, out);
        }
        self.end_those_gone(out);
        Ok(Look {
            at: now,
            pid: self.pid,
            found: found.len() as u32,
            left_out: left_out as u32,
        })
    }

    /// Ends all stays: what comes next is not examined.
    pub(super) fn leave(&mut self, out: &mut Vec<Stay>) {
        out.extend(
            std::mem::take(&mut self.known)
                .into_values()
                .map(|k| k.stay),
        );
    }

    /// Reads where goroutines lie that are new. The list only grows, and keeps its order.
    fn list(&mut self) -> Result<(), Errno> {
        let slice = Range {
            address: self.program.all,
            bytes: 16,
        };
        let bytes = read(self.pid, &[slice])?;
        let slice = bytes.get(0).unwrap_or_default();
        let (first, length) = (word(slice, 0).unwrap_or(0), word(slice, 8).unwrap_or(0));
        let length = (length as usize).min(MOST_KNOWN);
        let have = self.all.len();
        if length > have {
            let at = first.saturating_add(8 * have as u64);
            let bytes = read_one(self.pid, at, 8 * (length - have)).unwrap_or_default();
            let new = (0..bytes.len()).step_by(8);
            self.all.extend(new.filter_map(|at| word(&bytes, at)));
        }
        Ok(())
    }

    /// The goroutines that are there, and how many are left out. Where they are too many, others are left out each time.
    fn headers(&self) -> Result<(Vec<Header>, usize), Errno> {
        let g = &self.program.layout.g;
        let status = |&g_at: &u64| Range {
            address: g_at.saturating_add(g.status as u64),
            bytes: 4,
        };
        let statuses: Vec<Range> = self.all.iter().map(status).collect();
        let statuses = read(self.pid, &statuses)?;
        let there = self.all.iter().enumerate().filter(|(place, _)| {
            let status = statuses.get(*place).and_then(|bytes| half(bytes, 0));
            status.is_some_and(is_there)
        });
        let mut there: Vec<u64> = there.map(|(_, at)| *at).collect();
        let left_out = there.len().saturating_sub(MOST_LOOKED_AT);
        if left_out > 0 {
            let shift = self.turn as usize * MOST_LOOKED_AT % there.len();
            there.rotate_left(shift);
            there.truncate(MOST_LOOKED_AT);
        }
        let found = self.parse(&there)?.into_iter().flatten().collect();
        Ok((found, left_out))
    }

    /// Reads goroutines that lie at these places.
    fn parse(&self, places: &[u64]) -> Result<Vec<Option<Header>>, Errno> {
        let layout = &self.program.layout;
        let range = |&address: &u64| Range {
            address,
            bytes: layout.g.bytes(),
        };
        let ranges: Vec<Range> = places.iter().map(range).collect();
        let bytes = read(self.pid, &ranges)?;
        let header = |(place, &at): (usize, &u64)| {
            let bytes = bytes.get(place)?;
            Header::parse(layout, at, bytes)
        };
        Ok(places.iter().enumerate().map(header).collect())
    }

    /// The number of a stack.
    fn number(&mut self, symbolizer: &mut Symbolizer, chain: Vec<u64>) -> u32 {
        if let Some(&known) = self.chains.get(&chain[..]) {
            return known;
        }
        let user = User::Chain(&chain);
        let number = symbolizer.add(self.pid, &RawStack { kernel: &[], user });
        if self.chains.len() < MOST_CHAINS {
            self.chains.insert(chain.into(), number);
        }
        number
    }

    /// Whether the stack of a goroutine is to be read.
    fn is_due(&self, header: &Header, now: Nanos) -> bool {
        if header.does == Does::Runs {
            return false;
        }
        let known = self.known.get(&header.id);
        known.is_none_or(|known| {
            let waits_long = now.since(known.stay.first) >= AGAIN_NS;
            let may_differ = !waits_long && now.since(known.read_at) >= AGAIN_EVERY_NS;
            !known.header.is_still(header) || may_differ
        })
    }

    /// The stacks of goroutines, from their innermost ends.
    fn stacks(&self, due: &[Header]) -> Result<Bytes, Errno> {
        let range = |header: &Header| Range {
            address: header.at.sp,
            bytes: (header.high - header.at.sp).min(STACK_BYTES) as usize,
        };
        let ranges: Vec<Range> = due.iter().map(range).collect();
        read(self.pid, &ranges)
    }

    /// The same goroutines, once more.
    fn again(&self, due: &[Header]) -> Result<Vec<Option<Header>>, Errno> {
        let places: Vec<u64> = due.iter().map(|header| header.address).collect();
        self.parse(&places)
    }

    /// Notes what a goroutine does: that it goes on, or something new.
    fn note(
        &mut self,
        header: &Header,
        now: Nanos,
        fresh: Option<&(u32, Queued)>,
        sockets: &mut Sockets,
        out: &mut Vec<Stay>,
    ) {
        let pid = self.pid;
        let mut at_socket = |queued: &Queued| {
            let descriptor = queued.descriptor;
            descriptor.map_or(NO_SOCKET, |descriptor| sockets.number(descriptor))
        };
        if let Some(known) = self.known.get_mut(&header.id) {
            let mut goes_on = known.turn + 1 == self.turn && known.header.is_still(header);
            if let Some((stack, queued)) = fresh.filter(|_| goes_on) {
                known.read_at = now;
                if known.stay.socket == NO_SOCKET {
                    known.stay.socket = at_socket(queued);
                }
                goes_on = (known.stay.stack, known.stay.about) == (*stack, queued.about);
            }
            if goes_on {
                known.stay.last = now;
                known.turn = self.turn;
                return;
            }
        }
        let (stack, queued) = fresh.copied().unwrap_or((NO_STACK, Queued::default()));
        let stay = Stay {
            first: now,
            last: now,
            pid,
            task: header.id,
            parent: header.parent,
            does: queued.does.unwrap_or(header.does),
            about: queued.about,
            stack,
            socket: at_socket(&queued),
        };
        let known = Known {
            header: *header,
            stay,
            turn: self.turn,
            // One whose stack was not read, for it moved or was one too many, is next.
            read_at: fresh.map_or(Nanos::new(0), |_| now),
        };
        out.extend(
            self.known
                .insert(header.id, known)
                .map(|before| before.stay),
        );
    }

    /// Ends the stays of goroutines that were not found.
    fn end_those_gone(&mut self, out: &mut Vec<Stay>) {
        let turn = self.turn;
        self.known.retain(|_, known| {
            let is_there = known.turn == turn;
            if !is_there {
                out.push(known.stay);
            }
            is_there
        });
    }
}
