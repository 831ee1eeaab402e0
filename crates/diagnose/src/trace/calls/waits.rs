//! Whether a request waits for a reply.

use slowpath_core::trace::{Call, Role};

use crate::trace::inside::Inside;
use crate::trace::pieces::{Hop, How, LeafKind, Piece};

/// For whose reply a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Awaited {
    /// That of this thread of a peer, which is seen to have kept it.
    Of(u32),
    /// That of whoever is at the other end.
    Someone,
}

/// Whether the target's own thread, or one of the target that it asked, waits for what comes from
/// outside of it.
pub(crate) fn waits(
    inside: &Inside<'_>,
    piece: &Piece,
    hops: &[Hop],
    client: u32,
) -> Option<Awaited> {
    if let Some(hop) = hops.iter().find(|hop| !inside.stays_inside(hop)) {
        let of = if is_peer(inside, hop.tid) {
            Awaited::Of(hop.tid)
        } else {
            Awaited::Someone
        };
        return (hop.how == How::Sent).then_some(of);
    }
    let leaf = &piece.leaf;
    let at_rest = matches!(
        leaf.kind,
        LeafKind::Network | LeafKind::Data | LeafKind::Peer | LeafKind::RuntimeIdle
    );
    // Who sends waits for whoever takes it, and who reads a request for the client.
    let sends = leaf.call == Some(Call::Write);
    let reads = leaf.kind != LeafKind::RuntimeIdle
        && inside.awaited_at(leaf.tid, piece.begin) == Some(client);
    (at_rest && !sends && !reads).then_some(Awaited::Someone)
}

/// Whether a thread waits for data, and what comes is of no TCP connection.
pub(crate) fn comes_unseen(inside: &Inside<'_>, piece: &Piece) -> bool {
    let leaf = &piece.leaf;
    let for_data = matches!(
        leaf.kind,
        LeafKind::Network | LeafKind::Data | LeafKind::Peer
    ) && matches!(leaf.call, None | Some(Call::Read | Call::Poll));
    for_data && inside.awaited_at(leaf.tid, piece.begin).is_none()
}

fn is_peer(inside: &Inside<'_>, tid: u32) -> bool {
    let process = inside.trace().process_of(tid);
    process.is_some_and(|process| process.role == Role::Peer)
}
