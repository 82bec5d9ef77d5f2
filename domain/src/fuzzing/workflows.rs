//! Workflow files: problems point into the file, and what is read holds what its planner relies on.

use std::collections::HashSet;

use crate::pipelines::workflow::{Glob, Job, JobKey, PROBLEMS_MAX, Severity, Workflow, WorkflowFile};

/// A file. Its first line is a pattern of a filter, too.
pub fn workflows(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let file = WorkflowFile::read(&text);
    let has_errors = file.problems.iter().any(|problem| problem.severity == Severity::Error);
    assert_eq!(file.workflow.is_none(), has_errors);
    assert!(file.problems.len() <= PROBLEMS_MAX);
    let lines = text.matches(['\n', '\r']).count() + 2;
    for problem in &file.problems {
        assert!(!problem.message.is_empty());
        assert_eq!(problem.line.is_some(), problem.column.is_some());
        assert!(problem.line.is_none_or(|line| (1..=lines).contains(&line)), "{problem:?}");
        assert!(problem.column.is_none_or(|column| column > 0), "{problem:?}");
    }
    if let Some(workflow) = &file.workflow {
        workflow_holds(workflow);
    }
    let line = text.lines().next().unwrap_or_default();
    if let Some(glob) = Glob::parse(line) {
        let is_plain = !line.contains(['*', '?', '+', '[', '\\']);
        assert!(!is_plain || glob.matches(line), "{line}");
        let _matches = glob.matches(&text);
    }
}

/// Jobs have different names, need jobs that are there, and each has its turn.
fn workflow_holds(workflow: &Workflow) {
    let keys: HashSet<&JobKey> = workflow.jobs.iter().map(|job| &job.key).collect();
    assert_eq!(keys.len(), workflow.jobs.len());
    let mut done: HashSet<&JobKey> = HashSet::new();
    while done.len() < keys.len() {
        let before = done.len();
        let is_ready = |job: &&Job| job.needs.iter().all(|need| done.contains(need));
        let ready: Vec<_> = workflow.jobs.iter().filter(is_ready).map(|job| &job.key).collect();
        done.extend(ready);
        assert!(done.len() > before, "a job waits for ever");
    }
    for job in &workflow.jobs {
        assert!(!job.condition.text().is_empty());
        let _usage = job.usage();
    }
}
