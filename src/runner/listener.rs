//! What a job prints, line by line: the worker's own words, commands to the runner, and lines that people read, without secrets.

use domain::pipelines::{
    job::{CommandName, WorkflowCommand, resumes},
    logs::Masks,
};
use serde::{Deserialize, Serialize};

use super::words::{Mark, Said, mark_prefix};

/// Bytes of a line, at most; a longer one becomes several (contract C 4.1 takes 200,000 characters).
const LINE_LEN_MAX: usize = 64 * 1024;
/// Annotations of a job, at most (contract C 4.1).
const ANNOTATIONS_MAX: usize = 50;
/// Characters of an annotation's message, file and title, at most (contract C 4.1).
const MESSAGE_LEN_MAX: usize = 4_000;
const FILE_LEN_MAX: usize = 500;
const TITLE_LEN_MAX: usize = 200;

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
    rest: Vec<u8>,
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
            annotations: Vec::new(),
        }
    }

    /// The remarks so far.
    pub fn annotations(&self) -> &[Annotation] {
        &self.annotations
    }

    /// The text without secrets. Where they can't be looked for, nothing is shown.
    pub fn hide(&self, text: &str) -> String {
        self.masks.as_ref().map_or_else(|| "***".to_owned(), |masks| masks.hide(text.into()).into_owned())
    }

    /// Takes bytes as they come.
    pub fn take(&mut self, mut bytes: &[u8], heard: &mut impl FnMut(Heard)) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.rest.extend_from_slice(&bytes[..end]);
            bytes = &bytes[end + 1..];
            self.line(heard);
        }
        self.rest.extend_from_slice(bytes);
        if self.rest.len() > LINE_LEN_MAX {
            self.line(heard);
        }
    }

    /// Takes what was printed without an end of its line.
    pub fn finish(&mut self, heard: &mut impl FnMut(Heard)) {
        if !self.rest.is_empty() {
            self.line(heard);
        }
    }

    fn line(&mut self, heard: &mut impl FnMut(Heard)) {
        let bytes = std::mem::take(&mut self.rest);
        let text = String::from_utf8_lossy(&bytes);
        let text = text.strip_suffix('\r').unwrap_or(&text);
        // A step whose last line has no end leaves the worker's word behind it.
        match text.find(&self.prefix) {
            Some(at) => {
                if at > 0 {
                    self.printed(&text[..at], heard);
                }
                if let Some(mark) = Mark::read(&text[at + self.prefix.len()..]) {
                    self.mark(mark, &text[at..], heard);
                }
            }
            None => self.printed(text, heard),
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
            heard(Heard::Line(format!("{prefix}{}", line.trim_end_matches('\r'))));
        }
    }

    fn printed(&mut self, text: &str, heard: &mut impl FnMut(Heard)) {
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
                self.annotate("error", &why, heard);
                heard(Heard::Said(Said::Refused));
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
            self.annotate("error", &why, heard);
            return heard(Heard::Said(Said::Refused));
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
            message: cut(&annotation.message, MESSAGE_LEN_MAX),
            file: annotation.file.map(|file| cut(&file, FILE_LEN_MAX)),
            title: annotation.title.map(|title| cut(&title, TITLE_LEN_MAX)),
            step: self.step,
            ..annotation
        };
        self.annotations.push(annotation);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKER: &str = "0123456789abcdef0123456789abcdef";

    fn heard(chunks: &[&str]) -> (Vec<Heard>, Listener) {
        let mut listener = Listener::new(MARKER, ["hunter2".to_owned()], false);
        let mut all = Vec::new();
        for chunk in chunks {
            listener.take(chunk.as_bytes(), &mut |one| all.push(one));
        }
        listener.finish(&mut |one| all.push(one));
        (all, listener)
    }

    fn lines(chunks: &[&str]) -> String {
        let line = |heard| if let Heard::Line(line) = heard { Some(line) } else { None };
        heard(chunks).0.into_iter().filter_map(line).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn lines_are_whole_however_they_come_and_without_secrets() {
        assert_eq!(lines(&["on", "e\r\ntw", "o hunter2\n", "", "th", "ree"]), "one|two ***|three");
        assert_eq!(lines(&["\n\n"]), "|");
    }

    #[test]
    fn a_line_that_is_too_long_becomes_several() {
        for (len, count) in [(LINE_LEN_MAX - 1, 2), (LINE_LEN_MAX, 2), (LINE_LEN_MAX + 1, 3)] {
            assert_eq!(lines(&[&"x".repeat(len), "z\ny"]).split('|').count(), count, "{len}");
        }
    }

    #[test]
    fn only_the_worker_marks_steps() {
        let begin = Mark::Begin(3).line(MARKER);
        let end = Mark::End(3).line(MARKER);
        let (all, _) = heard(&[&format!("{begin}\nno end{end}\n##[0000]step 4 end\n")]);
        let line = |text: &str| Heard::Line(text.to_owned());
        assert_eq!(all, [line(&begin), line("no end"), line(&end), Heard::End(3), line("##[0000]step 4 end")]);
    }

    #[test]
    fn masks_hold_from_where_they_are_asked_for() {
        assert_eq!(lines(&["a swordfish\n::add-mask::swordfish\na swordfish\n"]), "a swordfish|a ***");
        let mask = Mark::Mask("word 2".to_owned()).line(MARKER);
        assert_eq!(lines(&[&format!("{mask}\nword 2\n")]), "***");
    }

    #[test]
    fn commands_are_followed_until_they_are_stopped() {
        assert_eq!(lines(&["::group::One\n::endgroup::\n::debug::x\n"]), "##[group]One|##[endgroup]");
        let stopped = "::stop-commands::word\n::error::a\n::word::\n::error::b\n";
        assert_eq!(lines(&[stopped]), "::stop-commands::word|::error::a|::word::|##[error]b");
        let (all, listener) = heard(&["::set-output name=a::1\n::set-env name=a::1\n"]);
        assert!(all.contains(&Heard::Said(Said::Output { name: "a".to_owned(), value: "1".to_owned() })));
        assert!(all.contains(&Heard::Said(Said::Refused)));
        let levels: Vec<_> = listener.annotations().iter().map(|it| it.level.as_str()).collect();
        assert_eq!(levels, ["warning", "error"]);
    }

    #[test]
    fn remarks_are_as_many_and_as_long_as_they_may_be() {
        let long = format!("::error file=f,line=3,title=t::{}hunter2\n", "m".repeat(MESSAGE_LEN_MAX));
        let (_, listener) = heard(&[&long]);
        let first = &listener.annotations()[0];
        assert_eq!((first.message.len(), first.line, first.file.as_deref()), (MESSAGE_LEN_MAX, Some(3), Some("f")));
        for (count, kept) in [(49, 49), (50, 50), (51, 50)] {
            assert_eq!(heard(&[&"::notice::a hunter2\n".repeat(count)]).1.annotations().len(), kept);
        }
        assert_eq!(heard(&["::notice::a hunter2\n"]).1.annotations()[0].message, "a ***");
    }
}
