//! `git memory`: what the program and its runs of git take while 2 GB are pushed, and cloned four times at once.

use std::{
    fs,
    path::Path,
    process::Child,
    thread,
    time::{Duration, Instant},
};

use super::{
    history::{Noise, git, well},
    side::Side,
};
use crate::{
    load::resident_bytes,
    report::{Report, Result},
    server::Program,
};

/// Megabytes that are pushed where nothing is said.
const MEGABYTES: usize = 2_000;
/// Bytes of a file, of which half are like those of the one before.
const FILE_LEN: usize = 4_000_000;
const CLONES: usize = 4;
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
const REPOSITORY: &str = "large";

/// What was the most, in bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Most {
    server: u64,
    children: u64,
    /// Of the children without what they share with files.
    own: u64,
    together: u64,
}

/// Measures, on the program with these arguments behind `--megabytes` with a number.
pub fn run(arguments: &[String]) -> Result<Report> {
    let (megabytes, arguments) = match arguments {
        [name, number, rest @ ..] if name == "--megabytes" => (number.parse()?, rest),
        rest => (MEGABYTES, rest),
    };
    let (program, folder) = (Program::new(arguments)?, tempfile::tempdir()?);
    println!("making {megabytes} MB");
    let work = folder.path().join("work");
    made(&work, megabytes)?;
    let side = Side::troupe(&program, &[REPOSITORY])?;
    let mut report = Report::new("git_memory");
    let started = Instant::now();
    let url = side.url(REPOSITORY);
    let push = side.git(&work).args(["push", "--quiet", &url, "main"]).spawn()?;
    let pushed = watched(&side, vec![push])?;
    report.figure("push_seconds", started.elapsed().as_secs_f64());
    report_most(&mut report, "push", pushed);
    let started = Instant::now();
    let clones = (0..CLONES).map(|at| -> Result<Child> {
        let mut command = side.git(folder.path());
        Ok(command.args(["clone", "--quiet", "--bare", &url, &format!("clone-{at}")]).spawn()?)
    });
    let clones = clones.collect::<Result<Vec<_>>>()?;
    let most = watched(&side, clones)?;
    report.figure("clones_seconds", started.elapsed().as_secs_f64());
    report_most(&mut report, "clones", most);
    Ok(report)
}

/// A repository with so many megabytes that hardly get smaller.
fn made(work: &Path, megabytes: usize) -> Result<()> {
    fs::create_dir_all(work)?;
    well(git(work).args(["init", "--quiet", "--initial-branch=main", "."]))?;
    let (mut noise, mut before) = (Noise::new(), Vec::new());
    for at in 0..(megabytes * 1_000_000).div_ceil(FILE_LEN) {
        let mut bytes = noise.bytes(FILE_LEN);
        let like = before.len() / 2;
        bytes[..like].copy_from_slice(&before[..like]);
        fs::write(work.join(format!("file-{at:04}")), &bytes)?;
        before = bytes;
    }
    well(git(work).args(["-c", "core.compression=0", "add", "."]))?;
    well(git(work).args(["commit", "--quiet", "-m", "All"]))?;
    Ok(())
}

/// Looks at the program until all of these have ended.
fn watched(side: &Side, mut children: Vec<Child>) -> Result<Most> {
    let mut most = Most::default();
    while !children.is_empty() {
        thread::sleep(BETWEEN_LOOKS);
        let server = resident_bytes(side.server.process())?;
        let (below, own) = below(side.server.process());
        most.server = most.server.max(server);
        most.children = most.children.max(below);
        most.own = most.own.max(own);
        most.together = most.together.max(server + below);
        let mut running = Vec::new();
        for mut child in children {
            match child.try_wait()? {
                None => running.push(child),
                Some(status) if status.success() => {}
                Some(status) => return Err(format!("git: {status}").into()),
            }
        }
        children = running;
    }
    Ok(most)
}

/// What all processes below one have in RAM, with and without what they share with files: a pack that one has mapped is the page
/// cache's, too.
fn below(process: u32) -> (u64, u64) {
    // Whoever has just ended takes nothing.
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let children = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let children: Vec<u32> = children
        .flat_map(|text| text.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>())
        .collect();
    let mut sum = (0, 0);
    for child in children {
        let (all, own) = below(child);
        sum = (sum.0 + all + status_bytes(child, "VmRSS:"), sum.1 + own + status_bytes(child, "RssAnon:"));
    }
    sum
}

/// A line of a process's status, in bytes.
fn status_bytes(process: u32, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or_default() * 1_024
}

fn report_most(report: &mut Report, name: &str, most: Most) {
    #[expect(clippy::cast_precision_loss, reason = "far fewer bytes than 2^52")]
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    report.figure(format!("{name}_server_mb"), megabytes(most.server));
    report.figure(format!("{name}_children_mb"), megabytes(most.children));
    report.figure(format!("{name}_children_own_mb"), megabytes(most.own));
    report.figure(format!("{name}_together_mb"), megabytes(most.together));
}
