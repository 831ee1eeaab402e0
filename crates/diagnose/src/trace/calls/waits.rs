//! Whether a request waits for a reply.

use slowpath_core::trace::{Call, Role, Socket, is_unix};

use crate::trace::inside::Inside;
use crate::trace::pieces::{Hop, How, LeafKind, Piece};

/// For whose reply a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Awaited {
    /// That of this thread of a peer, which is seen to have kept it.
    Of(u32),
    /// That of the other end.
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
    // A sender waits for the receiver, and a thread that reads a request for the client.
    let sends = leaf.call == Some(Call::Write);
    let reads = leaf.kind != LeafKind::RuntimeIdle
        && inside.awaited_at(leaf.tid, piece.begin) == Some(client);
    (at_rest && !sends && !reads).then_some(Awaited::Someone)
}

/// Whether a thread waits for data, and what comes is of no connection that was seen.
pub(crate) fn comes_unseen(inside: &Inside<'_>, piece: &Piece) -> bool {
    for_data(piece) && inside.awaited_at(piece.leaf.tid, piece.begin).is_none()
}

/// Whether a thread waits for what may be names: it comes of no connection that was seen, or of a Unix socket at
/// which names are looked up.
pub(crate) fn may_be_names(inside: &Inside<'_>, piece: &Piece) -> bool {
    for_data(piece)
        && inside
            .awaited_at(piece.leaf.tid, piece.begin)
            .is_none_or(|socket| {
                let end = inside.index.sockets.end(socket);
                end.is_some_and(|end| looks_names_up(inside, end))
            })
}

/// Whether one end of a connection is a Unix socket at which names are looked up.
fn looks_names_up(inside: &Inside<'_>, end: &Socket) -> bool {
    /// Parts of the paths of nscd, systemd-resolved, Avahi, sssd and the bus that some are asked over.
    const LOOKED_UP_AT: [&str; 5] = ["nscd", "systemd/resolve", "avahi", "sss/pipes", "dbus"];
    let path = inside.trace().address(end.remote);
    is_unix(end.remote) && LOOKED_UP_AT.iter().any(|part| path.contains(part))
}

fn for_data(piece: &Piece) -> bool {
    let leaf = &piece.leaf;
    let waits = matches!(
        leaf.kind,
        LeafKind::Network | LeafKind::Data | LeafKind::Peer
    );
    waits && matches!(leaf.call, None | Some(Call::Read | Call::Poll))
}

fn is_peer(inside: &Inside<'_>, tid: u32) -> bool {
    let process = inside.trace().process_of(tid);
    process.is_some_and(|process| process.role == Role::Peer)
}
