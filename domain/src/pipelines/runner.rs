//! Runners: how they are named, and which jobs they may take.

use std::{ops::RangeInclusive, time::Duration};

use crate::{
    Error, Result, Timestamp,
    account::text_check,
    problems::{Problems, all},
};

/// Characters of a runner's name.
pub const RUNNER_NAME_LEN: RangeInclusive<usize> = 1..=64;
/// Characters of an operating system's or a processor's name.
pub const RUNNER_PLACE_LEN: RangeInclusive<usize> = 1..=32;
/// Labels that somebody gives a runner, at most.
pub const RUNNER_LABELS_MAX: usize = 50;
/// Characters of a runner's label.
pub const RUNNER_LABEL_LEN: RangeInclusive<usize> = 1..=64;
/// Runners of an organization, at most.
pub const RUNNERS_MAX: u64 = 1_000;
/// How long a registration can be used.
pub const REGISTRATION_LASTS: Duration = Duration::from_hours(1);
/// How long a runner that was given a job has to ask for its plan.
pub const RESERVED_FOR: Duration = Duration::from_secs(30);
/// The longest that a runner waits for a job at once, in seconds.
pub const POLL_SECONDS_MAX: u64 = 50;
/// How often a runner that asks is written down as heard of, at most.
pub const RUNNER_SEEN_EVERY: Duration = Duration::from_secs(30);
/// How long ago a runner that still asks for jobs asked last, at most: a question waits up to 50 s, and is written down every 30 s.
pub const RUNNER_ASKED_WITHIN: Duration = Duration::from_mins(2);
/// Jobs of a queue that are looked at one by one: those that wait longest.
pub const QUEUE_WINDOW: u64 = 200;

/// The label that every runner has.
const SELF_HOSTED: &str = "self-hosted";

/// What a runner says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunnerDraft {
    /// How people call it.
    pub name: String,
    /// The labels that somebody gave it, in small letters.
    pub labels: Vec<String>,
    /// The operating system.
    pub os: String,
    /// The processor.
    pub arch: String,
}

impl RunnerDraft {
    /// The draft without the blanks around its texts, where it keeps to the limits.
    pub fn check(self) -> Result<Self> {
        let (name, os, arch, labels) = all((
            text_check("name", &self.name, &RUNNER_NAME_LEN),
            text_check("os", &self.os, &RUNNER_PLACE_LEN),
            text_check("arch", &self.arch, &RUNNER_PLACE_LEN),
            labels_check(&self.labels),
        ))?;
        Ok(Self { name, labels, os, arch })
    }

    /// All labels of the runner: what every runner has, what it runs on, those of the registration, and its own.
    pub fn labels_with(&self, registered: &[String]) -> Vec<String> {
        let given = [SELF_HOSTED.to_owned(), self.os.to_lowercase(), self.arch.to_lowercase()];
        let mut labels: Vec<String> = Vec::new();
        for label in given.iter().chain(registered).chain(&self.labels) {
            if !labels.contains(label) {
                labels.push(label.clone());
            }
        }
        labels
    }
}

/// Labels in small letters, each once, where they keep to the limits.
pub fn labels_check(labels: &[String]) -> Result<Vec<String>> {
    let mut problems = Problems::new();
    let most = format!("A runner has at most {RUNNER_LABELS_MAX} labels.");
    problems.require(labels.len() <= RUNNER_LABELS_MAX, "labels", most);
    let mut checked: Vec<String> = Vec::new();
    for (at, label) in labels.iter().enumerate() {
        if let Some(label) = problems.keep(text_check(&format!("labels[{at}]"), label, &RUNNER_LABEL_LEN))? {
            let label = label.to_lowercase();
            if !checked.contains(&label) {
                checked.push(label);
            }
        }
    }
    problems.into_result().map(|()| checked)
}

/// The first label of a job that a runner with these labels doesn't have; none where it may take the job.
pub fn label_missing<'j>(job: &'j [String], runner: &[String]) -> Option<&'j str> {
    job.iter().find(|label| !runner.contains(&label.to_lowercase())).map(String::as_str)
}

/// What is said of a job whose runner was last heard of at `at`.
pub fn runner_lost(name: &str, at: Timestamp) -> String {
    let at = jiff::Timestamp::from_millisecond(at.0).unwrap_or(jiff::Timestamp::MAX);
    let at = at.to_zoned(jiff::tz::TimeZone::UTC).strftime("%Y-%m-%dT%H:%M:%SZ");
    format!("The runner {name} stopped answering at {at}.")
}

/// What is said of a job that no runner took.
pub const UNCLAIMED: &str = "No runner took the job within 24 hours.";

/// 400: the organization has as many runners as it may.
pub fn too_many_runners() -> Error {
    Error::bad_request("limit_reached", format!("An organization has at most {RUNNERS_MAX} runners."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(labels: &[&str]) -> Vec<String> {
        labels.iter().map(|&label| label.to_owned()).collect()
    }

    #[test]
    fn a_runner_takes_jobs_all_of_whose_labels_it_has() {
        let draft =
            RunnerDraft { name: "box".into(), labels: labels(&["gpu"]), os: "Linux".into(), arch: "X64".into() };
        let runner = draft.labels_with(&labels(&["big", "gpu"]));
        assert_eq!(runner, labels(&["self-hosted", "linux", "x64", "big", "gpu"]));
        assert_eq!(label_missing(&labels(&["Self-Hosted", "LINUX", "gpu"]), &runner), None);
        assert_eq!(label_missing(&labels(&["linux", "arm64", "tpu"]), &runner), Some("arm64"));
        assert_eq!(label_missing(&[], &runner), None);
    }

    #[test]
    fn labels_keep_to_their_limits() {
        let long = "a".repeat(64);
        assert_eq!(labels_check(&labels(&["A", "a", " b ", &long])).unwrap(), labels(&["a", "b", &long]));
        assert!(labels_check(&[long + "a"]).is_err());
        assert!(labels_check(&labels(&[" "])).is_err());
        let many: Vec<String> = (0..50).map(|at| format!("l{at}")).collect();
        assert_eq!(labels_check(&many).unwrap().len(), 50);
        assert!(labels_check(&[many, labels(&["one-more"])].concat()).is_err());
    }
}
