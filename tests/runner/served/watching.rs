//! `troupe run watch`: logs in the terminal, as they are written.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
};

use tempfile::TempDir;

use super::Works;
use crate::harness::PASSWORD;

/// A person's machine, signed in.
fn signed_in(works: &Works) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let url = works.stage.client.base();
    let mut login = troupe(&home, &["login", url, "--email", "ada@example.com", "--password-stdin"]);
    let mut login = login.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    writeln!(login.stdin.take().unwrap(), "{PASSWORD}").unwrap();
    assert!(login.wait().unwrap().success());
    home
}

fn troupe(home: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_troupe"));
    command.env("HOME", home.path()).env("XDG_CONFIG_HOME", home.path()).stdin(Stdio::null()).args(arguments);
    command
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_followed_in_the_terminal_to_its_end() {
    let works = Works::new().await;
    let repository = works.repository("web").await;
    let _machine = works.machine("", &[]).await;
    let home = signed_in(&works);
    let named = format!("{}/web", works.stage.org.rsplit('/').next().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let go_on = folder.path().join("go-on");
    let workflow = format!(
        "name: CI\non: push\njobs:\n  a:\n    runs-on: linux\n    steps:\n      - run: |\n          echo begun\n          \
         until [ -e {} ]; do sleep 0.1; done\n          echo goes on\n",
        go_on.display()
    );
    let run = repository.start(&workflow).await;
    let mut watch = troupe(&home, &["run", "watch", &named]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.next().unwrap(), format!("CI #1 ({run})"));
    // What was printed is shown while the step still runs.
    assert!(lines.by_ref().any(|line| line == "begun"));
    std::fs::write(&go_on, "").unwrap();
    let rest: Vec<String> = lines.collect();
    assert!(rest.contains(&"goes on".to_owned()), "{rest:?}");
    assert_eq!(rest[rest.len() - 2..], ["a: success", "The run ended as success."]);
    assert!(watch.wait().unwrap().success());

    let failing = repository.start("on: push\njobs:\n  a: {runs-on: linux, steps: [{run: exit 1}]}\n").await;
    let output = troupe(&home, &["run", "watch", &named, &failing]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("The run ended as failure."));
    for (arguments, said) in [
        (vec!["run", "watch", "web"], "That is no repository."),
        (vec!["run", "watch", "nobody/web"], "You have no part in nobody."),
        (vec!["run", "watch", &named, "first"], "That is no run's id."),
    ] {
        let output = troupe(&home, &arguments).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && stderr.contains(said), "{arguments:?}: {stderr}");
    }
}
