//! What this package makes of rules of RFC 5545, for whoever compares that with what others make of them
//! (`.ci/calendar/run`).
//!
//! `calendar rules COUNT SEED` writes lines of JSON `{start, zone, rule, to, times, shown, ended, given}`: a random
//! rule, the first times on the wall that it gives up to `to`, what clocks show then, where they skip one, whether
//! there are no more, and whether the rule gives its start. `calendar expand` reads lines of JSON `{start, zone, rule,
//! to, take}` and writes such lines.
//!
//! `calendar files COUNT SEED` writes lines of JSON `{file, says, zone, shown}`: a file with an event of such a rule, texts that it says,
//! its zone, and what clocks there show at instants of ten years.

mod files;
mod generator;

use std::{
    env,
    io::{self, BufRead, Write},
    process::ExitCode,
};

use generator::Generator;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use troupe_domain::{
    calendar::recurrence::{Day, Rule, Series, Start, Wall, Walls},
    calendar::zone_named,
};

/// Times that are compared of each rule.
const TAKEN: usize = 24;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut write = |line: Json| writeln!(out, "{line}").expect("somebody reads");
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["rules", count, seed] => {
            let count: usize = count.parse().expect("a number");
            let mut generator = Generator::new(seed.parse().expect("a number"));
            (0..count).for_each(|_| write(answer(&generator.case(), TAKEN)));
        }
        ["files", count, seed] => {
            let count: usize = count.parse().expect("a number");
            let mut generator = Generator::new(seed.parse().expect("a number"));
            (0..count).for_each(|at| write(files::file(&generator.case(), at)));
        }
        ["expand"] => io::stdin().lock().lines().for_each(|line| {
            let asked: Asked = serde_json::from_str(&line.expect("a line of UTF-8")).expect("a rule and its start");
            write(asked.answer());
        }),
        _ => {
            eprintln!("calendar rules COUNT SEED | calendar files COUNT SEED | calendar expand");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// A rule, where it begins, and how far it is looked at.
pub struct Case {
    rule: Rule,
    start: Wall,
    zone: &'static str,
    to: Wall,
}

fn answer(case: &Case, take: usize) -> Json {
    let zone = zone_named(case.zone).expect("a zone");
    let series = Series::new(Start::zoned(case.start, zone), Some(case.rule.clone())).expect("a series");
    let mut walls = series.walls(Wall::MIN, case.to);
    let taken: Vec<Wall> = walls.by_ref().take(take).collect();
    let shown: Vec<String> = taken.iter().map(|&wall| series.shown(wall).to_string()).collect();
    let times: Vec<String> = taken.iter().map(Wall::to_string).collect();
    json!({
        "start": case.start.to_string(), "zone": case.zone, "rule": case.rule.to_string(), "to": case.to.to_string(),
        "times": times, "shown": if shown == times { None } else { Some(shown) }, "ended": walls.next().is_none(),
        "given": Walls::new(&case.rule, case.start, case.start, case.start).next().is_some(),
    })
}

/// What `expand` reads.
#[derive(Deserialize)]
struct Asked {
    start: String,
    rule: String,
    to: String,
    take: usize,
}

impl Asked {
    fn answer(&self) -> Json {
        match self.rule.parse::<Rule>() {
            Ok(rule) => {
                let case = Case { rule, start: wall(&self.start), zone: "UTC", to: wall(&self.to) };
                answer(&case, self.take)
            }
            Err(fault) => json!({ "error": fault.to_string() }),
        }
    }
}

fn wall(text: &str) -> Wall {
    let part = |range: std::ops::Range<usize>| text[range].parse::<u32>().expect("digits");
    let year = i32::try_from(part(0..4)).expect("four digits");
    let seconds = part(11..13) * 3600 + part(14..16) * 60 + part(17..19);
    Day::checked(year, part(5..7), part(8..10)).expect("a day").midnight().plus(seconds.into())
}
