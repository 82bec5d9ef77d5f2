#![no_main]

use troupe_fuzz as _;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| troupe::fuzzing::printed(bytes));
