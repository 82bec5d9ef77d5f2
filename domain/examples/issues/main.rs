//! What this package makes of queries and of the clocks of service desks, for whoever compares that with what others make of them
//! (`.ci/issues/run`).
//!
//! `issues jql` reads lines of JSON, each the text of a query, and writes a line for each: the tree, or `{error}`. `issues sla`
//! reads histories and writes the cycles of a clock; `issues hours` reads hours and two instants, and writes milliseconds.

use std::{
    env,
    io::{self, BufRead, Write},
    process::ExitCode,
};

use serde_json::Value as Json;

mod clocks;
mod tree;

fn main() -> ExitCode {
    let answer: fn(&str) -> Json = match env::args().nth(1).as_deref() {
        Some("jql") => tree::answer,
        Some("sla") => clocks::cycles,
        Some("hours") => clocks::elapsed,
        _ => {
            eprintln!("issues jql|sla|hours");
            return ExitCode::FAILURE;
        }
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let line = line.expect("a line of UTF-8");
        writeln!(out, "{}", answer(&line)).expect("somebody reads");
    }
    ExitCode::SUCCESS
}
