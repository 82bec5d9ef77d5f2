//! `troupe runner register` and `run`: lines, cancelling, what dies and comes back.

use std::{
    fs,
    io::{BufRead, BufReader, Lines},
    net::TcpListener,
    path::Path,
    process::{ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    Runner,
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

/// A script that prints that it begins, and goes on once there is a file.
fn waiting(file: &Path) -> String {
    format!("echo begun; until [ -e {} ]; do sleep 0.1; done", file.display())
}

#[test]
fn a_report_whose_connection_hangs_comes_again_before_the_job_is_given_up() {
    let server = Server::start();
    let home = registered(&server.url, "trp_t_once", "");
    let (first, second) = (home.path().join("first"), home.path().join("second"));
    server.with(|told| told.queued.push_back(plan(&[&waiting(&first), &waiting(&second), "echo over"])));
    let _runner = run(&home, &[]);
    server.until("the step begins", |told| told.lines.contains(&"begun".to_owned()));
    server.with(|told| told.hangs = Some("/v1/runner/status"));
    fs::write(&first, "").unwrap();
    server.until("what hangs", |told| !told.hung.is_empty());
    server.with(|told| told.hangs = None);
    let began = Instant::now();
    server.until("the next report", |told| told.steps[1]["status"] == "in_progress");
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    fs::write(&second, "").unwrap();
    server.until("the job ends", |told| told.end.is_some());
    assert_eq!(server.with(|told| told.end.clone().unwrap())["conclusion"], "success");
    assert_eq!(printed(&server, "over"), ["over"]);
}

#[test]
fn steps_are_reported_once_a_second_however_fast_they_are_and_the_last_state_always() {
    const FAST: usize = 60;
    let server = Server::start();
    let home = registered(&server.url, "trp_t_once", "");
    let go_on = home.path().join("go-on");
    let last = waiting(&go_on);
    let scripts: Vec<&str> = std::iter::repeat_n("true", FAST).chain([last.as_str()]).collect();
    let began = Instant::now();
    server.with(|told| told.queued.push_back(plan(&scripts)));
    let _runner = run(&home, &[]);
    server.until("the last step's report", |told| told.steps[FAST]["status"] == "in_progress");
    let seconds = began.elapsed().as_secs();
    let (reports, steps) = server.with(|told| {
        let reports = told.asked.iter().filter(|(path, _)| path == "/v1/runner/status");
        (u64::try_from(reports.count()).unwrap(), told.steps.clone())
    });
    assert!(reports <= seconds + 2, "{reports} reports in {seconds} s");
    assert!((0..FAST).all(|step| steps[step]["conclusion"] == "success"), "{steps}");
    fs::write(&go_on, "").unwrap();
    server.until("the job ends", |told| told.end.is_some());
    assert_eq!(server.with(|told| told.end.clone().unwrap())["steps"][FAST]["conclusion"], "success");
}

/// A plan whose second step sends what the first one made.
fn uploading(server: &Server) -> Value {
    let mut plan = plan(&["echo kept > file", ""]);
    plan["serverUrl"] = server.url.as_str().into();
    plan["steps"][1] = json!({ "index": 1, "uses": "upload-artifact", "with": { "name": "out", "path": "file" } });
    server.with(|told| {
        let url = format!("{}/files/out", server.url);
        told.answers.insert("/v1/runner/artifacts/upload".to_owned(), (200, json!({ "url": url })));
        told.answers.insert("/v1/runner/artifacts/commit".to_owned(), (200, json!({ "ok": true })));
    });
    plan
}

#[test]
fn a_server_that_is_away_for_a_while_is_asked_again_and_the_log_says_so() {
    let server = Server::start();
    let home = registered(&server.url, "trp_t_once", "");
    let plan = uploading(&server);
    let path = "/v1/runner/artifacts/upload";
    let answer = server.with(|told| {
        let answer = told.answers.insert(path.to_owned(), (503, json!({ "error": "Busy.", "code": "busy" }))).unwrap();
        told.queued.push_back(plan);
        answer
    });
    let _runner = run(&home, &[]);
    server.until("the seventh question", |told| told.asked.iter().filter(|(asked, _)| asked == path).count() >= 7);
    server.with(|told| drop(told.answers.insert(path.to_owned(), answer)));
    server.until("the job ends", |told| told.end.is_some());
    let (lines, end) = server.with(|told| (told.lines.clone(), told.end.clone().unwrap()));
    assert_eq!(end["conclusion"], "success", "{lines:#?}");
    assert!(lines.iter().any(|line| line.starts_with("The server is asked again: ")), "{lines:#?}");
}

#[test]
fn a_transfer_that_breaks_off_begins_again_and_one_that_is_refused_does_not() {
    let server = Server::start();
    let home = registered(&server.url, "trp_t_once", "");
    let plan = uploading(&server);
    server.with(|told| {
        told.file_refusals.extend([503, 500, 429, 502, 503]);
        told.queued.push_back(plan.clone());
    });
    let _runner = run(&home, &[]);
    server.until("the job ends", |told| told.end.is_some());
    let (lines, end) = server.with(|told| (told.lines.clone(), told.end.take().unwrap()));
    assert_eq!(end["conclusion"], "success", "{lines:#?}");
    let again = |lines: &[String]| lines.iter().filter(|line| line.starts_with("The upload begins again: ")).count();
    assert_eq!(again(&lines), 5, "{lines:#?}");
    assert!(server.with(|told| told.files.contains_key("/files/out")));

    server.with(|told| {
        told.file_refusals.push_back(403);
        told.lines.clear();
        told.queued.push_back(plan);
    });
    server.until("the second job ends", |told| told.end.is_some());
    let (lines, end) = server.with(|told| (told.lines.clone(), told.end.clone().unwrap()));
    assert_eq!((&end["conclusion"], again(&lines)), (&json!("failure"), 0), "{lines:#?}");
}

#[test]
fn an_address_that_is_none_is_not_tried_again() {
    let server = Server::start();
    let home = registered(&server.url, "trp_t_once", "");
    let plan = uploading(&server);
    server.with(|told| {
        told.answers.insert("/v1/runner/artifacts/upload".to_owned(), (200, json!({ "url": "nowhere" })));
        told.queued.push_back(plan);
    });
    let _runner = run(&home, &[]);
    server.until("the job ends", |told| told.end.is_some());
    let (lines, end) = server.with(|told| (told.lines.clone(), told.end.clone().unwrap()));
    assert_eq!(end["conclusion"], "failure", "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("begins again")), "{lines:#?}");
}

#[test]
fn a_proxy_that_takes_only_short_questions_gets_the_log_in_pieces() {
    const LINES: usize = 2_000;
    let server = Server::start();
    let home = registered(&server.url, "trp_t_once", "");
    let script = format!("seq -f 'line %.0f' 1 {LINES}");
    server.with(|told| {
        told.log_len_max = Some(2_000);
        told.queued.push_back(plan(&[&script]));
    });
    let _runner = run(&home, &[]);
    server.until("the job ends", |told| told.end.is_some());
    let wanted: Vec<_> = (1..=LINES).map(|number| format!("line {number}")).collect();
    assert!(printed(&server, "line ") == wanted);

    // Where not even a line goes through, the job ends all the same.
    server.with(|told| {
        told.log_len_max = Some(1);
        (told.lines, told.end) = (Vec::new(), None);
        told.queued.push_back(plan(&[&script]));
    });
    server.until("the second job ends", |told| told.end.is_some());
    let (lines, end) = server.with(|told| (told.lines.len(), told.end.clone().unwrap()));
    assert_eq!((lines, &end["conclusion"]), (0, &json!("success")));
}

#[test]
fn what_a_proxy_says_of_a_question_is_final_and_that_it_finds_no_server_is_not() {
    let server = Server::start();
    let home = registered(&server.url, "trp_t_once", "");
    let plan = uploading(&server);
    let (path, poll) = ("/v1/runner/artifacts/upload", "/v1/runner/poll");
    server.with(|told| {
        told.answers.insert(poll.to_owned(), (404, Value::Null));
        told.answers.insert(path.to_owned(), (413, Value::Null));
        told.queued.push_back(plan);
    });
    let _runner = run(&home, &[]);
    server.until("the second question", |told| told.asked.iter().filter(|(asked, _)| asked == poll).count() >= 2);
    server.with(|told| drop(told.answers.remove(poll)));
    server.until("the job ends", |told| told.end.is_some());
    let (asked, lines, end) = server.with(|told| {
        let asked = told.asked.iter().filter(|(asked, _)| asked == path).count();
        (asked, told.lines.clone(), told.end.clone().unwrap())
    });
    assert_eq!((&end["conclusion"], asked), (&json!("failure"), 1), "{lines:#?}");
}

#[test]
fn a_registration_is_asked_again_only_where_nobody_can_have_heard_it() {
    let home = tempfile::tempdir().unwrap();
    let register = |url: &str| {
        let folder = home.path().to_str().unwrap();
        let mut command = troupe(home.path(), &["runner", "register", url, "trp_t_once", "--folder", folder]);
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let server = Server::start();
    let path = "/v1/runner/register";
    server.with(|told| drop(told.answers.insert(path.to_owned(), (503, json!({ "error": "Busy.", "code": "busy" })))));
    let output = register(&server.url).wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && stderr.contains("may be registered"), "{stderr}");
    assert_eq!(server.with(|told| told.asked.len()), 1);

    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let registering = register(&format!("http://{address}"));
    // So that the first question finds nobody.
    thread::sleep(Duration::from_millis(500));
    let server = Server::on(TcpListener::bind(address).unwrap());
    let output = registering.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(server.with(|told| told.asked.len()), 1);
}

/// Has a runner do jobs, and hears what it says.
fn heard(home: &TempDir, arguments: &[&str]) -> (Runner, Lines<BufReader<ChildStdout>>) {
    let mut command = troupe(home.path(), &["runner", "run", "--folder", home.path().to_str().unwrap()]);
    let mut child = command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (Runner(child), lines)
}

/// SIGTERM.
fn terminate(runner: &Runner) {
    let sent = Command::new("kill").args(["-TERM", &runner.0.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn a_runner_that_is_asked_to_end_finishes_its_job_and_takes_no_other() {
    let server = Server::start();
    let home = registered(&server.url, "trp_t_once", "");
    let go_on = home.path().join("go-on");
    server.with(|told| told.queued.push_back(plan(&[&waiting(&go_on), "echo over"])));
    let (mut runner, mut said) = heard(&home, &[]);
    server.until("the step begins", |told| told.lines.contains(&"begun".to_owned()));
    terminate(&runner);
    assert!(said.any(|line| line.unwrap().contains("takes no more jobs")));
    server.with(|told| told.queued.push_back(plan(&["echo never"])));
    fs::write(&go_on, "").unwrap();
    assert!(runner.0.wait().unwrap().success());
    let (lines, end, queued) = server.with(|told| (told.lines.clone(), told.end.clone().unwrap(), told.queued.len()));
    assert_eq!((&end["conclusion"], queued), (&json!("success"), 1));
    assert!(lines.contains(&"over".to_owned()), "{lines:?}");
}

#[test]
fn a_runner_that_is_asked_to_end_twice_cancels_its_job() {
    let server = Server::start();
    let home = registered(&server.url, "trp_t_once", "");
    server.with(|told| told.queued.push_back(plan(&["echo begun; trap 'exit 1' INT; sleep 600 & wait"])));
    let (mut runner, mut said) = heard(&home, &[]);
    server.until("the step begins", |told| told.lines.contains(&"begun".to_owned()));
    terminate(&runner);
    assert!(said.any(|line| line.unwrap().contains("takes no more jobs")));
    terminate(&runner);
    assert!(runner.0.wait().unwrap().success());
    assert_eq!(server.with(|told| told.end.clone().unwrap())["conclusion"], "cancelled");
}

#[test]
fn a_runner_that_is_asked_to_end_twice_ends_without_its_server_and_sends_the_rest_later() {
    let server = Server::start();
    let home = registered(&server.url, "trp_t_once", "");
    server.with(|told| told.queued.push_back(plan(&["echo begun; trap 'echo asked; exit 1' INT; sleep 600 & wait"])));
    let (mut runner, mut said) = heard(&home, &["--minute-ms", "4000"]);
    server.until("the step begins", |told| told.lines.contains(&"begun".to_owned()));
    server.with(|told| told.hangs = Some("/v1/runner/"));
    terminate(&runner);
    assert!(said.any(|line| line.unwrap().contains("takes no more jobs")));
    terminate(&runner);
    let began = Instant::now();
    let status = loop {
        if let Some(status) = runner.0.try_wait().unwrap() {
            break status;
        }
        assert!(began.elapsed() < Duration::from_secs(30), "the runner doesn't end");
        thread::sleep(Duration::from_millis(50));
    };
    assert!(status.success());
    assert!(server.with(|told| told.end.is_none()));

    server.with(|told| told.hangs = None);
    let _again = run(&home, &[]);
    server.until("the job ends", |told| told.end.is_some());
    assert_eq!(server.with(|told| told.end.clone().unwrap())["conclusion"], "cancelled");
    assert_eq!(printed(&server, "asked"), ["asked"]);
}
