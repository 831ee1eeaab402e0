use proptest::prelude::*;

use super::*;

const SHAPE: Shape = Shape {
    raw: true,
    stack: true,
    registers: 3,
};

fn record(kind: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = kind.to_ne_bytes().to_vec();
    bytes.extend(0_u16.to_ne_bytes());
    bytes.extend(((HEADER_BYTES + body.len()) as u16).to_ne_bytes());
    bytes.extend(body);
    bytes
}

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

fn pair(low: u32, high: u32) -> u64 {
    u64::from_ne_bytes(
        [low.to_ne_bytes(), high.to_ne_bytes()]
            .concat()
            .try_into()
            .unwrap(),
    )
}

/// Head of a sample of event 5, of thread 9 of process 8, at 700 ns on CPU 1.
fn head() -> Vec<u8> {
    words(&[5, pair(8, 9), 700, pair(1, 0)])
}

/// What ends a record that is no sample.
fn trailer(time: u64) -> Vec<u8> {
    words(&[pair(8, 9), time, pair(1, 0), 5])
}

/// A record of a tracepoint padded as the kernel does: length and data end on eight bytes.
fn raw(bytes: &[u8]) -> Vec<u8> {
    assert_eq!((bytes.len() + 4) % 8, 0);
    [&(bytes.len() as u32).to_ne_bytes()[..], bytes].concat()
}

#[test]
fn a_sample_is_read_with_its_stack() {
    let chain = [
        CONTEXT_KERNEL,
        0xffff_ffff_8100_0000,
        CONTEXT_USER,
        0x40_1000,
        0x40_2000,
    ];
    let body = [
        head(),
        words(&[chain.len() as u64]),
        words(&chain),
        raw(&[7; 12]),
        words(&[2, 100, 200, 300]),
        words(&[16, 0x11, 0x22, 8]),
    ];
    let bytes = record(SAMPLE, &body.concat());
    assert_eq!(time(&bytes), Some(Nanos::new(700)));
    let Some(Record::Sample(sample)) = parse(&bytes, |id| (id == 5).then_some(SHAPE)) else {
        panic!("not read");
    };
    assert_eq!((sample.pid, sample.tid, sample.cpu), (8, 9, 1));
    assert_eq!(sample.raw, [7; 12]);
    let stack = sample.stack.unwrap();
    assert_eq!(stack.kernel, [0xffff_ffff_8100_0000]);
    assert_eq!(stack.user, [0x40_1000, 0x40_2000]);
    assert_eq!(stack.registers, [100, 200, 300]);
    assert_eq!(stack.dump, 0x11_u64.to_ne_bytes(), "as much as was filled");
    assert_eq!(
        parse(&bytes, |_| None),
        None,
        "of an event that is not ours"
    );
}

#[test]
fn a_thread_of_the_kernel_has_neither_registers_nor_a_dump() {
    let body = [head(), words(&[0]), raw(&[7; 4]), words(&[0, 0])];
    let bytes = record(SAMPLE, &body.concat());
    let Some(Record::Sample(sample)) = parse(&bytes, |_| Some(SHAPE)) else {
        panic!("not read");
    };
    let stack = sample.stack.unwrap();
    assert!(stack.registers.is_empty() && stack.dump.is_empty());
}

#[test]
fn births_names_ends_and_losses_are_told() {
    let read = |kind, body: Vec<u8>| {
        let bytes = record(kind, &[body, trailer(900)].concat());
        assert_eq!(time(&bytes), Some(Nanos::new(900)));
        format!("{:?}", parse(&bytes, |_| None).unwrap())
    };
    let task = || words(&[pair(20, 10), pair(21, 11), 900]);
    assert_eq!(
        read(FORK, task()),
        "Born { pid: 20, parent: 10, tid: 21, by: 11, cpu: 1 }"
    );
    assert_eq!(read(EXIT, task()), "Ended { pid: 20, tid: 21 }");
    assert_eq!(read(LOST, words(&[5, 33])), "Lost { count: 33 }");
    assert_eq!(read(LOST_SAMPLES, words(&[34])), "Lost { count: 34 }");
    let named = [words(&[pair(20, 21)]), b"worker-1\0\0\0\0\0\0\0\0".to_vec()].concat();
    let bytes = record(COMM, &[named, trailer(900)].concat());
    let expected = Record::Named {
        pid: 20,
        tid: 21,
        name: b"worker-1",
    };
    assert_eq!(parse(&bytes, |_| None), Some(expected));
}

#[test]
fn a_record_that_is_cut_or_empty_has_no_length() {
    let bytes = record(LOST, &[0; 48]);
    assert_eq!(length(&bytes), Some(56));
    assert_eq!(length(&bytes[..55]), None);
    assert_eq!(
        length(&[0; 8]),
        None,
        "a length of 0 would be read for ever"
    );
}

#[test]
fn switches_are_told_by_their_flags() {
    for (flags, left) in [(0, None), (1 << 13, Some(false)), (3 << 13, Some(true))] {
        let mut bytes = record(SWITCH, &trailer(700));
        bytes[4..6].copy_from_slice(&u16::to_ne_bytes(flags));
        let expected = Record::Switched { tid: 9, left };
        assert_eq!(parse(&bytes, |_| None), Some(expected));
        assert_eq!(time(&bytes), Some(Nanos::new(700)));
        let cut = bytes.len() - TRAILER_BYTES;
        bytes.truncate(cut);
        bytes[6..8].copy_from_slice(&u16::to_ne_bytes(cut as u16));
        assert_eq!(parse(&bytes, |_| None), None, "without its end");
    }
}

#[test]
fn handovers_of_a_cpu_are_told_by_who_gets_it() {
    let body = [words(&[pair(0, 4)]), trailer(700)].concat();
    let mut bytes = record(SWITCH_CPU_WIDE, &body);
    let expected = Record::Got {
        tid: 9,
        pid: 8,
        cpu: 1,
        from: 4,
    };
    assert_eq!(parse(&bytes, |_| None), Some(expected));
    assert_eq!(time(&bytes), Some(Nanos::new(700)));
    bytes[4..6].copy_from_slice(&SWITCH_OUT.to_ne_bytes());
    assert_eq!(
        parse(&bytes, |_| None),
        None,
        "reported with the one that comes"
    );
}

proptest! {
    #[test]
    fn no_bytes_break_the_reading(
        kind in 0_u32..16,
        body in prop::collection::vec(any::<u8>(), 0..300),
        few in prop::collection::vec(0_u64..40, 0..40),
    ) {
        for body in [body, words(&few)] {
            let bytes = record(kind, &body);
            let _ = time(&bytes);
            if let Some(Record::Sample(sample)) = parse(&bytes, |_| Some(SHAPE)) {
                prop_assert!(sample.raw.len() <= body.len());
            }
            let _ = (length(&body), time(&body), parse(&body, |_| Some(SHAPE)));
        }
    }
}
