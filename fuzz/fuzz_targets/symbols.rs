//! Names that other runtimes write for their code, read from any bytes: perf maps, whose ranges never
//! overlap and whose last line holds, and the tables of Go, which answer for any address.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use slowpath_observe::symbols::{GoTable, PerfMap};

fuzz_target!(|input: (u64, &[u8])| {
    let (at, bytes) = input;
    let map = PerfMap::parse(bytes);
    let _ = map.name(at);
    // A last line that ends is the one that holds, wherever it lies.
    let mut longer = bytes.to_vec();
    longer.extend_from_slice(format!("\n{:x} 1 held\n", at >> 1).as_bytes());
    assert_eq!(PerfMap::parse(&longer).name(at >> 1), Some("held"));
    if let Some(go) = GoTable::parse(Arc::from(bytes), 0x1000) {
        let _ = go.name(at);
        let _ = go.name(0x1000 + at % 0x1_0000);
    }
});
