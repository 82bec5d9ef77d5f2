//! What a job prints, line by line: the worker's own words, commands to the runner, and lines that people read, without secrets.

#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod open;

use std::borrow::Cow;

use domain::pipelines::{
    job::{
        ANNOTATION_FILE_LEN_MAX, ANNOTATION_MESSAGE_LEN_MAX, ANNOTATION_TITLE_LEN_MAX, ANNOTATIONS_MAX, CommandName,
        WorkflowCommand, resumes,
    },
    logs::{MASK, Masks, shown},
};
use memchr::{memchr, memmem};
use serde::{Deserialize, Serialize};

use self::open::{Open, pieces};
use super::words::{Mark, Said, mark_prefix};

/// Bytes of a line, at most; a longer one becomes several. Masks at most double a text, and contract C 4.1 takes 200,000 characters.
const LINE_LEN_MAX: usize = 64 * 1024;

/// A remark on what a step did (contract C 4.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Annotation {
    /// `error`, `warning` or `notice`.
    pub level: String,
    /// What is remarked.
    pub message: String,
    /// The file that the remark is of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line of the file, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What stands above the remark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The step that printed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
}

/// What was heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// A line of the log.
    Line(String),
    /// A word for the worker.
    Said(Said),
    /// All that a step printed was heard.
    End(usize),
}

/// Reads what a job prints.
pub struct Listener {
    prefix: String,
    secrets: Vec<String>,
    masks: Option<Masks>,
    is_debug: bool,
    is_echo: bool,
    /// The word that ends the time in which commands are lines.
    stopped: Option<String>,
    step: Option<usize>,
    /// What came of a line whose end didn't, and what became of that.
    rest: Vec<u8>,
    open: Open,
    annotations: Vec<Annotation>,
}

impl Listener {
    /// A listener to a job with this marker and these secrets.
    pub fn new(marker: &str, secrets: impl IntoIterator<Item = String>, is_debug: bool) -> Self {
        let secrets: Vec<String> = secrets.into_iter().collect();
        Self {
            prefix: mark_prefix(marker),
            masks: Masks::of(secrets.iter().map(String::as_str)).ok(),
            secrets,
            is_debug,
            is_echo: false,
            stopped: None,
            step: None,
            rest: Vec::new(),
            open: Open::Fresh,
            annotations: Vec::new(),
        }
    }

    /// The remarks so far.
    pub fn annotations(&self) -> &[Annotation] {
        &self.annotations
    }

    /// The text without secrets. Where they can't be looked for, nothing is shown.
    pub fn hide(&self, text: &str) -> String {
        self.masks.as_ref().map_or_else(|| MASK.to_owned(), |masks| masks.hide(text.into()).into_owned())
    }

    /// Takes bytes as they come.
    pub fn take(&mut self, mut bytes: &[u8], heard: &mut impl FnMut(Heard)) {
        while let Some(end) = memchr(b'\n', bytes) {
            self.rest.extend_from_slice(&bytes[..end]);
            bytes = &bytes[end + 1..];
            self.line(heard);
        }
        self.rest.extend_from_slice(bytes);
        self.relieve(heard);
    }

    /// Takes what was printed without an end of its line.
    pub fn finish(&mut self, heard: &mut impl FnMut(Heard)) {
        if !self.rest.is_empty() {
            self.line(heard);
        }
    }

    fn line(&mut self, heard: &mut impl FnMut(Heard)) {
        // A step whose last line has no end leaves the worker's word behind it.
        let mark = memmem::find(&self.rest, self.prefix.as_bytes()).map(|at| self.rest.split_off(at));
        if mark.is_none() || !self.rest.is_empty() {
            self.printed(heard);
        }
        self.open = Open::Fresh;
        if let Some(mark) = mark {
            let line = String::from_utf8_lossy(&mark);
            let line = line.strip_suffix('\r').unwrap_or(&line);
            if let Some(mark) = Mark::read(&line[self.prefix.len()..]) {
                self.mark(mark, line, heard);
            }
        }
    }

    /// Hears what a step printed, whose line is over.
    fn printed(&mut self, heard: &mut impl FnMut(Heard)) {
        let bytes = std::mem::take(&mut self.rest);
        match std::mem::replace(&mut self.open, Open::Fresh) {
            Open::Fresh => {
                let text = String::from_utf8_lossy(&bytes);
                self.text(text.strip_suffix('\r').unwrap_or(&text), heard);
            }
            Open::Shown(len) => self.show_end(&bytes, len, heard),
            Open::Dropped => {}
        }
    }

    fn mark(&mut self, mark: Mark, line: &str, heard: &mut impl FnMut(Heard)) {
        match mark {
            Mark::Begin(index) => {
                // What one step asked for doesn't hold for the next one.
                (self.step, self.stopped, self.is_echo) = (Some(index), None, false);
                heard(Heard::Line(line.to_owned()));
            }
            Mark::End(index) => {
                self.step = None;
                heard(Heard::Line(line.to_owned()));
                heard(Heard::End(index));
            }
            Mark::Mask(secret) => self.mask(secret),
            Mark::Say(text) => self.show("", &text, heard),
            Mark::Error(text) => self.annotate("error", &text, heard),
            Mark::Warning(text) => self.annotate("warning", &text, heard),
        }
    }

    fn annotate(&mut self, level: &str, text: &str, heard: &mut impl FnMut(Heard)) {
        let annotation = Annotation {
            level: level.to_owned(),
            message: text.to_owned(),
            file: None,
            line: None,
            title: None,
            step: None,
        };
        self.add(annotation);
        self.show(&format!("##[{level}]"), text, heard);
    }

    fn mask(&mut self, secret: String) {
        self.secrets.push(secret);
        self.masks = Masks::of(self.secrets.iter().map(String::as_str)).ok();
    }

    fn show(&self, prefix: &str, text: &str, heard: &mut impl FnMut(Heard)) {
        let text = self.hide(text);
        let mut is_first = true;
        for line in text.split('\n') {
            let prefix = if std::mem::take(&mut is_first) { prefix } else { "" };
            // Where something was taken out, what stood around it may be a secret.
            let line = match shown(line) {
                Cow::Borrowed(line) => format!("{prefix}{line}"),
                Cow::Owned(line) => format!("{prefix}{}", self.hide(&line)),
            };
            pieces(&line).for_each(|piece| heard(Heard::Line(piece.to_owned())));
        }
    }

    fn text(&mut self, text: &str, heard: &mut impl FnMut(Heard)) {
        if let Some(word) = &self.stopped {
            if resumes(text, word) {
                self.stopped = None;
            }
            return self.show("", text, heard);
        }
        match WorkflowCommand::read(text) {
            Some(command) => self.command(text, command, heard),
            None => self.show("", text, heard),
        }
    }

    fn refuse(&mut self, why: &str, heard: &mut impl FnMut(Heard)) {
        self.annotate("error", why, heard);
        heard(Heard::Said(Said::Refused));
    }

    fn command(&mut self, line: &str, command: WorkflowCommand, heard: &mut impl FnMut(Heard)) {
        let is_output = matches!(command.name, CommandName::SetOutput | CommandName::SaveState);
        if self.is_echo && is_output {
            self.show("", line, heard);
        }
        let message = command.message.clone();
        match command.name {
            CommandName::Error => self.remark("error", &command, heard),
            CommandName::Warning => self.remark("warning", &command, heard),
            CommandName::Notice => self.remark("notice", &command, heard),
            CommandName::Debug if self.is_debug => self.show("##[debug]", &message, heard),
            CommandName::Debug => {}
            CommandName::Group => self.show("##[group]", &message, heard),
            CommandName::EndGroup => self.show("##[endgroup]", "", heard),
            CommandName::AddMask => self.mask(message),
            CommandName::StopCommands => {
                self.show("", line, heard);
                self.stopped = Some(message).filter(|word| !word.is_empty());
            }
            CommandName::Echo => self.is_echo = message.eq_ignore_ascii_case("on"),
            CommandName::SetOutput | CommandName::SaveState => self.set(command, heard),
            CommandName::SetEnv | CommandName::AddPath => {
                let what = if command.name == CommandName::SetEnv { "set-env" } else { "add-path" };
                let why = format!("The `{what}` command is refused. Write to the file of GITHUB_ENV or GITHUB_PATH.");
                self.refuse(&why, heard);
            }
            CommandName::AddMatcher | CommandName::RemoveMatcher => {
                self.annotate("warning", "Problem matchers are not known here.", heard);
            }
        }
    }

    fn set(&mut self, command: WorkflowCommand, heard: &mut impl FnMut(Heard)) {
        let (what, file) = match command.name {
            CommandName::SaveState => ("save-state", "GITHUB_STATE"),
            _ => ("set-output", "GITHUB_OUTPUT"),
        };
        let Some(name) = command.property("name").map(str::to_owned) else {
            let why = format!("The `{what}` command needs a name.");
            return self.refuse(&why, heard);
        };
        let advice = format!("The `{what}` command is deprecated. Write to the file of {file}.");
        self.annotate("warning", &advice, heard);
        let value = command.message;
        let is_state = what == "save-state";
        heard(Heard::Said(if is_state { Said::State { name, value } } else { Said::Output { name, value } }));
    }

    fn remark(&mut self, level: &str, command: &WorkflowCommand, heard: &mut impl FnMut(Heard)) {
        self.add(Annotation {
            level: level.to_owned(),
            message: command.message.clone(),
            file: command.property("file").map(str::to_owned),
            line: command.property("line").and_then(|line| line.parse().ok()),
            title: command.property("title").map(str::to_owned),
            step: None,
        });
        self.show(&format!("##[{level}]"), &command.message, heard);
    }

    /// Keeps a remark, as long as it may be, and without secrets.
    fn add(&mut self, annotation: Annotation) {
        if self.annotations.len() >= ANNOTATIONS_MAX || annotation.message.is_empty() {
            return;
        }
        let cut = |text: &str, len: usize| self.hide(text).chars().take(len).collect::<String>();
        let annotation = Annotation {
            message: cut(&annotation.message, ANNOTATION_MESSAGE_LEN_MAX),
            file: annotation.file.map(|file| cut(&file, ANNOTATION_FILE_LEN_MAX)),
            title: annotation.title.map(|title| cut(&title, ANNOTATION_TITLE_LEN_MAX)),
            step: self.step,
            ..annotation
        };
        self.annotations.push(annotation);
    }
}

#[cfg(test)]
mod tests;
