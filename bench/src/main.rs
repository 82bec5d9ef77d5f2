//! Load programs. Each measures a candidate against a baseline in one run, and prints a ratio.
//!
//! `cargo run --release -p troupe-bench -- SCENARIO` prints its progress and, as the last line, one JSON object
//! `{"scenario", "figures": {name: number}, "ratios": {name: number}}`. `README.md` beside this package's sources says
//! what each figure means.

mod actors;
mod coedit;
mod commit;
mod databases;
mod fairness;
mod footprint;
mod git;
mod http;
mod issues;
mod load;
mod mail;
mod notify;
mod pages;
mod peers;
mod pipelines;
mod report;
mod server;
mod sockets;
mod storage;
mod vault;

use std::{env, process::ExitCode};

use report::{Report, Result};

/// What follows the name of a scenario; the scenarios that start the program hand it on.
type Arguments = Vec<String>;

/// A scenario measures, printing its progress, and reports. It makes the runtime that it needs.
type Scenario = fn(&[String]) -> Result<Report>;

const SCENARIOS: &[(&str, Scenario)] = &[
    ("actors", |_| actors::run()),
    ("coedit", coedit::run),
    ("commit", |_| commit::run()),
    ("databases", databases::run),
    ("fairness", fairness::run),
    ("footprint", footprint::run),
    ("git", git::run),
    ("http", http::run),
    ("issues", issues::run),
    ("mail", mail::run),
    ("notify", notify::run),
    ("pages", pages::run),
    ("pipelines", pipelines::run),
    ("sockets", sockets::run),
    ("storage", storage::run),
    ("vault", vault::run),
];

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    if name == server::hello::ARGUMENT {
        return exit(server::hello::serve());
    }
    if name == databases::ARGUMENT {
        return exit(databases::serve());
    }
    if name == sockets::ARGUMENT {
        return exit(sockets::serve());
    }
    if name == vault::ARGUMENT {
        return exit(vault::serve());
    }
    let Some((_, scenario)) = SCENARIOS.iter().find(|(scenario, _)| *scenario == name) else {
        let names: Vec<_> = SCENARIOS.iter().map(|(name, _)| *name).collect();
        eprintln!("usage: troupe-bench SCENARIO [ARGUMENTS OF THE PROGRAM]; SCENARIO is one of {}", names.join(", "));
        return ExitCode::FAILURE;
    };
    exit(scenario(&arguments.collect::<Arguments>()).map(|report| report.print()))
}

fn exit(outcome: Result<()>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("troupe-bench: {error}");
            ExitCode::FAILURE
        }
    }
}
