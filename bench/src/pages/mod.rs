//! `pages`: searches and lists of an organization with 100,000 pages, against bare SQLite on the same pages; and searches of
//! a small one, by itself and beside many others.

mod bare;
mod beside;
mod texts;

use std::time::Duration;

use serde_json::json;

use self::{
    bare::Bare,
    texts::{Author, Kind},
};
use crate::{
    load::{Bytes, Load, Measured, Request, Traffic},
    report::{Report, Result, median},
    server::{Program, Server, call, program::Person},
};

const PAGES: usize = 100_000;
/// Pages of one import.
const ARCHIVE_PAGES: usize = 5_000;
const ROUNDS: usize = 5;
/// Requests of a kind in a round, one after the other.
const SEARCHES: usize = 100;
const LISTS: usize = 30;
/// Connections that ask at once, for what the server takes under load.
const CROWD: usize = 16;
const CROWD_ROUND: Duration = Duration::from_secs(3);
/// Longer than a round of requests one after the other may take.
const PATIENCE: Duration = Duration::from_secs(600);

/// Organizations beside which one searches, where no other number is asked for.
const OTHERS: usize = 1_000;

/// Measures, on the program with these arguments behind `--pages` and `--others`, each with a number; 0 leaves a part out.
pub fn run(arguments: &[String]) -> Result<Report> {
    let (mut pages, mut others, mut arguments) = (PAGES, OTHERS, arguments);
    while let [name, number, rest @ ..] = arguments {
        match name.as_str() {
            "--pages" => pages = number.parse()?,
            "--others" => others = number.parse()?,
            _ => break,
        }
        arguments = rest;
    }
    let mut report = Report::new("pages");
    if pages > 0 {
        measure(&Program::new(arguments)?, pages, &mut report)?;
    }
    if others > 0 {
        beside::measure(&Program::new(arguments)?, others, &mut report)?;
    }
    Ok(report)
}

/// An organization with so many pages.
fn measure(program: &Program, pages: usize, report: &mut Report) -> Result<()> {
    let server = program.start()?;
    let reader = Reader::sign_in(&server, "reader")?.fill(&server, "Pages", &mut Author::new(), pages)?;
    // A program on another database has no such file: then there are figures, and no ratios.
    let file = program.data().join("troupe.sqlite");
    let bare = file.is_file().then(|| Bare::open(&file, &reader.org_id)).transpose()?;
    let kinds = Kind::ALL.map(|(kind, name)| (name, Asked::Search(kind)));
    let mut parts: Vec<_> = kinds.into_iter().chain([("list", Asked::List)]).map(Part::new).collect();
    for round in 0..=ROUNDS {
        for part in &mut parts {
            part.measure(&server, &reader, bare.as_ref(), round)?;
        }
        if round == 0 {
            // That was the warm-up.
            parts.iter_mut().for_each(Part::forget);
        } else {
            println!("round {round} of {ROUNDS}");
        }
    }
    for part in &parts {
        part.report(report);
    }
    Ok(())
}

/// Somebody who reads the pages of an organization.
struct Reader {
    person: Person,
    org_id: String,
}

/// Somebody who has no organization yet, or another one.
struct SignedIn(Person);

impl Reader {
    fn sign_in(server: &Server, name: &str) -> Result<SignedIn> {
        Ok(SignedIn(Person::sign_in(server, name)?))
    }

    fn signed_in(self) -> SignedIn {
        SignedIn(self.person)
    }
}

impl SignedIn {
    /// Makes an organization, and imports its pages.
    fn fill(self, server: &Server, name: &str, author: &mut Author, pages: usize) -> Result<Reader> {
        let Self(person) = self;
        let body = json!({ "name": name }).to_string().into_bytes();
        let made = Request::new("POST", "/v1/orgs").bearer(&person.token).json(body);
        let org_id = call(server.address(), made)?.success()?["org"]["orgId"].as_str().ok_or("no id")?.to_owned();
        let mut left = pages;
        while left > 0 {
            let some = left.min(ARCHIVE_PAGES);
            let import = Request::new("POST", &format!("/v1/orgs/{org_id}/pages/import")).bearer(&person.token);
            let import = import.body("application/zip", author.archive(some)?);
            let imported = &call(server.address(), import)?.success()?["imported"];
            if *imported != some {
                return Err(format!("{imported} pages were imported").into());
            }
            left -= some;
            if left > 0 {
                println!("{left} pages to go");
            }
        }
        Ok(Reader { person, org_id })
    }
}

impl Reader {
    fn search(&self, question: &str) -> Bytes {
        let question = question.replace(' ', "+");
        self.person.get(&format!("/v1/orgs/{}/pages/search?q={question}", self.org_id)).bytes()
    }

    fn list(&self) -> Bytes {
        self.person.get(&format!("/v1/orgs/{}/pages", self.org_id)).bytes()
    }
}

#[derive(Clone, Copy, Debug)]
enum Asked {
    Search(Kind),
    List,
}

/// Requests of one kind, and what they took.
struct Part {
    name: &'static str,
    asked: Asked,
    rounds: Vec<Round>,
}

struct Round {
    /// One after the other.
    single: Measured,
    /// From many at once.
    crowd: Measured,
    bare: Option<Measured>,
}

impl Part {
    const fn new((name, asked): (&'static str, Asked)) -> Self {
        Self { name, asked, rounds: Vec::new() }
    }

    fn forget(&mut self) {
        self.rounds.clear();
    }

    fn measure(&mut self, server: &Server, reader: &Reader, bare: Option<&Bare>, round: usize) -> Result<()> {
        let (address, process) = (server.address(), server.process());
        // Every round asks something else.
        let questions: Vec<_> = match self.asked {
            Asked::Search(kind) => (0..SEARCHES).map(|number| kind.question(round * SEARCHES + number)).collect(),
            Asked::List => Vec::new(),
        };
        let requests: Vec<_> = match self.asked {
            Asked::Search(_) => questions.iter().map(|question| reader.search(question)).collect(),
            Asked::List => vec![reader.list(); LISTS],
        };
        let one_by_one = Load { address, process, connections: 1, duration: PATIENCE };
        let single = one_by_one.run(&mut InTurn { requests: &requests, next: 0, is_endless: false })?;
        let at_once = Load { address, process, connections: CROWD, duration: CROWD_ROUND };
        let crowd = at_once.run(&mut InTurn { requests: &requests, next: 0, is_endless: true })?;
        let times = bare.map(|bare| match self.asked {
            Asked::Search(_) => bare.search(&questions),
            Asked::List => bare.lists(LISTS),
        });
        let bare = times.transpose()?.map(|times| {
            let micros = times.iter().map(|time| u32::try_from(time.as_micros()).unwrap_or(u32::MAX)).collect();
            Measured::new(micros, 1.0, Duration::ZERO, Duration::ZERO)
        });
        self.rounds.push(Round { single, crowd, bare });
        Ok(())
    }

    fn report(&self, report: &mut Report) {
        let prefix = match self.asked {
            Asked::Search(_) => format!("search_{}", self.name),
            Asked::List => self.name.to_owned(),
        };
        let of = |figure: &dyn Fn(&Round) -> f64| median(self.rounds.iter().map(figure));
        report.figure(format!("{prefix}_p50_ms"), of(&|round| round.single.quantile_ms(0.5)));
        report.figure(format!("{prefix}_p99_ms"), of(&|round| round.single.quantile_ms(0.99)));
        report.figure(format!("{prefix}_crowd_p50_ms"), of(&|round| round.crowd.quantile_ms(0.5)));
        report.figure(format!("{prefix}_crowd_p99_ms"), of(&|round| round.crowd.quantile_ms(0.99)));
        report.figure(format!("{prefix}_crowd_per_second"), of(&|round| round.crowd.rate()));
        let pairs: Vec<_> =
            self.rounds.iter().filter_map(|round| Some((&round.single, round.bare.as_ref()?))).collect();
        if pairs.is_empty() {
            return;
        }
        for (name, share) in [("p50", 0.5), ("p99", 0.99)] {
            let to_bare = |(ours, bare): &(&Measured, &Measured)| ours.quantile_ms(share) / bare.quantile_ms(share);
            report.figure(
                format!("{prefix}_bare_{name}_ms"),
                median(pairs.iter().map(|(_, bare)| bare.quantile_ms(share))),
            );
            report.ratio(format!("{prefix}_{name}_to_bare"), median(pairs.iter().map(to_bare)));
        }
    }
}

/// These requests, whoever is next.
struct InTurn<'a> {
    requests: &'a [Bytes],
    next: usize,
    is_endless: bool,
}

impl Traffic for InTurn<'_> {
    fn next(&mut self, _: usize) -> Option<Bytes> {
        let request = if self.is_endless {
            self.requests.get(self.next % self.requests.len())
        } else {
            self.requests.get(self.next)
        };
        self.next += 1;
        request.cloned()
    }
}
