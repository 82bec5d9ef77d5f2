//! Plays the seeds of a fuzzing target, and thousands of random changes of them, through the target's function.
//!
//! This file is part of the tests of each package with targets. The changes are the same every time. What a fuzzer found
//! becomes a seed, and with that a test. `TROUPE_FUZZ_SECONDS` has each target play for so long instead.

use std::{
    env, fs,
    path::Path,
    time::{Duration, Instant},
};

/// Changes of seeds that are played.
const ROUNDS: usize = 4_000;
/// How long they may take where they take long.
const SECONDS: Duration = Duration::from_millis(1_500);
/// Bytes that an input may grow to.
const LEN_MAX: usize = 64 * 1024;
/// Bytes that mean something to one parser or another.
const TELLING: &[u8] = b"\0\x01\x7f\x80\xc3\xff \"%&'()+,-./09:;<=>?@AZ[\\]_`az{|}\n\r\t";
/// Texts that do.
const WORDS: &[&str] = &[
    "null",
    "true",
    "-1",
    "0",
    "1e999",
    "1e-7",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "\"\"",
    "[]",
    "{}",
    "[[[[[[[[",
    "../",
    "\r\n",
    "\u{feff}",
    "é",
    "İ",
    "ﷺ",
    "🎉",
    "\u{301}",
    "24:00",
    "2026-03-29T02:30",
    "UTC",
    "---\n",
];

/// Plays the target of this name.
pub(crate) fn play(target: &str, check: fn(&[u8])) {
    let seeds = seeds(target);
    for seed in &seeds {
        watched(seed, check);
    }
    let longer = env::var("TROUPE_FUZZ_SECONDS").ok().and_then(|seconds| seconds.parse().ok()).map(Duration::from_secs);
    let (rounds, most) = longer.map_or((ROUNDS, SECONDS), |longer| (usize::MAX, longer));
    let (mut dice, started) = (Dice(0x7472_6f75_7065), Instant::now());
    for _ in 0..rounds {
        if started.elapsed() >= most {
            break;
        }
        let mut input = dice.pick(&seeds).clone();
        for _ in 0..=dice.below(4) {
            change(&mut input, &seeds, &mut dice);
        }
        input.truncate(LEN_MAX);
        watched(&input, check);
    }
}

/// The target's seeds, in an order that doesn't depend on the file system.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let mut above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|folder| folder.join("fuzz/seeds"));
    let folder = above.find(|folder| folder.is_dir()).expect("the folder of the seeds").join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a seed").path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{target} has no seeds");
    paths.iter().map(|path| fs::read(path).expect("a seed")).collect()
}

/// Says with what a check failed, in a form that can be pasted into a seed.
fn watched(input: &[u8], check: fn(&[u8])) {
    struct Told<'a>(&'a [u8]);
    impl Drop for Told<'_> {
        fn drop(&mut self) {
            if std::thread::panicking() {
                eprintln!("the input was b\"{}\"", self.0.escape_ascii());
            }
        }
    }
    let told = Told(input);
    check(input);
    drop(told);
}

/// Changes an input in one of the ways in which inputs go wrong.
fn change(input: &mut Vec<u8>, seeds: &[Vec<u8>], dice: &mut Dice) {
    let at = dice.below(input.len() + 1);
    let end = (at + 1 + dice.below(16)).min(input.len());
    match dice.below(9) {
        0 if at < input.len() => input[at] ^= 1 << dice.below(8),
        1 if at < input.len() => input[at] = *dice.pick(TELLING),
        2 => input.insert(at, *dice.pick(TELLING)),
        3 => drop(input.drain(at..end.max(at))),
        4 => {
            let twice = input[at..end.max(at)].to_vec();
            drop(input.splice(at..at, twice));
        }
        5 => drop(input.splice(at..at, dice.pick(WORDS).bytes())),
        6 => {
            let other = dice.pick(seeds);
            input.truncate(at);
            input.extend_from_slice(&other[dice.below(other.len() + 1)..]);
        }
        7 => input.truncate(at),
        // A number gives way to one that is at the end of what numbers can be.
        _ => {
            let Some(start) = input.iter().skip(at).position(u8::is_ascii_digit).map(|ahead| at + ahead) else {
                return;
            };
            let digits = input[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            drop(input.splice(start..start + digits, dice.pick(WORDS).bytes()));
        }
    }
}

/// Numbers that look random and are the same every time (`SplitMix64`).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.roll() % end as u64).unwrap_or(0)
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}
