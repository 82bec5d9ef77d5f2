//! `sockets`: what idle live sockets take, and how long a message to all of them is on its way.
//!
//! The sockets are those of one organization's tree of pages. The baseline is a bare actix-ws server in a process of its
//! own, which passes on to all what one of them says.

mod bare;
mod crowd;

use std::time::Duration;

use serde_json::{Value, json};

pub use self::bare::{ARGUMENT, serve};
use self::crowd::{Crowd, Heard};
use crate::{
    load::Request,
    report::{Report, Result, median},
    server::{Program, Server, call, program::Person},
};

/// Sockets where no other number is asked for.
const SOCKETS: usize = 10_000;
/// Sockets that are there before memory is looked at: what the first ones cost once is not what each of them costs.
const FIRST: usize = 50;
/// Messages to all.
const MESSAGES: usize = 10;
/// How long a server may take to come to rest.
const REST: Duration = Duration::from_secs(3);
/// Open files beside the sockets.
const OTHER_FILES: u64 = 512;

/// Measures, on the program with these arguments behind `--sockets` and `--messages`, each with a number.
pub fn run(arguments: &[String]) -> Result<Report> {
    let (amount, arguments) = Amount::read(arguments)?;
    raise_open_files(amount.sockets)?;
    let mut report = Report::new("sockets");
    let program = Program::new(arguments)?;
    let troupe = amount.measure("troupe", &Tree::new(program.start()?)?)?;
    let bare = amount.measure("bare", &bare::Bare::start()?)?;
    for (name, found) in [("troupe", &troupe), ("bare", &bare)] {
        report.figure(format!("{name}_socket_bytes"), found.socket_bytes);
        report.figure(format!("{name}_sockets_per_second"), found.opened_per_second);
        report.figure(format!("{name}_first_ms"), found.of(|heard| heard.first_ms));
        report.figure(format!("{name}_p50_ms"), found.of(|heard| heard.p50_ms));
        report.figure(format!("{name}_p99_ms"), found.of(|heard| heard.p99_ms));
        report.figure(format!("{name}_last_ms"), found.of(|heard| heard.last_ms));
        report.figure(format!("{name}_loader_processors"), found.of(|heard| heard.loader_processors));
    }
    report.ratio("socket_memory_to_bare", troupe.socket_bytes / bare.socket_bytes);
    report.ratio("p99_to_bare", troupe.of(|heard| heard.p99_ms) / bare.of(|heard| heard.p99_ms));
    report.ratio("last_to_bare", troupe.of(|heard| heard.last_ms) / bare.of(|heard| heard.last_ms));
    Ok(report)
}

/// How much is measured.
struct Amount {
    sockets: usize,
    messages: usize,
}

impl Amount {
    /// Reads the options in front; what is left is for the program.
    fn read(mut arguments: &[String]) -> Result<(Self, &[String])> {
        let mut amount = Self { sockets: SOCKETS, messages: MESSAGES };
        while let [name, value, rest @ ..] = arguments {
            match name.as_str() {
                "--sockets" => amount.sockets = value.parse()?,
                "--messages" => amount.messages = value.parse()?,
                _ => break,
            }
            arguments = rest;
        }
        if amount.sockets <= FIRST {
            Err(format!("open more than {FIRST} sockets").into())
        } else {
            Ok((amount, arguments))
        }
    }

    fn measure(&self, name: &'static str, host: &impl Host) -> Result<Found> {
        println!("{name}: opening {} sockets", self.sockets);
        let mut crowd = Crowd::new(host)?;
        crowd.open(FIRST)?;
        let before = crowd.server_at_rest(REST)?;
        let opened_per_second = crowd.open(self.sockets - FIRST)?;
        let socket_bytes = (crowd.server_at_rest(REST)? - before) / crowd::count(self.sockets - FIRST);
        println!("{name}: {socket_bytes:.0} bytes a socket");
        let mut heard = Vec::new();
        for number in 1..=self.messages {
            let one = crowd.tell_all(number)?;
            println!(
                "{name}: message {number} of {}: p99 {:.1} ms, last {:.1} ms",
                self.messages, one.p99_ms, one.last_ms
            );
            heard.push(one);
        }
        Ok(Found { socket_bytes, opened_per_second, heard })
    }
}

/// What one server was found to do.
struct Found {
    /// Bytes by which the server grew for each socket.
    socket_bytes: f64,
    opened_per_second: f64,
    heard: Vec<Heard>,
}

impl Found {
    /// The median of the messages.
    fn of(&self, figure: impl Fn(&Heard) -> f64) -> f64 {
        median(self.heard.iter().map(figure))
    }
}

/// A server of sockets.
trait Host: Sync {
    fn server(&self) -> &Server;

    /// The path of a socket for one client, with its query.
    fn target(&self) -> Result<String>;

    /// Has all sockets hear message number `number`, whose text contains [`Host::mark`].
    fn say(&self, number: usize) -> Result<()>;

    /// What stands in the message of this number and in no other.
    fn mark(&self, number: usize) -> String {
        format!("message number {number}.")
    }
}

/// The program, with somebody's organization whose tree is watched.
struct Tree {
    server: Server,
    token: String,
    org: String,
}

impl Tree {
    fn new(server: Server) -> Result<Self> {
        let token = Person::sign_in(&server, "watcher")?.token;
        let request = Request::new("POST", "/v1/orgs").bearer(&token);
        let answer =
            call(server.address(), request.json(json!({ "name": "Bench" }).to_string().into_bytes()))?.success()?;
        let org = text(&answer, "/org/orgId")?.to_owned();
        Ok(Self { server, token, org })
    }
}

impl Host for Tree {
    fn server(&self) -> &Server {
        &self.server
    }

    /// One tab is opened again and again: who arrives is told to nobody, and the sockets are idle.
    fn target(&self) -> Result<String> {
        let path = format!("/v1/orgs/{}/pages/live?tab=tab-of-bench", self.org);
        let answer = call(self.server.address(), Request::new("GET", &path).bearer(&self.token))?.success()?;
        let (url, ticket) = (text(&answer, "/socket/url")?, text(&answer, "/socket/ticket")?);
        let path = url.splitn(4, '/').nth(3).ok_or("a socket without a path")?;
        Ok(format!("/{path}?ticket={ticket}"))
    }

    fn say(&self, number: usize) -> Result<()> {
        let path = format!("/v1/orgs/{}/pages", self.org);
        let body = json!({ "title": self.mark(number) }).to_string().into_bytes();
        call(self.server.address(), Request::new("POST", &path).bearer(&self.token).json(body))?.success().map(drop)
    }
}

fn text<'a>(answer: &'a Value, pointer: &str) -> Result<&'a str> {
    answer.pointer(pointer).and_then(Value::as_str).ok_or_else(|| format!("an answer without {pointer}").into())
}

/// This process has a file for each socket, and what it starts inherits its limit.
pub fn raise_open_files(sockets: usize) -> Result<()> {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    let needed = sockets as u64 + OTHER_FILES;
    if limit.maximum.is_some_and(|maximum| maximum < needed) {
        return Err(format!("{sockets} sockets need {needed} open files: raise the limit (ulimit -Hn)").into());
    }
    if limit.current.is_some_and(|current| current < needed) {
        limit.current = Some(needed);
        setrlimit(Resource::Nofile, limit)?;
    }
    Ok(())
}
