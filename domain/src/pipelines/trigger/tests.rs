//! What starts runs, from files to reasons.

use std::collections::BTreeMap;

use super::*;
use crate::{
    error::Error,
    git::ObjectId,
    pipelines::{
        expressions::Value,
        workflow::{Workflow, WorkflowFile},
    },
};

fn read(on: &str) -> Workflow {
    let file = WorkflowFile::read(&format!("on: {on}\njobs: {{a: {{runs-on: x}}}}"));
    file.workflow.unwrap_or_else(|| panic!("{on}\n{:?}", file.problems))
}

/// `run`, or the code of the reason why not.
fn why(on: &str, event: &TriggerEvent<'_>) -> &'static str {
    let workflow = read(on);
    match start(Candidate { workflow: Some(&workflow), is_disabled: false }, event) {
        Ok(Start::Run) => "run",
        Ok(Start::Broken) => "broken run",
        Err(reason) => reason.code(),
    }
}

fn push<'a>(to: PushedRef<'a>, paths: &'a [String]) -> TriggerEvent<'a> {
    TriggerEvent::Push { to, paths: Paths::Known(paths), message: "Make it so" }
}

fn paths(of: &[&str]) -> Vec<String> {
    of.iter().map(|path| (*path).to_owned()).collect()
}

#[test]
fn a_push_starts_what_names_its_ref_and_its_files() {
    use PushedRef::{Branch, Deleted, Tag};
    let src = paths(&["src/a.rs", "docs/a.md"]);
    let docs = paths(&["docs/a.md"]);
    let inner = paths(&["README.md", "src/docs/a"]);
    for (on, to, files, expected) in [
        ("push", Branch("main"), &src, "run"),
        ("push", Tag("v1"), &src, "run"),
        ("push", Deleted, &src, "deleted"),
        ("pull_request", Branch("main"), &src, "event"),
        ("{push: {branches: [main]}}", Branch("main"), &src, "run"),
        ("{push: {branches: [main]}}", Branch("dev"), &src, "branch"),
        ("{push: {branches: [main]}}", Tag("main"), &src, "tag"),
        ("{push: {branches: ['**', '!dev/**']}}", Branch("dev/x"), &src, "branch"),
        ("{push: {branches: ['**', '!dev/**', 'dev/y']}}", Branch("dev/y"), &src, "run"),
        ("{push: {branches-ignore: [dev]}}", Branch("dev"), &src, "branch"),
        ("{push: {branches-ignore: [dev]}}", Branch("main"), &src, "run"),
        ("{push: {branches-ignore: [dev]}}", Tag("v1"), &src, "tag"),
        ("{push: {branches: [main, 'v*', '!v1', v1]}}", Branch("v1"), &src, "run"),
        ("{push: {paths: ['src/**', '!src/docs/**']}}", Branch("main"), &inner, "paths"),
        ("{push: {paths-ignore: ['**.md']}}", Branch("main"), &docs, "paths"),
        ("{push: {tags: ['v*']}}", Tag("v1"), &src, "run"),
        ("{push: {tags: ['v*']}}", Tag("x"), &src, "tag"),
        ("{push: {tags: ['v*']}}", Branch("v1"), &src, "branch"),
        ("{push: {tags-ignore: ['v*']}}", Tag("v1"), &src, "tag"),
        ("{push: {branches: [main], tags: ['v*']}}", Branch("main"), &src, "run"),
        ("{push: {branches: [main], tags: ['v*']}}", Tag("v1"), &src, "run"),
        ("{push: {paths: ['src/**']}}", Branch("main"), &src, "run"),
        ("{push: {paths: ['src/**']}}", Branch("main"), &docs, "paths"),
        ("{push: {paths: ['src/**']}}", Tag("v1"), &docs, "run"),
        ("{push: {paths-ignore: ['docs/**']}}", Branch("main"), &src, "run"),
        ("{push: {paths-ignore: ['docs/**']}}", Branch("main"), &docs, "paths"),
        ("{push: {branches: [main], paths: ['src/**']}}", Branch("dev"), &src, "branch"),
        ("{push: {branches: [main], paths: ['src/**']}}", Branch("main"), &docs, "paths"),
    ] {
        assert_eq!(why(on, &push(to, files)), expected, "{on} {to:?} {files:?}");
    }
    let unknown = TriggerEvent::Push { to: Branch("main"), paths: Paths::Unknown, message: "" };
    assert_eq!(why("{push: {paths: ['src/**']}}", &unknown), "run");
}

#[test]
fn a_pull_request_starts_what_names_its_type_and_its_target() {
    let src = paths(&["src/a.rs"]);
    for (on, activity, base, expected) in [
        ("pull_request", "opened", "main", "run"),
        ("pull_request", "synchronize", "main", "run"),
        ("pull_request", "reopened", "main", "run"),
        ("pull_request", "closed", "main", "type"),
        ("push", "opened", "main", "event"),
        ("{pull_request: {types: [closed]}}", "closed", "main", "run"),
        ("{pull_request: {types: [closed]}}", "opened", "main", "type"),
        ("{pull_request: {branches: [main]}}", "opened", "dev", "branch"),
        ("{pull_request: {branches: [main]}}", "opened", "main", "run"),
        ("{pull_request: {paths: ['docs/**']}}", "opened", "main", "paths"),
    ] {
        let event = TriggerEvent::PullRequest { activity, base, paths: Paths::Known(&src), message: "" };
        assert_eq!(why(on, &event), expected, "{on} {activity} {base}");
    }
    assert_eq!(why("pull_request", &TriggerEvent::Conflict), "conflict");
    assert_eq!(why("push", &TriggerEvent::Conflict), "event");
}

#[test]
fn five_spellings_ask_for_no_runs() {
    for spelling in SKIP_SPELLINGS {
        let message = format!("Mend the docs {spelling}\n\nbody");
        let pushed = TriggerEvent::Push { to: PushedRef::Branch("main"), paths: Paths::Unknown, message: &message };
        assert_eq!(why("push", &pushed), "skip_ci", "{spelling}");
        let pulled =
            TriggerEvent::PullRequest { activity: "opened", base: "main", paths: Paths::Unknown, message: &message };
        assert_eq!(why("pull_request", &pulled), "skip_ci", "{spelling}");
        assert_eq!(skips(&message), Some(spelling));
    }
    for message in ["skip ci", "[skip  ci]", "[skip]", "[ci]", "(skip ci)"] {
        assert_eq!(skips(message), None, "{message}");
    }
}

#[test]
fn schedules_and_people_start_what_names_them() {
    let on = "{schedule: [{cron: '0 5 * * *'}, {cron: '0 6 * * *', timezone: Europe/Berlin}], workflow_dispatch: null}";
    let due = |cron, timezone| TriggerEvent::Schedule { cron, timezone, is_default: true };
    assert_eq!(why(on, &due("0 5 * * *", None)), "run");
    assert_eq!(why(on, &due("0 6 * * *", Some("Europe/Berlin"))), "run");
    assert_eq!(why(on, &due("0 6 * * *", None)), "schedule");
    assert_eq!(why("push", &due("0 5 * * *", None)), "event");
    assert_eq!(why(on, &TriggerEvent::Dispatch), "run");
    assert_eq!(why("push", &TriggerEvent::Dispatch), "event");
    let elsewhere = TriggerEvent::Schedule { cron: "0 5 * * *", timezone: None, is_default: false };
    assert_eq!((why(on, &elsewhere), why("push", &elsewhere)), ("not_default", "event"));
}

#[test]
fn what_is_missed_starts_nothing_whatever_the_file_says() {
    for (missed, code) in [
        (Missed::ByJob, "job_credential"),
        (Missed::TooManyRefs, "too_many_refs"),
        (Missed::Unpushed, "not_pushed"),
        (Missed::WithinPush { head: ObjectId::ZERO }, "within_push"),
        (Missed::PullClosed, "pull_closed"),
        (Missed::PullOpen, "pull_open"),
        (Missed::HeadMoved, "head_moved"),
    ] {
        for on in ["push", "pull_request", "workflow_dispatch"] {
            assert_eq!(why(on, &TriggerEvent::Missed(missed)), code, "{on}");
        }
        assert_eq!(WhyNot::from(missed).to_string(), missed.to_string());
    }
}

#[test]
fn broken_and_disabled_files_say_so() {
    let branch = PushedRef::Branch("main");
    let broken = Candidate { workflow: None, is_disabled: false };
    assert_eq!(start(broken, &push(branch, &[])), Ok(Start::Broken));
    assert_eq!(start(broken, &TriggerEvent::Dispatch), Err(WhyNot::Broken));
    let skipped = TriggerEvent::Push { to: branch, paths: Paths::Unknown, message: "[no ci]" };
    assert_eq!(start(broken, &skipped), Err(WhyNot::Skipped("[no ci]")));
    let disabled = Candidate { is_disabled: true, ..broken };
    assert_eq!(start(disabled, &push(branch, &[])), Err(WhyNot::Disabled));
    assert_eq!(WhyNot::Branch("dev".to_owned()).to_string(), "The filter of branches doesn't let 'dev' pass.");
}

const INPUTS: &str = "{workflow_dispatch: {inputs: {text: {}, must: {required: true}, number: {type: number, default: 4}, \
                      yes: {type: boolean}, level: {type: choice, options: [low, high], default: low}, \
                      to: {type: environment}}}}";

fn dispatch(given: &[(&str, DispatchValue)]) -> Result<String, Vec<String>> {
    let inputs = read(INPUTS).triggers.dispatch.unwrap();
    let given: BTreeMap<_, _> = given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    match dispatch_inputs(&inputs, &given, |name| name == "staging") {
        Ok(value) => Ok(value.print_json().unwrap().replace(['\n', ' ', '"'], "")),
        Err(Error::Invalid { problems }) => {
            Err(problems.into_iter().map(|problem| format!("{}: {}", problem.path, problem.message)).collect())
        }
        Err(other) => panic!("{other:?}"),
    }
}

fn text(text: &str) -> DispatchValue {
    DispatchValue::Text(text.to_owned())
}

#[test]
fn inputs_are_of_their_kind() {
    let found = dispatch(&[("must", text("m"))]);
    assert_eq!(found.unwrap(), "{text:,must:m,number:4,yes:false,level:low,to:}");
    let found = dispatch(&[
        ("must", DispatchValue::Number(7.0)),
        ("text", DispatchValue::Boolean(true)),
        ("number", text("1.5")),
        ("yes", text("true")),
        ("level", text("high")),
        ("to", text("staging")),
    ]);
    assert_eq!(found.unwrap(), "{text:true,must:7,number:1.5,yes:true,level:high,to:staging}");
}

#[test]
fn each_input_that_is_wrong_is_named() {
    let found = dispatch(&[
        ("number", text("many")),
        ("yes", DispatchValue::Number(1.0)),
        ("level", text("middle")),
        ("to", text("moon")),
        ("other", text("x")),
    ]);
    assert_eq!(
        found.unwrap_err(),
        [
            "inputs.other: The workflow has no such input.",
            "inputs.must: This input is required.",
            "inputs.number: This input is a number.",
            "inputs.yes: This input is true or false.",
            "inputs.level: This input is one of: low, high.",
            "inputs.to: There is no such environment.",
        ]
    );
}

#[test]
fn a_workflow_takes_25_inputs_at_most() {
    let count = |count: usize| {
        let inputs = (0..count).map(|at| format!("i{at}: {{}}")).collect::<Vec<_>>().join(", ");
        let inputs = read(&format!("{{workflow_dispatch: {{inputs: {{{inputs}}}}}}}")).triggers.dispatch.unwrap();
        let given = (0..count).map(|at| (format!("i{at}"), text("x"))).collect();
        dispatch_inputs(&inputs, &given, |_| false).is_ok()
    };
    assert!(count(24) && count(25) && !count(26));
    assert!(matches!(dispatch_inputs(&[], &BTreeMap::new(), |_| false), Ok(Value::Object(_))));
}
