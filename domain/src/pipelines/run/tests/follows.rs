//! The effects of single events, which the cases can't show.

use std::fmt::Write as _;

use super::{
    super::{
        Effect::{Ask, Cancel, Complete, End, Queue},
        *,
    },
    *,
};

const TWO: &str = "  a: {runs-on: x}\n  b: {needs: a, runs-on: x}";

fn at(node: usize, index: usize) -> JobPlace {
    JobPlace { node, index }
}

#[test]
fn a_run_goes_from_job_to_job() {
    let (mut run, effects) = Run::begun(TWO);
    assert_eq!(effects, [Queue { job: at(0, 0) }]);
    assert_eq!(run.state.status(), RunStatus::Queued);
    assert_eq!(run.start(0, 0), []);
    assert_eq!(run.state.status(), RunStatus::InProgress);
    let effects = run.complete(0, 0, JobConclusion::Success);
    assert_eq!(effects, [Complete { job: at(0, 0), conclusion: JobConclusion::Success }, Queue { job: at(1, 0) }]);
    assert_eq!(run.state.status(), RunStatus::InProgress);
    let effects = run.complete(1, 0, JobConclusion::Success);
    assert_eq!(effects.last(), Some(&End { conclusion: RunConclusion::Success }));
    assert_eq!(run.state.status(), RunStatus::Completed);
}

#[test]
fn what_comes_twice_or_too_late_changes_nothing() {
    let (mut run, _) = Run::begun(TWO);
    run.complete(0, 0, JobConclusion::Success);
    let before = run.state.clone();
    let job = at(0, 0);
    for event in [
        RunEvent::Begun,
        RunEvent::Started { job },
        RunEvent::Completed { job, conclusion: JobConclusion::Failure, outputs: BTreeMap::new() },
        RunEvent::TimedOut { job },
        RunEvent::Unclaimed { job },
        RunEvent::Lost { job, begun: Begun::Step },
        RunEvent::Displaced { job },
        RunEvent::Passed { job: at(1, 0), gate: Gate::Environment },
        RunEvent::Refused { job: at(1, 0), gate: Gate::Group },
        RunEvent::Completed { job: at(1, 0), conclusion: JobConclusion::Failure, outputs: BTreeMap::new() },
        RunEvent::Started { job: at(7, 0) },
        RunEvent::Displaced { job: at(0, 7) },
    ] {
        assert_eq!(run.decide(event.clone()), [], "{event:?}");
        assert_eq!(run.state, before, "{event:?}");
    }
    run.complete(1, 0, JobConclusion::Success);
    assert_eq!(run.decide(RunEvent::Cancelled), []);
    assert_eq!(run.state.conclusion, Some(RunConclusion::Success));
}

#[test]
fn a_job_comes_to_its_group_before_its_environment() {
    let (mut run, effects) = Run::begun("  a: {runs-on: x, environment: e, concurrency: g}");
    let job = at(0, 0);
    assert_eq!(effects, [Ask { job, gate: Gate::Group }]);
    assert_eq!(run.state.status(), RunStatus::Waiting);
    assert_eq!(run.decide(RunEvent::Passed { job, gate: Gate::Group }), [Ask { job, gate: Gate::Environment }]);
    assert_eq!(run.state.status(), RunStatus::Waiting);
    assert_eq!(run.decide(RunEvent::Passed { job, gate: Gate::Environment }), [Queue { job }]);
    assert_eq!(run.state.status(), RunStatus::Queued);
}

#[test]
fn a_job_whose_runner_is_lost_before_a_step_is_queued_three_times_more() {
    let (mut run, _) = Run::begun("  a: {runs-on: x}");
    let job = at(0, 0);
    for lost in 1..=LOST_MAX {
        run.start(0, 0);
        assert_eq!(run.decide(RunEvent::Lost { job, begun: Begun::Nothing }), [Queue { job }], "{lost}");
    }
    run.start(0, 0);
    let effects = run.decide(RunEvent::Lost { job, begun: Begun::Nothing });
    assert_eq!(effects[0], Complete { job, conclusion: JobConclusion::Failure });
}

#[test]
fn a_runner_that_is_lost_while_it_stops_a_job_has_cancelled_it() {
    let (mut run, _) = Run::begun("  a: {runs-on: x}");
    run.start(0, 0);
    assert_eq!(run.decide(RunEvent::Cancelled), [Cancel { job: at(0, 0) }]);
    let effects = run.decide(RunEvent::Lost { job: at(0, 0), begun: Begun::Nothing });
    assert_eq!(effects.last(), Some(&End { conclusion: RunConclusion::Cancelled }));
}

#[test]
fn a_run_that_is_cancelled_before_it_begins_has_no_job_that_runs() {
    let mut run = Run::of("  a: {runs-on: x, if: always()}\n  b: {needs: a, runs-on: x}");
    let effects = run.decide(RunEvent::Cancelled);
    assert_eq!(effects.last(), Some(&End { conclusion: RunConclusion::Cancelled }));
    assert_eq!(run.names(), ["a", "b"]);
}

#[test]
fn as_many_jobs_of_a_matrix_run_as_may() {
    let jobs = "  a: {runs-on: x, strategy: {max-parallel: 2, matrix: {n: [1, 2, 3, 4]}}}";
    let (mut run, effects) = Run::begun(jobs);
    assert_eq!(effects, [Queue { job: at(0, 0) }, Queue { job: at(0, 1) }]);
    run.start(0, 0);
    let effects = run.complete(0, 1, JobConclusion::Success);
    assert_eq!(effects, [Complete { job: at(0, 1), conclusion: JobConclusion::Success }, Queue { job: at(0, 2) }]);
}

#[test]
fn only_what_rows_do_not_say_is_written_of_a_run() {
    let (mut run, _) =
        Run::begun("  a: {runs-on: x, strategy: {max-parallel: 1, matrix: {n: [1, 2, 3]}}}\n  b: {runs-on: x}");
    let mut moves = |event: RunEvent| {
        let before = run.state.clone();
        run.decide(event);
        run.state.has_just_moved(&before)
    };
    let ended = |index: usize, outputs: &[(&str, &str)]| RunEvent::Completed {
        job: at(0, index),
        conclusion: JobConclusion::Success,
        outputs: outputs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
    };
    assert!(!moves(RunEvent::Started { job: at(1, 0) }), "a run's first start is its own");
    assert!(moves(RunEvent::Started { job: at(0, 0) }));
    assert!(moves(ended(0, &[])), "and the next of the matrix is queued");
    assert!(moves(RunEvent::Started { job: at(0, 1) }));
    assert!(!moves(RunEvent::Lost { job: at(0, 1), begun: Begun::Nothing }), "how often is counted");
    assert!(moves(RunEvent::Started { job: at(0, 1) }));
    assert!(!moves(ended(1, &[("version", "1")])), "outputs are for other jobs");
    assert!(moves(RunEvent::Started { job: at(0, 2) }));
    assert!(!moves(ended(2, &[])), "what the key comes to");
}

#[test]
fn a_matrix_stands_for_256_jobs_at_most() {
    let of = |count: usize| {
        let list = (0..count).map(|at| at.to_string()).collect::<Vec<_>>().join(",");
        Run::begun(&format!("  a: {{runs-on: x, strategy: {{matrix: {{n: \"${{{{ fromJSON('[{list}]') }}}}\"}}}}}}")).0
    };
    assert_eq!(of(255).names().len(), 255);
    assert_eq!(of(256).names().len(), 256);
    let run = of(257);
    assert_eq!(run.state.conclusion, Some(RunConclusion::Failure));
    assert!(run.fault().contains("at most 256 jobs"), "{}", run.fault());
}

#[test]
fn a_run_has_1000_jobs_at_most() {
    let of = |single: usize| {
        let mut jobs = String::new();
        for node in 0..3 {
            let list = (0..250).map(|at| at.to_string()).collect::<Vec<_>>().join(",");
            writeln!(jobs, "  m{node}: {{runs-on: x, strategy: {{matrix: {{n: [{list}]}}}}}}").unwrap();
        }
        (0..single).for_each(|node| writeln!(jobs, "  s{node}: {{runs-on: x}}").unwrap());
        Run::begun(&jobs).0
    };
    for (single, is_refused) in [(249, false), (250, false), (251, true)] {
        let run = of(single);
        assert_eq!(run.fault().contains("at most 1000 jobs"), is_refused, "{single}");
    }
}

#[test]
fn names_and_labels_have_their_lengths() {
    let long = |len: usize| "n".repeat(len);
    let name = |len: usize| Run::begun(&format!("  a: {{runs-on: x, name: {}}}", long(len))).0.names()[0].len();
    assert_eq!([254, 255, 256].map(name), [254, 255, 255]);
    let row = |len: usize| {
        let (run, _) = Run::begun(&format!("  a: {{runs-on: x, strategy: {{matrix: {{n: [{}]}}}}}}", long(len)));
        run.names()[0].to_owned()
    };
    assert_eq!([95, 96].map(|len| row(len).len()), [99, 100]);
    assert!(row(97).len() == 100 && row(97).ends_with("n..."), "{}", row(97));
    let fault = |key: &str, len: usize| Run::begun(&format!("  a: {{runs-on: x, {key}: {}}}", long(len))).0.fault();
    for (key, max) in [("environment", LABEL_LEN_MAX), ("concurrency", GROUP_LEN_MAX)] {
        assert_eq!(fault(key, max), "", "{key}");
        assert!(fault(key, max + 1).starts_with(key), "{key}");
    }
    let labels = |count: usize| Run::begun(&format!("  a: {{runs-on: [{}]}}", vec!["x"; count].join(","))).0.fault();
    assert_eq!(labels(LABELS_MAX), "");
    assert!(labels(LABELS_MAX + 1).starts_with("runs-on"));
}

#[test]
fn settings_are_evaluated_when_the_job_is_made() {
    let (run, _) = Run::begun(
        "  a:\n    runs-on: {group: big, labels: [Linux, \"${{ github.actor }}\"]}\n    timeout-minutes: ${{ 1.5 }}\n    \
         environment: {name: \"to-${{ github.ref_name }}\"}\n    concurrency: {group: Deploy, cancel-in-progress: true}",
    );
    let job = run.state.job(at(0, 0)).unwrap();
    assert_eq!((job.labels.join(" ").as_str(), job.runner_group.as_deref()), ("Linux ada", Some("big")));
    assert_eq!((job.timeout_minutes, job.environment.as_deref()), (2, Some("to-main")));
    let group = job.concurrency.as_ref().unwrap();
    assert_eq!((group.group.as_str(), group.cancels), ("deploy", true));
    let minutes = |given: &str| Run::begun(&format!("  a: {{runs-on: x, timeout-minutes: {given}}}")).0;
    let job = |given: &str| minutes(given).state.job(at(0, 0)).unwrap().timeout_minutes;
    assert_eq!([job("7199"), job("7200"), job("7201")], [7_199, 7_200, 7_200]);
    assert!(minutes("0").fault().contains("greater than 0"));
    assert!(minutes("\"${{ github.actor }}\"").fault().contains("Unexpected value 'ada'"));
}

#[test]
fn a_run_has_a_title_and_a_group() {
    let of = |head: &str| Plan::of(read(&format!("on: push\n{head}\njobs: {{a: {{runs-on: x}}}}")), contexts());
    let plan = of("run-name: By ${{ github.actor }}\nconcurrency: {group: \"${{ github.ref_name }}\", queue: max}");
    assert_eq!(plan.title().as_deref(), Some("By ada"));
    assert_eq!(plan.concurrency().unwrap().unwrap().group, "main");
    assert_eq!(of("run-name: ' '").title(), None);
    assert_eq!(of("run-name: \"${{ fromJSON('') }}\"").title(), None);
    assert_eq!(of("concurrency: \"${{ github.missing }}\"").concurrency(), Ok(None));
    assert!(of("concurrency: \"${{ fromJSON('') }}\"").concurrency().is_err());
}

#[test]
fn a_run_that_has_nothing_to_run_again_has_no_other_attempt() {
    let (mut run, _) = Run::begun(TWO);
    assert_eq!(run.state.again(&run.plan, &Rerun::All), None);
    run.complete(0, 0, JobConclusion::Success);
    run.complete(1, 0, JobConclusion::Success);
    assert_eq!(run.state.again(&run.plan, &Rerun::Failed), None);
    assert_eq!(run.state.again(&run.plan, &Rerun::Jobs(vec![at(5, 0)])), None);
    run.state = run.state.again(&run.plan, &Rerun::Jobs(vec![at(1, 0)])).unwrap();
    assert_eq!(run.decide(RunEvent::Begun), [Queue { job: at(1, 0) }]);
}

#[test]
fn a_state_of_1000_jobs_is_small() {
    let jobs = (0..1_000).map(|node| format!("  j{node}: {{runs-on: x}}\n")).collect::<Vec<_>>().concat();
    let (run, effects) = Run::begun(&jobs);
    assert_eq!(effects.len(), 1_000);
    let len = serde_json::to_string(&run.state).unwrap().len();
    assert!(len < 250_000, "{len}");
}

#[test]
fn the_outputs_of_a_run_have_a_bound() {
    let text = "  a: {strategy: {fail-fast: false, matrix: {n: [1, 2, 3]}}, runs-on: x}";
    for (over, conclusion) in [(0, JobConclusion::Success), (1, JobConclusion::Failure)] {
        let (mut run, _) = Run::begun(text);
        let complete = |run: &mut Run, index: usize, len: usize| {
            let job = at(0, index);
            run.decide(RunEvent::Started { job });
            let outputs = BTreeMap::from([("x".to_owned(), "y".repeat(len))]);
            run.decide(RunEvent::Completed { job, conclusion: JobConclusion::Success, outputs });
        };
        complete(&mut run, 0, 99);
        complete(&mut run, 1, RUN_OUTPUTS_LEN_MAX - 101 + over);
        let job = run.state.job(at(0, 1)).unwrap();
        assert_eq!((job.conclusion(), job.fault.is_some()), (Some(conclusion), over == 1));
        assert_eq!(job.outputs.len(), 1 - over);
        complete(&mut run, 2, 0);
        assert!(run.state.job(at(0, 2)).unwrap().conclusion().is_some());
    }
}

#[test]
fn a_job_that_nobody_takes_fails_unless_it_started() {
    let (mut run, _) = Run::begun(TWO);
    run.decide(RunEvent::Unclaimed { job: at(0, 0) });
    assert_eq!(run.state.job(at(0, 0)).unwrap().conclusion(), Some(JobConclusion::Failure));
    let (mut run, _) = Run::begun(TWO);
    run.decide(RunEvent::Started { job: at(0, 0) });
    assert_eq!(run.decide(RunEvent::Unclaimed { job: at(0, 0) }), []);
}
