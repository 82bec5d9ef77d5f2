//! The real program, as a process of its own that a test may kill.

use std::{
    fs::File,
    io::{BufRead, BufReader},
    net::SocketAddr,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
};

use super::{Client, wait_until_ready};

/// A running program.
#[derive(Debug)]
pub struct Process {
    child: Child,
    stdout: BufReader<ChildStdout>,
    pub url: String,
    pub operators_url: String,
    /// Where other servers bring mail, if anywhere.
    pub smtp: Option<SocketAddr>,
    /// The owner's token, at a first start.
    pub owner_token: Option<String>,
}

/// How to start the program.
#[derive(Clone, Debug)]
pub struct Launch {
    data: PathBuf,
    settings: Vec<String>,
    faults: Option<PathBuf>,
    log: Option<PathBuf>,
    outlives_file_limits: bool,
}

impl Launch {
    /// With its data in `data`, on free ports, and password hashing made cheap.
    pub fn in_folder(data: &Path) -> Self {
        let settings = [
            "server.listen=127.0.0.1:0",
            "operators.listen=127.0.0.1:0",
            "s3.listen=127.0.0.1:0",
            "accounts.registration=open",
            "accounts.argon2_memory_kib=8",
            "accounts.argon2_passes=1",
            "server.requests_per_minute=1000000",
            "server.anonymous_requests_per_minute=1000000",
            "server.request_timeout=2m",
            "log.level=warn",
        ];
        Self {
            data: data.to_owned(),
            settings: settings.map(str::to_owned).to_vec(),
            faults: None,
            log: None,
            outlives_file_limits: false,
        }
    }

    #[must_use]
    pub fn set(mut self, setting: impl Into<String>) -> Self {
        self.settings.push(setting.into());
        self
    }

    /// With what goes wrong read from this file, which the test may write at any time.
    #[must_use]
    pub fn faults(mut self, file: &Path) -> Self {
        self.faults = Some(file.to_owned());
        self
    }

    /// With the server's log in this file.
    #[must_use]
    pub fn log(mut self, file: &Path) -> Self {
        self.log = Some(file.to_owned());
        self
    }

    /// Not killed by the system for a file that grows beyond a limit: the write fails, as on a disk that does.
    #[must_use]
    pub fn outlives_file_limits(mut self) -> Self {
        self.outlives_file_limits = true;
        self
    }

    fn command(&self) -> Command {
        let program = env!("CARGO_BIN_EXE_troupe");
        let mut command = if self.outlives_file_limits {
            // What a shell ignores, a program that takes its place does too.
            let mut shell = Command::new("sh");
            shell.args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\"", program]);
            shell
        } else {
            Command::new(program)
        };
        command.arg("--data").arg(&self.data).current_dir(&self.data);
        if let Some(file) = &self.faults {
            command.env("TROUPE_FAULTS", format!("@{}", file.display()));
        }
        for setting in &self.settings {
            command.arg("--set").arg(setting);
        }
        command
    }

    /// Runs another command of the program to its end: status and everything that it printed.
    pub fn run(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.command().args(arguments).output().expect("the program runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.code().unwrap_or(-1), text)
    }

    /// Starts the server and waits until it says that it is up, and reaches its Redis where it has one.
    pub fn start(&self) -> Process {
        let mut command = self.command();
        if let Some(file) = &self.log {
            command.stderr(File::create(file).expect("a file for the log"));
        }
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the program starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("its output"));
        let (mut url, mut operators_url, mut smtp, mut owner_token) = (String::new(), String::new(), None, None);
        let mut line = String::new();
        while !line.contains("Press Ctrl-C to stop") {
            line.clear();
            assert_ne!(stdout.read_line(&mut line).expect("a line"), 0, "the program ended at its start");
            let mut words = line.split_whitespace();
            match (words.next(), words.next()) {
                (Some("API"), Some(address)) => url = address.trim_end_matches("/v1/openapi.json").into(),
                (Some("Operators"), Some(address)) => operators_url = address.trim_end_matches("/metrics").into(),
                (Some("Mail"), Some(address)) => smtp = address.trim_start_matches("smtp://").parse().ok(),
                (Some("Token"), Some(token)) => owner_token = Some(token.into()),
                _ => {}
            }
        }
        let process = Process { child, stdout, url, operators_url, smtp, owner_token };
        if self.settings.iter().any(|setting| setting.starts_with("redis.url=redis")) {
            wait_until_ready(&process.operators_url);
        }
        process
    }
}

impl Process {
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn client(&self) -> Client {
        Client::new(&self.url)
    }

    /// SIGKILL: no destructor runs, nothing is flushed.
    pub fn kill(mut self) {
        self.child.kill().expect("a running process");
        self.child.wait().expect("a killed process");
    }

    /// Whether the program has ended, as by SIGKILL; it must have ended by nothing else.
    pub fn was_killed(&mut self) -> bool {
        let Some(status) = self.child.try_wait().expect("a process of this one") else { return false };
        assert_eq!(status.signal(), Some(9), "the program ended by itself: {status}");
        true
    }

    /// SIGTERM; the status that the program ends with.
    pub fn terminate(mut self) -> Option<i32> {
        let ended = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().expect("kill runs");
        assert!(ended.success());
        // What it still prints must not fill the pipe.
        std::io::copy(&mut self.stdout, &mut std::io::sink()).expect("the rest of its output");
        self.child.wait().expect("an ended process").code()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
