#![no_main]

use troupe_fuzz as _;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| domain::fuzzing::git_wire(bytes));
