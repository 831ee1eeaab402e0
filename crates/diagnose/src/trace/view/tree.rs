//! Where a set of requests spent its time, as a tree.

use std::collections::BTreeMap;

use slowpath_core::trace::{Call, NO_STACK};

use super::{millis, shares};
use crate::case::EndpointCase;
use crate::diagnosis::{ChainNode, ChainTree, NodeKind, Part, Phase};
use crate::figures::share;
use crate::trace::index::Runner;
use crate::trace::inside::{EndpointJoin, Inside, Walked};
use crate::trace::locks::{Proof, held};
use crate::trace::pieces::{Behalf, How, Leaf, LeafKind, Piece};

/// Nodes with less than this share are left out.
const LEAST: f64 = 0.01;

/// Where slow requests spend what they take longer than the others.
pub(super) fn tail(inside: &Inside<'_>, join: &EndpointJoin) -> Option<ChainTree> {
    let (slow, fast): (Vec<&Walked>, Vec<&Walked>) = join.walked.iter().partition(|w| w.slow);
    if slow.is_empty() || fast.is_empty() {
        return None;
    }
    Some(Tree::of(inside, &slow, &fast).told())
}

/// Where the requests around the median spend their time; all of them if none is distinguished.
pub(super) fn floor(
    inside: &Inside<'_>,
    endpoint: &EndpointCase,
    join: &EndpointJoin,
) -> Option<ChainTree> {
    let central = |w: &&Walked| match &endpoint.floor {
        Some(frame) => frame.position(w.joined.sample).is_some(),
        None => !w.slow,
    };
    let requests: Vec<&Walked> = join.walked.iter().filter(central).collect();
    (!requests.is_empty()).then(|| Tree::of(inside, &requests, &[]).told())
}

/// What distinguishes a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Segment(Phase),
    Thread {
        name: String,
        process: String,
        how: How,
        behalf: Behalf,
    },
    Leaf {
        kind: NodeKind,
        call: Option<Call>,
        label: String,
    },
}

#[derive(Debug, Default)]
struct Node {
    ns: f64,
    reference_ns: f64,
    requests: u64,
    /// The last request that was counted.
    last: Option<u32>,
    stacks: BTreeMap<u32, u64>,
    children: BTreeMap<Key, Node>,
}

impl Node {
    /// By how much it takes longer than in the reference.
    fn longer_ns(&self) -> f64 {
        self.ns - self.reference_ns
    }
}

struct Tree<'i> {
    inside: &'i Inside<'i>,
    root: Node,
    requests: usize,
    mean_ns: f64,
    reference_ns: f64,
    unexplained: BTreeMap<&'static str, (f64, f64)>,
}

impl<'i> Tree<'i> {
    fn of(inside: &'i Inside<'i>, requests: &[&Walked], reference: &[&Walked]) -> Self {
        let mean = |of: &[&Walked]| {
            let sum: u64 = of.iter().map(|w| w.joined.latency_ns()).sum();
            sum as f64 / of.len().max(1) as f64
        };
        let mut tree = Self {
            inside,
            root: Node::default(),
            requests: requests.len(),
            mean_ns: mean(requests),
            reference_ns: mean(reference),
            unexplained: BTreeMap::new(),
        };
        for (set, is_reference) in [(requests, false), (reference, true)] {
            let part = 1.0 / set.len().max(1) as f64;
            for walked in set {
                for piece in &walked.pieces {
                    let ns = piece.len_ns() as f64 * part;
                    tree.add(walked.joined.sample, piece, ns, is_reference);
                }
            }
        }
        tree
    }

    fn add(&mut self, sample: u32, piece: &Piece, ns: f64, is_reference: bool) {
        if let Some(why) = piece.leaf.kind.unexplained() {
            let sums = self.unexplained.entry(why).or_default();
            *(if is_reference {
                &mut sums.1
            } else {
                &mut sums.0
            }) += ns;
        }
        let mut keys = vec![Key::Segment(piece.segment)];
        let hops = self.inside.chains.hops(piece.chain);
        let held = held(&hops, &piece.leaf);
        for (place, hop) in hops.iter().enumerate() {
            // Those that queue for a lock are left out: what counts is its holder.
            if held.is_some_and(|held| (held.first..held.holder).contains(&place)) {
                continue;
            }
            let lock = held.filter(|held| held.holder == place);
            let lock = lock.map(|held| self.inside.proof(&hops, &held));
            let how = match lock {
                Some(Proof::Says | Proof::HandedOn) => How::Lock,
                Some(Proof::Condition) => How::Condition,
                Some(Proof::Interpreter) => How::Interpreter,
                Some(Proof::Nothing) | None => hop.how,
            };
            let first = place == 0;
            keys.push(Key::Thread {
                name: self.inside.thread_name(hop.tid),
                process: self.inside.process_name(hop.tid).to_owned(),
                how,
                behalf: if first { piece.behalf } else { Behalf::Own },
            });
        }
        if let Some(kind) = kind(&piece.leaf) {
            keys.push(Key::Leaf {
                kind,
                // Whatever it is ready after, it waits for the same CPU.
                call: piece.leaf.call.filter(|_| !is_ready(&piece.leaf)),
                label: self.label(&piece.leaf, piece.begin),
            });
        }
        let mut node = &mut self.root;
        for key in keys {
            node = node.children.entry(key).or_default();
            if is_reference {
                node.reference_ns += ns;
            } else {
                node.ns += ns;
                node.requests += u64::from(node.last != Some(sample));
                node.last = Some(sample);
            }
        }
        if !is_reference && piece.leaf.stack != NO_STACK {
            *node.stacks.entry(piece.leaf.stack).or_default() += piece.len_ns();
        }
    }

    fn label(&self, leaf: &Leaf, at: u64) -> String {
        match leaf.kind {
            LeafKind::Ready(Runner::Thread(tid)) => {
                format!("waits for a CPU that {} has", self.inside.thread_name(tid))
            }
            LeafKind::Ready(Runner::Idle) => "waits for a CPU that is idle".to_owned(),
            kind => match kind.unexplained() {
                Some(why) => why.to_owned(),
                None => self.inside.doing(leaf, at),
            },
        }
    }

    fn told(self) -> ChainTree {
        let longer_ns = self.mean_ns - self.reference_ns;
        let more = self
            .root
            .children
            .values()
            .map(|node| node.longer_ns().max(0.0));
        let whole_ns = more.sum::<f64>().max(longer_ns);
        let mut unexplained: Vec<Part> = self
            .unexplained
            .iter()
            .map(|(why, (ns, reference_ns))| Part {
                why: (*why).to_owned(),
                share: share(part(ns - reference_ns, whole_ns)),
            })
            .filter(|part| part.share >= LEAST)
            .collect();
        unexplained.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.why.cmp(&b.why)));
        let mut nodes = self.nodes(&self.root, longer_ns, 1.0);
        let order = |node: &ChainNode| match node.kind {
            NodeKind::Segment(segment) => segment as usize,
            _ => usize::MAX,
        };
        nodes.sort_by_key(order);
        ChainTree {
            requests: self.requests as u64,
            mean_ms: millis(self.mean_ns),
            reference_ms: millis(self.reference_ns),
            nodes,
            unexplained,
        }
    }

    /// The parts of a node that is so much longer than in the reference, and has the share `whole`.
    fn nodes(&self, of: &Node, longer_ns: f64, whole: f64) -> Vec<ChainNode> {
        let more: Vec<f64> = of.children.values().map(Node::longer_ns).collect();
        let shares = shares(&more, longer_ns);
        let told = of.children.iter().zip(shares).map(|((key, node), part)| {
            let children = self.nodes(node, node.longer_ns(), part * whole);
            self.node(key, node, part * whole, children)
        });
        let mut told: Vec<ChainNode> = told.filter(|node| node.share >= LEAST).collect();
        told.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.label.cmp(&b.label)));
        told
    }

    fn node(&self, key: &Key, node: &Node, own: f64, children: Vec<ChainNode>) -> ChainNode {
        let most = node.stacks.iter().max_by_key(|(_, ns)| **ns);
        let stack = most.map_or_else(Vec::new, |(&stack, _)| self.inside.stack_words(stack));
        let mut told = ChainNode {
            label: String::new(),
            kind: NodeKind::Thread,
            thread: String::new(),
            process: String::new(),
            call: None,
            stack,
            mean_ms: millis(node.ns),
            reference_ms: millis(node.reference_ns),
            share: share(own),
            requests: node.requests,
            children,
        };
        match key {
            Key::Segment(segment) => {
                told.label = String::from(segment.describe());
                told.kind = NodeKind::Segment(*segment);
            }
            Key::Thread {
                name,
                process,
                how,
                behalf,
            } => {
                told.label = hop_label(name, *how, *behalf);
                (told.thread, told.process) = (name.clone(), process.clone());
            }
            Key::Leaf { kind, call, label } => {
                (told.kind, told.call, told.label) = (*kind, *call, label.clone());
            }
        }
        told
    }
}

/// A part of what the requests take longer, from 0 to 1.
fn part(ns: f64, of_ns: f64) -> f64 {
    if of_ns > 0.0 {
        (ns / of_ns).clamp(0.0, 1.0)
    } else {
        0.0
    }
}

fn hop_label(name: &str, how: How, behalf: Behalf) -> String {
    match (how, behalf) {
        (How::Serves, Behalf::Own) => name.to_owned(),
        (_, Behalf::Other) => format!("{name}, at work for others"),
        (_, Behalf::Background) => format!("{name}, at work for no request"),
        (How::Lock, _) => format!("for the lock that {name} has"),
        (How::Condition, _) => format!("until {name} says so"),
        (How::Interpreter, _) => format!("for the interpreter that {name} runs"),
        (How::Asked, _) => format!("for {name}, which was asked"),
        (How::Woke, _) => format!("until woken by {name}"),
        (How::Sent, _) => format!("for data from {name}"),
        (How::Ended, _) => format!("for the end of {name}"),
    }
}

fn is_ready(leaf: &Leaf) -> bool {
    matches!(leaf.kind, LeafKind::Ready(_))
}

/// What a leaf is called in a tree; `None` for what is no thread's doing.
const fn kind(leaf: &Leaf) -> Option<NodeKind> {
    Some(match leaf.kind {
        LeafKind::Outside => return None,
        LeafKind::Cpu => NodeKind::Cpu,
        LeafKind::Ready(Runner::Idle) => NodeKind::ReadyIdle,
        LeafKind::Ready(_) => NodeKind::Ready,
        LeafKind::Sleep => NodeKind::Sleep,
        LeafKind::Lock => NodeKind::Lock,
        LeafKind::Disk => NodeKind::Disk,
        LeafKind::Network => NodeKind::Network,
        LeafKind::Data => NodeKind::Data,
        LeafKind::Peer => NodeKind::Peer,
        LeafKind::Child => NodeKind::Child,
        LeafKind::RuntimeIdle | LeafKind::RuntimeTimer => NodeKind::RuntimeIdle,
        LeafKind::Unknown(_) => NodeKind::Unknown,
    })
}
