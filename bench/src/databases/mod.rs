//! `databases`: an item read, an item put, and a query of twenty items, over REST; against bare SQLite that reads and writes
//! the same rows with the same durability, and against dynalite, which keeps its items in `LevelDB` without fsync.

mod bare;
mod dynalite;
mod items;
mod troupe;

use std::time::Duration;

pub use self::bare::{ARGUMENT, serve};
use self::items::{Kind, Requests};
use crate::{
    load::{Load, Measured},
    peers::Peers,
    report::{Report, Result, median},
    server::{Program, Server},
};

const CONNECTIONS: usize = 16;
const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_secs(2);

/// One of the servers, and what is asked of it.
struct Side {
    name: &'static str,
    server: Server,
    requests: Requests,
    rounds: Vec<(Kind, Measured)>,
}

/// Measures, on the program with these arguments behind `--rounds` and `--seconds`, each with a number.
pub fn run(arguments: &[String]) -> Result<Report> {
    let (mut rounds, mut round, mut arguments) = (ROUNDS, ROUND, arguments);
    while let [name, number, rest @ ..] = arguments {
        match name.as_str() {
            "--rounds" => rounds = number.parse()?,
            "--seconds" => round = Duration::from_secs(number.parse()?),
            _ => break,
        }
        arguments = rest;
    }
    let program = Program::new(arguments)?;
    let peers = Peers::install()?;
    let folder = tempfile::tempdir()?;
    println!("filling the tables");
    let (server, table) = troupe::start(&program)?;
    // A program on another database has no such file: then there is one baseline less.
    let file = program.data().join("troupe.sqlite");
    let bare = file.is_file().then(|| bare::start(&file)).transpose()?;
    let (dynalite, of_dynalite) = dynalite::start(&peers, folder.path())?;
    let mut sides = vec![Side::new("troupe", server, table.requests()?)];
    sides.extend(bare.map(|(server, requests)| Side::new("bare", server, requests)));
    sides.push(Side::new("dynalite", dynalite, of_dynalite));
    for number in 0..=rounds {
        for kind in Kind::ALL {
            for place in 0..sides.len() {
                let turn = (place + number) % sides.len();
                sides[turn].measure(kind, round, number == 0)?;
            }
        }
        // The first is the warm-up.
        if number > 0 {
            println!("round {number} of {rounds}: {}", sides.iter().map(Side::line).collect::<Vec<_>>().join("; "));
        }
    }
    troupe::check(&sides[0].server, &table, &sides[0].requests)?;
    Ok(report(&sides))
}

impl Side {
    fn new(name: &'static str, server: Server, requests: Requests) -> Self {
        Self { name, server, requests, rounds: Vec::new() }
    }

    fn measure(&mut self, kind: Kind, duration: Duration, is_warm_up: bool) -> Result<()> {
        let (address, process) = (self.server.address(), self.server.process());
        let load = Load { address, process, connections: CONNECTIONS, duration };
        let measured = load.run(self.requests.of(kind)).map_err(|error| format!("{}: {error}", self.name))?;
        if !is_warm_up {
            self.rounds.push((kind, measured));
        }
        Ok(())
    }

    /// What the last round came to.
    fn line(&self) -> String {
        let rates =
            Kind::ALL.map(|kind| format!("{} {:.0}/s", kind.name(), self.of(kind).last().map_or(0.0, Measured::rate)));
        format!("{} {}", self.name, rates.join(", "))
    }

    fn of(&self, kind: Kind) -> impl DoubleEndedIterator<Item = &Measured> {
        self.rounds.iter().filter(move |(of, _)| *of == kind).map(|(_, measured)| measured)
    }
}

fn report(sides: &[Side]) -> Report {
    let mut report = Report::new("databases");
    for side in sides {
        for kind in Kind::ALL {
            let figure = |figure: fn(&Measured) -> f64| median(side.of(kind).map(figure));
            let name = format!("{}_{}", side.name, kind.name());
            report.figure(format!("{name}_per_second"), figure(Measured::rate));
            report.figure(format!("{name}_p99_ms"), figure(|measured| measured.quantile_ms(0.99)));
            report.figure(format!("{name}_server_us"), figure(Measured::server_micros));
        }
    }
    let (troupe, others) = (&sides[0], &sides[1..]);
    for other in others {
        for kind in Kind::ALL {
            let pairs = troupe.of(kind).zip(other.of(kind));
            let ratio = median(pairs.map(|(ours, theirs)| ours.rate() / theirs.rate()));
            report.ratio(format!("{}_to_{}", kind.name(), other.name), ratio);
        }
    }
    let pairs = troupe.of(Kind::Hot).zip(troupe.of(Kind::Put));
    report.ratio("hot_to_put", median(pairs.map(|(hot, put)| hot.rate() / put.rate())));
    report
}
