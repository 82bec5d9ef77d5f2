//! What a job's worker and whoever started it say to each other: a line of JSON each.
//!
//! The worker reads [`Order`]s from its standard input and writes [`Word`]s to its standard output. Its standard error is the
//! pipe of the steps' output, whose other end its starter holds: what a step printed is read even where the worker died. In that
//! pipe the worker marks with a line of [`Mark`] where a step begins and ends; only it knows the marker.

use std::{collections::BTreeMap, path::PathBuf};

use domain::pipelines::job::{JobPlan, JobStatus, StepReport};
use serde::{Deserialize, Serialize};

/// The beginning of a line that is the runner's own word.
pub fn mark_prefix(marker: &str) -> String {
    format!("##[{marker}]")
}

/// An act that a worker is told.
#[derive(Debug, Serialize, Deserialize)]
// Tagged from outside: what is buffered to find a tag inside can't hold a plan's raw JSON.
#[serde(rename_all = "camelCase")]
pub enum Order {
    /// The job; the first order.
    Work(Box<Assignment>),
    /// The job is cancelled.
    Cancel,
    /// The running step's output said something.
    Said(Said),
    /// All that a step printed up to its end was read.
    Heard {
        /// The place among the reports.
        index: usize,
    },
}

/// A job, and what it takes to do it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Assignment {
    /// What the server told of the job.
    pub plan: JobPlan,
    /// Secrets by their names.
    pub secrets: BTreeMap<String, String>,
    /// The runner's name.
    pub runner: String,
    /// The folder that is the job's own.
    pub folder: PathBuf,
    /// A command before each step, as where steps are to be locked in.
    pub wrapper: Vec<String>,
    /// Whether lines for whoever looks for mistakes are shown.
    pub is_debug: bool,
    /// How long a minute is, in milliseconds.
    pub minute_ms: u64,
    /// The runner's folder, which no action of the job reads or writes but where the job's own stands in it.
    #[serde(default)]
    pub closed: Option<PathBuf>,
    /// Where files come from and go to.
    pub files: Files,
}

/// Where a job's files come from and go to.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "from")]
pub enum Files {
    /// This machine: a repository's folder, and one for what jobs hand on.
    Here {
        /// A folder in the repository, where there is one.
        repository: Option<PathBuf>,
        /// The folder of artifacts and caches.
        kept: PathBuf,
    },
    /// The server.
    Server {
        /// The job's token.
        token: String,
    },
}

/// A word of a step's output for the runner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "what")]
pub enum Said {
    /// An output of the step.
    Output {
        /// The name.
        name: String,
        /// The value.
        value: String,
    },
    /// A value for the action's last part.
    State {
        /// The name.
        name: String,
        /// The value.
        value: String,
    },
    /// The step asked for what is refused: it fails.
    Refused,
}

/// A message of a worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Word {
    /// How the steps are doing.
    Steps {
        /// All of them.
        steps: Vec<StepReport>,
    },
    /// The job is over; the last word.
    Over(Over),
}

/// What a job came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Over {
    /// How the job ended.
    pub status: JobStatus,
    /// Whether the job took longer than it may.
    pub has_timed_out: bool,
    /// The steps.
    pub steps: Vec<StepReport>,
    /// What the job hands to those that need it.
    pub outputs: BTreeMap<String, String>,
    /// Where to see what the job deployed.
    pub environment_url: Option<String>,
    /// What the steps wrote for people.
    pub summary: String,
    /// Why the job couldn't be done, where it couldn't.
    pub error: Option<String>,
}

/// A line of the worker's own in the pipe of output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The lines of a step begin.
    Begin(usize),
    /// The lines of a step end.
    End(usize),
    /// The text is never shown; the line itself goes nowhere.
    Mask(String),
    /// A line that people read, whatever it looks like.
    Say(String),
    /// Why a step fails.
    Error(String),
    /// What may be wrong.
    Warning(String),
}

/// A mark with a text, of its text.
type WithText = fn(String) -> Mark;

/// What stands in front of a mark's text.
const TEXTS: [(&str, WithText); 4] =
    [("mask ", Mark::Mask), ("say ", Mark::Say), ("error ", Mark::Error), ("warning ", Mark::Warning)];

impl Mark {
    /// What stands behind the prefix.
    pub fn read(text: &str) -> Option<Self> {
        for (prefix, mark) in TEXTS {
            if let Some(json) = text.strip_prefix(prefix) {
                return serde_json::from_str(json).ok().map(mark);
            }
        }
        let (index, what) = text.strip_prefix("step ")?.split_once(' ')?;
        match (index.parse().ok()?, what) {
            (index, "begin") => Some(Self::Begin(index)),
            (index, "end") => Some(Self::End(index)),
            _ => None,
        }
    }

    /// The line, without its end.
    pub fn line(&self, marker: &str) -> String {
        let prefix = mark_prefix(marker);
        match self {
            Self::Begin(index) => format!("{prefix}step {index} begin"),
            Self::End(index) => format!("{prefix}step {index} end"),
            Self::Mask(text) => format!("{prefix}mask {}", json(text)),
            Self::Say(text) => format!("{prefix}say {}", json(text)),
            Self::Error(text) => format!("{prefix}error {}", json(text)),
            Self::Warning(text) => format!("{prefix}warning {}", json(text)),
        }
    }
}

fn json(text: &str) -> serde_json::Value {
    serde_json::Value::from(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assignment_is_read_as_it_was_told() {
        let plan = r#"{"protocol":1,"job":{"id":"job_1","key":"a","name":"a","runId":"run_1","runNumber":1,"attempt":1,
            "workflow":"ci","repository":"site","timeoutMinutes":1},"contexts":{"github":{"z":1,"a":2}},"env":{},"defaults":{},
            "steps":[],"outputs":{},"marker":"0","limits":{"logBytes":1,"summaryBytes":1,"artifactBytes":1,"cacheBytes":1},
            "serverUrl":"http://localhost"}"#;
        let assignment = Assignment {
            plan: serde_json::from_str(plan).unwrap(),
            secrets: BTreeMap::new(),
            runner: "box".to_owned(),
            folder: PathBuf::from("/x"),
            wrapper: Vec::new(),
            is_debug: false,
            minute_ms: 1,
            closed: None,
            files: Files::Server { token: "trp_j_x".to_owned() },
        };
        let line = serde_json::to_string(&Order::Work(Box::new(assignment))).unwrap();
        let Order::Work(read) = serde_json::from_str(&line).unwrap() else { panic!("{line}") };
        assert_eq!(read.plan.contexts["github"].get(), r#"{"z":1,"a":2}"#, "names keep their order");
        for order in [Order::Cancel, Order::Said(Said::Refused), Order::Heard { index: 3 }] {
            let line = serde_json::to_string(&order).unwrap();
            assert_eq!(format!("{:?}", serde_json::from_str::<Order>(&line).unwrap()), format!("{order:?}"));
        }
    }

    #[test]
    fn marks_are_read_as_they_are_written() {
        let marker = "0".repeat(32);
        for mark in
            [Mark::Begin(0), Mark::End(1_099), Mark::Mask("a\nb \"c".to_owned()), Mark::Say(" ::error::a".to_owned())]
        {
            let line = mark.line(&marker);
            assert!(!line.contains('\n'));
            assert_eq!(Mark::read(line.strip_prefix(&mark_prefix(&marker)).unwrap()), Some(mark));
        }
        for text in ["", "step", "step 0", "step x begin", "step 0 middle", "mask ", "mask a"] {
            assert_eq!(Mark::read(text), None, "{text}");
        }
    }
}
