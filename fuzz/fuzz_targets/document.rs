#![no_main]

use troupe_fuzz as _;

libfuzzer_sys::fuzz_target!(init: actors::fuzzing::expect_panics(), |bytes: &[u8]| actors::fuzzing::document(bytes));
