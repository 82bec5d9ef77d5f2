//! `coedit`: small updates of many clients, on Troupe and on the servers that others make, all driven by the same load.

mod crowd;
mod host;
mod ledger;
mod memory;
mod results;
mod stage;
mod wire;

use std::{thread, time::Duration};

use self::{
    crowd::{Crowd, Setting},
    host::{Host, Kind},
    results::{Results, Visit},
};
use crate::{
    peers::Peers,
    report::{Report, Result},
    server::{
        Program,
        program::{Org, Person},
    },
};

/// The settings, each by its name in the report.
const SETTINGS: &[(&str, Setting)] = &[
    ("one_document", Setting { documents: 1, clients: 20 }),
    ("fifty_documents", Setting { documents: 50, clients: 4 }),
];
/// Updates a second, altogether.
const CALM: u32 = 200;
const BRISK: u32 = 1_000;
/// Updates under way when everybody types as fast as they arrive, and in the burst.
const IN_FLIGHT: usize = 2_000;
/// Twice as long as Troupe may be behind with what it persists.
const PERSISTED_AFTER: Duration = Duration::from_millis(100);

/// How much is measured.
struct Amount {
    /// Rounds, in which the servers take turns.
    rounds: usize,
    /// The length of each stage of a round.
    stage: Duration,
}

/// Measures, on the program with these arguments behind `--rounds` and `--seconds`, each with a number.
pub fn run(arguments: &[String]) -> Result<Report> {
    let (amount, arguments) = Amount::read(arguments)?;
    let peers = Peers::install()?;
    let troupe = Troupe::new(arguments)?;
    let mut results = Results::default();
    {
        let hosts = [troupe.start()?, hocuspocus(&peers)?, y_websocket(&peers)?];
        for round in 1..=amount.rounds {
            println!("round {round} of {}", amount.rounds);
            // Whoever is first in one round is last in the next.
            for place in 0..hosts.len() {
                let host = &hosts[(place + round - 1) % hosts.len()];
                for &(name, setting) in SETTINGS {
                    results.add(host.name(), name, visit(host, setting, amount.stage)?);
                }
            }
        }
    }
    println!("killing the program behind a burst");
    results.lost_by_kill = troupe.lost_by_kill()?;
    println!("measuring memory");
    results.memory("troupe", memory::measure(|| troupe.start())?);
    results.memory("hocuspocus", memory::measure(|| hocuspocus(&peers))?);
    results.memory("y_websocket", memory::measure(|| y_websocket(&peers))?);
    Ok(results.report())
}

fn hocuspocus(peers: &Peers) -> Result<Host> {
    Ok(Host::new("hocuspocus", peers.start("hocuspocus.mjs", &[])?, Kind::Hocuspocus))
}

fn y_websocket(peers: &Peers) -> Result<Host> {
    Ok(Host::new("y_websocket", peers.start("y-websocket.mjs", &[])?, Kind::YWebsocket))
}

/// All stages of a setting, with documents of their own.
fn visit(host: &Host, setting: Setting, stage: Duration) -> Result<Visit> {
    let mut crowd = Crowd::open(host, setting)?;
    // Untimed: what a server does only at its first updates.
    crowd.type_paced(BRISK, stage / 4)?;
    Ok(Visit {
        calm: crowd.type_paced(CALM, stage)?,
        brisk: crowd.type_paced(BRISK, stage)?,
        flat_out: crowd.type_flat_out(IN_FLIGHT, stage)?,
        burst: crowd.type_burst(IN_FLIGHT)?,
        lost: crowd.typed().saturating_sub(Crowd::found(host, crowd.documents())?),
    })
}

impl Amount {
    /// Reads the options in front; what is left is for the program.
    fn read(mut arguments: &[String]) -> Result<(Self, &[String])> {
        let mut amount = Self { rounds: 3, stage: Duration::from_secs(3) };
        while let [name, value, rest @ ..] = arguments {
            match name.as_str() {
                "--rounds" => amount.rounds = value.parse()?,
                "--seconds" => amount.stage = Duration::from_secs(value.parse()?),
                _ => break,
            }
            arguments = rest;
        }
        Ok((amount, arguments))
    }
}

/// The program with its data, and somebody's organization in it.
struct Troupe {
    program: Program,
    org: Org,
}

impl Troupe {
    fn new(arguments: &[String]) -> Result<Self> {
        let program = Program::new(arguments)?;
        let server = program.start()?;
        let person = Person::sign_in(&server, "writer")?;
        let org = Org::new(&server, person)?;
        server.stop()?;
        Ok(Self { program, org })
    }

    fn start(&self) -> Result<Host> {
        Ok(Host::new("troupe", self.program.start()?, Kind::Troupe(self.org.clone())))
    }

    /// Characters that are gone after the program was killed behind a burst that had been persisted.
    fn lost_by_kill(&self) -> Result<u64> {
        let host = self.start()?;
        let mut crowd = Crowd::open(&host, SETTINGS[0].1)?;
        crowd.type_burst(IN_FLIGHT)?;
        thread::sleep(PERSISTED_AFTER);
        let (typed, documents) = (crowd.typed(), crowd.documents().to_vec());
        drop(crowd);
        drop(host);
        Ok(typed.saturating_sub(Crowd::found(&self.start()?, &documents)?))
    }
}
