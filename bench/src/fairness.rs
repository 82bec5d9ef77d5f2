//! `fairness`: what one organization waits for while another one floods the server, against the same alone.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    load::{Bytes, Load, Repeated, Request, Traffic},
    report::{Report, Result, median},
    server::{Program, Server, call, program::Person},
};

const ROUNDS: usize = 3;
/// How long each kind of request is measured in a round.
const MEASURED: Duration = Duration::from_secs(3);
/// Alarms in a round, one after the other.
const ALARMS: usize = 40;
/// Pages of each organization before the first round.
const PAGES: usize = 200;
/// Connections of the organization that floods: so many of each of its three kinds of request.
const FLOOD_EACH: usize = 4;
/// Hooks of each organization.
const HOOKS: usize = 50;
/// Alerts of one post of the flood.
const ALERTS: usize = 100;
/// How long a stretch of the flood lasts: it ends soon after it shall.
const FLOOD_STRETCH: Duration = Duration::from_millis(500);
/// How often an alarm is looked for, and how long at most.
const LOOK_EVERY: Duration = Duration::from_millis(1);
const PATIENCE: Duration = Duration::from_secs(120);
const PARTS: [&str; 3] = ["commit", "search", "alarm"];

/// Measures, on the program with these arguments.
pub fn run(arguments: &[String]) -> Result<Report> {
    let program = Program::new(arguments)?;
    let server = program.start()?;
    let (quiet, loud) = (Company::found(&server, "quiet")?, Company::found(&server, "loud")?);
    // Alone comes first, because what a flood leaves behind is worked off for minutes.
    let alone = rounds("alone", || quiet.measure(&server))?;
    let beside = rounds("beside a flood", || beside(&server, &loud, || quiet.measure(&server)))?;
    let mut report = Report::new("fairness");
    for (place, part) in PARTS.iter().enumerate() {
        let [alone, beside] = [&alone, &beside].map(|rounds| median(rounds.iter().map(|round| round[place])));
        report.figure(format!("{part}_alone_p99_ms"), alone);
        report.figure(format!("{part}_beside_p99_ms"), beside);
        report.ratio(format!("{part}_beside_to_alone"), beside / alone.max(f64::EPSILON));
    }
    Ok(report)
}

/// Measures some rounds; one before them warms up.
fn rounds(what: &str, measure: impl Fn() -> Result<[f64; 3]>) -> Result<Vec<[f64; 3]>> {
    let mut rounds = Vec::new();
    for number in 0..=ROUNDS {
        let round = measure()?;
        if number > 0 {
            println!("{what}, round {number} of {ROUNDS}: p99 {round:.1?} ms");
            rounds.push(round);
        }
    }
    Ok(rounds)
}

/// An organization with pages and a hook for alarms, and its owner.
struct Company {
    person: Person,
    org_id: String,
    /// The paths of its hooks, which take turns: each takes 120 posts a minute.
    hooks: Vec<String>,
    /// Numbers its alarms, which are all different ones.
    alarms: AtomicUsize,
    /// Numbers their posts.
    posts: AtomicUsize,
}

impl Company {
    fn found(server: &Server, name: &str) -> Result<Self> {
        let person = Person::sign_in(server, name)?;
        let ask = |target: &str, body: Value| post(server, &person, target, &body);
        let org_id = text(&ask("/v1/orgs", json!({ "name": name }))?, "/org/orgId")?;
        let hook = |number| -> Result<String> {
            let body = json!({ "name": format!("{name} {number}") });
            let url = text(&ask(&format!("/v1/orgs/{org_id}/notify/hooks"), body)?, "/url")?;
            Ok(url.find("/v1/").map(|start| url[start..].to_owned()).ok_or("a hook without a path")?)
        };
        let hooks = (0..HOOKS).map(hook).collect::<Result<Vec<_>>>()?;
        let company = Self { person, org_id, hooks, alarms: AtomicUsize::new(0), posts: AtomicUsize::new(0) };
        for _ in 0..PAGES {
            post(server, &company.person, &company.pages(), &page("Release plan"))?;
        }
        Ok(company)
    }

    fn pages(&self) -> String {
        format!("/v1/orgs/{}/pages", self.org_id)
    }

    fn commit(&self) -> Bytes {
        Request::new("POST", &self.pages())
            .bearer(&self.person.token)
            .json(page("Minutes").to_string().into_bytes())
            .bytes()
    }

    fn search(&self) -> Bytes {
        self.person.get(&format!("{}/search?q=release%20plan", self.pages())).bytes()
    }

    /// A post of as many alarms as these, none of which was there before.
    fn alarm(&self, count: usize) -> (Request, String) {
        let first = self.alarms.fetch_add(count, Ordering::Relaxed);
        let title = |number: usize| format!("Alarm {number} of {}", self.org_id);
        let alert = |number| {
            json!({
                "status": "firing", "fingerprint": format!("f{number}"), "labels": { "alertname": format!("a{number}") },
                "annotations": { "summary": title(number) },
            })
        };
        let body = json!({ "version": "4", "alerts": (first..first + count).map(alert).collect::<Vec<_>>() });
        let hook = &self.hooks[self.posts.fetch_add(1, Ordering::Relaxed) % self.hooks.len()];
        (Request::new("POST", hook).json(body.to_string().into_bytes()), title(first))
    }

    /// The p99 of each part, in milliseconds.
    fn measure(&self, server: &Server) -> Result<[f64; 3]> {
        let load = Load { address: server.address(), process: server.process(), connections: 1, duration: MEASURED };
        let commit = load.run(&mut Repeated(vec![self.commit()]))?.quantile_ms(0.99);
        let search = load.run(&mut Repeated(vec![self.search()]))?.quantile_ms(0.99);
        let alarms = (0..ALARMS).map(|_| self.time_alarm(server)).collect::<Result<Vec<_>>>()?;
        // Of forty, the slowest.
        let alarm = alarms.into_iter().fold(0.0, f64::max);
        Ok([commit, search, alarm])
    }

    /// Milliseconds from an alarm's post until its e-mail is in the hands of the gateway.
    fn time_alarm(&self, server: &Server) -> Result<f64> {
        let (request, title) = self.alarm(1);
        let started = Instant::now();
        call(server.address(), request)?.success()?;
        while started.elapsed() < PATIENCE {
            if self.is_told(server, &title)? {
                return Ok(started.elapsed().as_secs_f64() * 1_000.0);
            }
            thread::sleep(LOOK_EVERY);
        }
        Err("an alarm reaches nobody".into())
    }

    fn is_told(&self, server: &Server, title: &str) -> Result<bool> {
        let notices = self.read(server, "/v1/me/notifications?limit=10")?;
        let notices = notices["notices"].as_array().ok_or("no notices")?;
        let Some(notice) = notices.iter().find(|notice| notice["title"] == title) else { return Ok(false) };
        let path = format!("/v1/me/notifications/{}/deliveries", text(notice, "/noticeId")?);
        let deliveries = self.read(server, &path)?;
        let deliveries = deliveries["deliveries"].as_array().ok_or("no deliveries")?;
        Ok(deliveries.iter().any(|delivery| delivery["channel"] == "email" && delivery["state"] == "sent"))
    }

    fn read(&self, server: &Server, target: &str) -> Result<Value> {
        call(server.address(), self.person.get(target))?.success()
    }
}

fn page(title: &str) -> Value {
    json!({ "parentId": "root", "title": title, "kind": "doc" })
}

fn text(answer: &Value, pointer: &str) -> Result<String> {
    Ok(answer.pointer(pointer).and_then(Value::as_str).ok_or("an answer without what it must hold")?.to_owned())
}

fn post(server: &Server, person: &Person, target: &str, body: &Value) -> Result<Value> {
    let request = Request::new("POST", target).bearer(&person.token).json(body.to_string().into_bytes());
    call(server.address(), request)?.success()
}

/// What the organization that floods asks for: commits, searches and posts of many alarms.
struct Flood<'a> {
    company: &'a Company,
    commit: Bytes,
    search: Bytes,
}

impl Traffic for Flood<'_> {
    fn next(&mut self, connection: usize) -> Option<Bytes> {
        Some(match connection / FLOOD_EACH {
            0 => Bytes::clone(&self.commit),
            1 => Bytes::clone(&self.search),
            _ => self.company.alarm(ALERTS).0.bytes(),
        })
    }
}

/// Measures while the other organization floods the server.
fn beside(server: &Server, loud: &Company, measure: impl Fn() -> Result<[f64; 3]>) -> Result<[f64; 3]> {
    let ends = AtomicBool::new(false);
    let (address, process) = (server.address(), server.process());
    let stretch = Load { address, process, connections: 3 * FLOOD_EACH, duration: FLOOD_STRETCH };
    thread::scope(|scope| {
        let flood = scope.spawn(|| {
            let mut flood = Flood { company: loud, commit: loud.commit(), search: loud.search() };
            while !ends.load(Ordering::Relaxed) {
                stretch.run(&mut flood)?;
            }
            Ok(())
        });
        let measured = measure();
        ends.store(true, Ordering::Relaxed);
        let flooded: Result<()> = flood.join().map_err(|_| "the flood panicked")?;
        flooded?;
        measured
    })
}
