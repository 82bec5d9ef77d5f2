//! Files, and what they mean. What is found wrong in many small ones stands in `cases`.

use std::{collections::BTreeMap, fs, path::Path};

use super::*;
use crate::pipelines::expressions::{ContextName, Function, Properties, Value};

const MINIMAL: &str = "on: push\njobs: {a: {runs-on: linux, steps: [{run: make}]}}\n";

fn read(text: &str) -> Workflow {
    let file = WorkflowFile::read(text);
    file.workflow.unwrap_or_else(|| panic!("{text}\n{:?}", file.problems))
}

fn first_problem(text: &str) -> String {
    WorkflowFile::read(text).problems.first().map(|problem| problem.message.clone()).unwrap_or_default()
}

/// The places of errors, as the cases write them.
fn places(text: &str) -> String {
    let mut places = Vec::new();
    for problem in WorkflowFile::read(text).problems.iter().filter(|problem| problem.severity == Severity::Error) {
        let (Some(line), Some(column)) = (problem.line, problem.column) else { return "refused".to_owned() };
        let place = format!("{line}:{column}");
        if !places.contains(&place) {
            places.push(place);
        }
    }
    if places.is_empty() { "ok".to_owned() } else { places.join(" ") }
}

#[test]
fn each_case_is_wrong_where_it_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/pipelines/workflow/cases");
    let (mut count, mut faults) = (0, Vec::new());
    for file in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        for case in text.strip_prefix("=== ").unwrap().split("\n=== ") {
            let (head, body) = case.split_once('\n').unwrap_or((case, ""));
            let (name, expected) = head.rsplit_once(" => ").unwrap();
            let expected = expected.split(" | ").next().unwrap();
            let body = body.replace('␍', "\r").replace('␉', "\t").replace('␄', "\u{feff}");
            let found = places(&body);
            count += 1;
            if found != expected {
                faults.push(format!("{name}: {found}, not {expected}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count >= 300, "{count}");
}

#[test]
fn a_file_is_read_as_what_it_means() {
    let workflow = read(
        "name: Build\non:\n  push: {branches: [main, '!old']}\n  workflow_dispatch:\n    inputs:\n      level: {type: choice, \
         options: [low, high], default: low, required: true}\nenv: {A: 1.50}\njobs:\n  one:\n    runs-on: [linux, arm64]\n    \
         strategy: {fail-fast: false, matrix: {n: [1, 2]}}\n    steps:\n      - {uses: actions/checkout@v4, with: {ref: x}}\n      \
         - {id: make, run: 'make ${{ matrix.n }}', if: failure()}\n  two:\n    needs: one\n    if: github.ref == 'x'\n    \
         runs-on: ${{ needs.one.outputs.os }}\n",
    );
    assert_eq!(workflow.name.as_deref(), Some("Build"));
    assert_eq!(workflow.triggers.names, ["push", "workflow_dispatch"]);
    let inputs = workflow.triggers.dispatch.unwrap();
    assert_eq!((inputs[0].kind, inputs[0].required, inputs[0].options.len()), (InputKind::Choice, true, 2));
    assert_eq!(inputs[0].default, Some(InputDefault::Text("low".to_owned())));
    let Bindings::Each(env) = &workflow.env else { panic!("{:?}", workflow.env) };
    assert_eq!((env[0].0.as_str(), env[0].1.as_literal()), ("A", Some("1.5")));
    let [one, two] = workflow.jobs.as_slice() else { panic!("two jobs") };
    assert!(matches!(&one.runs_on, RunsOn::Labels { labels, .. } if labels.len() == 2));
    assert_eq!(one.strategy.as_ref().unwrap().fail_fast, Setting::Given(false));
    assert!(matches!(one.steps[0].kind, StepKind::Uses { action: Action::Checkout, .. }));
    assert_eq!(one.steps[1].condition.text(), "failure()");
    assert_eq!(one.steps[0].condition.text(), "success()");
    assert_eq!(two.needs, std::slice::from_ref(&one.key));
    assert_eq!(two.condition.text(), "success() && (github.ref == 'x')");
    assert!(matches!(two.runs_on, RunsOn::Evaluated(_)));
}

#[test]
fn a_job_is_given_the_secrets_that_its_text_names() {
    let secrets = |step: &str| {
        let text =
            format!("on: push\njobs: {{a: {{runs-on: x, env: {{A: '${{{{ secrets.A }}}}'}}, steps: [{step}]}}}}");
        read(&text).jobs[0].usage().contexts.remove(&ContextName::Secrets)
    };
    let named = |names: &[&str]| Some(Properties::Named(names.iter().map(|it| (*it).to_owned()).collect()));
    assert_eq!(secrets("{run: make}"), named(&["a"]));
    assert_eq!(secrets("{uses: actions/cache@v4, with: {key: '${{ secrets.B }}'}}"), named(&["a", "b"]));
    assert_eq!(secrets("{run: 'x ${{ toJSON(secrets) }}'}"), Some(Properties::All));
}

#[test]
fn what_github_knows_and_is_not_here_is_told() {
    let file = WorkflowFile::read("on: [push, issues]\njobs: {a: {runs-on: x}}");
    assert_eq!(file.problems.len(), 1);
    assert_eq!(file.problems[0].severity, Severity::Warning);
    assert_eq!(file.workflow.unwrap().triggers.names, ["push"]);
    assert!(first_problem("on: push\njobs: {a: {container: x, runs-on: x}}").contains("not supported"));
    assert!(first_problem("on: push\njobs: {a: {runs-on: x, steps: [{uses: a/b@v1}]}}").contains("actions/checkout"));
    for (uses, action) in [
        ("actions/checkout@v4", Some(Action::Checkout)),
        ("Actions/Cache@main", Some(Action::Cache)),
        ("actions/cache/restore@v4", Some(Action::CacheRestore)),
        ("actions/cache/save@v4", Some(Action::CacheSave)),
        ("actions/cache/other@v4", None),
        ("actions/upload-artifact@v4", Some(Action::UploadArtifact)),
        ("actions/download-artifact@v4", Some(Action::DownloadArtifact)),
        ("actions/checkout@", None),
        ("actions/setup-node@v4", None),
    ] {
        assert_eq!(Action::read(uses), action, "{uses}");
    }
}

#[test]
fn inputs_that_do_nothing_are_warnings_and_those_that_cannot_be_followed_errors() {
    let told = |action: &str, with: &str| {
        let step = format!("      - uses: actions/{action}@v4\n        with: {{{with}}}\n");
        let file = WorkflowFile::read(&format!("on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n{step}"));
        file.problems.into_iter().map(|it| (it.severity, it.column, it.message)).collect::<Vec<_>>()
    };
    let (warning, error) = (Severity::Warning, Severity::Error);
    let unknown =
        "Unexpected input(s) 'Colour', valid inputs are ['path', 'key', 'upload-chunk-size', 'enableCrossOsArchive']";
    let other = "Input(s) 'repository' can't be followed where they ask for something else: a job checks out the repository \
                 that its run is of";
    let run =
        "Input(s) 'run-id' can't be followed where they ask for something else: a job downloads what its own run made";
    let by_id = "Input(s) 'artifact-ids' can't be followed: a job downloads artifacts by their names";
    for (action, with, expected) in [
        ("cache/save", "path: a, Colour: b", Some((warning, 25, unknown))),
        ("checkout", "lfs: true", Some((warning, 16, "Input(s) 'lfs' do nothing here"))),
        ("checkout", "LFS: false", None),
        ("checkout", "submodules: ''", None),
        ("checkout", "token: '${{ secrets.GITHUB_TOKEN }}'", None),
        ("checkout", "token: '${{ secrets.OTHER }}'", Some((warning, 16, "Input(s) 'token' do nothing here"))),
        ("checkout", "repository: '${{github.repository}}'", None),
        ("checkout", "repository: '${{ service.event.repository.full_name }}'", None),
        ("checkout", "repository: a/b", Some((warning, 16, other))),
        ("checkout", "repository: '${{ inputs.repo || github.repository }}'", Some((warning, 16, other))),
        ("checkout", "repository: github.repository", Some((warning, 16, other))),
        ("download-artifact", "pattern: 'a-*', merge-multiple: true", None),
        ("download-artifact", "run-id: '${{ github.run_id }}'", None),
        ("download-artifact", "run-id: 1", Some((warning, 16, run))),
        ("download-artifact", "artifact-ids: 1", Some((error, 16, by_id))),
    ] {
        let expected = expected.map(|(severity, column, message)| (severity, Some(column), message.to_owned()));
        assert_eq!(told(action, with), expected.into_iter().collect::<Vec<_>>(), "{action} {with}");
    }
}

#[test]
fn values_may_name_what_the_run_is_of() {
    let github = Value::object([
        ("repository", Value::text("acme/web")),
        ("run_id", Value::text("run_1")),
        ("server_url", Value::text("https://example.com")),
    ]);
    let run = OwnRun::of(&github);
    for (action, name, value, is_own) in [
        (Action::Checkout, "repository", " Acme/web", true),
        (Action::Checkout, "Repository", "acme/web", true),
        (Action::Checkout, "repository", "", true),
        (Action::Checkout, "repository", "web", false),
        (Action::Checkout, "repository", "run_1", false),
        (Action::Checkout, "github-server-url", "https://example.com/", true),
        (Action::Checkout, "github-server-url", "https://example.com/other", false),
        (Action::DownloadArtifact, "repository", "acme/web", true),
        (Action::DownloadArtifact, "run-id", "run_1", true),
        (Action::DownloadArtifact, "run-id", "run_2", false),
        (Action::DownloadArtifact, "artifact-ids", "run_1", false),
    ] {
        assert_eq!(action.value_fault(name, value, &run).is_none(), is_own, "{name}: {value}");
    }
    // Where the run isn't known nothing is its own.
    assert!(Action::Checkout.value_fault("github-server-url", "/", &OwnRun::of(&Value::Null)).is_some());
}

#[test]
fn an_error_is_told_however_many_warnings_there_are() {
    let warned = "      - {uses: actions/checkout@v4, with: {lfs: true}}\n".repeat(PROBLEMS_MAX + 1);
    let steps = format!("{warned}      - {{id: 1x, run: make}}\n");
    let file = WorkflowFile::read(&format!("on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n{steps}"));
    assert!(file.workflow.is_none());
    assert_eq!(file.problems.len(), PROBLEMS_MAX);
    assert_eq!(file.problems.last().map(|problem| problem.severity), Some(Severity::Error));
}

#[test]
fn a_circle_of_needs_is_named() {
    let text = "on: push\njobs:\n  a: {runs-on: x}\n  b: {needs: d, runs-on: x}\n  c: {needs: b, runs-on: x}\n  d: {needs: [a, c], \
                runs-on: x}\n";
    assert_eq!(
        first_problem(text),
        "Job 'b' depends on job 'd' which creates a cycle in the dependency graph (d → c → b → d)."
    );
}

#[test]
fn a_file_is_read_within_limits() {
    let padded = |len: usize| format!("{MINIMAL}#{}", "x".repeat(len - MINIMAL.len() - 1));
    assert_eq!(places(&padded(YAML_LEN_MAX)), "ok");
    assert!(first_problem(&padded(YAML_LEN_MAX + 1)).contains("524288 bytes"));
    assert!(first_problem("on: push\0").contains("NUL"));

    // Ten times ten times ten… of one text, or of a longer one.
    let bomb = |levels: usize| {
        let level = |at: usize| format!("x{at}: &x{at} [{}]\n", vec![format!("*x{}", at - 1); 10].join(", "));
        let levels: String = (1..=levels).map(level).collect();
        format!("x0: &x0 {}\n{levels}", "x".repeat(1_000))
    };
    assert!(first_problem(&bomb(3)).contains("Unexpected value 'x0'"));
    assert!(first_problem(&bomb(30)).contains("100000 values"));

    let nested = |depth: usize| format!("on: push\nx: {}{}\n", "[".repeat(depth), "]".repeat(depth));
    assert!(first_problem(&nested(YAML_DEPTH_MAX - 1)).contains("Required property"));
    assert!(first_problem(&nested(YAML_DEPTH_MAX)).contains("nested at most"));
    assert!(!first_problem(&nested(200_000)).is_empty());
    let below_alias = format!("a: &a {}{}\nb: [[*a]]\n", "[".repeat(98), "]".repeat(98));
    assert!(first_problem(&below_alias).contains("nested at most"));

    let many = format!("on: push\njobs:\n{}", "  a: b\n".repeat(500));
    assert_eq!(WorkflowFile::read(&many).problems.len(), PROBLEMS_MAX);
    let expressions = format!("on: push\nrun-name: {}\n", "${{a}}".repeat(50_000));
    assert_eq!(WorkflowFile::read(&expressions).problems.len(), PROBLEMS_MAX);
}

#[test]
fn so_many_jobs_and_steps_and_no_more() {
    let jobs = |count: usize| {
        let jobs: Vec<_> = (0..count).map(|at| format!("  j{at}: {{runs-on: x}}\n")).collect();
        places(&format!("on: push\njobs:\n{}", jobs.join("")))
    };
    assert_eq!((jobs(JOBS_MAX).as_str(), jobs(JOBS_MAX + 1).as_str()), ("ok", "3:3"));
    let steps = |count: usize| {
        places(&format!("on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n{}", "      - run: x\n".repeat(count)))
    };
    assert_eq!((steps(STEPS_MAX).as_str(), steps(STEPS_MAX + 1).as_str()), ("ok", "6:7"));
}

#[test]
fn yaml_is_of_version_1_2() {
    let env = |yaml: &str| {
        let workflow = read(&format!("on: push\nenv: {{{yaml}}}\njobs: {{a: {{runs-on: x}}}}"));
        let Bindings::Each(env) = workflow.env else { panic!("{yaml}") };
        let texts = env.into_iter().map(|(name, value)| (name, value.as_literal().unwrap_or_default().to_owned()));
        texts.collect::<BTreeMap<_, _>>()
    };
    let found =
        env("on: yes, a: 010, b: 0o10, c: 0x1F, d: 1e3, e: ~, f: TRUE, g: '010', h: 1_000, i: .5, j: 1.0, k: 12:30");
    for (name, text) in [
        ("on", "yes"),
        ("a", "10"),
        ("b", "8"),
        ("c", "31"),
        ("d", "1000"),
        ("e", ""),
        ("f", "true"),
        ("g", "010"),
        ("h", "1_000"),
        ("i", "0.5"),
        ("j", "1"),
        ("k", "12:30"),
    ] {
        assert_eq!(found[name], text, "{name}");
    }
}

#[test]
fn the_workflow_folder_has_workflow_files() {
    for path in [".service/workflows/a.yml", ".service/workflows/b c.yaml"] {
        assert!(WorkflowFile::is_path(path), "{path}");
    }
    for path in [
        ".service/workflows/.yml",
        ".service/workflows/a/b.yml",
        ".service/workflows/a.txt",
        "a.yml",
        ".service/workflowsa.yml",
    ] {
        assert!(!WorkflowFile::is_path(path), "{path}");
    }
}

#[test]
fn places_know_the_functions_of_their_runs() {
    let named =
        |text: &str| read(&format!("on: push\njobs: {{a: {{runs-on: x, if: \"{text}\"}}}}")).jobs[0].condition.usage();
    assert!(named("success('b') || cancelled()").functions.contains(&Function::Cancelled));
    assert_eq!(places("on: push\njobs: {a: {runs-on: x, steps: [{run: x, if: success('b')}]}}"), "2:45");
}

#[test]
fn a_job_may_write_where_it_says_so_or_its_workflow_does() {
    let may = |top: &str, job: &str| {
        read(&format!("on: push\n{top}\njobs: {{a: {{runs-on: x, {job} steps: [{{run: x}}]}}}}"))
            .may_write_contents("a")
    };
    for (top, job, wanted) in [
        ("", "", false),
        ("permissions: write-all", "", true),
        ("permissions: read-all", "", false),
        ("permissions: {contents: write}", "", true),
        ("permissions: {contents: read}", "", false),
        ("permissions: {statuses: write}", "", false),
        ("permissions: write-all", "permissions: {},", false),
        ("permissions: write-all", "permissions: {statuses: write},", false),
        ("permissions: read-all", "permissions: {contents: write},", true),
    ] {
        assert_eq!(may(top, job), wanted, "{top} {job}");
    }
    assert!(
        !read("on: push\npermissions: write-all\njobs: {a: {runs-on: x, steps: [{run: x}]}}").may_write_contents("b")
    );
}
