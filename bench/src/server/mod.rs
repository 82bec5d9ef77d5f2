//! The servers that are measured, each in a process of its own.

pub mod client;
pub mod hello;
pub mod program;

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    process::{Child, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

pub use self::{client::call, program::Program};
use crate::report::Result;

/// How long a server that says nothing may take to start.
const START_MAX: Duration = Duration::from_secs(10);

/// A running server. It ends with this handle.
#[derive(Debug)]
pub struct Server {
    child: Child,
    // Closing the pipe would break the server's next line.
    stdout: BufReader<ChildStdout>,
    address: SocketAddr,
    /// Whether it has processes of its own, which end when it is asked to, and not when it is killed.
    has_workers: bool,
}

impl Server {
    /// Starts a server, and waits until it has said `API http://ADDRESS/…` and then a line with `ready` in it.
    pub fn start(command: &mut Command, ready: &str) -> Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut stdout = BufReader::new(child.stdout.take().ok_or("the server has no output")?);
        let address = match said_address(&mut stdout, ready) {
            Ok(address) => address,
            Err(error) => {
                child.kill()?;
                child.wait()?;
                return Err(error);
            }
        };
        Ok(Self { child, stdout, address, has_workers: false })
    }

    /// Starts a server with processes of its own that says nothing, and waits until it takes connections at `address`.
    pub fn listening(command: &mut Command, address: SocketAddr) -> Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let stdout = BufReader::new(child.stdout.take().ok_or("the server has no output")?);
        let server = Self { child, stdout, address, has_workers: true };
        let started = Instant::now();
        while TcpStream::connect(address).is_err() {
            if started.elapsed() >= START_MAX {
                return Err("the server does not take connections".into());
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// Where it serves HTTP.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its process.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Says a line to the server.
    pub fn tell(&self, line: &str) -> Result<()> {
        let mut stdin = self.child.stdin.as_ref().ok_or("the server has no input")?;
        Ok(writeln!(stdin, "{line}")?)
    }

    /// Asks the server to stop, and waits until it has.
    pub fn stop(mut self) -> Result<()> {
        if !Command::new("kill").args(["-TERM", &self.process().to_string()]).status()?.success() {
            return Err("the server can't be stopped".into());
        }
        self.stdout.read_to_end(&mut Vec::new())?;
        self.child.wait()?;
        Ok(())
    }
}

/// For a baseline: ends this process with its standard input, which ends when the program that started it does.
pub fn end_with_standard_input() {
    thread::spawn(|| {
        let ended = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(i32::from(ended.is_err()));
    });
}

impl Drop for Server {
    fn drop(&mut self) {
        let process = self.process().to_string();
        let asked =
            self.has_workers && Command::new("kill").args(["-TERM", &process]).status().is_ok_and(|it| it.success());
        if !asked {
            // A process that has ended already is as good.
            drop(self.child.kill());
        }
        drop(self.child.wait());
    }
}

fn said_address(stdout: &mut impl BufRead, ready: &str) -> Result<SocketAddr> {
    let mut address = None;
    let mut line = String::new();
    while address.is_none() || !line.contains(ready) {
        line.clear();
        if stdout.read_line(&mut line)? == 0 {
            return Err("the server ended at its start".into());
        }
        let mut words = line.split_whitespace();
        if let (Some("API"), Some(url)) = (words.next(), words.next()) {
            let authority = url.trim_start_matches("http://").split('/').next().unwrap_or_default();
            address = Some(authority.parse()?);
        }
    }
    address.ok_or_else(|| "the server did not say where it serves".into())
}
