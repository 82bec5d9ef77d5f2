//! The worker's own lines in the output of a job.

use std::io::{self, Write};

use super::super::words::Mark;

/// Writes into the pipe of output. Each line goes in one write, so that no step's lines come between.
#[derive(Clone, Debug)]
pub struct Output {
    marker: String,
}

impl Output {
    /// The output of a job with this marker.
    pub fn new(marker: &str) -> Self {
        Self { marker: marker.to_owned() }
    }

    /// Writes what only the worker may say.
    pub fn mark(&self, mark: &Mark) {
        line(&mark.line(&self.marker));
    }

    /// Has a text masked from here on.
    pub fn mask(&self, text: &str) {
        self.mark(&Mark::Mask(text.to_owned()));
    }

    /// Writes lines that people read.
    pub fn say(&self, text: &str) {
        text.lines().for_each(|line| self.mark(&Mark::Say(line.to_owned())));
    }

    /// Writes why a step fails, as an annotation.
    pub fn error(&self, text: &str) {
        self.mark(&Mark::Error(text.to_owned()));
    }

    /// Writes what may be wrong, as an annotation.
    pub fn warning(&self, text: &str) {
        self.mark(&Mark::Warning(text.to_owned()));
    }
}

fn line(text: &str) {
    drop(io::stderr().lock().write_all(format!("{text}\n").as_bytes()));
}
