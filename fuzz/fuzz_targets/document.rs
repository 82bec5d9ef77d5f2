#![no_main]

use troupe_fuzz as _;

libfuzzer_sys::fuzz_target!(init: actors_pages::fuzzing::expect_panics(), |bytes: &[u8]| {
    actors_pages::fuzzing::document(bytes);
});
