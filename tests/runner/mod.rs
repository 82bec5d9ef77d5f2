//! The runner: the program's own commands, driven as people drive them.

mod cases;
mod contract;
mod exec;
mod hostile;
mod served;
mod service;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

const TROUPE: &str = env!("CARGO_BIN_EXE_troupe");

/// The program, with these arguments, in a folder.
fn troupe(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(TROUPE);
    command.current_dir(folder).args(arguments).stdin(Stdio::null());
    command
}

/// A runner's program, which ends with the test.
struct Runner(Child);

impl Drop for Runner {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// The folder of a runner that a token registered, with these labels.
fn registered(url: &str, token: &str, labels: &str) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().to_str().unwrap();
    let mut arguments = vec!["runner", "register", url, token, "--name", "box", "--folder", folder];
    if !labels.is_empty() {
        arguments.extend(["--labels", labels]);
    }
    let output = troupe(home.path(), &arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    home
}

/// Has a runner do jobs.
fn run(home: &TempDir, arguments: &[&str]) -> Runner {
    let mut all = vec!["runner", "run", "--folder", home.path().to_str().unwrap()];
    all.extend(arguments);
    Runner(troupe(home.path(), &all).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
}

/// A workflow that was done on this machine.
struct Done {
    output: Output,
    events: Vec<Value>,
}

impl Done {
    fn status(&self) -> i32 {
        self.output.status.code().unwrap()
    }

    /// What the run came to.
    fn over(&self) -> &Value {
        let stderr = String::from_utf8_lossy(&self.output.stderr);
        self.events.iter().find(|event| event["event"] == "over").unwrap_or_else(|| panic!("{stderr}"))
    }

    fn conclusion(&self) -> &str {
        self.over()["conclusion"].as_str().unwrap()
    }

    /// The lines of all jobs.
    fn lines(&self) -> Vec<&str> {
        self.events.iter().filter(|event| event["event"] == "line").filter_map(|event| event["line"].as_str()).collect()
    }

    fn says(&self, line: &str) -> bool {
        self.lines().contains(&line)
    }

    /// The job of this name, as the run left it.
    fn job(&self, name: &str) -> &Value {
        let jobs = self.over()["jobs"].as_array().unwrap();
        jobs.iter().find(|job| job["name"] == name).unwrap()
    }
}

/// A folder with a workflow's file.
fn file(text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("workflow.yml");
    fs::write(&path, text).unwrap();
    (folder, path)
}

/// Does a workflow with `--json` and these arguments.
fn exec(text: &str, arguments: &[&str]) -> Done {
    let (folder, _) = file(text);
    exec_in(folder.path(), arguments, &[])
}

fn exec_in(folder: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Done {
    let mut all = vec!["runner", "exec", "workflow.yml", "--json"];
    all.extend(arguments);
    let output = troupe(folder, &all).envs(environment.iter().copied()).output().unwrap();
    let events =
        String::from_utf8_lossy(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    Done { output, events }
}

fn git(folder: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .current_dir(folder)
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}
