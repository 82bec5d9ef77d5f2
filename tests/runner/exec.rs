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
fn actions_follow_their_inputs_and_name_those_that_do_nothing() {
    let done = exec(
        r#"
on: push
jobs:
  a:
    runs-on: x
    steps:
      - run: mkdir out && printf '%0999d' 1 > out/one && echo two > two
      - id: one
        uses: actions/upload-artifact@v4
        with: {name: build-one, path: out, compression-level: 0, overwrite: true, colour: red, size: 1}
      - {id: two, uses: actions/upload-artifact@v4, with: {name: build-two, path: "out\ntwo"}}
      - {uses: actions/upload-artifact@v4, with: {name: other, path: two}}
      - run: |
          test "$(printf %s '${{ steps.one.outputs.artifact-digest }}' | wc -c)" -eq 64
          test '${{ steps.one.outputs.artifact-digest }}' != '${{ steps.two.outputs.artifact-digest }}'
      - {uses: actions/upload-artifact@v4, with: {name: bad, path: two, compression-level: 10}, continue-on-error: true}
      - {uses: actions/upload-artifact@v4, with: {name: bad, path: x, if-no-files-found: maybe}, continue-on-error: true}
      - {uses: actions/upload-artifact@v4, with: {name: bad, path: x, if-no-files-found: ignore}}
      - {uses: actions/upload-artifact@v4, with: {name: bad}, continue-on-error: true}
      - {id: found, uses: actions/cache/restore@v4, with: {path: out, key: k, lookup-only: true}}
      - {uses: actions/cache/save@v4, with: {path: out, key: "${{ steps.found.outputs.cache-primary-key }}"}}
      - {uses: actions/cache/restore@v4, with: {path: out, key: k, fail-on-cache-miss: true}, continue-on-error: true}
      - {uses: actions/checkout@v4, with: "${{ fromJSON('{\"repository\": \"a/b\"}') }}", continue-on-error: true}
  b:
    needs: a
    runs-on: x
    steps:
      - {uses: actions/download-artifact@v4, with: {pattern: 'build-*', path: apart}}
      - {uses: actions/download-artifact@v4, with: {pattern: 'build-{one,two}', merge-multiple: true, path: together}}
      - {uses: actions/download-artifact@v4, with: {pattern: 'none-*', path: none}}
      - run: |
          test "$(ls apart)" = "$(printf 'build-one\nbuild-two')" && cmp apart/build-one/one apart/build-two/out/one
          test "$(ls together)" = "$(printf 'one\nout\ntwo')" && test ! -e none
"#,
        &[],
    );
    assert_eq!(done.conclusion(), "success", "{:?}", done.lines());
    let outcomes: Vec<_> =
        done.job("a")["steps"].as_array().unwrap().iter().map(|step| step["outcome"].as_str().unwrap()).collect();
    let (good, bad) = ("success", "failure");
    assert_eq!(outcomes[..5], [good; 5], "{:?}", done.lines());
    assert_eq!(outcomes[5..13], [bad, bad, good, bad, good, good, bad, bad], "{:?}", done.lines());
    let size = |name: &str| -> Option<u64> {
        let said = format!("Artifact {name} has been uploaded: ");
        done.lines().iter().find_map(|line| line.strip_prefix(&said)?.split(' ').nth(2)?.parse().ok())
    };
    let (one, two) = (size("build-one"), size("build-two"));
    assert!(one.is_some_and(|it| it > 999) && two.is_some_and(|it| it < 999), "{:?}", done.lines());
    for line in [
        "##[warning]Unexpected input(s) 'colour', 'size', valid inputs are ['name', 'path', 'if-no-files-found', \
         'retention-days', 'compression-level', 'overwrite', 'include-hidden-files']",
        "##[warning]Input(s) 'overwrite' do nothing here",
        "##[error]compression-level is a whole number from 0 to 9.",
        "##[error]An artifact needs a path.",
        "##[error]There is no cache for k.",
        "##[error]Input(s) 'repository' can't be followed: a job checks out the repository that its run is of",
    ] {
        assert!(done.says(line), "{line}: {:?}", done.lines());
    }
}

#[test]
fn inputs_may_name_the_repository_and_the_run_that_actions_act_on() {
    let (folder, path) = file("");
    let text = r#"
on: push
jobs:
  a:
    runs-on: x
    steps:
      - {uses: actions/checkout@v4, with: '${{ fromJSON(format(''{{"repository": "{0}"}}'', github.repository)) }}'}
      - uses: actions/checkout@v4
        with: {path: b, repository: "${{ inputs.repo || github.repository }}", github-server-url: "http://localhost/"}
      - {uses: actions/checkout@v4, with: {path: c, repository: OWN}}
      - {uses: actions/upload-artifact@v4, with: {name: x, path: workflow.yml}}
      - {uses: actions/download-artifact@v4, with: {name: x, path: in, repository: OWN, run-id: 1}}
      - {run: cmp in/workflow.yml workflow.yml && cmp b/workflow.yml c/workflow.yml}
      - {uses: actions/checkout@v4, with: {path: d, repository: other/one}, continue-on-error: true}
      - {uses: actions/download-artifact@v4, with: {name: x, run-id: 2}, continue-on-error: true}
"#;
    let own = folder.path().file_name().unwrap().to_str().unwrap();
    fs::write(path, text.replace("OWN", own)).unwrap();
    git(folder.path(), &["init", "--quiet"]);
    git(folder.path(), &["commit", "--quiet", "--allow-empty", "-m", "first"]);
    let done = exec_in(folder.path(), &[], &[]);
    assert_eq!(done.conclusion(), "success", "{:?}", done.lines());
    let outcomes: Vec<_> =
        done.job("a")["steps"].as_array().unwrap().iter().map(|step| step["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes[..6], ["success"; 6], "{:?}", done.lines());
    assert_eq!(outcomes[6..8], ["failure"; 2], "{:?}", done.lines());
    for line in [
        "##[error]Input(s) 'repository' can't be followed: a job checks out the repository that its run is of",
        "##[error]Input(s) 'run-id' can't be followed: a job downloads what its own run made",
    ] {
        assert!(done.says(line), "{line}: {:?}", done.lines());
    }
}

#[test]
fn patterns_of_artifacts_are_followed_or_fail() {
    let name = "a".repeat(90);
    let text = r#"
on: push
jobs:
  a:
    runs-on: x
    steps:
      - run: echo one > one
      - {uses: actions/upload-artifact@v4, with: {name: shard-1, path: one}}
      - {uses: actions/upload-artifact@v4, with: {name: shard-4, path: one}}
      - {uses: actions/upload-artifact@v4, with: {name: shard-5, path: one}}
      - {uses: actions/upload-artifact@v4, with: {name: NAME, path: one}}
  b:
    needs: a
    runs-on: x
    steps:
      - {uses: actions/download-artifact@v4, with: {pattern: 'shard-{1..4}', path: in}}
      - {uses: actions/download-artifact@v4, with: {pattern: 'MANY', path: in}}
      - run: test "$(ls in)" = "$(printf 'shard-1\nshard-4')"
      - {uses: actions/download-artifact@v4, with: {pattern: 'shard-@(1|4)'}, continue-on-error: true}
      - {uses: actions/download-artifact@v4, with: {pattern: 'shard-{1..2000}'}, continue-on-error: true}
"#;
    let text = text.replace("NAME", &name).replace("MANY", &format!("{}*b", "*a".repeat(40)));
    let done = exec(&text, &[]);
    assert_eq!(done.conclusion(), "success", "{:?}", done.lines());
    for line in [
        "Artifacts that are like shard-{1..4}: 2",
        "##[error]A pattern can't have `@(` here; `{a,b}` stands for either.",
        "##[error]A pattern with braces stands for at most 1000 others, of 1048576 bytes in all.",
    ] {
        assert!(done.says(line), "{line}: {:?}", done.lines());
    }
}

#[test]
fn where_a_deployment_is_seen_follows_from_the_steps() {
    let job = |url: &str| {
        format!(
            "on: push\njobs:\n  a:\n    runs-on: x\n    environment: {{name: e, url: \"{url}\"}}\n    \
             env: {{ZONE: example.com}}\n    steps:\n      - {{id: s, run: 'echo v=1 >> \"$GITHUB_OUTPUT\"'}}\n"
        )
    };
    let done = exec(&job("https://${{ steps.s.outputs.v }}.${{ env.ZONE }}/${{ job.status }}"), &[]);
    assert_eq!(done.conclusion(), "success", "{:?}", done.lines());
    assert!(done.says("Environment url: https://1.example.com/success"), "{:?}", done.lines());
    let done = exec(&job("${{ steps.s.outputs.v }}"), &[]);
    assert_eq!(done.conclusion(), "success", "{:?}", done.lines());
    let rule = "##[warning]environment.url: Use an http or https address of at most 2000 characters";
    assert!(done.says(rule), "{:?}", done.lines());
    let done = exec(&job("${{ fromJSON('[') }}"), &[]);
    assert_eq!(done.conclusion(), "failure", "{:?}", done.lines());
    assert!(done.lines().iter().any(|line| line.starts_with("##[error]environment.url: ")), "{:?}", done.lines());
}

#[test]
fn a_command_may_stand_before_each_step() {
    let text = "on: push\njobs:\n  a: {runs-on: x, steps: [{run: 'echo $LOCKED'}]}\n";
    let done = exec(text, &["--wrapper", "env LOCKED=in"]);
    assert!(done.says("in"), "{:?}", done.lines());
}
