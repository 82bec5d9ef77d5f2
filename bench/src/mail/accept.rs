//! How many messages are accepted a second, how long an acknowledgement takes, and how long until a message is listed.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use super::{
    Mailbox, free_address,
    postfix::{self, Postfix, RECIPIENT, smtp_source},
    settings, silent_dns,
    smtp::Client,
};
use crate::{
    load::Measured,
    report::{Report, Result, median},
    server::{Program, Server},
};

const ROUNDS: usize = 5;
/// Messages that smtp-source sends in a round.
const MESSAGES: u32 = 3_000;
const CONNECTIONS: usize = 16;
/// Messages that each of our own connections sends, for the times of acknowledgements.
const TIMED: usize = 500;
/// Messages a second while it is looked when they are listed.
const PACE: usize = 1_000;
const PACED_FOR: Duration = Duration::from_secs(20);
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);
/// How long it may take until all is listed.
const LISTED_WITHIN: Duration = Duration::from_secs(300);

/// Measures, on the program with these arguments behind `--rounds` with a number.
pub fn run(arguments: &[String]) -> Result<Report> {
    let (rounds, arguments) = match arguments {
        [name, number, rest @ ..] if name == "--rounds" => (number.parse()?, rest),
        rest => (ROUNDS, rest),
    };
    let (smtp, resolver) = (free_address()?, silent_dns::start()?);
    let program = Program::new(&[arguments, &settings(smtp, resolver)].concat())?;
    let server = program.start()?;
    let mailbox = Mailbox::new(&server)?;
    let mut report = Report::new("mail");
    match postfix::missing() {
        Some(reason) => println!("not compared with postfix: {reason}"),
        None => compared(&mut report, smtp, &mailbox, rounds)?,
    }
    wait_listed(&server, &mailbox, None)?;
    let timed = acknowledged(smtp, &mailbox.address)?;
    report.figure("acknowledged_per_second", timed.rate());
    report.figure("acknowledged_p50_ms", timed.quantile_ms(0.5));
    report.figure("acknowledged_p99_ms", timed.quantile_ms(0.99));
    wait_listed(&server, &mailbox, None)?;
    let listed = listed(&server, smtp, &mailbox)?;
    report.figure("listed_p50_ms", listed.quantile_ms(0.5));
    report.figure("listed_p99_ms", listed.quantile_ms(0.99));
    Ok(report)
}

/// smtp-source against both in turns.
fn compared(report: &mut Report, smtp: SocketAddr, mailbox: &Mailbox, rounds: usize) -> Result<()> {
    let postfix = Postfix::start()?;
    let mut pairs = Vec::new();
    for round in 0..=rounds {
        let ours = smtp_source(smtp, &mailbox.address, MESSAGES)?;
        let theirs = smtp_source(postfix.address, RECIPIENT, MESSAGES)?;
        println!("round {round} of {rounds}: ours {ours:.0}/s, postfix {theirs:.0}/s; the first is the warm-up");
        if round > 0 {
            pairs.push((ours, theirs));
        }
    }
    report.figure("accepted_per_second", median(pairs.iter().map(|pair| pair.0)));
    report.figure("postfix_accepted_per_second", median(pairs.iter().map(|pair| pair.1)));
    report.ratio("accepted_to_postfix", median(pairs.iter().map(|(ours, theirs)| ours / theirs)));
    Ok(())
}

/// Waits until the count of the inbox stays as it is, or is so much.
fn wait_listed(server: &Server, mailbox: &Mailbox, until: Option<u64>) -> Result<u64> {
    let (begun, mut before) = (Instant::now(), None);
    loop {
        let count = mailbox.counted(server)?;
        if until.map_or(before == Some(count), |until| count >= until) {
            return Ok(count);
        }
        if begun.elapsed() > LISTED_WITHIN {
            return Err(format!("{count} messages are listed, and no more").into());
        }
        before = Some(count);
        thread::sleep(if until.is_some() { Duration::from_millis(1) } else { Duration::from_secs(1) });
    }
}

/// How long acknowledgements take, over 16 connections that each send message after message.
fn acknowledged(smtp: SocketAddr, to: &str) -> Result<Measured> {
    let begun = Instant::now();
    let senders = (0..CONNECTIONS).map(|sender| {
        let to = to.to_owned();
        thread::spawn(move || -> Result<Vec<u32>> {
            let mut client = Client::connect(smtp)?;
            (0..TIMED).map(|at| micros(client.send(&to, 1_000_000 + sender * TIMED + at)?)).collect()
        })
    });
    let senders: Vec<_> = senders.collect();
    let mut times = Vec::new();
    for sender in senders {
        times.extend(sender.join().map_err(|_| "a sender ended badly")??);
    }
    Ok(Measured::new(times, begun.elapsed().as_secs_f64(), Duration::ZERO, Duration::ZERO))
}

fn micros(time: Duration) -> Result<u32> {
    Ok(u32::try_from(time.as_micros())?)
}

/// How long it takes until all messages are counted that were acknowledged, while 1,000 come a second.
fn listed(server: &Server, smtp: SocketAddr, mailbox: &Mailbox) -> Result<Measured> {
    let before = mailbox.counted(server)?;
    let (acknowledged, ends) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let senders = (0..CONNECTIONS).map(|sender| {
        let (to, acknowledged, ends) = (mailbox.address.clone(), Arc::clone(&acknowledged), Arc::clone(&ends));
        thread::spawn(move || paced(smtp, &to, sender, &acknowledged, &ends))
    });
    let senders: Vec<_> = senders.collect();
    let (begun, mut times) = (Instant::now(), Vec::new());
    while begun.elapsed() < PACED_FOR {
        let sent = u64::try_from(acknowledged.load(Ordering::SeqCst))?;
        let look = Instant::now();
        wait_listed(server, mailbox, Some(before + sent))?;
        times.push(micros(look.elapsed())?);
        thread::sleep(BETWEEN_LOOKS);
    }
    ends.store(true, Ordering::SeqCst);
    for sender in senders {
        sender.join().map_err(|_| "a sender ended badly")??;
    }
    let rate = f64::from(u32::try_from(acknowledged.load(Ordering::SeqCst))?) / begun.elapsed().as_secs_f64();
    println!("{rate:.0} messages a second came while it was looked");
    Ok(Measured::new(times, begun.elapsed().as_secs_f64(), Duration::ZERO, Duration::ZERO))
}

/// Sends its part of what comes a second, until it ends.
fn paced(smtp: SocketAddr, to: &str, sender: usize, acknowledged: &AtomicUsize, ends: &AtomicBool) -> Result<()> {
    let mut client = Client::connect(smtp)?;
    let (begun, between) =
        (Instant::now(), Duration::from_secs(1) * u32::try_from(CONNECTIONS)? / u32::try_from(PACE)?);
    for number in 0_u32.. {
        if ends.load(Ordering::SeqCst) {
            break;
        }
        if let Some(early) = (between * number).checked_sub(begun.elapsed()) {
            thread::sleep(early);
        }
        client.send(to, 10_000_000 + sender * 1_000_000 + usize::try_from(number)?)?;
        acknowledged.fetch_add(1, Ordering::SeqCst);
    }
    Ok(())
}
