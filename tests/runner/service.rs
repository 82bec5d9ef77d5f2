//! `troupe runner register` and `run`: lines, cancelling, what dies and comes back.

use super::{
    contract::{JOB_TOKEN, MARKER, RUNNER_SECRET, Server, plan},
    registered, run, troupe,
};

/// Lines that a script printed.
fn printed(server: &Server, prefix: &str) -> Vec<String> {
    server.with(|told| told.lines.iter().filter(|line| line.starts_with(prefix)).cloned().collect())
}

#[test]
fn every_line_comes_once_and_in_order_however_often_the_server_goes_away() {
    const LINES: usize = 20_000;
    let server = Server::start();
    let home = registered(&server.url, "trp_t_once", "");
    server.with(|told| {
        told.breaks = true;
        told.queued
            .push_back(plan(&[&format!("seq -f 'line %.0f' 1 {LINES}"), "echo $((6 * 7)); echo it is swordfish"]));
    });
    let mut runner = run(&home, &["--ephemeral"]);
    server.until("the job ends", |told| told.end.is_some());
    let wanted: Vec<_> = (1..=LINES).map(|number| format!("line {number}")).collect();
    assert!(printed(&server, "line ") == wanted);
    let (all, end) = server.with(|told| (told.lines.clone(), told.end.clone().unwrap()));
    assert_eq!(end["conclusion"], "success", "{end}");
    assert_eq!(end["outputs"]["said"], "success");
    assert_eq!(end["steps"][1]["conclusion"], "success");
    let borders: Vec<_> = all.iter().filter(|line| line.starts_with(&format!("##[{MARKER}]"))).collect();
    assert_eq!(borders.len(), 4, "{borders:?}");
    assert!(all.contains(&"it is ***".to_owned()));
    assert!(runner.0.wait().unwrap().success(), "a runner for one job ends after it");
}

#[test]
fn a_cancelled_job_is_asked_to_end_and_runs_what_always_runs() {
    let server = Server::start();
    let home = registered(&server.url, "trp_t_once", "");
    let mut plan = plan(&["echo begun; trap 'echo asked; exit 1' INT; sleep 600 & wait", "echo cleaned"]);
    plan["steps"][1]["if"] = "always()".into();
    server.with(|told| told.queued.push_back(plan));
    let _runner = run(&home, &[]);
    server.until("the step begins", |told| told.lines.contains(&"begun".to_owned()));
    server.with(|told| told.is_cancelled = true);
    server.until("the job ends", |told| told.end.is_some());
    let (lines, end) = server.with(|told| (told.lines.clone(), told.end.clone().unwrap()));
    assert_eq!(end["conclusion"], "cancelled", "{end}");
    assert_eq!(end["steps"][0]["conclusion"], "cancelled");
    assert_eq!(end["steps"][1]["conclusion"], "success");
    assert!(lines.contains(&"asked".to_owned()) && lines.contains(&"cleaned".to_owned()), "{lines:?}");
}

#[test]
fn a_runner_that_was_killed_sends_what_it_left_when_it_comes_back() {
    let server = Server::start();
    let home = registered(&server.url, "trp_t_once", "");
    server.with(|told| told.queued.push_back(plan(&["seq -f 'line %.0f' 1 5000; echo all; sleep 600"])));
    let mut runner = run(&home, &[]);
    server.until("the lines come", |told| told.lines.contains(&"line 100".to_owned()));
    runner.0.kill().unwrap();
    runner.0.wait().unwrap();
    let _again = run(&home, &[]);
    server.until("the job ends", |told| told.end.is_some());
    let end = server.with(|told| told.end.clone().unwrap());
    assert_eq!(end["conclusion"], "failure");
    assert_eq!(end["error"], "The runner ended before the job did.");
    let lines = printed(&server, "line ");
    let wanted: Vec<_> = (1..=lines.len()).map(|number| format!("line {number}")).collect();
    assert!(lines == wanted, "every line that was read comes once and in order");
}

#[test]
fn a_worker_that_dies_takes_no_line_with_it() {
    let server = Server::start();
    let home = registered(&server.url, "trp_t_once", "");
    server
        .with(|told| told.queued.push_back(plan(&["seq -f 'line %.0f' 1 5000; echo last; kill -9 $PPID; sleep 600"])));
    let _runner = run(&home, &[]);
    server.until("the job ends", |told| told.end.is_some());
    let end = server.with(|told| told.end.clone().unwrap());
    assert_eq!(end["error"], "The job's worker ended before the job did.");
    assert_eq!(printed(&server, "line ").len(), 5_000);
    assert_eq!(printed(&server, "last"), ["last"]);
}

#[test]
fn no_step_sees_the_jobs_token_or_the_runners_secret() {
    let server = Server::start();
    let home = registered(&server.url, "trp_t_once", "");
    let script = "env; cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'; cat -- \"$RUNNER_TEMP\"/_runner/*";
    server.with(|told| told.queued.push_back(plan(&[script])));
    let _runner = run(&home, &[]);
    server.until("the job ends", |told| told.end.is_some());
    let all = server.with(|told| told.lines.join("\n"));
    assert!(all.contains("GITHUB_WORKSPACE="), "{all}");
    for secret in [JOB_TOKEN, RUNNER_SECRET] {
        assert!(!all.contains(secret), "{secret}");
    }
}

#[test]
fn a_runner_that_nobody_knows_says_so() {
    let server = Server::start();
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().to_str().unwrap();
    let output = troupe(home.path(), &["runner", "run", "--folder", folder]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("troupe runner register"));
    let settings = format!(r#"{{"server": "{}", "name": "box", "secret": "trp_r_other"}}"#, server.url);
    std::fs::write(home.path().join("runner.json"), settings).unwrap();
    let output = troupe(home.path(), &["runner", "run", "--folder", folder]).output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("Register it again"));
    let address = ["runner", "register", "http://example.com", "trp_t_x", "--folder", folder];
    let output = troupe(home.path(), &address).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("unencrypted"));
}
