//! Which program runs a step's script, and how.

use std::{
    env,
    ffi::OsStr,
    path::{Path, PathBuf},
};

/// A program that runs scripts, with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shell {
    /// The program.
    pub program: String,
    /// The arguments; `{0}` stands for the script's file.
    pub arguments: Vec<String>,
    /// How the script's file ends.
    pub ending: &'static str,
    /// What stands before the script, and behind it.
    around: (&'static str, &'static str),
}

/// Where the script's file stands among the arguments.
const FILE: &str = "{0}";
/// PowerShell goes on behind errors, and forgets how the last program ended, unless told.
const POWERSHELL: (&str, &str) = (
    "$ErrorActionPreference = 'stop'\n",
    "\nif ((Test-Path -LiteralPath variable:\\LASTEXITCODE)) { exit $LASTEXITCODE }\n",
);

impl Shell {
    /// The shell of this name, or of this template with `{0}`; what there is, where nothing is said.
    pub fn named(name: Option<&str>, path: &OsStr) -> Result<Self, String> {
        let name = name.map(str::trim).filter(|name| !name.is_empty());
        let is_there = |program: &str| find(program, path).is_some();
        let of = |line: &str, ending, around| Self::of_line(line, ending, around);
        Ok(match name {
            None if is_there("bash") => of("bash -e {0}", "sh", ("", "")),
            Some("bash") => of("bash --noprofile --norc -eo pipefail {0}", "sh", ("", "")),
            None | Some("sh") => of("sh -e {0}", "sh", ("", "")),
            Some("python") if is_there("python") => of("python {0}", "py", ("", "")),
            Some("python") => of("python3 {0}", "py", ("", "")),
            Some("pwsh") => Self {
                program: "pwsh".to_owned(),
                arguments: vec!["-command".to_owned(), format!(". '{FILE}'")],
                ending: "ps1",
                around: POWERSHELL,
            },
            Some(template) if template.contains(FILE) => of(template, "sh", ("", "")),
            Some(other) => {
                return Err(format!(
                    "The shell '{other}' is not known. There are bash, sh, python, pwsh, and a command with {FILE} for the \
                     script's file"
                ));
            }
        })
    }

    fn of_line(line: &str, ending: &'static str, around: (&'static str, &'static str)) -> Self {
        let mut words = line.split_whitespace().map(str::to_owned);
        let program = words.next().unwrap_or_default();
        Self { program, arguments: words.collect(), ending, around }
    }

    /// The script as it stands in its file.
    pub fn script(&self, script: &str) -> String {
        let (before, behind) = self.around;
        format!("{before}{script}{behind}")
    }

    /// The arguments for a script in this file.
    pub fn arguments_for(&self, file: &Path) -> Vec<String> {
        let file = file.to_string_lossy();
        self.arguments.iter().map(|argument| argument.replace(FILE, &file)).collect()
    }
}

/// Where a program is, looked for as a shell would.
pub fn find(program: &str, path: &OsStr) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(PathBuf::from(program));
    }
    env::split_paths(path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: Option<&str>) -> String {
        let shell = Shell::named(name, OsStr::new("/bin:/usr/bin")).unwrap();
        format!("{} {}", shell.program, shell.arguments_for(Path::new("/s")).join(" "))
    }

    #[test]
    fn shells_are_started_as_at_github() {
        assert_eq!(line(None), "bash -e /s");
        assert_eq!(line(Some("bash")), "bash --noprofile --norc -eo pipefail /s");
        assert_eq!(line(Some("sh")), "sh -e /s");
        assert_eq!(line(Some("pwsh")), "pwsh -command . '/s'");
        assert_eq!(line(Some("perl -w {0} x")), "perl -w /s x");
        assert!(Shell::named(Some("cmd"), OsStr::new("")).unwrap_err().contains("'cmd' is not known"));
        let shell = Shell::named(None, OsStr::new("/nowhere")).unwrap();
        assert_eq!(shell.program, "sh");
        let shell = Shell::named(Some("python"), OsStr::new("/nowhere")).unwrap();
        assert_eq!((shell.program.as_str(), shell.ending), ("python3", "py"));
        let shell = Shell::named(Some("pwsh"), OsStr::new("")).unwrap();
        assert!(shell.script("exit 3").starts_with("$ErrorActionPreference = 'stop'\nexit 3\n"));
    }
}
