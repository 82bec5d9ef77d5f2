//! The truth table of runs (`domain/src/pipelines/run/cases`), by the program: each workflow is done by `troupe runner exec`, with
//! real shells, signals and processes.

use std::{
    collections::{BTreeMap, VecDeque},
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
    sync::Mutex,
    thread,
};

use serde_json::Value;

use super::{file, git, troupe};

/// Cases at the same time: most of them wait.
const THREADS: usize = 8;
/// How long a minute is in cases of jobs that take too long.
pub const SHORT_MINUTE_MS: &str = "4000";

/// A workflow, what is done to its run, and how that ends.
pub struct Case {
    pub name: String,
    pub workflow: String,
    pub acts: VecDeque<String>,
    expected: Vec<String>,
}

/// All cases.
pub fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("domain/src/pipelines/run/cases");
    let mut cases = Vec::new();
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    for file in files {
        let text = fs::read_to_string(file).unwrap();
        for case in text.strip_prefix("=== ").unwrap().split("\n=== ") {
            let (name, body) = case.split_once('\n').unwrap();
            let (workflow, rest) = body.split_once("\n>>>\n").unwrap();
            let lines = || rest.lines().filter(|line| !line.is_empty());
            cases.push(Case {
                name: name.to_owned(),
                workflow: workflow.to_owned(),
                acts: lines().filter_map(|line| line.strip_prefix("@ ")).map(str::to_owned).collect(),
                expected: lines().filter(|line| !line.starts_with("@ ")).map(str::to_owned).collect(),
            });
        }
    }
    cases
}

impl Case {
    /// Whether the case is of what a machine of one's own hasn't (reviewers that don't agree, another attempt), or of one of
    /// several jobs taking too long, which real time doesn't do.
    fn is_elsewhere(&self) -> bool {
        let is_held = self.workflow.contains("environment: production") && !self.does("approve");
        is_held || self.does("rerun") || self.is_unlike_here()
    }

    /// Whether the case is one of several jobs taking too long, which real time doesn't do.
    pub fn is_unlike_here(&self) -> bool {
        self.does("time-out") && self.workflow.contains("matrix")
    }

    /// Whether somebody does something of this kind.
    pub fn does(&self, verb: &str) -> bool {
        self.acts.iter().any(|act| act.starts_with(verb))
    }

    /// The workflow, in which what nobody stops ends by itself.
    pub fn text(&self) -> String {
        self.workflow.replace("sleep 600, if: always()", "sleep 4, if: always()")
    }

    /// What somebody does: nobody has to agree to what happens where there are no reviewers, and time passes by itself.
    pub fn deeds(&self) -> VecDeque<String> {
        let by_themselves = |act: &&String| act.starts_with("approve") || act.starts_with("time-out");
        self.acts.iter().filter(|act| !by_themselves(act)).cloned().collect()
    }

    /// What is wrong with what was found.
    pub fn fault(&self, found: &str) -> Option<String> {
        let wanted = self.expected.join("\n");
        (found != wanted).then(|| format!("--- {}\n{found}\n--- expected\n{wanted}\n", self.name))
    }

    /// What the program makes of the case, as the case is written.
    fn play(&self) -> String {
        let (folder, _) = file(&self.text());
        if self.workflow.contains("checkout") {
            git(folder.path(), &["init", "--quiet"]);
            git(folder.path(), &["commit", "--quiet", "--allow-empty", "-m", "first"]);
        }
        let mut arguments = vec!["runner", "exec", "workflow.yml", "--json", "--jobs", "16"];
        if self.does("time-out") {
            arguments.extend(["--minute-ms", SHORT_MINUTE_MS]);
        }
        let mut child = troupe(folder.path(), &arguments).env("USER", "ada").stdout(Stdio::piped()).spawn().unwrap();
        let mut acts = self.deeds();
        let (mut pids, mut over) = (BTreeMap::new(), Value::Null);
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
            match event["event"].as_str().unwrap() {
                "job" => drop(pids.insert(event["job"].as_str().unwrap().to_owned(), event["pid"].to_string())),
                "over" => over = event,
                "steps" if acts.front().is_some_and(|act| runs(act, &event)) => {
                    strike(&acts.pop_front().unwrap(), &child.id().to_string(), &pids);
                }
                _ => {}
            }
        }
        child.wait().unwrap();
        if !acts.is_empty() {
            return format!("never comes to {acts:?}");
        }
        self.shown(&over)
    }

    /// What was found, as far as it is expected.
    pub fn shown(&self, over: &Value) -> String {
        let mut lines = vec![format!("run => {}", over["conclusion"].as_str().unwrap_or("nothing"))];
        for job in over["jobs"].as_array().into_iter().flatten() {
            let (name, conclusion) = (job["name"].as_str().unwrap(), job["conclusion"].as_str().unwrap());
            let start = format!("{name} => ");
            let wants_steps = self.expected.iter().any(|line| line.starts_with(&start) && line.contains(" | "));
            let steps: Vec<_> = job["steps"].as_array().unwrap().iter().map(reported).collect();
            let steps = if wants_steps { format!(" | {}", steps.join(" ")) } else { String::new() };
            lines.push(format!("{start}{conclusion}{steps}"));
        }
        lines.join("\n")
    }
}

/// Whether the step of an act runs.
fn runs(act: &str, event: &Value) -> bool {
    let (job, step) = act.split_once(' ').unwrap().1.rsplit_once(' ').unwrap();
    event["job"] == job && event["steps"][step.parse::<usize>().unwrap()]["status"] == "in_progress"
}

fn strike(act: &str, program: &str, pids: &BTreeMap<String, String>) {
    let (verb, of) = act.split_once(' ').unwrap();
    let (signal, pid) = match verb {
        "cancel" => ("-INT", program),
        "force-cancel" => ("-TERM", program),
        "lose" => ("-KILL", pids[of.rsplit_once(' ').unwrap().0].as_str()),
        _ => panic!("nobody can {verb}"),
    };
    assert!(Command::new("kill").args([signal, pid]).status().unwrap().success());
}

fn reported(report: &Value) -> String {
    let name = |key: &str| report[key].as_str().unwrap_or("pending");
    let post = if report["post"] == true { "post:" } else { "" };
    let (outcome, conclusion) = (name("outcome"), name("conclusion"));
    if outcome == conclusion { format!("{post}{conclusion}") } else { format!("{post}{outcome}/{conclusion}") }
}

#[test]
fn each_case_of_the_truth_table_ends_as_it_says() {
    let (here, elsewhere): (Vec<_>, Vec<_>) = cases().into_iter().partition(|case| !case.is_elsewhere());
    assert!(here.len() >= 226, "{}", here.len());
    assert!(elsewhere.len() <= 7, "{}", elsewhere.len());
    let (waiting, faults) = (Mutex::new(here), Mutex::new(Vec::new()));
    let next = || waiting.lock().unwrap().pop();
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(case) = next() {
                    faults.lock().unwrap().extend(case.fault(&case.play()));
                }
            });
        }
    });
    let faults = faults.into_inner().unwrap();
    assert!(faults.is_empty(), "{}\n{} cases", faults.join("\n"), faults.len());
}
