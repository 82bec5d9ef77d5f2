//! `storage`: small and large files, written and read over REST and over presigned requests of S3; against s3rver over the
//! same presigned requests, and reads against files that nginx serves.

mod nginx;
mod presigned;
mod s3rver;
mod troupe;

use std::{
    net::{SocketAddr, TcpListener},
    rc::Rc,
    time::Duration,
};

use crate::{
    load::{Bytes, Load, Measured, Request, Traffic},
    peers::Peers,
    report::{Report, Result, median},
    server::{Program, Server},
};

const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_secs(2);
/// Connections that ask for small files at once.
const CONNECTIONS: usize = 16;
/// Small files, and their bytes.
const SMALL_FILES: usize = 500;
const SMALL_BYTES: usize = 4 * 1024;
/// Large files, which one connection asks for, and their bytes.
const LARGE_FILES: usize = 4;
const LARGE_BYTES: usize = 8 * 1024 * 1024;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    SmallPut,
    SmallGet,
    LargePut,
    LargeGet,
}

impl Kind {
    const ALL: [Self; 4] = [Self::SmallPut, Self::SmallGet, Self::LargePut, Self::LargeGet];

    const fn name(self) -> &'static str {
        match self {
            Self::SmallPut => "small_put",
            Self::SmallGet => "small_get",
            Self::LargePut => "large_put",
            Self::LargeGet => "large_get",
        }
    }

    const fn connections(self) -> usize {
        if self.is_small() { CONNECTIONS } else { 1 }
    }

    const fn is_small(self) -> bool {
        matches!(self, Self::SmallPut | Self::SmallGet)
    }
}

/// A file's name, by its size and number.
fn name(is_small: bool, number: usize) -> String {
    format!("{}-{number:03}.bin", if is_small { "small" } else { "large" })
}

fn names(is_small: bool) -> impl Iterator<Item = String> {
    (0..if is_small { SMALL_FILES } else { LARGE_FILES }).map(move |number| name(is_small, number))
}

/// What files of this size say.
fn content(is_small: bool) -> Vec<u8> {
    let len = if is_small { SMALL_BYTES } else { LARGE_BYTES };
    (0..len).map(|at| u8::try_from(at * 31 % 251).unwrap_or_default()).collect()
}

/// How a server is asked for files.
trait Dialect {
    fn put(&self, name: &str) -> Request;
    fn get(&self, name: &str) -> Result<Request>;
}

/// Requests that the connections of a round send in turns.
struct Files {
    requests: Vec<Bytes>,
    next: usize,
}

impl Traffic for Files {
    fn next(&mut self, _: usize) -> Option<Bytes> {
        let request = self.requests.get(self.next)?.clone();
        self.next = (self.next + 1) % self.requests.len();
        Some(request)
    }
}

/// One of the servers, with what is asked of it.
struct Side {
    name: &'static str,
    server: Rc<Server>,
    address: SocketAddr,
    files: Vec<(Kind, Files)>,
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
    let s3 = free_address()?;
    let program = Program::new(&[arguments, &["--set".to_owned(), format!("s3.listen={s3}")]].concat())?;
    let folder = tempfile::tempdir()?;
    let mut sides = Vec::from(troupe::start(&program, s3)?);
    sides.push(s3rver::start(&Peers::install()?, folder.path())?);
    sides.push(nginx::start(folder.path())?);
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
    Ok(report(&sides))
}

impl Side {
    /// A server to which all files are written first.
    fn filled(name: &'static str, server: Rc<Server>, address: SocketAddr, dialect: &impl Dialect) -> Result<Self> {
        let puts = |is_small| names(is_small).map(move |name| dialect.put(&name).body(TYPE, content(is_small)).bytes());
        let mut files = vec![
            (Kind::SmallPut, Files { requests: puts(true).collect(), next: 0 }),
            (Kind::LargePut, Files { requests: puts(false).collect(), next: 0 }),
        ];
        for (kind, files) in &mut files {
            let load = Load {
                address,
                process: server.process(),
                connections: kind.connections(),
                duration: Duration::from_secs(60),
            };
            once(&load, files).map_err(|error| format!("{name}: {error}"))?;
        }
        let mut side = Self { name, server, address, files, rounds: Vec::new() };
        side.reads(dialect)?;
        Ok(side)
    }

    /// A server that has all files, and is only read.
    fn reading(name: &'static str, server: Server, dialect: &impl Dialect) -> Result<Self> {
        let address = server.address();
        let mut side = Self { name, server: Rc::new(server), address, files: Vec::new(), rounds: Vec::new() };
        side.reads(dialect)?;
        Ok(side)
    }

    fn reads(&mut self, dialect: &impl Dialect) -> Result<()> {
        for (kind, is_small) in [(Kind::SmallGet, true), (Kind::LargeGet, false)] {
            let requests = names(is_small).map(|name| Ok(dialect.get(&name)?.bytes())).collect::<Result<_>>()?;
            self.files.push((kind, Files { requests, next: 0 }));
        }
        Ok(())
    }

    fn measure(&mut self, kind: Kind, duration: Duration, is_warm_up: bool) -> Result<()> {
        let Some((_, files)) = self.files.iter_mut().find(|(of, _)| *of == kind) else { return Ok(()) };
        let process = self.server.process();
        let load = Load { address: self.address, process, connections: kind.connections(), duration };
        let measured = load.run(files).map_err(|error| format!("{}: {error}", self.name))?;
        if !is_warm_up {
            self.rounds.push((kind, measured));
        }
        Ok(())
    }

    /// What the last round came to.
    fn line(&self) -> String {
        let rate = |kind: Kind| Some(format!("{} {:.0}/s", kind.name(), self.of(kind).last()?.rate()));
        format!("{} {}", self.name, Kind::ALL.into_iter().filter_map(rate).collect::<Vec<_>>().join(", "))
    }

    fn of(&self, kind: Kind) -> impl DoubleEndedIterator<Item = &Measured> {
        self.rounds.iter().filter(move |(of, _)| *of == kind).map(|(_, measured)| measured)
    }
}

/// What files are written as.
const TYPE: &str = "application/octet-stream";

/// Sends each of the requests once.
fn once(load: &Load, files: &Files) -> Result<()> {
    struct Once(std::vec::IntoIter<Bytes>);

    impl Traffic for Once {
        fn next(&mut self, _: usize) -> Option<Bytes> {
            self.0.next()
        }
    }

    load.run(&mut Once(files.requests.clone().into_iter())).map(drop)
}

/// An address that nobody has at this moment.
fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?)
}

fn report(sides: &[Side]) -> Report {
    let mut report = Report::new("storage");
    for side in sides {
        for kind in Kind::ALL {
            if side.of(kind).next().is_none() {
                continue;
            }
            let figure = |figure: fn(&Measured) -> f64| median(side.of(kind).map(figure));
            let name = format!("{}_{}", side.name, kind.name());
            report.figure(format!("{name}_per_second"), figure(Measured::rate));
            report.figure(format!("{name}_p99_ms"), figure(|measured| measured.quantile_ms(0.99)));
            report.figure(format!("{name}_server_us"), figure(Measured::server_micros));
        }
    }
    let (ours, others) = sides.split_at(2);
    for (our, other) in ours.iter().flat_map(|our| others.iter().map(move |other| (our, other))) {
        for kind in Kind::ALL.into_iter().filter(|kind| other.of(*kind).next().is_some()) {
            let pairs = our.of(kind).zip(other.of(kind));
            let ratio = median(pairs.map(|(ours, theirs)| ours.rate() / theirs.rate()));
            report.ratio(format!("{}_{}_to_{}", our.name, kind.name(), other.name), ratio);
        }
    }
    report
}
