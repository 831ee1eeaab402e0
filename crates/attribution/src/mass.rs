//! Mass balance: how much of the excess a mechanism could be at most.
//!
//! A cause is ruled out only if that is below [`RULED_OUT_BELOW`]. The constructor of [`RuledOut`] is
//! private to this file, so that nothing else can rule a cause out.

use crate::slice::{Reason, State};

/// A cause is ruled out only if it could explain less than this share of the excess: half of what
/// a cause must explain to be named.
pub const RULED_OUT_BELOW: f64 = 0.15;

/// A set of states, by what kind they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateSet(u64);

impl StateSet {
    /// None.
    pub const NONE: Self = Self(0);
    /// Computing.
    pub const ON_CPU: Self = Self(1);
    /// Ready to run, for whatever reason.
    pub const RUNNABLE: Self = Self(1 << 1);
    /// Waiting for a lock.
    pub const LOCK: Self = Self(1 << 2);
    /// Waiting for an interpreter.
    pub const INTERPRETER: Self = Self(1 << 3);
    /// Waiting for a place.
    pub const QUEUED: Self = Self(1 << 4);
    /// Waiting for a reply.
    pub const REPLY: Self = Self(1 << 5);
    /// Waiting for a timer.
    pub const SLEEP: Self = Self(1 << 6);
    /// Waiting for a disk.
    pub const DISK: Self = Self(1 << 7);
    /// Waiting for memory.
    pub const MEMORY: Self = Self(1 << 8);
    /// Waiting until the client takes or sends data; the way back of the answer.
    pub const CLIENT: Self = Self(1 << 9);
    /// Waiting until a pipe or a peer takes data.
    pub const SEND_BLOCKED: Self = Self(1 << 10);
    /// Stopped by the runtime.
    pub const PAUSED: Self = Self(1 << 11);
    /// On the network: retransmissions, delayed acknowledgements, the way there.
    pub const NETWORK: Self = Self(1 << 12);
    /// Making the connection.
    pub const HANDSHAKE: Self = Self(1 << 13);
    /// The load generator.
    pub const CLIENT_LATE: Self = Self(1 << 14);
    /// Not known: nothing was traced of it.
    pub const UNTRACED: Self = Self(1 << 15);
    /// Not known: parked in user space by a runtime or an event loop.
    pub const PARKED: Self = Self(1 << 16);
    /// Not known: the holder of a lock or a condition, or the thread that ended the wait.
    pub const HOLDER_UNKNOWN: Self = Self(1 << 17);
    /// Not known: a pipe, a file or a socket whose other end is not known.
    pub const OTHER_END: Self = Self(1 << 18);
    /// All that is not known of the server.
    pub const UNKNOWN: Self =
        Self(Self::UNTRACED.0 | Self::PARKED.0 | Self::HOLDER_UNKNOWN.0 | Self::OTHER_END.0);
    /// The states that are known from writes on connections: which server a thread asked, and which request it
    /// was serving. Where writes are not recorded such time looks like other states.
    pub const BY_WRITES: Self = Self(Self::REPLY.0 | Self::QUEUED.0);
    /// How many kinds there are.
    pub const KINDS: usize = 19;

    /// The states of both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether a state is in both.
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The first kind in it; [`StateSet::KINDS`] or more if it is empty.
    pub const fn first(self) -> usize {
        self.0.trailing_zeros() as usize
    }

    /// Whether a kind is in it.
    pub const fn has(self, kind: usize) -> bool {
        self.0 & (1 << kind) != 0
    }

    /// The kind of a state, from 0 to [`StateSet::KINDS`].
    pub const fn kind(state: State) -> usize {
        let set = match state {
            State::OnCpu => Self::ON_CPU,
            State::Runnable(_) => Self::RUNNABLE,
            State::Lock => Self::LOCK,
            State::Interpreter => Self::INTERPRETER,
            State::Queued(_) => Self::QUEUED,
            State::Reply => Self::REPLY,
            State::Sleep => Self::SLEEP,
            State::Disk(_) => Self::DISK,
            State::Memory => Self::MEMORY,
            State::Client => Self::CLIENT,
            State::SendBlocked => Self::SEND_BLOCKED,
            State::Paused => Self::PAUSED,
            State::Retransmit | State::DelayedAck | State::Unknown(Reason::Network) => {
                Self::NETWORK
            }
            State::Handshake => Self::HANDSHAKE,
            State::ClientLate => Self::CLIENT_LATE,
            State::Unknown(Reason::Parked | Reason::LoopWaits) => Self::PARKED,
            State::Unknown(Reason::Holder | Reason::NoWaker) => Self::HOLDER_UNKNOWN,
            State::Unknown(Reason::OtherEnd) => Self::OTHER_END,
            State::Unknown(_) => Self::UNTRACED,
        };
        set.first()
    }
}

/// What the excess of one endpoint and frame is made of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mass {
    /// By kind of state, the share of the excess that no supported finding claims. With
    /// [`Mass::unobserved`] these are the unexplained share.
    pub unclaimed: [f64; StateSet::KINDS],
    /// By kind of what the other server does while requests wait for its reply, the share of the excess of which that is known and
    /// of which no supported finding says more than that the other server is slow: a cause may be at work there.
    pub beyond: [f64; StateSet::KINDS],
    /// The share of the excess of which nothing was traced.
    pub unobserved: f64,
}

/// The largest of the three parts of what a cause could be at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Largest {
    /// What its own pattern claims.
    Claim,
    /// What was not observed.
    Unobserved,
    /// Compatible time that nothing else explains.
    Compatible,
}

/// What a cause could be at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Most {
    /// As a share of the excess.
    pub share: f64,
    /// Mostly because of that.
    pub largest: Largest,
}

/// That a cause is ruled out. Only [`Mass::rule_out`] makes one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RuledOut {
    most: f64,
}

impl RuledOut {
    /// The most that the cause could explain, as a share of the excess.
    pub const fn most(&self) -> f64 {
        self.most
    }
}

impl Mass {
    /// Rules a cause out, or says how much it could be and why. `claim` is the upper end of what its
    /// own pattern claims, `could_be` the states that it could be; none if a counter of its own bounds it.
    ///
    /// # Errors
    ///
    /// What it could be at most, if that is [`RULED_OUT_BELOW`] or more.
    pub fn rule_out(&self, claim: f64, could_be: StateSet) -> Result<RuledOut, Most> {
        let sum = |shares: &[f64; StateSet::KINDS]| -> f64 {
            let kinds = (0..StateSet::KINDS).filter(|&kind| could_be.has(kind));
            kinds.map(|kind| shares[kind]).sum()
        };
        // What could be a wait for a reply has that part of it already which is unclaimed.
        let beyond = if could_be.meets(StateSet::REPLY) {
            (sum(&self.beyond) - self.unclaimed[StateSet::REPLY.first()]).max(0.0)
        } else {
            sum(&self.beyond)
        };
        let compatible = sum(&self.unclaimed) + beyond;
        let unobserved = if could_be == StateSet::NONE {
            0.0
        } else {
            self.unobserved
        };
        let share = (claim + unobserved + compatible).min(1.0);
        if share < RULED_OUT_BELOW {
            return Ok(RuledOut { most: share });
        }
        let largest = if claim >= unobserved && claim >= compatible {
            Largest::Claim
        } else if unobserved >= compatible {
            Largest::Unobserved
        } else {
            Largest::Compatible
        };
        Err(Most { share, largest })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// If 15 % or more of the excess is unexplained in states that a cause could be, or in time
        /// that was not observed, the cause is not ruled out, whatever else is there.
        #[test]
        fn what_could_be_is_not_ruled_out(
            parts in prop::collection::vec(0.0_f64..0.3, StateSet::KINDS),
            unobserved in 0.0_f64..0.4,
            claim in 0.0_f64..0.2,
            bits in 0_u64..(1 << StateSet::KINDS),
        ) {
            let mut unclaimed = [0.0; StateSet::KINDS];
            unclaimed.copy_from_slice(&parts);
            let mass = Mass { unclaimed, unobserved, ..Mass::default() };
            let set = StateSet(bits);
            let compatible: f64 = (0..StateSet::KINDS).filter(|&k| set.has(k)).map(|k| parts[k]).sum();
            let ruled = mass.rule_out(claim, set);
            if compatible >= RULED_OUT_BELOW || set != StateSet::NONE && unobserved >= RULED_OUT_BELOW || claim >= RULED_OUT_BELOW {
                prop_assert!(ruled.is_err());
            }
            if let Ok(ruled) = ruled {
                prop_assert!(ruled.most() < RULED_OUT_BELOW);
            }
        }
    }

    #[test]
    fn what_another_server_does_may_be_the_cause() {
        let mut mass = Mass::default();
        mass.unclaimed[StateSet::REPLY.first()] = 0.9;
        assert!(mass.rule_out(0.0, StateSet::SLEEP).is_ok());
        mass.beyond[StateSet::SLEEP.first()] = 0.6;
        assert!(mass.rule_out(0.0, StateSet::SLEEP).is_err());
        assert!(mass.rule_out(0.0, StateSet::DISK).is_ok());
        let both = mass.rule_out(0.0, StateSet::REPLY.and(StateSet::SLEEP));
        assert_eq!(both.map_err(|most| most.share), Err(0.9));
        // That it is slow is named, and not why.
        mass.unclaimed[StateSet::REPLY.first()] = 0.0;
        let both = mass.rule_out(0.0, StateSet::REPLY.and(StateSet::SLEEP));
        assert_eq!(both.map_err(|most| most.share), Err(0.6));
    }
}
