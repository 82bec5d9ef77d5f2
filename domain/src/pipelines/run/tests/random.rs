//! Random graphs of jobs, whose events arrive in random orders.

use proptest::prelude::*;

use super::{super::*, *};

/// What a random job is like.
#[derive(Clone, Debug)]
struct Random {
    /// Of the jobs before it, those that it needs.
    needs: Vec<bool>,
    condition: usize,
    rows: usize,
    conclusion: JobConclusion,
    may_fail: bool,
}

const CONDITIONS: [&str; 6] = ["success()", "always()", "failure()", "!cancelled()", "!failure()", "false"];

fn jobs() -> impl Strategy<Value = Vec<Random>> {
    let conclusion = prop_oneof![
        4 => Just(JobConclusion::Success),
        2 => Just(JobConclusion::Failure),
        1 => Just(JobConclusion::TimedOut),
        1 => Just(JobConclusion::Cancelled),
    ];
    let job =
        (prop::collection::vec(any::<bool>(), 8), 0..CONDITIONS.len(), 1..4_usize, conclusion, any::<bool>()).prop_map(
            |(needs, condition, rows, conclusion, may_fail)| Random { needs, condition, rows, conclusion, may_fail },
        );
    prop::collection::vec(job, 1..8)
}

fn text(jobs: &[Random]) -> String {
    let job = |(at, job): (usize, &Random)| {
        let needed = (0..at).filter(|before| job.needs[*before]).map(|before| format!("j{before}"));
        let rows = (0..job.rows).map(|row| row.to_string()).collect::<Vec<_>>().join(", ");
        format!(
            "  j{at}: {{runs-on: x, needs: [{}], if: \"{}\", continue-on-error: {}, strategy: {{fail-fast: false, matrix: \
             {{n: [{rows}]}}}}}}\n",
            needed.collect::<Vec<_>>().join(", "),
            CONDITIONS[job.condition],
            job.may_fail,
        )
    };
    jobs.iter().enumerate().map(job).collect::<Vec<_>>().concat()
}

/// Plays a run, taking whichever of the jobs that are queued or run `order` says; cancels it after so many events.
fn play(jobs: &[Random], order: &[usize], cancel_after: Option<usize>, mut seen: impl FnMut(&Run)) -> Run {
    let (mut run, _) = Run::begun(&text(jobs));
    for turn in 0.. {
        seen(&run);
        if run.state.conclusion.is_some() {
            break;
        }
        if cancel_after == Some(turn) {
            run.decide(RunEvent::Cancelled);
            continue;
        }
        let open: Vec<_> = run.state.jobs().filter(|(_, job)| job.conclusion().is_none()).collect();
        let open: Vec<_> = open.into_iter().map(|(place, job)| (place, job.phase)).collect();
        assert!(!open.is_empty(), "nothing goes on: {:?}", run.state);
        let (job, phase) = open[order[turn % order.len()] % open.len()];
        let conclusion = if phase == Phase::Cancelling { JobConclusion::Cancelled } else { jobs[job.node].conclusion };
        // Some hand on nothing.
        let outputs = (job.index % 2 == 0).then(|| ("row".to_owned(), job.index.to_string())).into_iter().collect();
        run.decide(match phase {
            Phase::Queued => RunEvent::Started { job },
            _ => RunEvent::Completed { job, conclusion, outputs },
        });
    }
    run
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_run_ends_and_no_job_starts_before_what_it_needs(
        jobs in jobs(), order in prop::collection::vec(0..64_usize, 1..40), cancel_after in prop::option::of(0..20_usize)
    ) {
        let run = play(&jobs, &order, cancel_after, |run| {
            for (place, _) in run.state.jobs() {
                for needed in (0..place.node).filter(|before| jobs[place.node].needs[*before]) {
                    let is_over = |(it, job): (JobPlace, &JobState)| it.node != needed || job.conclusion().is_some();
                    assert!(run.state.jobs().all(is_over), "{:?}", run.state);
                    assert!(run.state.jobs().any(|(it, _)| it.node == needed), "{:?}", run.state);
                }
            }
        });
        prop_assert!(run.state.jobs().all(|(_, job)| job.conclusion().is_some()));
    }

    #[test]
    fn the_order_in_which_jobs_end_changes_nothing(
        jobs in jobs(),
        one in prop::collection::vec(0..64_usize, 1..40),
        other in prop::collection::vec(0..64_usize, 1..40),
    ) {
        prop_assert_eq!(play(&jobs, &one, None, |_| {}).state, play(&jobs, &other, None, |_| {}).state);
    }

    #[test]
    fn a_kept_state_goes_on_like_one_in_memory(
        jobs in jobs(), order in prop::collection::vec(0..64_usize, 1..40), cancel_after in prop::option::of(0..20_usize)
    ) {
        play(&jobs, &order, cancel_after, |run| {
            let kept: RunState = serde_json::from_str(&serde_json::to_string(&run.state).unwrap()).unwrap();
            assert_eq!(kept, run.state);
        });
    }

    #[test]
    fn a_state_that_is_written_only_where_rows_do_not_say_it_is_the_one_in_memory(
        jobs in jobs(), order in prop::collection::vec(0..64_usize, 1..40), cancel_after in prop::option::of(0..20_usize)
    ) {
        let (mut written, mut before) = (None::<RunState>, None::<RunState>);
        play(&jobs, &order, cancel_after, |run| {
            let has_just_moved = before.as_ref().is_some_and(|before| run.state.has_just_moved(before));
            let mut kept = written.take().filter(|_| has_just_moved).unwrap_or_else(|| run.state.clone());
            written = Some(kept.clone());
            let said = |(place, job): (JobPlace, &JobState)| {
                (!matches!(job.phase, Phase::Held(_))).then_some((place, job.phase))
            };
            kept.move_jobs(run.state.jobs().filter_map(said));
            assert_eq!(kept, run.state);
            before = Some(run.state.clone());
        });
    }

    #[test]
    fn a_run_again_ends_like_the_first_time(jobs in jobs(), order in prop::collection::vec(0..64_usize, 1..40)) {
        let first = play(&jobs, &order, None, |_| {});
        if let Some(again) = first.state.again(&first.plan, &Rerun::Failed) {
            let mut run = Run { plan: first.plan.clone(), state: again };
            run.decide(RunEvent::Begun);
            while run.state.conclusion.is_none() {
                let place = run.state.jobs().find(|(_, job)| job.conclusion().is_none()).map(|(place, _)| place).unwrap();
                let outputs = BTreeMap::from([("row".to_owned(), place.index.to_string())]);
                run.decide(RunEvent::Started { job: place });
                run.decide(RunEvent::Completed { job: place, conclusion: jobs[place.node].conclusion, outputs });
            }
            prop_assert_eq!(run.state.conclusion, first.state.conclusion);
        }
    }
}
