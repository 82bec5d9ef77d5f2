//! `git`: what clones, fetches and pushes take, against `git http-backend` behind nginx and fcgiwrap.

mod asking;
pub mod history;
mod memory;
mod side;

use std::{
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use self::{
    asking::{answered, info_refs, seconds_each, whole_pack},
    history::well,
    side::Side,
};
use crate::{
    report::{Report, Result, median},
    server::Program,
};

const ROUNDS: usize = 5;
/// The repositories: of 2,000 commits, and of 1,000 branches.
const LONG: &str = "long";
const WIDE: &str = "wide";
/// Who asks for refs at once, and how often.
const ASKING: usize = 4;
const QUESTIONS: usize = 40;
/// Clones of a round, and those that are under way at once.
const CLONES: usize = 16;
const CLONES_AT_ONCE: usize = 8;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    InfoRefsV0,
    InfoRefsV2,
    PackCold,
    PackWarm,
    ClonesCold,
    ClonesWarm,
    Clone,
    Push,
}

impl Kind {
    const ALL: [Self; 8] = [
        Self::InfoRefsV0,
        Self::InfoRefsV2,
        Self::PackCold,
        Self::PackWarm,
        Self::ClonesCold,
        Self::ClonesWarm,
        Self::Clone,
        Self::Push,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::InfoRefsV0 => "info_refs_v0",
            Self::InfoRefsV2 => "info_refs_v2",
            Self::PackCold => "pack_cold",
            Self::PackWarm => "pack_warm",
            Self::ClonesCold => "clones_cold",
            Self::ClonesWarm => "clones_warm",
            Self::Clone => "clone_wall",
            Self::Push => "push_wall",
        }
    }

    /// Whether the ratio is of times; else it is of how many are done in a time.
    const fn is_of_times(self) -> bool {
        matches!(self, Self::Clone | Self::Push)
    }
}

/// A side with what was measured of it.
struct Measuring {
    side: Side,
    /// Where it is cloned to, and pushed from.
    folder: PathBuf,
    tip: String,
    seconds: Vec<(Kind, f64)>,
    /// Counts what no other request asks for.
    asked: usize,
}

/// Measures, on the program with these arguments behind `--rounds` with a number, or `memory`.
pub fn run(arguments: &[String]) -> Result<Report> {
    let (mut rounds, mut arguments) = (ROUNDS, arguments);
    match arguments {
        [name, rest @ ..] if name == "memory" => return memory::run(rest),
        [name, number, rest @ ..] if name == "--rounds" => (rounds, arguments) = (number.parse()?, rest),
        _ => {}
    }
    let (program, folder) = (Program::new(arguments)?, tempfile::tempdir()?);
    println!("making histories");
    let (long, wide) = (history::long(folder.path())?, history::wide(folder.path())?);
    let mut sides = [
        Measuring::new(Side::troupe(&program, &[LONG, WIDE])?, folder.path(), &long, &wide)?,
        Measuring::new(Side::http_backend(folder.path(), &[LONG, WIDE])?, folder.path(), &long, &wide)?,
    ];
    for number in 0..=rounds {
        for kind in Kind::ALL {
            for place in 0..sides.len() {
                let turn = (place + number) % sides.len();
                let seconds = sides[turn].measure(kind, number)?;
                // The first is the warm-up.
                if number > 0 {
                    sides[turn].seconds.push((kind, seconds));
                }
            }
        }
        if number > 0 {
            println!(
                "round {number} of {rounds}: {}",
                sides.iter().map(Measuring::line).collect::<Vec<_>>().join("; ")
            );
        }
    }
    Ok(report(&sides))
}

impl Measuring {
    /// A side to which the histories are pushed, with a clone to push from.
    fn new(side: Side, folder: &Path, long: &Path, wide: &Path) -> Result<Self> {
        let folder = folder.join(format!("of-{}", side.name));
        fs::create_dir_all(&folder)?;
        for (repository, place) in [(LONG, long), (WIDE, wide)] {
            well(side.git(place).args(["push", "--quiet", "--mirror", &side.url(repository)]))?;
        }
        well(side.git(&folder).args(["clone", "--quiet", &side.url(LONG), "work"]))?;
        let tip = well(history::git(long).args(["rev-parse", "main"]))?;
        Ok(Self { side, folder, tip, seconds: Vec::new(), asked: 0 })
    }

    /// Seconds of one.
    fn measure(&mut self, kind: Kind, round: usize) -> Result<f64> {
        let address = self.side.address();
        let measured = match kind {
            Kind::InfoRefsV0 => seconds_each(address, &info_refs(&self.side, WIDE, None), ASKING, QUESTIONS),
            Kind::InfoRefsV2 => {
                seconds_each(address, &info_refs(&self.side, WIDE, Some("version=2")), ASKING, QUESTIONS)
            }
            Kind::PackCold => {
                self.asked += 1;
                seconds_each(address, &whole_pack(&self.side, LONG, &self.tip, self.asked), 1, 1)
            }
            Kind::PackWarm => {
                let request = whole_pack(&self.side, LONG, &self.tip, 0);
                answered(address, &request)?;
                seconds_each(address, &request, 1, 4)
            }
            Kind::ClonesCold => self.clones(CLONES, CLONES_AT_ONCE, true),
            Kind::ClonesWarm => self.clones(CLONES, CLONES_AT_ONCE, false),
            Kind::Clone => self.clones(1, 1, true),
            Kind::Push => self.push(round),
        };
        measured.map_err(|error| format!("{}: {}: {error}", self.side.name, kind.name()).into())
    }

    /// Clones, so many at once; each asks for something of its own, or all for the same.
    fn clones(&mut self, count: usize, at_once: usize, is_cold: bool) -> Result<f64> {
        let place = self.folder.join("clones");
        fs::create_dir_all(&place)?;
        let url = self.side.url(LONG);
        let started = Instant::now();
        let mut running = Vec::new();
        for number in 0..count {
            if running.len() == at_once {
                finished(running.remove(0))?;
            }
            self.asked += usize::from(is_cold);
            let option = format!("--server-option=clone-{}", if is_cold { self.asked } else { 0 });
            let mut command = self.side.git(&place);
            command.args(["clone", "--quiet", "--bare", &option, &url, &format!("clone-{number}")]);
            running.push(command.spawn()?);
        }
        running.into_iter().try_for_each(finished)?;
        let seconds = started.elapsed().as_secs_f64();
        fs::remove_dir_all(&place)?;
        Ok(seconds)
    }

    /// A commit that is pushed to a branch.
    fn push(&self, round: usize) -> Result<f64> {
        let work = self.folder.join("work");
        fs::write(work.join("src/part-0/pushed.txt"), format!("in round {round}\n"))?;
        well(history::git(&work).args(["add", "."]))?;
        well(history::git(&work).args(["commit", "--quiet", "-m", "Another one"]))?;
        let started = Instant::now();
        well(self.side.git(&work).args(["push", "--quiet", "origin", "HEAD:refs/heads/pushed"]))?;
        Ok(started.elapsed().as_secs_f64())
    }

    fn of(&self, kind: Kind) -> impl DoubleEndedIterator<Item = f64> {
        self.seconds.iter().filter(move |(of, _)| *of == kind).map(|(_, seconds)| *seconds)
    }

    /// What the last round came to.
    fn line(&self) -> String {
        let milliseconds = |kind: Kind| Some(format!("{} {:.1} ms", kind.name(), self.of(kind).next_back()? * 1_000.0));
        format!("{} {}", self.side.name, Kind::ALL.into_iter().filter_map(milliseconds).collect::<Vec<_>>().join(", "))
    }
}

fn finished(mut child: std::process::Child) -> Result<()> {
    if child.wait()?.success() { Ok(()) } else { Err("a clone failed".into()) }
}

fn report([ours, theirs]: &[Measuring; 2]) -> Report {
    let mut report = Report::new("git");
    for kind in Kind::ALL {
        for measured in [ours, theirs] {
            let milliseconds = median(measured.of(kind)) * 1_000.0;
            report.figure(format!("{}_{}_ms", measured.side.name, kind.name()), milliseconds);
        }
        let pairs = ours.of(kind).zip(theirs.of(kind));
        let ratio = pairs.map(|(ours, theirs)| if kind.is_of_times() { ours / theirs } else { theirs / ours });
        report.ratio(format!("{}_to_http_backend", kind.name()), median(ratio));
    }
    report
}
