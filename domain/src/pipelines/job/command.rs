//! What a step's output asks of the runner: a line `::name property=value::message`, as at GitHub.

use std::collections::BTreeMap;

/// A name of a command that a runner knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandName {
    /// An annotation that says what failed.
    Error,
    /// An annotation that says what may be wrong.
    Warning,
    /// An annotation that says something else.
    Notice,
    /// A line for whoever looks for mistakes.
    Debug,
    /// The lines that follow are shown folded.
    Group,
    /// The folded lines end.
    EndGroup,
    /// The text is never shown again.
    AddMask,
    /// Commands are lines like others, until the given word.
    StopCommands,
    /// Whether commands are shown.
    Echo,
    /// An output of the step, as it was done once.
    SetOutput,
    /// A value for the action's last part, as it was done once.
    SaveState,
    /// An environment variable: refused, since output of foreign origin could set it.
    SetEnv,
    /// A folder of programs: refused, since output of foreign origin could add it.
    AddPath,
    /// Patterns of annotations, which aren't known here.
    AddMatcher,
    /// Patterns of annotations, which aren't known here.
    RemoveMatcher,
}

const NAMES: [(&str, CommandName); 15] = [
    ("error", CommandName::Error),
    ("warning", CommandName::Warning),
    ("notice", CommandName::Notice),
    ("debug", CommandName::Debug),
    ("group", CommandName::Group),
    ("endgroup", CommandName::EndGroup),
    ("add-mask", CommandName::AddMask),
    ("stop-commands", CommandName::StopCommands),
    ("echo", CommandName::Echo),
    ("set-output", CommandName::SetOutput),
    ("save-state", CommandName::SaveState),
    ("set-env", CommandName::SetEnv),
    ("add-path", CommandName::AddPath),
    ("add-matcher", CommandName::AddMatcher),
    ("remove-matcher", CommandName::RemoveMatcher),
];

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkflowCommand {
    /// What is asked.
    pub name: CommandName,
    /// What stands between the name and the message, by lower-case names.
    pub properties: BTreeMap<String, String>,
    /// What stands behind.
    pub message: String,
}

impl WorkflowCommand {
    /// Reads a line of output; none where it is a line like others.
    pub fn read(line: &str) -> Option<Self> {
        let (head, message) = line.trim_start().strip_prefix("::")?.split_once("::")?;
        let (name, rest) = head.split_once(' ').unwrap_or((head, ""));
        let (_, name) = *NAMES.iter().find(|(known, _)| name.eq_ignore_ascii_case(known))?;
        let property = |text: &str| {
            let (key, value) = text.trim().split_once('=')?;
            Some((key.trim().to_ascii_lowercase(), property_text(value)))
        };
        Some(Self { name, properties: rest.split(',').filter_map(property).collect(), message: text(message) })
    }

    /// A property that isn't empty.
    pub fn property(&self, name: &str) -> Option<&str> {
        self.properties.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }
}

/// The word with which commands go on that were stopped, where the line is `::word::`.
pub fn resumes(line: &str, word: &str) -> bool {
    let inner = line.trim().strip_prefix("::").and_then(|rest| rest.strip_suffix("::"));
    inner.is_some_and(|inner| inner == word)
}

fn text(message: &str) -> String {
    message.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")
}

fn property_text(value: &str) -> String {
    let value = value.replace("%0D", "\r").replace("%0A", "\n");
    value.replace("%3A", ":").replace("%2C", ",").replace("%25", "%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_as_at_github() {
        let read = WorkflowCommand::read("  ::error file=a%2Cb.rs,line=3,col= 5,title=T%3A1::50%25%0Aof it").unwrap();
        assert_eq!(read.name, CommandName::Error);
        assert_eq!(read.property("file"), Some("a,b.rs"));
        assert_eq!(read.property("title"), Some("T:1"));
        assert_eq!(read.message, "50%\nof it");
        let read = WorkflowCommand::read("::SET-OUTPUT name=word::a::b").unwrap();
        assert_eq!((read.name, read.message.as_str()), (CommandName::SetOutput, "a::b"));
        assert_eq!(WorkflowCommand::read("::endgroup::").unwrap().message, "");
    }

    #[test]
    fn other_lines_are_lines() {
        for line in ["", "::", "::error", "x::error::a", "::unknown::a", "error::a", ":: error::a"] {
            assert_eq!(WorkflowCommand::read(line), None, "{line}");
        }
        assert!(resumes(" ::word:: ", "word"));
        assert!(!resumes("::words::", "word"));
    }
}
