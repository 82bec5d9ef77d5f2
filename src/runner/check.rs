//! `troupe workflow check FILE`: what is wrong with a workflow file, and where.

use std::{
    fmt::Write as _,
    {fs, io, path::Path, process::ExitCode},
};

use domain::pipelines::workflow::{Severity, Workflow, WorkflowFile, WorkflowProblem, YAML_LEN_MAX};

use super::error::{Result, RunnerError};

/// Prints the problems of a file, each as `file:line:column: error: message`.
pub fn check(path: &Path) -> Result<ExitCode> {
    let file = read(path)?;
    for problem in &file.problems {
        println!("{}", line(path, problem));
    }
    if file.workflow.is_none() {
        return Ok(ExitCode::FAILURE);
    }
    if file.problems.is_empty() {
        println!("{}: no problems.", path.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// The workflow of a file; its problems are printed where it means nothing.
pub fn workflow(path: &Path) -> Result<Workflow> {
    let file = read(path)?;
    file.workflow.ok_or_else(|| {
        file.problems.iter().for_each(|problem| eprintln!("{}", line(path, problem)));
        RunnerError::Workflow(path.to_owned())
    })
}

fn read(path: &Path) -> Result<WorkflowFile> {
    let file = RunnerError::file(path);
    let len = fs::metadata(path).map(|metadata| metadata.len());
    let text = len.and_then(|len| {
        if usize::try_from(len).is_ok_and(|len| len <= YAML_LEN_MAX) {
            return fs::read(path);
        }
        Err(io::Error::other(format!("a workflow file has at most {YAML_LEN_MAX} bytes")))
    });
    Ok(WorkflowFile::read(&String::from_utf8_lossy(&text.map_err(file)?)))
}

fn line(path: &Path, problem: &WorkflowProblem) -> String {
    let severity = match problem.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let mut line = path.display().to_string();
    for number in [problem.line, problem.column].into_iter().flatten() {
        // Writing to a text doesn't fail.
        let _ = write!(line, ":{number}");
    }
    let _ = write!(line, ": {severity}: {}", problem.message);
    line
}
