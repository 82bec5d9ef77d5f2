//! `issues`: ten queries of different shapes over a million issues, against the same statements by hand on the same file; how many
//! issues 16 clients make a second, and how many come in from files.

mod bare;
mod shapes;
mod texts;

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::{
    bare::Bare,
    shapes::{PAGE, Shape, shapes},
    texts::Author,
};
use crate::{
    load::{Bytes, Load, Measured, Repeated, Request},
    report::{Report, Result, median},
    server::{
        Program, Server, call,
        program::{Org, Person},
    },
};

const ISSUES: usize = 1_000_000;
/// Issues of an import, which is one commit.
const IMPORTED: usize = 200;
const SPACES: usize = 20;
const ROUNDS: usize = 5;
/// Askings of a shape in a round, one after the other.
const ASKED: usize = 20;
/// Clients that make issues, and the spaces in which they do.
const CLIENTS: usize = 16;
const MADE_IN: usize = 4;
const ROUND: Duration = Duration::from_secs(5);
/// Longer than a round of askings may take.
const PATIENCE: Duration = Duration::from_secs(600);
/// Searches at once, for what the server takes under load.
const CROWD_ROUND: Duration = Duration::from_secs(3);
const READER: &str = "reader";

/// Measures, on the program with these arguments behind `--issues`, which takes a number.
pub fn run(arguments: &[String]) -> Result<Report> {
    let (mut issues, mut arguments) = (ISSUES, arguments);
    while let [name, number, rest @ ..] = arguments {
        match name.as_str() {
            "--issues" => issues = number.parse()?,
            _ => break,
        }
        arguments = rest;
    }
    let program = Program::new(arguments)?;
    let server = program.start()?;
    let tracker = Tracker::new(&server)?;
    let mut report = Report::new("issues");
    report.figure("imported_per_second", tracker.fill(&server, issues)?);
    report.figure("made_per_second", tracker.make(&server)?);
    // A program on another database has no such file: then there are figures, and no ratios.
    let file = program.data().join("troupe.sqlite");
    let ids = [tracker.org_id.as_str(), tracker.space_id.as_str(), tracker.reader_id.as_str()];
    let bare = file.is_file().then(|| Bare::open(&file, ids)).transpose()?;
    let mut parts: Vec<Part> = shapes().into_iter().map(Part::new).collect();
    for round in 0..=ROUNDS {
        for part in &mut parts {
            part.measure((&server, &tracker), bare.as_ref(), round)?;
        }
        println!("round {round} of {ROUNDS}; the first is the warm-up");
    }
    for part in &parts {
        part.report(&mut report);
    }
    Ok(report)
}

/// An organization with its spaces.
struct Tracker {
    org: Org,
    org_id: String,
    /// The first space.
    space_id: String,
    reader_id: String,
}

fn space(number: usize) -> String {
    format!("SP{number}")
}

fn text(answer: &Value, path: &str) -> Result<String> {
    let found = answer.pointer(path).and_then(Value::as_str);
    Ok(found.ok_or_else(|| format!("an answer without {path}: {answer}"))?.to_owned())
}

impl Tracker {
    fn new(server: &Server) -> Result<Self> {
        let org = Org::new(server, Person::sign_in(server, READER)?)?;
        let mut made = Value::Null;
        for number in (0..SPACES).rev() {
            let body = json!({ "key": space(number), "name": "Bench", "template": "basic" });
            let request = org.request("POST", "issues/spaces").json(body.to_string().into_bytes());
            made = call(server.address(), request)?.success()?;
        }
        let bundle = call(server.address(), org.request("GET", "issues/config/meta"))?.success()?;
        Ok(Self {
            org_id: text(&made, "/space/orgId")?,
            space_id: text(&made, "/space/spaceId")?,
            reader_id: text(&bundle, "/people/0/userId")?,
            org,
        })
    }

    /// Imports so many issues; how many come in a second.
    fn fill(&self, server: &Server, issues: usize) -> Result<f64> {
        let mut author = Author::new(&format!("{READER}@example.com"))?;
        let (mut left, mut took) = (issues, Duration::ZERO);
        for number in 0.. {
            let some = left.min(IMPORTED);
            if some == 0 {
                break;
            }
            let content = author.file(some)?;
            let key = space(number % SPACES);
            let body = json!({ "space": key, "format": "csv", "content": content, "createMissing": true });
            let request = self.org.request("POST", "issues/import").json(body.to_string().into_bytes());
            let begun = Instant::now();
            let answer = call(server.address(), request)?.success()?;
            took += begun.elapsed();
            if answer["processed"] != some || answer["results"][0]["key"].is_null() {
                return Err(format!("an import came to something else: {answer}").into());
            }
            left -= some;
            if number % 250 == 0 {
                println!("{left} issues to go");
            }
        }
        let count = u32::try_from(issues)?;
        Ok(f64::from(count) / took.as_secs_f64())
    }

    /// Makes issues by several clients in some spaces; how many a second.
    fn make(&self, server: &Server) -> Result<f64> {
        let request = |client: usize| {
            let body =
                json!({ "space": space(client % MADE_IN), "summary": "Something is to be done", "labels": ["made"] });
            self.org.request("POST", "issues").json(body.to_string().into_bytes()).bytes()
        };
        let mut traffic = Repeated((0..CLIENTS).map(request).collect::<Vec<Bytes>>());
        let (address, process) = (server.address(), server.process());
        let load = Load { address, process, connections: CLIENTS, duration: ROUND };
        let mut rates = Vec::new();
        for _ in 0..ROUNDS {
            rates.push(load.run(&mut traffic)?.rate());
        }
        Ok(median(rates))
    }

    fn search(&self, jql: &str) -> Request {
        let body = json!({ "jql": jql.replace("SPACE", &space(0)), "maxResults": PAGE });
        self.org.request("POST", "issues/search").json(body.to_string().into_bytes())
    }
}

/// A shape, and what its rounds took.
struct Part {
    shape: Shape,
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
    const fn new(shape: Shape) -> Self {
        Self { shape, rounds: Vec::new() }
    }

    fn measure(&mut self, (server, tracker): (&Server, &Tracker), bare: Option<&Bare>, round: usize) -> Result<()> {
        let request = tracker.search(&self.shape.jql);
        let (address, process) = (server.address(), server.process());
        let one_by_one = Load { address, process, connections: 1, duration: PATIENCE };
        let single = one_by_one.run(&mut Counted(request.bytes(), ASKED))?;
        let at_once = Load { address, process, connections: CLIENTS, duration: CROWD_ROUND };
        let crowd = at_once.run(&mut Repeated(vec![request.bytes(); CLIENTS]))?;
        let bare = match bare {
            Some(bare) => {
                let (times, found) = bare.ask(&self.shape, ASKED)?;
                let total = call(address, request)?.success()?["total"].clone();
                if total != found {
                    let name = self.shape.name;
                    return Err(format!("{name}: the search finds {total}, the statement {found}").into());
                }
                let micros = times.iter().map(|time| u32::try_from(time.as_micros()).unwrap_or(u32::MAX)).collect();
                Some(Measured::new(micros, 1.0, Duration::ZERO, Duration::ZERO))
            }
            None => None,
        };
        if round > 0 {
            self.rounds.push(Round { single, crowd, bare });
        }
        Ok(())
    }

    fn report(&self, report: &mut Report) {
        let name = self.shape.name;
        let single = |share: f64| median(self.rounds.iter().map(|round| round.single.quantile_ms(share)));
        report.figure(format!("{name}_p50_ms"), single(0.5));
        report.figure(format!("{name}_p99_ms"), single(0.99));
        report.figure(format!("{name}_crowd_per_second"), median(self.rounds.iter().map(|it| it.crowd.rate())));
        report.figure(format!("{name}_crowd_p99_ms"), median(self.rounds.iter().map(|it| it.crowd.quantile_ms(0.99))));
        let bare: Vec<(f64, f64)> = self
            .rounds
            .iter()
            .filter_map(|round| Some((round.single.quantile_ms(0.5), round.bare.as_ref()?.quantile_ms(0.5))))
            .collect();
        if bare.is_empty() {
            return;
        }
        report.figure(format!("{name}_bare_p50_ms"), median(bare.iter().map(|(_, bare)| *bare)));
        // How often the program answers while the statement by hand is done once.
        report.ratio(format!("{name}_to_bare"), median(bare.iter().map(|(ours, bare)| bare / ours)));
    }
}

/// One request, so many times.
struct Counted(Bytes, usize);

impl crate::load::Traffic for Counted {
    fn next(&mut self, _: usize) -> Option<Bytes> {
        self.1 = self.1.checked_sub(1)?;
        Some(self.0.clone())
    }
}
