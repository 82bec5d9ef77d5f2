//! `troupe workflow check` and `troupe runner exec`, and what steps see and say.

use std::fs;

use super::{exec, exec_in, file, git, troupe};

#[test]
fn a_file_is_checked_with_the_place_of_each_problem() {
    let (folder, _) = file("on: push\njobs:\n  a:\n    runs-on: x\n    steps: [{run: 'true'}]\n");
    let output = troupe(folder.path(), &["workflow", "check", "workflow.yml"]).output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout), "workflow.yml: no problems.\n");
    fs::write(folder.path().join("workflow.yml"), "on: push\njobs:\n  a:\n    runs-on: x\n    stepz: []\n").unwrap();
    let output = troupe(folder.path(), &["workflow", "check", "workflow.yml"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.starts_with("workflow.yml:5:5: error: "), "{said}");
    let output = troupe(folder.path(), &["runner", "exec", "workflow.yml"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("means nothing"));
}

#[test]
fn steps_hand_values_on_by_files_and_by_commands() {
    let done = exec(
        r#"
on: push
env: {WORD: of the workflow, OTHER: stays}
jobs:
  a:
    runs-on: x
    env: {WORD: of the job}
    outputs: {out: "${{ steps.one.outputs.long }}"}
    steps:
      - id: one
        env: {WORD: of the step}
        run: |
          echo "$WORD/$OTHER"
          printf 'long<<END\n1\n2\nEND\nshort=x\n' >> "$GITHUB_OUTPUT"
          echo "LATER=from $GITHUB_JOB" >> "$GITHUB_ENV"
          mkdir "$RUNNER_TEMP/bin" && printf '#!/bin/sh\necho greeted' > "$RUNNER_TEMP/bin/greet"
          chmod +x "$RUNNER_TEMP/bin/greet" && echo "$RUNNER_TEMP/bin" >> "$GITHUB_PATH"
          echo "::set-output name=old::way"
          echo "summary" >> "$GITHUB_STEP_SUMMARY"
      - run: |
          echo "$WORD/$LATER/${{ env.LATER }}"
          greet
          test "${{ steps.one.outputs.short }}-${{ steps.one.outputs.old }}" = x-way
          test "$GITHUB_WORKSPACE" = "$PWD" && test "$SERVICE_JOB" = a && test "$CI" = true
      - {run: 'echo "::set-env name=A::1"', continue-on-error: true}
  b:
    needs: a
    runs-on: x
    strategy: {matrix: {n: [1, 2]}}
    steps: [{run: 'test "${{ needs.a.outputs.out }}" = "$(printf "1\n2")" && echo "n ${{ matrix.n }}"'}]
"#,
        &[],
    );
    assert_eq!((done.status(), done.conclusion()), (0, "success"), "{:?}", done.lines());
    for line in ["of the step/stays", "of the job/from a/from a", "greeted", "n 1", "n 2"] {
        assert!(done.says(line), "{line}: {:?}", done.lines());
    }
    let steps = done.job("a")["steps"].as_array().unwrap();
    assert_eq!(steps[2]["outcome"], "failure", "a step that asks for what is refused fails");
    assert_eq!(done.job("a")["outputs"]["out"], "1\n2");
}

#[test]
fn secrets_are_never_shown_and_the_programs_own_variables_never_seen() {
    let (folder, _) = file(
        r#"
on: push
jobs:
  a:
    runs-on: x
    steps:
      - env: {TOKEN: "${{ secrets.TOKEN }}"}
        run: |
          echo "it is $TOKEN"
          printf %s "$TOKEN" | base64
          printf %s "xx$TOKEN" | base64
          echo "::add-mask::other word"
          echo "an other word"
          echo "::error::fails with $TOKEN"
          env | grep TROUPE_ && exit 1
          echo ended
"#,
    );
    let environment = [("TOKEN", "correct horse battery"), ("TROUPE_SECRET", "x")];
    let done = exec_in(folder.path(), &["--secret", "TOKEN"], &environment);
    assert_eq!(done.conclusion(), "success", "{:?}", done.lines());
    assert!(done.says("it is ***") && done.says("an ***") && done.says("##[error]fails with ***"));
    let all =
        format!("{}{}", String::from_utf8_lossy(&done.output.stdout), String::from_utf8_lossy(&done.output.stderr));
    for secret in ["correct horse", "Y29ycmVjdCBob3JzZSBiYXR0ZXJ5"] {
        assert!(!all.contains(secret), "{secret}: {all}");
    }
    // The script is shown before it says what is hidden.
    let printed = all.split("##[endgroup]").nth(1).unwrap();
    assert!(!printed.contains("other word"), "{all}");
}

#[test]
fn scripts_run_in_their_shells_and_folders() {
    let done = exec(
        r#"
on: push
defaults: {run: {shell: bash}}
jobs:
  a:
    runs-on: x
    steps:
      - {run: 'false | true', continue-on-error: true}
      - {run: 'false | true', shell: sh}
      - {run: 'print("python", 6 * 7)', shell: python}
      - {run: 'echo from $0', shell: 'bash -u {0}'}
      - run: mkdir -p deep/er
      - {run: 'basename "$PWD"', working-directory: deep/er}
      - {run: 'true', working-directory: missing, continue-on-error: true}
      - {run: 'true', shell: cmd, continue-on-error: true}
"#,
        &[],
    );
    assert_eq!(done.conclusion(), "success", "{:?}", done.lines());
    let outcomes: Vec<_> =
        done.job("a")["steps"].as_array().unwrap().iter().map(|step| step["outcome"].as_str().unwrap()).collect();
    let (good, bad) = ("success", "failure");
    assert_eq!(outcomes, [bad, good, good, good, good, good, bad, bad]);
    assert!(done.says("python 42") && done.says("er"), "{:?}", done.lines());
}

#[test]
fn only_a_job_and_what_it_needs_is_done_and_the_exit_says_how() {
    let text = "on: push\njobs:\n  a: {runs-on: x, steps: [{run: 'true'}]}\n  b: {needs: a, runs-on: x, steps: [{run: exit 3}]}\n  \
                c: {runs-on: x, steps: [{run: 'true'}]}\n";
    let done = exec(text, &["--job", "b"]);
    assert_eq!(done.status(), 1);
    let names: Vec<_> =
        done.over()["jobs"].as_array().unwrap().iter().map(|job| job["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["a", "b"]);
    assert!(done.says("##[error]Process completed with exit code 3."));
    let done = exec(text, &["--job", "missing"]);
    assert_eq!(done.status(), 1);
    assert!(String::from_utf8_lossy(&done.output.stderr).contains("Jobs: a, b, c."));
}

#[test]
fn what_a_job_left_running_ends_with_it() {
    let done = exec(
        "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: |\n          sleep 987 & disown\n          setsid sleep 987 &\n          \
         echo ended\n",
        &[],
    );
    assert_eq!(done.conclusion(), "success");
    let left = std::process::Command::new("pgrep").args(["-f", "^sleep 987$"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&left.stdout), "");
}

#[test]
fn files_come_from_the_repository_and_go_from_job_to_job() {
    let (folder, _) = file(
        r"
on: push
jobs:
  a:
    runs-on: x
    steps:
      - uses: actions/checkout@v4
      - run: cat committed changed && mkdir out && echo built > out/thing && chmod +x out/thing
      - {uses: actions/upload-artifact@v4, with: {name: build, path: out}}
      - {uses: actions/cache@v4, with: {path: out, key: k}}
  b:
    needs: a
    runs-on: x
    steps:
      - {uses: actions/download-artifact@v4, with: {name: build, path: in}}
      - run: test -x in/thing && cat in/thing
      - {uses: actions/download-artifact@v4, with: {name: other}, continue-on-error: true}
",
    );
    fs::write(folder.path().join("committed"), "first\n").unwrap();
    git(folder.path(), &["init", "--quiet"]);
    git(folder.path(), &["add", "committed"]);
    git(folder.path(), &["commit", "--quiet", "-m", "first"]);
    fs::write(folder.path().join("changed"), "second\n").unwrap();
    let done = exec_in(folder.path(), &[], &[]);
    assert_eq!(done.conclusion(), "success", "{:?}", done.lines());
    for line in ["first", "second", "built", "##[error]Artifact not found for name: other"] {
        assert!(done.says(line), "{line}: {:?}", done.lines());
    }
}

#[test]
fn a_command_may_stand_before_each_step() {
    let text = "on: push\njobs:\n  a: {runs-on: x, steps: [{run: 'echo $LOCKED'}]}\n";
    let done = exec(text, &["--wrapper", "env LOCKED=in"]);
    assert!(done.says("in"), "{:?}", done.lines());
}
