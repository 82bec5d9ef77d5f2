//! Jobs that do what they shouldn't, and servers that don't take what jobs do.

use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    Done, TROUPE,
    contract::{Server, plan},
    exec, file, git, troupe,
};

/// Seconds after which a program is ended that should have ended itself.
const SECONDS_MAX: &str = "90";

/// A runner of a server, which ends with the test.
struct Runner {
    child: Child,
    home: TempDir,
}

impl Runner {
    fn start(server: &Server) -> Self {
        let home = tempfile::tempdir().unwrap();
        let settings = json!({ "server": server.url, "name": "box", "secret": super::contract::RUNNER_SECRET });
        fs::write(home.path().join("runner.json"), settings.to_string()).unwrap();
        let arguments = ["runner", "run", "--folder", home.path().to_str().unwrap()];
        let child = troupe(home.path(), &arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        Self { child, home }
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Has a runner do a plan, and says how the job ended.
fn done_by(server: &Server, mut plan: Value) -> Value {
    plan["serverUrl"] = server.url.as_str().into();
    server.with(|told| told.queued.push_back(plan));
    server.until("the job ends", |told| told.end.is_some());
    server.with(|told| told.end.clone().unwrap())
}

fn step(index: usize, action: &str, with: &Value) -> Value {
    json!({ "index": index, "uses": action, "with": with })
}

/// Does a workflow, and ends it where it doesn't end.
fn exec_soon(text: &str, arguments: &[&str]) -> Done {
    let (folder, _) = file(text);
    let output = Command::new("timeout")
        .args([SECONDS_MAX, TROUPE, "runner", "exec", "workflow.yml", "--json"])
        .args(arguments)
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let events =
        String::from_utf8_lossy(&output.stdout).lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    Done { output, events }
}

#[test]
fn files_for_the_runner_that_are_none_fail_their_step_and_are_neither_read_nor_written_through() {
    let done = exec_soon(
        r#"
on: push
jobs:
  a:
    runs-on: x
    steps:
      - {run: 'rm "$GITHUB_OUTPUT" && mkfifo "$GITHUB_OUTPUT"', continue-on-error: true}
      - {run: 'echo secret > "$RUNNER_TEMP/secret" && ln -sf "$RUNNER_TEMP/secret" "$GITHUB_STEP_SUMMARY"', continue-on-error: true}
      - {run: 'rm "$GITHUB_ENV" && mkdir "$GITHUB_ENV"', continue-on-error: true}
      - run: |
          cd "$RUNNER_TEMP" && echo kept > kept
          for name in output_4 env_4 script_4.sh; do ln -s "$RUNNER_TEMP/kept" "_runner/$name"; done
      - run: |
          test "$(cat "$RUNNER_TEMP/kept")" = kept && test ! -L "$GITHUB_OUTPUT" && echo untouched
      - {run: 'rm "$GITHUB_OUTPUT"'}
"#,
        &[],
    );
    assert_eq!(done.conclusion(), "success", "{:?}", done.lines());
    let outcomes: Vec<_> =
        done.job("a")["steps"].as_array().unwrap().iter().map(|step| step["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["failure", "failure", "failure", "success", "success", "success"]);
    assert!(done.says("untouched"), "{:?}", done.lines());
}

#[test]
fn a_worker_that_hangs_is_ended() {
    let text = "on: push\njobs:\n  a:\n    runs-on: x\n    timeout-minutes: 1\n    steps:\n      - run: echo begun; kill -STOP $PPID; \
                sleep 600\n";
    let done = exec_soon(text, &["--minute-ms", "500"]);
    assert_eq!(done.conclusion(), "timed_out", "{:?}", done.lines());
    assert!(done.says("begun"), "{:?}", done.lines());
    assert!(done.lines().iter().any(|line| line.contains("took too long")), "{:?}", done.lines());
}

#[test]
fn variables_are_seen_whatever_they_are_called_and_the_runners_own_stay() {
    let done = exec(
        r#"
on: push
env: {SERVICE_URL: a, GITHUB_TOKEN: b}
jobs:
  a:
    runs-on: x
    env: {RUNNER_COLOR: c, GITHUB_JOB: other, RUNNER_TEMP: other}
    steps:
      - env: {GITHUB_MINE: d}
        run: |
          test "$SERVICE_URL$GITHUB_TOKEN$RUNNER_COLOR$GITHUB_MINE" = abcd
          test "$GITHUB_JOB" = a && test "$RUNNER_TEMP" != other
          printf 'SERVICE_LATER=e\nGITHUB_LATER=f\nGITHUB_JOB=other\n' >> "$GITHUB_ENV"
      - run: test "$SERVICE_LATER$GITHUB_LATER" = ef && test "$GITHUB_JOB" = a && test -z "$GITHUB_MINE"
      - {run: 'echo NODE_OPTIONS=x >> "$GITHUB_ENV"', continue-on-error: true}
      - {if: "steps.x.outcome != 'success'", run: 'test -z "$NODE_OPTIONS"'}
"#,
        &[],
    );
    assert_eq!(done.conclusion(), "success", "{:?}", done.lines());
    assert!(done.says("##[error]Can't store NODE_OPTIONS through GITHUB_ENV"), "{:?}", done.lines());
}

/// A job with 16 outputs, the last of this many bytes and the others as long as they may be.
fn with_outputs(last: usize) -> Done {
    let output = |name| format!("      o{name}: '${{{{ steps.s{}.outputs.o{name} }}}}'\n", name / 18);
    let outputs = (10..26).map(output).collect::<Vec<_>>().concat();
    let step = |id: usize, from: usize, to: usize| {
        let print = |name: usize| {
            let len = if name == 25 { last } else { 65_536 };
            format!("          printf 'o{name}=%0{len}d\\n' 0 >> \"$GITHUB_OUTPUT\"\n")
        };
        format!("      - id: s{id}\n        run: |\n{}", (from..to).map(print).collect::<String>())
    };
    let text = format!(
        "on: push\njobs:\n  a:\n    runs-on: x\n    outputs:\n{outputs}    steps:\n{}{}",
        step(0, 10, 18),
        step(1, 18, 26)
    );
    exec(&text, &[])
}

#[test]
fn outputs_are_bounded_together() {
    let left = 1024 * 1024 - 15 * (65_536 + 3) - 3;
    for (last, conclusion) in [(left - 1, "success"), (left, "success"), (left + 1, "failure")] {
        let done = with_outputs(last);
        assert_eq!(done.conclusion(), conclusion, "{last}");
        let says = done.lines().iter().any(|line| line.contains("o25: All outputs have at most 1048576 bytes"));
        assert_eq!(says, conclusion == "failure", "{last}");
    }
}

#[test]
fn a_job_whose_report_is_refused_fails_and_says_why() {
    let server = Server::start();
    let _runner = Runner::start(&server);
    server.with(|told| told.refuses_outputs = true);
    let end = done_by(&server, plan(&["echo done"]));
    let why = "The server refused the report of the job: These outputs are too large.";
    assert_eq!(end, json!({ "conclusion": "failure", "error": why }));
}

#[test]
fn a_cache_in_trouble_is_a_miss_and_is_kept_under_the_key_that_it_was_looked_for_by() {
    let server = Server::start();
    let _runner = Runner::start(&server);
    let refusal = json!({ "error": "No such cache.", "code": "odd" });
    let url = format!("{}/files/cache", server.url);
    server.with(|told| {
        told.answers.insert("/v1/runner/cache/restore".to_owned(), (400, refusal.clone()));
        told.answers.insert("/v1/runner/cache/save".to_owned(), (200, json!({ "exists": false, "url": url })));
        told.answers.insert("/v1/runner/cache/commit".to_owned(), (200, json!({ "ok": true })));
    });
    let mut job = plan(&[]);
    job["env"] = json!({ "WORD": "first" });
    job["steps"] = json!([
        step(0, "cache", &json!({ "key": "k-${{ env.WORD }}", "path": "kept-${{ env.WORD }}" })),
        { "index": 1, "run": "echo a > kept-first; echo WORD=later >> \"$GITHUB_ENV\"" },
    ]);
    let end = done_by(&server, job);
    assert_eq!(end["conclusion"], "success", "{end}");
    server.with(|told| {
        assert!(told.lines.iter().any(|line| line.starts_with("##[warning]The cache wasn't restored")));
        let asked = |path: &str| told.asked.iter().find(|(asked, _)| asked == path).unwrap().1.clone();
        let saved = asked("/v1/runner/cache/save");
        assert_eq!(saved["key"], "k-first");
        assert_eq!(saved["version"], asked("/v1/runner/cache/restore")["version"]);
        assert!(!told.files["/files/cache"].is_empty());
        told.end = None;
    });
    let mut job = plan(&[]);
    job["steps"] = json!([step(0, "cache", &json!({ "key": "k", "path": "x", "fail-on-cache-miss": "true" }))]);
    assert_eq!(done_by(&server, job)["conclusion"], "failure");
}

#[test]
fn a_cache_brings_files_back_as_they_were() {
    let server = Server::start();
    let _runner = Runner::start(&server);
    let url = format!("{}/files/cache", server.url);
    server.with(|told| {
        told.answers.insert("/v1/runner/cache/restore".to_owned(), (200, json!({ "hit": "none" })));
        told.answers.insert("/v1/runner/cache/save".to_owned(), (200, json!({ "exists": false, "url": url })));
        told.answers.insert("/v1/runner/cache/commit".to_owned(), (200, json!({ "ok": true })));
    });
    let cache = step(0, "cache", &json!({ "key": "k", "path": "target" }));
    let mut job = plan(&[]);
    let make = "mkdir target && echo a > target/file && touch -d @1000000001 target/file && ln -s file target/link";
    job["steps"] = json!([cache, { "index": 1, "run": make }]);
    assert_eq!(done_by(&server, job)["conclusion"], "success");
    server.with(|told| {
        told.end = None;
        let hit = json!({ "hit": "exact", "key": "k", "url": url });
        told.answers.insert("/v1/runner/cache/restore".to_owned(), (200, hit));
    });
    let mut job = plan(&[]);
    let look = "test $(stat -c %Y target/file) = 1000000001 && test \"$(readlink target/link)\" = file";
    job["steps"] = json!([cache, { "index": 1, "run": look }]);
    let end = done_by(&server, job);
    assert_eq!(end["conclusion"], "success", "{end} {:?}", server.with(|told| told.lines.clone()));
}

#[test]
fn no_action_hands_on_the_runners_secret() {
    let server = Server::start();
    let runner = Runner::start(&server);
    let url = format!("{}/files/artifact", server.url);
    server.with(|told| {
        told.answers.insert("/v1/runner/artifacts/upload".to_owned(), (200, json!({ "url": url })));
        told.answers.insert("/v1/runner/artifacts/commit".to_owned(), (200, json!({ "ok": true })));
    });
    let settings = runner.home.path().join("runner.json");
    for (path, prepare) in [
        (settings.to_str().unwrap(), "true"),
        ("way/runner.json", "ln -s ../../../.. way"),
        ("file", "ln -s ../../../../runner.json file"),
    ] {
        let mut job = plan(&[prepare]);
        let upload = step(1, "upload-artifact", &json!({ "name": "a", "path": path, "if-no-files-found": "error" }));
        job["steps"].as_array_mut().unwrap().push(upload);
        let end = done_by(&server, job);
        assert_eq!(end["conclusion"], "failure", "{path}: {end}");
        server.with(|told| {
            assert!(told.files.is_empty(), "{path}");
            assert!(told.lines.iter().any(|line| line.contains("the runner's own folder")), "{path}: {:?}", told.lines);
            (told.end, told.lines) = (None, Vec::new());
        });
    }
}

#[test]
fn actions_keep_to_the_jobs_folder_where_steps_are_locked_in() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("file"), "x").unwrap();
    let path = outside.path().to_str().unwrap();
    let text = format!(
        "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: echo x > file\n      - {{uses: actions/upload-artifact@v4, \
         with: {{name: good, path: file}}}}\n      - {{uses: actions/upload-artifact@v4, with: {{name: bad, path: '{path}/file'}}, \
         continue-on-error: true}}\n      - {{uses: actions/download-artifact@v4, with: {{name: good, path: '{path}/in'}}, \
         continue-on-error: true}}\n      - {{uses: actions/download-artifact@v4, with: {{name: good, path: in}}}}\n"
    );
    let outcomes = |done: &Done| -> Vec<String> {
        let steps = done.job("a")["steps"].as_array().unwrap().clone();
        steps.iter().map(|step| step["outcome"].as_str().unwrap().to_owned()).collect()
    };
    let locked = exec(&text, &["--wrapper", "env"]);
    assert_eq!(outcomes(&locked), ["success", "success", "failure", "failure", "success"], "{:?}", locked.lines());
    assert!(!outside.path().join("in").exists());
    let free = exec(&text, &[]);
    assert_eq!(outcomes(&free), ["success"; 5], "{:?}", free.lines());
    assert!(outside.path().join("in/file").exists());
}

#[test]
fn the_name_of_an_artifact_is_counted_in_characters() {
    let upload = |name: &str| {
        format!(
            "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: echo x > file\n      - {{uses: \
             actions/upload-artifact@v4, with: {{name: '{name}', path: file}}}}\n"
        )
    };
    for (name, conclusion) in [
        ("é".repeat(99), "success"),
        ("é".repeat(100), "success"),
        ("é".repeat(101), "failure"),
        ("..".to_owned(), "failure"),
    ] {
        let done = exec(&upload(&name), &[]);
        assert_eq!(done.conclusion(), conclusion, "{name}: {:?}", done.lines());
    }
}

/// A repository with one commit: its folder and the commit.
fn repository(folder: &Path) -> String {
    git(folder, &["init", "--quiet"]);
    fs::write(folder.join("README"), "x").unwrap();
    git(folder, &["add", "README"]);
    git(folder, &["commit", "--quiet", "-m", "first"]);
    let head = Command::new("git").current_dir(folder).args(["rev-parse", "HEAD"]).output().unwrap();
    String::from_utf8(head.stdout).unwrap().trim().to_owned()
}

#[test]
fn a_checkout_runs_nothing_that_a_step_prepared_and_tells_its_credential_to_its_server_alone() {
    let source = tempfile::tempdir().unwrap();
    let sha = repository(source.path());
    let server = Server::start();
    let _runner = Runner::start(&server);
    let url = format!("file://{}", source.path().display());
    let answer =
        json!({ "url": url, "authorization": "Authorization: Basic Y3JlZA==", "sha": sha, "ref": "refs/heads/main" });
    server.with(|told| told.answers.insert("/v1/runner/checkout".to_owned(), (200, answer)));
    let prepare = "git init --quiet . && mkdir -p .git/hooks && printf '#!/bin/sh\\ntouch \"$PWD/ran\"\\n' > \
                   .git/hooks/post-checkout && chmod +x .git/hooks/post-checkout";
    let look = format!(
        "test -f README && test ! -e ran && git config --get-urlmatch http.extraHeader {url} && ! git config --get-urlmatch \
         http.extraHeader https://elsewhere.example/x && ! git config --get http.extraHeader"
    );
    let mut job = plan(&[prepare, "true", &look]);
    job["steps"][1] = step(1, "checkout", &json!({ "persist-credentials": "true" }));
    let end = done_by(&server, job);
    assert_eq!(end["conclusion"], "success", "{end} {:?}", server.with(|told| told.lines.clone()));
}
