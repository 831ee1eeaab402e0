use proptest::prelude::*;

use super::*;

/// Linux 6.18, x86-64.
const SWITCH: &str = "name: sched_switch
ID: 372
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:char prev_comm[16];	offset:8;	size:16;	signed:0;
	field:pid_t prev_pid;	offset:24;	size:4;	signed:1;
	field:int prev_prio;	offset:28;	size:4;	signed:1;
	field:long prev_state;	offset:32;	size:8;	signed:1;
	field:char next_comm[16];	offset:40;	size:16;	signed:0;
	field:pid_t next_pid;	offset:56;	size:4;	signed:1;
	field:int next_prio;	offset:60;	size:4;	signed:1;

print fmt: \"prev_comm=%s\", REC->prev_comm
";

/// Linux 6.18: two `sockaddr`.
const PROBE_6_18: &str = "name: tcp_probe
ID: 2273
format:
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:__u8 saddr[28];	offset:8;	size:28;	signed:0;
	field:__u8 daddr[28];	offset:36;	size:28;	signed:0;
	field:__u16 sport;	offset:64;	size:2;	signed:0;
	field:__u16 dport;	offset:66;	size:2;	signed:0;
	field:__u16 family;	offset:68;	size:2;	signed:0;
	field:__u32 mark;	offset:72;	size:4;	signed:0;
	field:__u16 data_len;	offset:76;	size:2;	signed:0;
	field:__u64 sock_cookie;	offset:112;	size:8;	signed:0;
	field:const void * skbaddr;	offset:120;	size:8;	signed:0;
	field:const void * skaddr;	offset:128;	size:8;	signed:0;
";

/// Linux 5.4: no family, no address of the socket.
const PROBE_5_4: &str = "name: tcp_probe
ID: 1353
format:
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:__u8 saddr[sizeof(struct sockaddr_in6)];	offset:8;	size:28;	signed:0;
	field:__u8 daddr[sizeof(struct sockaddr_in6)];	offset:36;	size:28;	signed:0;
	field:__u16 sport;	offset:64;	size:2;	signed:0;
	field:__u16 dport;	offset:66;	size:2;	signed:0;
	field:__u32 mark;	offset:68;	size:4;	signed:0;
	field:__u16 data_len;	offset:72;	size:2;	signed:0;
	field:__u64 sock_cookie;	offset:104;	size:8;	signed:0;
";

/// Linux 6.18.
const READ_6_18: &str = "name: tcp_rcv_space_adjust
ID: 2277
format:
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:const void * skaddr;	offset:8;	size:8;	signed:0;
	field:__u16 sport;	offset:16;	size:2;	signed:0;
	field:__u16 dport;	offset:18;	size:2;	signed:0;
	field:__u16 family;	offset:20;	size:2;	signed:0;
	field:__u8 saddr[4];	offset:22;	size:4;	signed:0;
	field:__u8 daddr[4];	offset:26;	size:4;	signed:0;
	field:__u8 saddr_v6[16];	offset:30;	size:16;	signed:0;
	field:__u8 daddr_v6[16];	offset:46;	size:16;	signed:0;
	field:__u64 sock_cookie;	offset:64;	size:8;	signed:0;
";

/// Linux 5.4: without a family, so everything after the ports lies elsewhere.
const READ_5_4: &str = "name: tcp_rcv_space_adjust
ID: 1357
format:
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:const void * skaddr;	offset:8;	size:8;	signed:0;
	field:__u16 sport;	offset:16;	size:2;	signed:0;
	field:__u16 dport;	offset:18;	size:2;	signed:0;
	field:__u8 saddr[4];	offset:20;	size:4;	signed:0;
	field:__u8 daddr[4];	offset:24;	size:4;	signed:0;
	field:__u8 saddr_v6[16];	offset:28;	size:16;	signed:0;
	field:__u8 daddr_v6[16];	offset:44;	size:16;	signed:0;
	field:__u64 sock_cookie;	offset:64;	size:8;	signed:0;
";

/// Linux 6.18: without ports of their own, with a reason.
const RESET_6_18: &str = "name: tcp_send_reset
ID: 2280
format:
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:const void * skbaddr;	offset:8;	size:8;	signed:0;
	field:const void * skaddr;	offset:16;	size:8;	signed:0;
	field:int state;	offset:24;	size:4;	signed:1;
	field:enum sk_rst_reason reason;	offset:28;	size:4;	signed:0;
	field:__u8 saddr[28];	offset:32;	size:28;	signed:0;
	field:__u8 daddr[28];	offset:60;	size:28;	signed:0;
";

/// Linux 6.18.
const ROUTED: &str = "name: fib_table_lookup
ID: 2264
format:
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:u8 proto;	offset:24;	size:1;	signed:0;
	field:__u8 src[4];	offset:28;	size:4;	signed:0;
	field:__u8 dst[4];	offset:32;	size:4;	signed:0;
	field:u16 sport;	offset:56;	size:2;	signed:0;
	field:u16 dport;	offset:58;	size:2;	signed:0;
";

/// Linux 6.18.
const ROUTED6: &str = "name: fib6_table_lookup
ID: 2315
format:
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:__u8 src[16];	offset:31;	size:16;	signed:0;
	field:__u8 dst[16];	offset:47;	size:16;	signed:0;
	field:u16 sport;	offset:64;	size:2;	signed:0;
	field:u16 dport;	offset:66;	size:2;	signed:0;
	field:u8 proto;	offset:68;	size:1;	signed:0;
";

/// Linux 6.18; what is taken looks the same.
const WROTE: &str = "name: sock_send_length
ID: 2284
format:
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:void * sk;	offset:8;	size:8;	signed:0;
	field:__u16 family;	offset:16;	size:2;	signed:0;
	field:__u16 protocol;	offset:18;	size:2;	signed:0;
	field:int ret;	offset:20;	size:4;	signed:1;
	field:int flags;	offset:24;	size:4;	signed:1;
";

const CALL: &str = "ID: 443
	field:int common_pid;	offset:4;	size:4;	signed:1;
	field:long id;	offset:8;	size:8;	signed:1;
	field:unsigned long args[6];	offset:16;	size:48;	signed:0;
";

fn layout(kind: Kind, text: &str) -> Layout {
    Layout::of(kind, &Format::parse(text).unwrap()).unwrap()
}

/// A record with some fields filled in.
fn record(length: usize, fields: &[(usize, &[u8])]) -> Vec<u8> {
    let mut record = vec![0; length];
    for (at, bytes) in fields {
        record[*at..at + bytes.len()].copy_from_slice(bytes);
    }
    record
}

fn sockaddr_in(port: u16) -> Vec<u8> {
    let family = (libc::AF_INET as u16).to_ne_bytes();
    [&family[..], &port.to_be_bytes(), &[127, 0, 0, 1]].concat()
}

fn ends(local: u16, remote: u16) -> Socket {
    let end = |port| ([127, 0, 0, 1], port).into();
    Socket {
        local: end(local),
        remote: end(remote),
    }
}

#[test]
fn a_reset_has_its_reason_and_whose_call_it_was() {
    let layout = layout(Kind::SentReset, RESET_6_18);
    let read = |flags: u8| {
        let (local, remote) = (sockaddr_in(80), sockaddr_in(40_001));
        let (tid, reason) = (42_i32.to_ne_bytes(), 11_u32.to_ne_bytes());
        let fields: [(usize, &[u8]); 5] = [
            (2, &[flags]),
            (4, &tid),
            (28, &reason),
            (32, &local),
            (60, &remote),
        ];
        layout.read(&record(88, &fields)).unwrap()
    };
    let reset = |by| Fact::Reset {
        ends: ends(80, 40_001),
        sent: true,
        reason: 11,
        by,
    };
    assert_eq!(read(0), reset(42));
    assert_eq!(
        read(0x10),
        reset(0),
        "in answer to a segment, in the context of any thread"
    );
}

#[test]
fn a_switch_says_who_left_how_and_who_came() {
    let layout = layout(Kind::Switch, SWITCH);
    for (state, expected) in [
        (0_i64, Left::Runnable),
        (0x100, Left::Runnable),
        (1, Left::Sleeping),
        (0x102, Left::Uninterruptible),
        (0x10, Left::Gone),
    ] {
        let raw = record(
            64,
            &[
                (8, b"flusher\0"),
                (24, &77_i32.to_ne_bytes()),
                (32, &state.to_ne_bytes()),
                (40, b"swapper/1\0"),
            ],
        );
        let Some(Fact::Switch {
            from,
            from_name,
            left,
            to,
            to_name,
        }) = layout.read(&raw)
        else {
            panic!("{state}");
        };
        assert_eq!((from, left, to), (77, expected, 0), "{state:#x}");
        assert!(from_name.starts_with(b"flusher\0") && to_name.starts_with(b"swapper/1\0"));
        assert_eq!(layout.read(&raw[..59]), None, "cut short");
    }
}

#[test]
fn arrivals_are_read_on_kernels_that_lay_them_out_in_two_ways() {
    let (local, remote) = (sockaddr_in(8080), sockaddr_in(40_000));
    let bytes = 512_u16.to_ne_bytes();
    let raw = record(
        136,
        &[
            (8, &local),
            (36, &remote),
            (76, &bytes),
            (128, &0xffff_8880_u64.to_ne_bytes()),
        ],
    );
    let fact = |key| Fact::Arrived {
        key,
        ends: ends(8080, 40_000),
        bytes: 512,
    };
    let new = layout(Kind::Arrived, PROBE_6_18);
    assert_eq!(new.read(&raw), Some(fact(0xffff_8880)));
    let raw = record(112, &[(8, &local), (36, &remote), (72, &bytes)]);
    let old = layout(Kind::Arrived, PROBE_5_4);
    assert_eq!(old.read(&raw), Some(fact(0)));
}

#[test]
fn reads_are_read_on_kernels_that_lay_them_out_in_two_ways() {
    let mapped: [u8; 16] = Ipv4Addr::LOCALHOST.to_ipv6_mapped().octets();
    for (text, at) in [(READ_6_18, 30), (READ_5_4, 28)] {
        let raw = record(
            72,
            &[
                (4, &9_i32.to_ne_bytes()),
                (8, &5_u64.to_ne_bytes()),
                (16, &8080_u16.to_ne_bytes()),
                (18, &40_000_u16.to_ne_bytes()),
                (at, &mapped),
                (at + 16, &mapped),
            ],
        );
        let fact = layout(Kind::Read, text).read(&raw);
        let expected = Fact::Read {
            tid: 9,
            key: 5,
            ends: ends(8080, 40_000),
        };
        assert_eq!(fact, Some(expected));
    }
}

#[test]
fn the_way_of_a_datagram_is_read_over_both_protocols() {
    let ports = [40_000_u16.to_ne_bytes(), 53_u16.to_ne_bytes()].concat();
    let tid = 9_i32.to_ne_bytes();
    let raw = record(
        76,
        &[
            (4, &tid),
            (28, &[10, 0, 0, 1]),
            (32, &[127, 0, 0, 53]),
            (56, &ports),
        ],
    );
    let routed = |tid, local: &str, remote: &str| Fact::Routed {
        tid,
        ends: Socket {
            local: local.parse().unwrap(),
            remote: remote.parse().unwrap(),
        },
    };
    let plain = layout(Kind::Routed, ROUTED);
    let expected = routed(9, "10.0.0.1:40000", "127.0.0.53:53");
    assert_eq!(plain.read(&raw), Some(expected));
    let one: [u8; 16] = Ipv6Addr::LOCALHOST.octets();
    let raw = record(
        102,
        &[
            (2, &[0x10]),
            (4, &tid),
            (31, &one),
            (47, &one),
            (64, &ports),
        ],
    );
    let expected = routed(0, "[::1]:40000", "[::1]:53");
    assert_eq!(
        layout(Kind::Routed6, ROUTED6).read(&raw),
        Some(expected),
        "no thread's"
    );
}

#[test]
fn datagrams_are_told_from_what_is_sent_on_connections() {
    let read = |kind, protocol: u16, bytes: i32| {
        let family: u16 = if protocol == 0 { 1 } else { 2 };
        let raw = record(
            28,
            &[
                (4, &9_i32.to_ne_bytes()),
                (8, &5_u64.to_ne_bytes()),
                (16, &family.to_ne_bytes()),
                (18, &protocol.to_ne_bytes()),
                (20, &bytes.to_ne_bytes()),
            ],
        );
        layout(kind, WROTE).read(&raw)
    };
    let wrote = |sort| Fact::Wrote {
        tid: 9,
        key: 5,
        bytes: 31,
        sort,
    };
    assert_eq!(read(Kind::Wrote, 17, 31), Some(wrote(Sort::Datagram)));
    assert_eq!(read(Kind::Wrote, 6, 31), Some(wrote(Sort::Stream)));
    assert_eq!(read(Kind::Wrote, 0, 31), Some(wrote(Sort::Unix)));
    assert_eq!(read(Kind::Wrote, 17, -11), None);
    let sort = Sort::Datagram;
    let received = Fact::Received {
        tid: 9,
        key: 5,
        sort,
    };
    assert_eq!(read(Kind::Received, 17, 31), Some(received));
}

#[test]
fn calls_that_do_not_wait_are_nothing() {
    let layout = layout(Kind::Call, CALL);
    let call = |number: i64, second: u64| {
        let raw = record(
            64,
            &[
                (4, &9_i32.to_ne_bytes()),
                (8, &number.to_ne_bytes()),
                (16, &0x7000_u64.to_ne_bytes()),
                (24, &second.to_ne_bytes()),
            ],
        );
        layout.read(&raw)
    };
    let waits = Fact::Call {
        tid: 9,
        call: Call::Futex,
        about: 0x7000,
    };
    assert_eq!(call(libc::SYS_futex, 128), Some(waits));
    assert_eq!(call(libc::SYS_futex, 129), None);
    assert_eq!(call(libc::SYS_getpid, 0), None);
}

#[test]
fn a_tracepoint_without_a_needed_field_is_not_listened_to() {
    let without = SWITCH.replace("prev_state", "state");
    assert!(Layout::of(Kind::Switch, &Format::parse(&without).unwrap()).is_none());
    let without = PROBE_6_18.replace("data_len", "length");
    assert!(Layout::of(Kind::Arrived, &Format::parse(&without).unwrap()).is_none());
    let without = PROBE_6_18.replace("skaddr", "sk");
    assert!(Layout::of(Kind::Arrived, &Format::parse(&without).unwrap()).is_some());
}

#[test]
fn interrupts_are_told_from_threads() {
    assert_eq!(context(0x01), Context::Thread);
    assert_eq!(context(0x11), Context::Softirq);
    assert_eq!(context(0x19), Context::Hardirq);
}

proptest! {
    #[test]
    fn no_record_breaks_the_reading(raw in prop::collection::vec(any::<u8>(), 0..160)) {
        for (kind, text) in [
            (Kind::Switch, SWITCH),
            (Kind::Arrived, PROBE_6_18),
            (Kind::Arrived, PROBE_5_4),
            (Kind::Read, READ_6_18),
            (Kind::Read, READ_5_4),
            (Kind::Call, CALL),
            (Kind::Wrote, WROTE),
            (Kind::Received, WROTE),
            (Kind::Routed, ROUTED),
            (Kind::Routed6, ROUTED6),
        ] {
            let layout = layout(kind, text);
            if let Some(fact) = layout.read(&raw) {
                prop_assert!(fact.place() < Kind::TRACEPOINTS.len());
            }
        }
    }
}
