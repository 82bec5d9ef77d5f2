//! `vault`: changes of items and reads of the index, against an endpoint of the same server that authenticates and
//! answers empty; and whole syncs, against the same rows written out by hand.

mod changes;
mod owner;
mod rows;
mod sync;

use std::time::Duration;

pub use self::rows::{ARGUMENT, serve};
use self::{
    changes::{CHANGES, ChangedVault, Changes},
    owner::Owner,
    sync::Syncs,
};
use crate::{
    load::{Load, Measured, Repeated},
    report::{Report, Result, median},
    server::{Program, Server, program::Person},
};

const CONNECTIONS: usize = 32;
const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_secs(2);
/// Signed requests of each connection before the first round.
const WARM_UP_REQUESTS: usize = 20;
/// How many more requests are signed than the last round needed.
const SPARE: f64 = 1.5;
/// Authenticates, finds that nothing is asked for, and answers so.
const EMPTY: &str = "items?ids=";

/// Measures, on the program with these arguments.
pub fn run(arguments: &[String]) -> Result<Report> {
    let program = Program::new(arguments)?;
    let server = program.start()?;
    println!("making {CONNECTIONS} vaults");
    let mut stage = Stage::set(&server)?;
    stage.warm_up()?;
    let mut rounds = Vec::new();
    for number in 1..=ROUNDS {
        let round = stage.round()?;
        let [empty, index, items] = [&round.empty, &round.index, &round.items].map(Measured::rate);
        println!("round {number} of {ROUNDS}: empty {empty:.0}/s, index {index:.0}/s, items {items:.0}/s");
        rounds.push(round);
    }
    stage.changes.check(&server)?;
    let mut report = report(&rounds);
    // Behind the others, so that these work on as many vaults as ever.
    measure_syncs(&program, &server, &mut report)?;
    Ok(report)
}

/// Whole syncs on Troupe and, where its database is a file, of the bare rows, in turns.
fn measure_syncs(program: &Program, server: &Server, report: &mut Report) -> Result<()> {
    println!("filling {CONNECTIONS} vaults to be synced");
    let (mut troupe, mut rows) = sync::fill(server, CONNECTIONS)?;
    let file = program.data().join("troupe.sqlite");
    let bare = file.is_file().then(|| rows::start(&file)).transpose()?;
    let load = |server: &Server, syncs: &mut Syncs| {
        let (address, process) = (server.address(), server.process());
        Load { address, process, connections: CONNECTIONS, duration: ROUND }.run(syncs)
    };
    let mut rounds = Vec::new();
    for number in 0..=ROUNDS {
        let ours = load(server, &mut troupe)?;
        let bare = bare.as_ref().map(|bare| load(bare, &mut rows)).transpose()?;
        let [ours_rate, bare_rate] = [Some(&ours), bare.as_ref()].map(|of| of.map_or(0.0, syncs_per_second));
        println!("syncs, round {number} of {ROUNDS}: {ours_rate:.0}/s, bare rows {bare_rate:.0}/s");
        // The first is the warm-up.
        if number > 0 {
            rounds.push((ours, bare));
        }
    }
    report.figure("syncs_per_second", median(rounds.iter().map(|(ours, _)| syncs_per_second(ours))));
    report.figure("sync_request_server_us", median(rounds.iter().map(|(ours, _)| ours.server_micros())));
    let pairs: Vec<_> = rounds.iter().filter_map(|(ours, bare)| Some((ours, bare.as_ref()?))).collect();
    if !pairs.is_empty() {
        report.figure("rows_per_second", median(pairs.iter().map(|(_, bare)| syncs_per_second(bare))));
        report.figure("rows_request_server_us", median(pairs.iter().map(|(_, bare)| bare.server_micros())));
        report.ratio("sync_to_rows", median(pairs.iter().map(|(ours, bare)| ours.rate() / bare.rate())));
    }
    Ok(())
}

fn syncs_per_second(measured: &Measured) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "six")]
    let requests = sync::REQUESTS as f64;
    measured.rate() / requests
}

struct Stage<'a> {
    server: &'a Server,
    empty: Repeated,
    index: Repeated,
    changes: Changes,
    /// Requests of each connection that the next round of changes is given.
    prepared: usize,
}

struct Round {
    empty: Measured,
    index: Measured,
    items: Measured,
}

impl<'a> Stage<'a> {
    fn set(server: &'a Server) -> Result<Self> {
        let people = Person::crowd(server, CONNECTIONS)?.into_iter().enumerate();
        let vaults = people.map(|(number, person)| {
            Owner::create(server, person, number).and_then(|owner| ChangedVault::fill(server, owner))
        });
        let vaults = vaults.collect::<Result<Vec<_>>>()?;
        let reads = |tail: &str| {
            Repeated(
                vaults.iter().map(ChangedVault::owner).map(|owner| owner.get(&owner.target(tail)).bytes()).collect(),
            )
        };
        let (empty, index) = (reads(EMPTY), reads("index"));
        Ok(Self { server, empty, index, changes: Changes(vaults), prepared: WARM_UP_REQUESTS })
    }

    fn load(&self) -> Load {
        let (address, process) = (self.server.address(), self.server.process());
        Load { address, process, connections: CONNECTIONS, duration: ROUND }
    }

    fn warm_up(&mut self) -> Result<()> {
        // The first round of changes ends when one connection has used up what was signed; from its rate follows how
        // many the next one needs.
        self.round().map(drop)
    }

    fn round(&mut self) -> Result<Round> {
        let load = self.load();
        let (empty, index) = (load.run(&mut self.empty)?, load.run(&mut self.index)?);
        self.changes.prepare(self.prepared)?;
        let items = load.run(&mut self.changes)?;
        self.prepared = requests_for(&items);
        Ok(Round { empty, index, items })
    }
}

/// How many requests of a connection a whole round takes at the rate that was measured.
fn requests_for(items: &Measured) -> usize {
    #[expect(clippy::cast_precision_loss, reason = "a handful of connections")]
    let each = items.rate() * ROUND.as_secs_f64() / CONNECTIONS as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small positive number")]
    let count = (each * SPARE).ceil() as usize;
    count.max(WARM_UP_REQUESTS)
}

fn report(rounds: &[Round]) -> Report {
    let mut report = Report::new("vault");
    for (name, measured) in PARTS {
        let figure = |figure: fn(&Measured) -> f64| median(rounds.iter().map(|round| figure(measured(round))));
        report.figure(format!("{name}_per_second"), figure(Measured::rate));
        report.figure(format!("{name}_p99_ms"), figure(|measured| measured.quantile_ms(0.99)));
        report.figure(format!("{name}_server_us"), figure(Measured::server_micros));
        report.figure(format!("{name}_loader_processors"), figure(Measured::loader_processors));
    }
    #[expect(clippy::cast_precision_loss, reason = "fifty")]
    let changes = median(rounds.iter().map(|round| round.items.rate() * CHANGES as f64));
    report.figure("item_changes_per_second", changes);
    report.ratio("items_to_empty", median(rounds.iter().map(|round| round.items.rate() / round.empty.rate())));
    report.ratio("index_to_empty", median(rounds.iter().map(|round| round.index.rate() / round.empty.rate())));
    report
}

type Part = fn(&Round) -> &Measured;

const PARTS: &[(&str, Part)] =
    &[("empty", |round| &round.empty), ("index", |round| &round.index), ("items", |round| &round.items)];
