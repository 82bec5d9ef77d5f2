//! Somebody's own machine: folders of their own, and the real program and git at work in them.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::harness::Person;

/// The built program.
pub const TROUPE: &str = env!("CARGO_BIN_EXE_troupe");

/// A machine that its person uses the server at `url` from.
pub struct Machine {
    folder: TempDir,
    pub url: String,
}

/// A program at work on it.
pub struct Begun {
    child: Child,
    what: String,
}

/// What a program came to.
pub struct Ran {
    is_success: bool,
    /// Everything that it printed.
    pub output: String,
    what: String,
}

impl Machine {
    pub fn new(url: &str) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), url: url.to_owned() }
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A program with nothing of whoever runs the tests.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).current_dir(self.folder());
        command.env("HOME", self.folder()).env("XDG_CONFIG_HOME", self.folder().join("config"));
        command.env("GIT_CONFIG_GLOBAL", self.folder().join("gitconfig")).env("GIT_CONFIG_NOSYSTEM", "1");
        command.env("GIT_TERMINAL_PROMPT", "0");
        command
    }

    /// Begins to run the program.
    pub fn begin(&self, arguments: &[&str]) -> Begun {
        Begun::new(self.command(TROUPE).args(arguments))
    }

    /// Runs the program with this on standard input.
    pub fn troupe(&self, arguments: &[&str], input: &str) -> Ran {
        self.begin(arguments).finish(input)
    }

    /// The same where there is no terminal, whoever runs the tests.
    pub fn alone(&self, arguments: &[&str], input: &str) -> Ran {
        Begun::new(self.command("setsid").arg("--wait").arg(TROUPE).args(arguments)).finish(input)
    }

    pub fn git(&self, arguments: &[&str], input: &str) -> Ran {
        Begun::new(self.command("git").args(arguments)).finish(input)
    }

    /// Signs a person in, with a code where they need one.
    pub fn login(&self, person: &Person, code: Option<&str>) -> Ran {
        let input = format!("{}\n{}", person.password, code.unwrap_or_default());
        self.alone(&["login", &self.url, "--email", &person.email, "--password-stdin"], &input)
    }

    /// Signs somebody in by this command of the program, as it stands.
    pub fn login_with(&self, command: &mut Command, email: &str, password: &str) -> Ran {
        command.args(["login", &self.url, "--email", email, "--password-stdin"]);
        Begun::new(command).finish(password)
    }

    /// How git asks about a path of the server.
    pub fn question(&self, path: &str) -> String {
        let (protocol, host) = self.url.split_once("://").unwrap();
        format!("protocol={protocol}\nhost={host}\npath={path}\n")
    }

    /// The password that git finds for a path of the server.
    pub fn fill(&self, path: &str) -> Option<String> {
        let ran = self.git(&["credential", "fill"], &self.question(path));
        let password = ran.output.lines().find_map(|line| line.strip_prefix("password="));
        assert_eq!(password.is_some(), ran.is_success, "{}", ran.output);
        assert!(password.is_none() || ran.output.contains("\nusername=troupe\n"), "{}", ran.output);
        password.map(str::to_owned)
    }

    /// The lines of git's configuration about credentials, sorted.
    pub fn git_lines(&self) -> Vec<String> {
        let ran = self.git(&["config", "--global", "--list"], "");
        let mut lines: Vec<_> =
            ran.output.lines().filter(|line| line.starts_with("credential.")).map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    }

    /// The file of what is kept.
    pub fn file(&self) -> PathBuf {
        self.folder().join("config/troupe/sign-ins.json")
    }

    /// What is kept.
    pub fn kept(&self) -> Value {
        serde_json::from_str(&fs::read_to_string(self.file()).unwrap()).unwrap()
    }

    /// The credential of the sign-in.
    pub fn token(&self) -> Value {
        self.kept()["servers"][&self.url]["token"].clone()
    }
}

impl Begun {
    fn new(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self { child: command.spawn().unwrap(), what: format!("{command:?}") }
    }

    /// Waits for its end, with this on standard input.
    pub fn finish(mut self, input: &str) -> Ran {
        // Whoever needs no input may be gone already.
        drop(self.child.stdin.take().unwrap().write_all(input.as_bytes()));
        let output = self.child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(!text.contains("panicked"), "{}: {text}", self.what);
        Ran { is_success: output.status.success(), output: text, what: self.what }
    }
}

impl Ran {
    #[track_caller]
    pub fn expect_success(self) -> Self {
        assert!(self.is_success, "{}: {}", self.what, self.output);
        self
    }

    /// The same, when it failed and said why in one line at the end.
    #[track_caller]
    pub fn expect_failure(self) -> Self {
        assert!(!self.is_success, "{}: {}", self.what, self.output);
        let complaints = self.output.lines().filter(|line| line.starts_with("troupe: ")).count();
        assert_eq!(complaints, 1, "{}: {}", self.what, self.output);
        self
    }
}
