//! `mail store`: an mbox of 2 GB and a million messages is imported, with the program killed twice on the way. Then the mailbox
//! is read, and once more while it is small, for comparison.

use std::{
    fs::File,
    io::{BufWriter, Read, Write},
    net::TcpStream,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{Mailbox, free_address, settings, silent_dns, text};
use crate::{
    load::{Bytes, Load, Measured, Request, Traffic, resident_bytes},
    report::{Report, Result},
    server::{Program, Server, call},
};

const MESSAGES: usize = 1_000_000;
/// Bytes of a message, of which a million are 2 GB.
const MESSAGE_LEN: usize = 2_000;
/// One message of so many has the label.
const LABELLED: usize = 20;
/// Messages of the small mailbox.
const SMALL: usize = 1_000;
const KILLS: usize = 2;
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
/// Askings of a list.
const ASKED: usize = 200;
const PATIENCE: Duration = Duration::from_secs(600);

/// Measures, on the program with these arguments behind `--messages` with a number.
pub fn run(arguments: &[String]) -> Result<Report> {
    let (messages, arguments) = match arguments {
        [name, number, rest @ ..] if name == "--messages" => (number.parse()?, rest),
        rest => (MESSAGES, rest),
    };
    let (smtp, resolver, folder) = (free_address()?, silent_dns::start()?, tempfile::tempdir()?);
    let program = Program::new(&[arguments, &settings(smtp, resolver)].concat())?;
    let mut report = Report::new("mail_store");
    let small = folder.path().join("small.mbox");
    mbox(&small, 0, SMALL)?;
    let server = program.start()?;
    let mailbox = Mailbox::new(&server)?;
    let (server, imported) = imported(&program, server, &mailbox, &small, 0)?;
    expect(&imported.import, SMALL)?;
    let label = label(&server, &mailbox)?;
    let before = read(&server, &mailbox, &label, SMALL / 2)?;
    println!("making an mbox of {messages} messages");
    let large = folder.path().join("large.mbox");
    mbox(&large, SMALL, messages)?;
    let (server, imported) = self::imported(&program, server, &mailbox, &large, KILLS)?;
    expect(&imported.import, messages)?;
    let counted = usize::try_from(mailbox.counted(&server)?)?;
    if counted != messages + SMALL {
        return Err(format!("{counted} conversations are counted of {}", messages + SMALL).into());
    }
    report.figure("import_mb", megabytes(std::fs::metadata(&large)?.len()));
    report.figure("import_per_second", f64::from(u32::try_from(messages)?) / imported.took.as_secs_f64());
    report.figure("import_above_idle_mb", megabytes(imported.most.saturating_sub(imported.idle)));
    report.figure("import_most_mb", megabytes(imported.most));
    let after = read(&server, &mailbox, &label, SMALL + messages / 2)?;
    for ((name, small), (_, large)) in before.iter().zip(&after) {
        report.figure(format!("{name}_p50_ms"), large.quantile_ms(0.5));
        report.figure(format!("{name}_p99_ms"), large.quantile_ms(0.99));
        report.figure(format!("{name}_small_p50_ms"), small.quantile_ms(0.5));
        report.ratio(format!("{name}_to_small"), large.quantile_ms(0.5) / small.quantile_ms(0.5));
    }
    report.figure("resident_mb", megabytes(resident_bytes(server.process())?));
    Ok(report)
}

#[expect(clippy::cast_precision_loss, reason = "far fewer bytes than 2^52")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// Writes an mbox of messages with these numbers, each a conversation of its own, with a word that no other one has.
fn mbox(place: &Path, from: usize, count: usize) -> Result<()> {
    let mut file = BufWriter::new(File::create(place)?);
    let line = "some words that many messages have, about this and that and what else there is to say\n";
    for number in from..from + count {
        let label = if number.is_multiple_of(LABELLED) { "X-Keywords: sorted\n" } else { "" };
        let head = format!(
            "From p{sender}@bench.example Fri Jan 15 12:00:00 2016\nFrom: Person {sender} <p{sender}@bench.example>\n\
             To: reader\nSubject: About {number}\nMessage-ID: <{number}@bench.example>\n\
             Date: Fri, 15 Jan 2016 12:00:00 +0000\nStatus: O\n{label}\n{word}\n",
            sender = number % 997,
            word = rare(number),
        );
        file.write_all(head.as_bytes())?;
        for _ in 0..MESSAGE_LEN.saturating_sub(head.len()) / line.len() {
            file.write_all(line.as_bytes())?;
        }
        file.write_all(b"\n")?;
    }
    Ok(file.flush()?)
}

/// The word of a message.
fn rare(number: usize) -> String {
    format!("zq{number}x")
}

/// What an import came to.
struct Imported {
    import: Value,
    took: Duration,
    /// What the program took before, and at most while it went on.
    idle: u64,
    most: u64,
}

/// Imports a file, and kills the program so often on the way.
fn imported(
    program: &Program,
    mut server: Server,
    mailbox: &Mailbox,
    file: &Path,
    kills: usize,
) -> Result<(Server, Imported)> {
    let size = std::fs::metadata(file)?.len();
    let body = json!({ "kind": "mbox", "size": size }).to_string().into_bytes();
    let made = call(server.address(), mailbox.request("POST", "imports").json(body))?.success()?;
    let (id, url) = (text(&made, "/import/importId")?, text(&made, "/uploadUrl")?);
    send(&server, &url, file, size)?;
    let idle = resident_bytes(server.process())?;
    let begun = Instant::now();
    call(server.address(), mailbox.request("POST", &format!("imports/{id}/start")))?.success()?;
    let (mut most, mut killed) = (idle, 0);
    loop {
        let shown = call(server.address(), mailbox.request("GET", &format!("imports/{id}")))?.success()?;
        let import = shown["import"].clone();
        most = most.max(resident_bytes(server.process())?);
        if !import["endedAt"].is_null() {
            return Ok((server, Imported { import, took: begun.elapsed(), idle, most }));
        }
        let read = import["read"].as_u64().unwrap_or_default();
        let expected = size / u64::try_from(MESSAGE_LEN)?;
        if killed < kills && read > expected * (u64::try_from(killed)? + 1) / (u64::try_from(kills)? + 1) {
            println!("killed behind {read} messages");
            drop(server);
            server = program.start()?;
            killed += 1;
        }
        thread::sleep(BETWEEN_LOOKS);
    }
}

/// Sends a file to its address.
fn send(server: &Server, url: &str, file: &Path, size: u64) -> Result<()> {
    let target = &url[url.find("/v1/").ok_or("an address without a path")?..];
    let mut stream = TcpStream::connect(server.address())?;
    write!(
        stream,
        "PUT {target} HTTP/1.1\r\nHost: bench\r\nConnection: close\r\nContent-Type: application/octet-stream\r\n\
         Content-Length: {size}\r\n\r\n"
    )?;
    std::io::copy(&mut File::open(file)?, &mut stream)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    if answer.starts_with("HTTP/1.1 204") { Ok(()) } else { Err(format!("the file was not taken: {answer}").into()) }
}

/// Whether all messages were filed once.
fn expect(import: &Value, messages: usize) -> Result<()> {
    let is_whole = import["state"] == "done" && import["filed"] == messages && import["failed"] == 0;
    if is_whole && import["duplicates"] == 0 { Ok(()) } else { Err(format!("the import came to {import}").into()) }
}

fn label(server: &Server, mailbox: &Mailbox) -> Result<String> {
    let labels = call(server.address(), mailbox.request("GET", "labels"))?.success()?;
    text(&labels, "/labels/0/labelId")
}

/// How long lists, counts and a search for a rare word take.
fn read(server: &Server, mailbox: &Mailbox, label: &str, number: usize) -> Result<Vec<(&'static str, Measured)>> {
    let targets = [
        ("inbox", "threads?view=inbox".to_owned()),
        ("label", format!("threads?view=label&label={label}")),
        ("counts", "counts".to_owned()),
        ("rare_word", format!("threads?view=all&q={}", rare(number))),
    ];
    let mut measured = Vec::new();
    for (name, target) in targets {
        let request: Request = mailbox.request("GET", &target);
        let (address, process) = (server.address(), server.process());
        if name != "counts" {
            let found = call(address, request.clone())?.success()?;
            if found["threads"].as_array().is_none_or(Vec::is_empty) {
                return Err(format!("{target} finds nothing").into());
            }
        }
        let load = Load { address, process, connections: 1, duration: PATIENCE };
        load.run(&mut Counted(request.bytes(), ASKED / 10))?;
        measured.push((name, load.run(&mut Counted(request.bytes(), ASKED))?));
    }
    Ok(measured)
}

/// One request, so many times.
struct Counted(Bytes, usize);

impl Traffic for Counted {
    fn next(&mut self, _: usize) -> Option<Bytes> {
        self.1 = self.1.checked_sub(1)?;
        Some(self.0.clone())
    }
}
