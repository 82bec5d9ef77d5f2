//! Searches of one organization by itself, and beside many others that have the same words.

use super::{
    InTurn, PATIENCE, Reader, SEARCHES,
    texts::{Author, Kind},
};
use crate::{
    load::{Load, Measured},
    report::{Report, Result, median},
    server::{Program, Server},
};

/// Pages of each organization.
const PAGES: usize = 1_000;
/// Organizations that one person makes; they may own 50.
const ORGANIZATIONS_EACH: usize = 40;
const ROUNDS: usize = 5;

/// Measures beside none, and then beside so many.
pub fn measure(program: &Program, others: usize, report: &mut Report) -> Result<()> {
    let server = program.start()?;
    let mut author = Author::new();
    let reader = Reader::sign_in(&server, "beside")?.fill(&server, "Ours", &mut author, PAGES)?;
    let alone = rounds(&server, &reader)?;
    let mut neighbour = None;
    for number in 0..others {
        let signed_in = match neighbour.take() {
            Some(signed_in) if number % ORGANIZATIONS_EACH != 0 => signed_in,
            _ => Reader::sign_in(&server, &format!("neighbour-{number}"))?,
        };
        let other = signed_in.fill(&server, &format!("Other {number}"), &mut author, PAGES)?;
        neighbour = Some(other.signed_in());
        if number % 50 == 49 {
            println!("{} of {others} other organizations", number + 1);
        }
    }
    let beside = rounds(&server, &reader)?;
    for (kind, name) in Kind::ALL {
        let p95 = |rounds: &[(Kind, Measured)]| {
            median(rounds.iter().filter(|(of, _)| *of == kind).map(|(_, measured)| measured.quantile_ms(0.95)))
        };
        let (alone, beside) = (p95(&alone), p95(&beside));
        report.figure(format!("beside_none_{name}_p95_ms"), alone);
        report.figure(format!("beside_others_{name}_p95_ms"), beside);
        report.ratio(format!("beside_others_{name}_to_none"), beside / alone);
    }
    Ok(())
}

fn rounds(server: &Server, reader: &Reader) -> Result<Vec<(Kind, Measured)>> {
    let (address, process) = (server.address(), server.process());
    let one_by_one = Load { address, process, connections: 1, duration: PATIENCE };
    let mut measured = Vec::new();
    for round in 0..=ROUNDS {
        for (kind, _) in Kind::ALL {
            let questions = (0..SEARCHES).map(|number| kind.question(round * SEARCHES + number));
            let requests: Vec<_> = questions.map(|question| reader.search(&question)).collect();
            let found = one_by_one.run(&mut InTurn { requests: &requests, next: 0, is_endless: false })?;
            // The first is the warm-up.
            if round > 0 {
                measured.push((kind, found));
            }
        }
    }
    Ok(measured)
}
