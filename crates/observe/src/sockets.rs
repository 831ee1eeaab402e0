//! The kernel's sockets, asked for over netlink (`NETLINK_SOCK_DIAG`).
//!
//! The messages are read here and not by the netlink crates: those refuse a `tcp_info` that is
//! shorter than they know, as older kernels send it, and do not show the peer's window in it.

use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with,
};

/// A dump that takes longer than this has lost its answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);
/// The kernel fills at most 32 KiB of a dump at a time.
const ANSWER_BYTES: usize = 64 * 1024;

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLM_F_REQUEST: u16 = 0x1;
const NLM_F_DUMP: u16 = 0x300;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const NLMSG_HEADER_BYTES: usize = 16;
const REQUEST_BYTES: usize = NLMSG_HEADER_BYTES + 56;
const INET_DIAG_MSG_BYTES: usize = 72;
const UNIX_REQUEST_BYTES: usize = NLMSG_HEADER_BYTES + 24;
const UNIX_DIAG_MSG_BYTES: usize = 16;
const UNIX_DIAG_NAME: u16 = 0;
const UNIX_DIAG_PEER: u16 = 2;
/// `enum sock_type` of the kernel.
const SOCK_STREAM: u8 = 1;
const SOCK_SEQPACKET: u8 = 5;
const IPPROTO_TCP: u8 = 6;
const INET_DIAG_INFO: u16 = 2;
const INET_DIAG_SKMEMINFO: u16 = 7;

/// `TCP_ESTABLISHED` of `enum tcp_state`.
pub(crate) const ESTABLISHED: u8 = 1;
/// `TCP_LISTEN` of `enum tcp_state`.
pub(crate) const LISTEN: u8 = 10;

/// What `sk_drops` is the ninth word of: `SK_MEMINFO_DROPS`.
const SKMEMINFO_DROPS_AT: usize = 8 * 4;

/// An address family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    V4,
    V6,
}

impl Family {
    pub(crate) const ALL: [Self; 2] = [Self::V4, Self::V6];

    const fn number(self) -> u8 {
        match self {
            Self::V4 => 2,
            Self::V6 => 10,
        }
    }
}

/// Which sockets to list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Query {
    /// Of one family; a dual-stack listener and its connections are `V6`.
    pub(crate) family: Family,
    /// In one of these states.
    pub(crate) states: &'static [u8],
    /// With this local port; 0 for any.
    pub(crate) local_port: u16,
    /// Whether to ask for `tcp_info` and the memory words.
    pub(crate) details: bool,
}

/// One TCP socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Socket {
    pub(crate) state: u8,
    pub(crate) local_port: u16,
    /// Waiting connections of a listener; otherwise received bytes that were not read yet.
    pub(crate) receive_queue: u32,
    /// The limit of a listener's queue; otherwise bytes not yet acknowledged.
    pub(crate) send_queue: u32,
    /// 0 while the connection waits to be accepted.
    pub(crate) inode: u32,
    pub(crate) drops: Option<u32>,
    pub(crate) info: Option<TcpInfo>,
}

/// The part of `struct tcp_info` that is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TcpInfo {
    pub(crate) send_mss: u32,
    /// Segments in flight.
    pub(crate) unacked: u32,
    pub(crate) congestion_window: u32,
    /// Bytes written by the application and not sent yet; kernels since 4.6.
    pub(crate) not_sent_bytes: u32,
    /// The window that the peer offers; kernels since 5.4.
    pub(crate) send_window: Option<u32>,
}

/// One Unix socket that is connected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnixSocket {
    pub(crate) inode: u32,
    /// The inode of its other end; 0 if that is not accepted yet.
    pub(crate) other: u32,
    /// What it is bound to, as people write it; empty if nothing.
    pub(crate) name: String,
    /// Whether it is a connection, and not for datagrams.
    pub(crate) is_stream: bool,
}

/// An open channel to the kernel.
#[derive(Debug)]
pub(crate) struct SockDiag {
    socket: OwnedFd,
    sequence: u32,
    buffer: Vec<u8>,
}

impl SockDiag {
    pub(crate) fn open() -> Result<Self, Errno> {
        let socket = socket_with(
            AddressFamily::NETLINK,
            SocketType::DGRAM,
            SocketFlags::CLOEXEC,
            Some(netlink::SOCK_DIAG),
        )?;
        set_socket_timeout(&socket, Timeout::Recv, Some(ANSWER_TIMEOUT))?;
        Ok(Self {
            socket,
            sequence: 0,
            buffer: Vec::with_capacity(ANSWER_BYTES),
        })
    }

    /// Hands every socket that matches to `each`.
    pub(crate) fn dump(&mut self, query: Query, mut each: impl FnMut(Socket)) -> Result<(), Errno> {
        self.sequence = self.sequence.wrapping_add(1);
        let request = request(query, self.sequence);
        self.ask(&request, &mut |body| {
            if let Some(socket) = parse_socket(body) {
                each(socket);
            }
        })
    }

    /// Hands every connected Unix socket to `each`.
    pub(crate) fn unix_sockets(&mut self, mut each: impl FnMut(UnixSocket)) -> Result<(), Errno> {
        self.sequence = self.sequence.wrapping_add(1);
        let request = unix_request(self.sequence);
        self.ask(&request, &mut |body| {
            if let Some(socket) = parse_unix(body) {
                each(socket);
            }
        })
    }

    /// Sends a request and hands the body of each message of the answer to `each`.
    fn ask(&mut self, request: &[u8], each: &mut impl FnMut(&[u8])) -> Result<(), Errno> {
        let kernel = SocketAddrNetlink::new(0, 0);
        sendto(&self.socket, request, SendFlags::empty(), &kernel)?;
        loop {
            self.buffer.clear();
            recv(
                &self.socket,
                spare_capacity(&mut self.buffer),
                RecvFlags::empty(),
            )?;
            match parse_answer(&self.buffer, self.sequence, each)? {
                Progress::More => {}
                Progress::Done => return Ok(()),
            }
        }
    }
}

/// The header of a request of `N` bytes, and nothing after it yet.
fn header<const N: usize>(sequence: u32) -> [u8; N] {
    let mut bytes = [0; N];
    bytes[..4].copy_from_slice(&(N as u32).to_ne_bytes());
    bytes[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes[6..8].copy_from_slice(&(NLM_F_REQUEST | NLM_F_DUMP).to_ne_bytes());
    bytes[8..12].copy_from_slice(&sequence.to_ne_bytes());
    bytes
}

/// A `struct unix_diag_req` for the names and other ends of all connected sockets.
fn unix_request(sequence: u32) -> [u8; UNIX_REQUEST_BYTES] {
    /// `UDIAG_SHOW_NAME | UDIAG_SHOW_PEER`.
    const SHOW: u32 = 0x1 | 0x4;
    let mut bytes = header(sequence);
    bytes[16] = rustix::net::AddressFamily::UNIX.as_raw() as u8;
    bytes[20..24].copy_from_slice(&(1_u32 << ESTABLISHED).to_ne_bytes());
    bytes[28..32].copy_from_slice(&SHOW.to_ne_bytes());
    // `udiag_cookie`: no cookie in both words.
    bytes[32..40].fill(0xff);
    bytes
}

fn request(query: Query, sequence: u32) -> [u8; REQUEST_BYTES] {
    let mut bytes = header(sequence);
    let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
    let extensions = if query.details {
        (1 << (INET_DIAG_INFO - 1)) | (1 << (INET_DIAG_SKMEMINFO - 1))
    } else {
        0
    };
    put(16, &[query.family.number(), IPPROTO_TCP, extensions, 0]);
    let states = query
        .states
        .iter()
        .fold(0_u32, |mask, state| mask | (1 << state));
    put(20, &states.to_ne_bytes());
    put(24, &query.local_port.to_be_bytes());
    // `idiag_cookie`: INET_DIAG_NOCOOKIE in both words.
    put(64, &[0xff; 8]);
    bytes
}

#[derive(Debug, PartialEq, Eq)]
enum Progress {
    More,
    Done,
}

/// Reads one datagram of an answer. Messages of another sequence belong to a dump that was given
/// up and are passed over.
fn parse_answer(
    mut bytes: &[u8],
    sequence: u32,
    each: &mut impl FnMut(&[u8]),
) -> Result<Progress, Errno> {
    while let (Some(length), Some(kind)) = (u32_at(bytes, 0), u16_at(bytes, 4)) {
        let length = length as usize;
        let Some(body) = bytes.get(NLMSG_HEADER_BYTES..length) else {
            break;
        };
        if u32_at(bytes, 8) == Some(sequence) {
            match kind {
                NLMSG_DONE => return Ok(Progress::Done),
                NLMSG_ERROR => {
                    let error = u32_at(body, 0).map_or(0, |code| (code as i32).wrapping_neg());
                    return Err(Errno::from_raw_os_error(error.clamp(1, 4095)));
                }
                SOCK_DIAG_BY_FAMILY => each(body),
                _ => {}
            }
        }
        bytes = bytes.get(aligned(length)..).unwrap_or(&[]);
    }
    Ok(Progress::More)
}

/// Reads a `struct unix_diag_msg`; `None` if the socket has no other end.
fn parse_unix(body: &[u8]) -> Option<UnixSocket> {
    let (head, mut attributes) = body.split_at_checked(UNIX_DIAG_MSG_BYTES)?;
    let is_stream = [SOCK_STREAM, SOCK_SEQPACKET].contains(&head[1]);
    let inode = u32_at(head, 4)?;
    let (mut name, mut other) = (String::new(), None);
    while let (Some(length), Some(kind)) = (u16_at(attributes, 0), u16_at(attributes, 2)) {
        let length = usize::from(length);
        let value = attributes.get(4..length)?;
        match kind {
            UNIX_DIAG_NAME => name = unix_name(value),
            UNIX_DIAG_PEER => other = u32_at(value, 0),
            _ => {}
        }
        // The last one need not be filled up.
        attributes = attributes.get(aligned(length)..).unwrap_or(&[]);
    }
    Some(UnixSocket {
        inode,
        other: other?,
        name,
        is_stream,
    })
}

/// A name as people write it: that of no file begins with `@`.
fn unix_name(bytes: &[u8]) -> String {
    let (first, rest) = match bytes {
        [0, rest @ ..] => ("@", rest),
        _ => ("", bytes),
    };
    let text = rest.split(|&byte| byte == 0).next().unwrap_or_default();
    format!("{first}{}", String::from_utf8_lossy(text))
}

/// Reads a `struct inet_diag_msg` and the attributes after it.
fn parse_socket(body: &[u8]) -> Option<Socket> {
    let (head, mut attributes) = body.split_at_checked(INET_DIAG_MSG_BYTES)?;
    let mut socket = Socket {
        state: head[1],
        local_port: u16::from_be_bytes([head[4], head[5]]),
        receive_queue: u32_at(head, 56)?,
        send_queue: u32_at(head, 60)?,
        inode: u32_at(head, 68)?,
        drops: None,
        info: None,
    };
    while let (Some(length), Some(kind)) = (u16_at(attributes, 0), u16_at(attributes, 2)) {
        let length = usize::from(length);
        let Some(value) = attributes.get(4..length) else {
            break;
        };
        match kind {
            INET_DIAG_SKMEMINFO => socket.drops = u32_at(value, SKMEMINFO_DROPS_AT),
            INET_DIAG_INFO => socket.info = parse_tcp_info(value),
            _ => {}
        }
        attributes = attributes.get(aligned(length)..).unwrap_or(&[]);
    }
    Some(socket)
}

/// Reads a `struct tcp_info` of any length; offsets as in `linux/tcp.h`.
fn parse_tcp_info(bytes: &[u8]) -> Option<TcpInfo> {
    Some(TcpInfo {
        send_mss: u32_at(bytes, 16)?,
        unacked: u32_at(bytes, 24)?,
        congestion_window: u32_at(bytes, 80)?,
        not_sent_bytes: u32_at(bytes, 144)?,
        send_window: u32_at(bytes, 228),
    })
}

const fn aligned(length: usize) -> usize {
    length.next_multiple_of(4)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(
        bytes.get(at..at.checked_add(4)?)?.try_into().ok()?,
    ))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(
        bytes.get(at..at.checked_add(2)?)?.try_into().ok()?,
    ))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::UnixStream;

    use proptest::prelude::*;

    use super::*;

    fn message(kind: u16, sequence: u32, body: &[u8]) -> Vec<u8> {
        let mut bytes = ((NLMSG_HEADER_BYTES + body.len()) as u32)
            .to_ne_bytes()
            .to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend([0; 2]);
        bytes.extend(sequence.to_ne_bytes());
        bytes.extend([0; 4]);
        bytes.extend(body);
        bytes.resize(aligned(bytes.len()), 0);
        bytes
    }

    fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
        let mut bytes = ((4 + value.len()) as u16).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(value);
        bytes.resize(aligned(bytes.len()), 0);
        bytes
    }

    fn diag(state: u8, attributes: &[Vec<u8>]) -> Vec<u8> {
        let mut body = vec![0; INET_DIAG_MSG_BYTES];
        body[0] = Family::V4.number();
        body[1] = state;
        body[4..6].copy_from_slice(&8080_u16.to_be_bytes());
        body[56..60].copy_from_slice(&3_u32.to_ne_bytes());
        body[60..64].copy_from_slice(&128_u32.to_ne_bytes());
        body[68..72].copy_from_slice(&7001_u32.to_ne_bytes());
        body.extend(attributes.concat());
        body
    }

    fn read(bytes: &[u8], sequence: u32) -> (Result<Progress, Errno>, Vec<Socket>) {
        let mut sockets = Vec::new();
        let mut push = |body: &[u8]| sockets.extend(parse_socket(body));
        let progress = parse_answer(bytes, sequence, &mut push);
        (progress, sockets)
    }

    #[test]
    fn a_listener_has_its_queue_its_limit_and_its_drops() {
        let mut memory = vec![0; 36];
        memory[SKMEMINFO_DROPS_AT..].copy_from_slice(&14_u32.to_ne_bytes());
        let body = diag(
            LISTEN,
            &[attribute(8, &[0]), attribute(INET_DIAG_SKMEMINFO, &memory)],
        );
        let mut bytes = message(SOCK_DIAG_BY_FAMILY, 5, &body);
        bytes.extend(message(NLMSG_DONE, 5, &[0; 4]));
        let (progress, sockets) = read(&bytes, 5);
        assert_eq!(progress, Ok(Progress::Done));
        let [socket] = sockets[..] else {
            panic!("{sockets:?}")
        };
        assert_eq!((socket.receive_queue, socket.send_queue), (3, 128));
        assert_eq!(
            (socket.drops, socket.inode, socket.local_port),
            (Some(14), 7001, 8080)
        );
    }

    #[test]
    fn a_tcp_info_of_an_older_kernel_is_read_as_far_as_it_goes() {
        let mut info = vec![0; 160];
        info[24..28].copy_from_slice(&1_u32.to_ne_bytes());
        info[144..148].copy_from_slice(&512_u32.to_ne_bytes());
        let parsed = parse_tcp_info(&info).unwrap();
        assert_eq!(
            (parsed.unacked, parsed.not_sent_bytes, parsed.send_window),
            (1, 512, None)
        );
        assert_eq!(
            parse_tcp_info(&info[..144]),
            None,
            "kernels before 4.6 cannot say"
        );
    }

    #[test]
    fn answers_to_an_earlier_question_are_passed_over_and_errors_are_errors() {
        let body = diag(ESTABLISHED, &[]);
        let stale = message(SOCK_DIAG_BY_FAMILY, 4, &body);
        assert_eq!(read(&stale, 5), (Ok(Progress::More), vec![]));
        let refused = message(NLMSG_ERROR, 5, &(-2_i32).to_ne_bytes());
        assert_eq!(read(&refused, 5).0, Err(Errno::NOENT));
    }

    #[test]
    fn the_kernel_lists_our_own_listener_and_connection() {
        let Ok(mut kernel) = SockDiag::open() else {
            println!("skipped: no NETLINK_SOCK_DIAG here");
            return;
        };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let _client = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let query = Query {
            family: Family::V4,
            states: &[LISTEN, ESTABLISHED],
            local_port: port,
            details: true,
        };
        let mut sockets = Vec::new();
        if let Err(error) = kernel.dump(query, |socket| sockets.push(socket)) {
            println!("skipped: sock_diag answers {error}");
            return;
        }
        let listening: Vec<_> = sockets.iter().filter(|s| s.state == LISTEN).collect();
        assert_eq!(listening.len(), 1);
        assert_eq!(
            listening[0].receive_queue, 1,
            "one connection waits to be accepted"
        );
        assert_eq!(listening[0].drops, Some(0));
        let connected: Vec<_> = sockets.iter().filter(|s| s.state == ESTABLISHED).collect();
        assert_eq!(
            connected.len(),
            1,
            "the client's end has another local port"
        );
        assert!(connected[0].info.is_some());
    }

    #[test]
    fn the_kernel_knows_both_ends_of_our_own_pair() {
        let inode = |socket: &UnixStream| {
            rustix::fs::fstat(socket)
                .map(|stat| stat.st_ino as u32)
                .unwrap()
        };
        let (one, other) = UnixStream::pair().unwrap();
        let (one, other) = (inode(&one), inode(&other));
        let mut sockets = Vec::new();
        let listed =
            SockDiag::open().and_then(|mut kernel| kernel.unix_sockets(|s| sockets.push(s)));
        if let Err(error) = listed {
            println!("skipped: sock_diag answers {error}");
            return;
        }
        let pair = |inode, other| UnixSocket {
            inode,
            other,
            name: String::new(),
            is_stream: true,
        };
        assert!(sockets.contains(&pair(one, other)) && sockets.contains(&pair(other, one)));
    }

    #[test]
    fn names_are_told_as_people_write_them() {
        assert_eq!(unix_name(b"/run/db.sock\0"), "/run/db.sock");
        assert_eq!(unix_name(b"/run/db.sock"), "/run/db.sock");
        assert_eq!(unix_name(b"\0bus"), "@bus");
        assert_eq!(unix_name(b""), "");
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_parser_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..400),
            body in prop::collection::vec(any::<u8>(), 0..400),
        ) {
            let _ = read(&bytes, 0);
            let _ = read(&message(SOCK_DIAG_BY_FAMILY, 0, &body), 0);
            let _ = parse_tcp_info(&bytes);
            let _ = parse_unix(&bytes);
        }
    }
}
