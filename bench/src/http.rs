//! `http`: an authenticated read of one object, against a bare actix-web handler.

use std::time::Duration;

use crate::{
    load::{Load, Measured, Repeated, Request},
    report::{Report, Result, median},
    server::{Program, Server, hello, program::Person},
};

const CONNECTIONS: usize = 32;
const ROUNDS: usize = 7;
const ROUND: Duration = Duration::from_secs(2);
const WARM_UP: Duration = Duration::from_secs(1);
/// The object that is read: the person who asks.
const TARGET: &str = "/v1/me";

/// Measures, on the program with these arguments.
pub fn run(arguments: &[String]) -> Result<Report> {
    let program = Program::new(arguments)?;
    let (troupe, hello) = (program.start()?, hello::start()?);
    let people = Person::crowd(&troupe, CONNECTIONS)?;
    let mut read = Repeated(people.iter().map(|person| person.get(TARGET).bytes()).collect());
    let mut greeting = Repeated(vec![Request::new("GET", "/").bytes(); CONNECTIONS]);

    load(&hello, WARM_UP).run(&mut greeting)?;
    load(&troupe, WARM_UP).run(&mut read)?;
    let mut rounds = Vec::new();
    for number in 1..=ROUNDS {
        let pair = (load(&hello, ROUND).run(&mut greeting)?, load(&troupe, ROUND).run(&mut read)?);
        println!("round {number} of {ROUNDS}: hello {}, read {}", line(&pair.0), line(&pair.1));
        rounds.push(pair);
    }
    Ok(report(&rounds))
}

fn load(server: &Server, duration: Duration) -> Load {
    Load { address: server.address(), process: server.process(), connections: CONNECTIONS, duration }
}

fn line(measured: &Measured) -> String {
    format!("{:.0}/s (p99 {:.2} ms)", measured.rate(), measured.quantile_ms(0.99))
}

fn report(rounds: &[(Measured, Measured)]) -> Report {
    let hello = |figure: fn(&Measured) -> f64| median(rounds.iter().map(|(hello, _)| figure(hello)));
    let read = |figure: fn(&Measured) -> f64| median(rounds.iter().map(|(_, read)| figure(read)));
    let mut report = Report::new("http");
    for (name, figure) in FIGURES {
        report.figure(format!("hello_{name}"), hello(*figure));
        report.figure(format!("read_{name}"), read(*figure));
    }
    report.ratio("read_to_hello", median(rounds.iter().map(|(hello, read)| read.rate() / hello.rate())));
    report
}

/// A figure's name, and how it is read.
type Figure = (&'static str, fn(&Measured) -> f64);

const FIGURES: &[Figure] = &[
    ("per_second", Measured::rate),
    ("p50_ms", |measured| measured.quantile_ms(0.5)),
    ("p99_ms", |measured| measured.quantile_ms(0.99)),
    ("server_us", Measured::server_micros),
    ("loader_processors", Measured::loader_processors),
];
