//! What is wrong with a workflow file, and where.

use super::yaml::{Node, Place};
use crate::pipelines::expressions::TemplateFault;

/// Problems that are told of one file, at most.
pub const PROBLEMS_MAX: usize = 100;

/// Something that is wrong with a workflow file (contract C 2.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkflowProblem {
    /// What is wrong.
    pub message: String,
    /// The line, from 1, where it shows.
    pub line: Option<usize>,
    /// The character of the line, from 1.
    pub column: Option<usize>,
    /// Whether the file means nothing because of it.
    pub severity: Severity,
}

/// What follows from a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The file starts nothing.
    Error,
    /// The file works, though perhaps not as it was meant to.
    Warning,
}

impl WorkflowProblem {
    /// An error of the whole file, or at a place in it.
    pub(super) fn error(message: impl Into<String>, place: Option<Place>) -> Self {
        let (line, column) = (place.map(|place| place.line), place.map(|place| place.column));
        Self { message: message.into(), line, column, severity: Severity::Error }
    }
}

/// The problems of a file, while they are found.
pub(super) struct Problems<'a> {
    text: &'a str,
    found: Vec<WorkflowProblem>,
}

impl<'a> Problems<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, found: Vec::new() }
    }

    /// The file means nothing because of this.
    pub fn error(&mut self, at: Place, message: impl Into<String>) {
        self.add(WorkflowProblem::error(message, Some(at)));
    }

    /// The file works, though perhaps not as it was meant to.
    pub fn warning(&mut self, at: Place, message: impl Into<String>) {
        self.add(WorkflowProblem { severity: Severity::Warning, ..WorkflowProblem::error(message, Some(at)) });
    }

    /// What is wrong with the expressions of a scalar, each where its `${{` stands in the file.
    pub fn template(&mut self, node: &Node, value: &str, fault: &TemplateFault) {
        match fault {
            TemplateFault::NotClosed => self.error(node.place, fault.to_string()),
            TemplateFault::Expressions(faults) => {
                // Looking for a place goes through the file.
                let told = self.found.iter().filter(|problem| problem.severity == Severity::Error).count();
                for (at, fault) in faults.iter().take(PROBLEMS_MAX - told) {
                    let nth = value.get(..*at).map_or(0, |before| before.matches("${{").count());
                    let place = self.nth_expression(node, nth).unwrap_or(node.place);
                    self.error(place, fault.to_string());
                }
            }
        }
    }

    /// Where a scalar's expression stands in the file.
    fn nth_expression(&self, node: &Node, nth: usize) -> Option<Place> {
        let start = self.text.char_indices().nth(node.place.index).map_or(self.text.len(), |(at, _)| at);
        let (at, _) = self.text.get(start..)?.match_indices("${{").nth(nth)?;
        let before = self.text.get(..start + at)?;
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let column = before.get(line_start..)?.chars().count() + 1;
        Some(Place { index: before.chars().count(), line: before.matches('\n').count() + 1, column })
    }

    /// Adds a problem, as long as there is room. For an error a warning makes room: a file with an error means nothing, however
    /// many warnings there are.
    fn add(&mut self, problem: WorkflowProblem) {
        let is_warning = |problem: &WorkflowProblem| problem.severity == Severity::Warning;
        if self.found.len() < PROBLEMS_MAX {
            self.found.push(problem);
        } else if !is_warning(&problem)
            && let Some(warning) = self.found.iter_mut().rev().find(|known| is_warning(known))
        {
            *warning = problem;
        }
    }

    pub fn has_errors(&self) -> bool {
        self.found.iter().any(|problem| problem.severity == Severity::Error)
    }

    /// The problems, in the order of the file.
    pub fn into_list(mut self) -> Vec<WorkflowProblem> {
        self.found.sort_by_key(|problem| (problem.line, problem.column));
        self.found
    }
}
