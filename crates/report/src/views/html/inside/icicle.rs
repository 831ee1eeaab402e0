//! A tree of chains as an icicle: each row is a step further down the chain, and a piece is as
//! wide as its share.

use maud::{Markup, html};
use slowpath_core::trace::Call;
use slowpath_diagnose::diagnosis::{ChainNode, ChainTree, NodeKind};

use super::{segments, width};
use crate::quantity;
use crate::story;

/// A narrower piece cannot be seen, and what hangs below it neither.
const NARROWEST: f64 = 0.004;

/// A narrower piece has no room for words; its title has them.
const NARROWEST_WITH_TEXT: f64 = 0.045;

/// Functions of a leaf's stack that are drawn below it.
const FRAMES: usize = 12;

/// Rows of an icicle: what lies deeper is in the list only.
const ROWS: usize = 24;

/// Height of a row in CSS pixels.
const ROW_PX: usize = 24;

/// A piece.
struct Piece {
    row: usize,
    /// Where it begins and how wide it is, as shares of the picture.
    left: f64,
    wide: f64,
    class: &'static str,
    text: String,
    title: String,
}

/// The icicle with its text alternative.
pub(super) fn picture(tree: &ChainTree, caption: &str) -> Markup {
    let pieces = pieces(tree);
    let rows = pieces.iter().map(|piece| piece.row + 1).max().unwrap_or(0);
    let against = if tree.reference_ms > 0.0 {
        format!(" against {}", quantity::duration(tree.reference_ms))
    } else {
        String::new()
    };
    let whole = format!(
        "{}, mean {}{against}",
        quantity::plural(tree.requests, "request"),
        quantity::duration(tree.mean_ms)
    );
    html! {
        figure.plot {
            figcaption { (caption) ": " (whole)
                ". Below each thread is the one that it waited for, and below a leaf its stack." }
            @if rows == 0 {
                p.soft { "None of it is explained." }
            } @else {
                div.ice role="img" aria-label={ (caption) "; the list below says the same" }
                    style={ "height:" (rows * ROW_PX) "px" } {
                    @for piece in &pieces {
                        @let words = piece.wide >= NARROWEST_WITH_TEXT;
                        span class={ "n " (piece.class) @if !words { " slim" } }
                            title=(piece.title)
                            style={ "left:" (width(piece.left)) ";width:" (width(piece.wide))
                                ";top:" (piece.row * ROW_PX) "px" } {
                            @if words { (piece.text) }
                        }
                    }
                }
            }
            @for part in &tree.unexplained {
                p.note { "Unexplained: " (part.why) ", " (quantity::percent(part.share)) }
            }
            @let chains = story::inside::chains(tree);
            @if !chains.is_empty() {
                ul { @for chain in &chains { li { (story::inside::chain(chain)) } } }
            }
            details {
                summary { "The tree as a list" }
                (list(&tree.nodes))
            }
        }
    }
}

fn list(nodes: &[ChainNode]) -> Markup {
    html! {
        ul {
            @for node in nodes.iter().filter(|node| node.share >= NARROWEST) {
                li {
                    (figures(node))
                    @if !node.stack.is_empty() {
                        br; code { (node.stack.join(" < ")) }
                    }
                    @if !node.children.is_empty() { (list(&node.children)) }
                }
            }
        }
    }
}

/// `62 %, 410 ms in 197 requests: otel-export (shop), sleeping`.
fn figures(node: &ChainNode) -> String {
    let call = match node.call {
        Some(call) if call.describe() != node.label => format!(", {}", call.describe()),
        _ => String::new(),
    };
    format!(
        "{}, {} a request, in {}: {}{call}",
        quantity::percent(node.share),
        quantity::duration(node.mean_ms),
        quantity::plural(node.requests, "request"),
        words(node),
    )
}

/// A thread with its process, or what a leaf is.
fn words(node: &ChainNode) -> String {
    match node.kind {
        NodeKind::Thread if !node.process.is_empty() && node.process != node.thread => {
            format!("{} ({})", node.label, node.process)
        }
        _ => node.label.clone(),
    }
}

fn pieces(tree: &ChainTree) -> Vec<Piece> {
    let mut pieces = Vec::new();
    below(&tree.nodes, 0, (0.0, 1.0), &mut pieces);
    pieces
}

/// Lays nodes side by side, each with what is below it, in the room that they have.
fn below(nodes: &[ChainNode], row: usize, (left, room): (f64, f64), pieces: &mut Vec<Piece>) {
    if row >= ROWS {
        return;
    }
    let seen = || nodes.iter().filter(|node| node.share > 0.0);
    // Where slow requests take less of something than fast ones, the rest is more than the whole.
    let total: f64 = seen().map(|node| node.share).sum();
    let scale = if total > room { room / total } else { 1.0 };
    let mut at = left;
    for node in seen() {
        let wide = node.share * scale;
        if wide >= NARROWEST {
            pieces.push(piece(node, row, at, wide));
            if node.children.is_empty() {
                stack(node, row + 1, (at, wide), pieces);
            } else {
                below(&node.children, row + 1, (at, wide), pieces);
            }
        }
        at += wide;
    }
}

fn piece(node: &ChainNode, row: usize, left: f64, wide: f64) -> Piece {
    let mut title = figures(node);
    for frame in &node.stack {
        title.push('\n');
        title.push_str(frame);
    }
    Piece {
        row,
        left,
        wide,
        class: class(node),
        text: format!("{} {}", quantity::percent(node.share), words(node)),
        title,
    }
}

/// The stack of a leaf, innermost function first.
fn stack(node: &ChainNode, row: usize, (left, wide): (f64, f64), pieces: &mut Vec<Piece>) {
    let rows = ROWS.saturating_sub(row);
    for (deeper, frame) in node.stack.iter().take(FRAMES.min(rows)).enumerate() {
        pieces.push(Piece {
            row: row + deeper,
            left,
            wide,
            class: "frame-of",
            text: frame.clone(),
            title: frame.clone(),
        });
    }
}

/// The class that colours a node.
const fn class(node: &ChainNode) -> &'static str {
    match node.kind {
        NodeKind::Segment(segment) => segments::class(segment),
        NodeKind::Thread => "thread",
        NodeKind::Cpu => "run",
        NodeKind::Ready | NodeKind::ReadyIdle => "ready",
        NodeKind::Sleep => "sleep",
        NodeKind::Lock => "lock",
        NodeKind::Disk => "disk",
        NodeKind::Network | NodeKind::Peer => "net",
        NodeKind::Data | NodeKind::Child => match node.call {
            Some(Call::Poll) => "idle",
            _ => "net",
        },
        NodeKind::RuntimeIdle => "idle",
        NodeKind::Unknown => "unknown",
    }
}
