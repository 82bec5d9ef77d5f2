//! What all rounds found, and the figures and ratios that follow.

use super::{
    memory::Memory,
    stage::{Stage, count},
};
use crate::report::{Report, median};

/// The servers that Troupe is measured against.
const PEERS: &[&str] = &["hocuspocus", "y_websocket"];
const KB: f64 = 1_024.0;

/// One server in one setting in one round.
pub struct Visit {
    /// 200 updates a second.
    pub calm: Stage,
    /// 1,000 updates a second.
    pub brisk: Stage,
    /// As many as arrive.
    pub flat_out: Stage,
    /// 2,000 at once.
    pub burst: Stage,
    /// Characters that a fresh client did not find in the documents afterwards.
    pub lost: u64,
}

type Part = fn(&Visit) -> &Stage;
type Figure = fn(&Stage) -> f64;

const STAGES: &[(&str, Part)] = &[
    ("at_200", |visit| &visit.calm),
    ("at_1000", |visit| &visit.brisk),
    ("flat_out", |visit| &visit.flat_out),
    ("burst", |visit| &visit.burst),
];
const PACED: &[(&str, Figure)] =
    &[("p50_ms", |stage| stage.quantile_ms(0.5)), ("p99_ms", |stage| stage.quantile_ms(0.99))];
const EVERY: &[(&str, Figure)] = &[
    ("per_second", Stage::rate),
    ("server_us", Stage::server_micros),
    ("loader_processors", Stage::loader_processors),
    ("missed", Stage::missed),
];

/// Everything, in the order in which it was found.
#[derive(Default)]
pub struct Results {
    visits: Vec<(&'static str, &'static str, Visit)>,
    memories: Vec<(&'static str, Memory)>,
    /// Characters that were gone after Troupe was killed.
    pub lost_by_kill: u64,
}

impl Results {
    /// Adds a server's visit to a setting.
    pub fn add(&mut self, host: &'static str, setting: &'static str, visit: Visit) {
        println!(
            "  {host} {setting}: p99 {:.2} and {:.2} ms, {:.0}/s at {:.1} us each (load {:.2}), missed {}, lost {}",
            visit.calm.quantile_ms(0.99),
            visit.brisk.quantile_ms(0.99),
            visit.flat_out.rate(),
            visit.flat_out.server_micros(),
            visit.flat_out.loader_processors(),
            STAGES.iter().map(|(_, part)| part(&visit).missed()).sum::<f64>(),
            visit.lost,
        );
        self.visits.push((host, setting, visit));
    }

    /// Adds a server's memory.
    pub fn memory(&mut self, host: &'static str, memory: Memory) {
        println!(
            "  {host}: {:.1} KB a document, {:.1} KB with its client",
            memory.document / KB,
            memory.document_and_client / KB
        );
        self.memories.push((host, memory));
    }

    /// What is reported.
    pub fn report(&self) -> Report {
        let mut report = Report::new("coedit");
        for (host, setting) in Self::pairs() {
            let of = |part: Part, figure: Figure| median(self.of(host, setting).map(|visit| figure(part(visit))));
            for &(stage, part) in STAGES {
                for &(name, figure) in EVERY {
                    report.figure(format!("{host}_{setting}_{stage}_{name}"), of(part, figure));
                }
            }
            for &(stage, part) in &STAGES[..2] {
                for &(name, figure) in PACED {
                    report.figure(format!("{host}_{setting}_{stage}_{name}"), of(part, figure));
                }
            }
            let lost = self.of(host, setting).map(|visit| count(visit.lost)).sum();
            report.figure(format!("{host}_{setting}_lost"), lost);
        }
        for (host, memory) in &self.memories {
            report.figure(format!("{host}_document_kb"), memory.document / KB);
            report.figure(format!("{host}_document_and_client_kb"), memory.document_and_client / KB);
        }
        report.figure("troupe_lost_by_kill", count(self.lost_by_kill));
        self.ratios(&mut report);
        report
    }

    /// Troupe to each peer: the median of the rounds, each of which both were in.
    fn ratios(&self, report: &mut Report) {
        for peer in PEERS {
            for &(setting, _) in super::SETTINGS {
                let ratio = |part: Part, figure: Figure| {
                    let pairs = self.of("troupe", setting).zip(self.of(peer, setting));
                    median(pairs.map(|(ours, theirs)| figure(part(ours)) / figure(part(theirs))))
                };
                let flat_out: Part = |visit| &visit.flat_out;
                report.ratio(format!("{setting}_per_second_to_{peer}"), ratio(flat_out, Stage::rate));
                report.ratio(format!("{setting}_server_us_to_{peer}"), ratio(flat_out, Stage::server_micros));
                for &(stage, part) in &STAGES[..2] {
                    let p99 = ratio(part, |stage| stage.quantile_ms(0.99));
                    report.ratio(format!("{setting}_{stage}_p99_to_{peer}"), p99);
                }
            }
            let document =
                |host| self.memories.iter().find(|(name, _)| *name == host).map(|(_, memory)| memory.document);
            if let (Some(ours), Some(theirs)) = (document("troupe"), document(peer)) {
                report.ratio(format!("document_memory_to_{peer}"), ours / theirs);
            }
        }
    }

    fn of(&self, host: &str, setting: &str) -> impl Iterator<Item = &Visit> {
        self.visits.iter().filter(move |visit| visit.0 == host && visit.1 == setting).map(|visit| &visit.2)
    }

    fn pairs() -> impl Iterator<Item = (&'static str, &'static str)> {
        let hosts = ["troupe"].iter().chain(PEERS);
        hosts.flat_map(|host| super::SETTINGS.iter().map(|(setting, _)| (*host, *setting)))
    }
}
