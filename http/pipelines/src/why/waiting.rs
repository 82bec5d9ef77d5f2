//! What jobs that don't run yet wait for: a runner, a place of their matrix, their group, their environment.
//!
//! Where a job is in its life its row says, and what holds it back the state of its run.

use std::{collections::BTreeMap, time::Duration};

use actors::pipelines::group_of_run;
use domain::{
    Timestamp,
    id::{JobId, OrgId, RunId, RunnerId},
    pipelines::{
        concurrency::Group,
        run::{Gate, JobPlace, Phase},
        runner::{RUNNER_ASKED_WITHIN, RUNNERS_MAX, label_missing},
    },
};
use http_shell::{error::Result, state::AppState};
use store::pipelines::{GroupMember, JobStage, RunPlan, StoredApproval, StoredJob, StoredRun, StoredRunner};

use crate::approvals;

/// Groups of a run of which is found out who holds them, at most.
const GROUPS_LOOKED_AT: usize = 20;
/// Jobs that are named of those that have the places of a matrix; where there are several more, those are counted.
const NAMES_MAX: usize = 3;

/// The runners of an organization, and what they do.
pub(crate) struct RunnersNow {
    runners: Vec<StoredRunner>,
    /// When each runner that does jobs now started the last of those.
    with_jobs: BTreeMap<RunnerId, Timestamp>,
    now: Timestamp,
}

/// What a runner does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Doing {
    /// People have it wait.
    Paused,
    /// As many jobs as it takes: since the last of them started, it asked for none.
    Busy,
    /// Questions for jobs.
    Asking,
    /// Nothing since its last question, at this time.
    Silent(Timestamp),
    /// Nothing so far.
    Nothing,
}

impl RunnersNow {
    /// What the runners of an organization do at this moment.
    pub async fn read(state: &AppState, org_id: OrgId) -> Result<Self> {
        let runners = state.store.runners(org_id, RUNNERS_MAX).await?;
        let with_jobs =
            if runners.is_empty() { BTreeMap::new() } else { state.store.runners_with_jobs(org_id).await? };
        Ok(Self { runners, with_jobs, now: state.store.now() })
    }

    /// Why a job with these labels waits for a runner, as whoever keeps the runners is told.
    pub fn reason(&self, labels: &[String]) -> String {
        let doing = self.doing_of(labels);
        self.plain_reason(labels, &doing).unwrap_or_else(|| self.counted(&doing))
    }

    /// The same as everybody is told who sees the job.
    pub fn general_reason(&self, labels: &[String]) -> String {
        let doing = self.doing_of(labels);
        self.plain_reason(labels, &doing).unwrap_or_else(|| named(&doing))
    }

    /// What the runners do that may take a job with these labels.
    fn doing_of(&self, labels: &[String]) -> Vec<Doing> {
        let fitting = self.runners.iter().filter(|it| label_missing(labels, &it.labels).is_none());
        fitting.map(|it| self.doing(it)).collect()
    }

    /// Why a job waits where no runner may take it, or one asks for jobs.
    fn plain_reason(&self, labels: &[String], doing: &[Doing]) -> Option<String> {
        if doing.is_empty() {
            return Some(self.missing(labels));
        }
        let asked = || "A runner that may take it asked for a job within the last two minutes.".to_owned();
        doing.contains(&Doing::Asking).then(asked)
    }

    /// How many runners do what.
    fn counted(&self, doing: &[Doing]) -> String {
        let count = |wanted: fn(Doing) -> bool| doing.iter().filter(|it| wanted(**it)).count();
        let heard = doing.iter().filter_map(|it| if let Doing::Silent(at) = it { Some(*at) } else { None }).max();
        let silent = format!("silent for {}", span(self.now.since(heard.unwrap_or(self.now))));
        let told = [
            (count(|it| it == Doing::Busy), "busy"),
            (count(|it| matches!(it, Doing::Silent(_))), silent.as_str()),
            (count(|it| it == Doing::Nothing), "that never asked for a job"),
            (count(|it| it == Doing::Paused), "paused"),
        ];
        let told = told.iter().filter(|(runners, _)| *runners > 0).map(|(runners, what)| format!("{runners} {what}"));
        format!("The runners that may take it: {}.", told.collect::<Vec<_>>().join(", "))
    }

    fn doing(&self, runner: &StoredRunner) -> Doing {
        match runner.seen_at {
            _ if runner.is_paused => Doing::Paused,
            // A question that follows within half a minute of the last one isn't written down: until a later one is, it is busy.
            seen_at if self.with_jobs.get(&runner.id).is_some_and(|started| seen_at <= Some(*started)) => Doing::Busy,
            Some(at) if self.now.since(at) <= RUNNER_ASKED_WITHIN => Doing::Asking,
            Some(at) => Doing::Silent(at),
            None => Doing::Nothing,
        }
    }

    /// What all runners lack for a job that none of them may take.
    fn missing(&self, labels: &[String]) -> String {
        if self.runners.is_empty() {
            return "There is no runner.".to_owned();
        }
        let has = |label: &String, runner: &StoredRunner| {
            label_missing(std::slice::from_ref(label), &runner.labels).is_none()
        };
        match labels.iter().find(|label| !self.runners.iter().any(|runner| has(label, runner))) {
            Some(label) => format!("No runner has `{label}`."),
            None => "No runner has all of its labels.".to_owned(),
        }
    }
}

/// What runners do of which none asks for jobs, without who and how many they are.
fn named(doing: &[Doing]) -> String {
    let does = |wanted: fn(Doing) -> bool| doing.iter().any(|it| wanted(*it));
    let told = [
        (does(|it| it == Doing::Busy), "busy"),
        (does(|it| matches!(it, Doing::Silent(_) | Doing::Nothing)), "silent"),
        (does(|it| it == Doing::Paused), "paused"),
    ];
    let told: Vec<&str> = told.into_iter().filter(|(is_so, _)| *is_so).map(|(_, what)| what).collect();
    match told.as_slice() {
        [first, second, third] => format!("The runners that may take it are {first}, {second} or {third}."),
        others => format!("The runners that may take it are {}.", others.join(" or ")),
    }
}

/// A span of two minutes or more, as people say it.
fn span(of: Duration) -> String {
    match of.as_secs() / 60 {
        minutes @ ..120 => format!("{minutes} minutes"),
        minutes @ 120..2_880 => format!("{} hours", minutes / 60),
        minutes => format!("{} days", minutes / 1_440),
    }
}

/// A run of whose jobs is asked what they wait for.
struct Waiting<'a> {
    state: &'a AppState,
    run: &'a StoredRun,
    plan: &'a RunPlan,
    /// The jobs of the run's newest attempt.
    jobs: &'a [StoredJob],
}

/// Who is in a group, and who holds it, in words.
struct GroupNow {
    members: Group<GroupMember>,
    holder: Option<String>,
}

impl GroupNow {
    /// What a member waits for.
    fn told(&self, name: &str, member: GroupMember) -> String {
        let ahead = self.members.waiting.iter().take_while(|it| **it != member).count();
        let behind = match ahead {
            0 => String::new(),
            1 => ", behind 1 other".to_owned(),
            others => format!(", behind {others} others"),
        };
        match &self.holder {
            Some(holder) if self.members.running != Some(member) => {
                format!("the concurrency group '{name}', which {holder} holds{behind}.")
            }
            _ => format!("the concurrency group '{name}', which is free now."),
        }
    }
}

impl Waiting<'_> {
    /// What each of these jobs waits for that something holds back.
    async fn held(&self, of: &[&StoredJob]) -> Result<BTreeMap<JobId, String>> {
        let held: Vec<&StoredJob> = of.iter().copied().filter(|job| job.stage == JobStage::Held).collect();
        let (mut told, mut slots, mut groups) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        if held.is_empty() {
            return Ok(told);
        }
        let approvals: Vec<StoredApproval> = self.state.store.approvals(self.run.id).await?;
        for job in held {
            let what = match self.gate(job) {
                Some(Gate::Slot) => {
                    let node = job.place.node;
                    Some(slots.entry(node).or_insert_with(|| self.slot(node)).clone())
                }
                Some(Gate::Group) => self.group(job, &mut groups).await?,
                Some(Gate::Environment) | None => approvals::wait(job, &approvals),
            };
            told.extend(what.map(|what| (job.id, what)));
        }
        Ok(told)
    }

    /// What holds a job back.
    fn gate(&self, job: &StoredJob) -> Option<Gate> {
        match self.plan.state.job(job.place)?.phase {
            Phase::Held(gate) if job.stage == JobStage::Held => Some(gate),
            _ => None,
        }
    }

    /// The places of a matrix of which only so many jobs run at a time.
    fn slot(&self, node: usize) -> String {
        let has_place = |job: &&StoredJob| {
            job.place.node == node && job.stage != JobStage::Completed && self.gate(job) != Some(Gate::Slot)
        };
        let names: Vec<&str> = self.jobs.iter().filter(has_place).map(|job| job.name.as_str()).collect();
        match names.as_slice() {
            [] => "a place within `max-parallel`.".to_owned(),
            [name] => format!("a place within `max-parallel`, which {name} has."),
            [first @ .., last] if names.len() <= NAMES_MAX + 1 => {
                format!("a place within `max-parallel`, which {} and {last} have.", first.join(", "))
            }
            all => format!(
                "a place within `max-parallel`, which {} and {} others have.",
                all[..NAMES_MAX].join(", "),
                all.len() - NAMES_MAX
            ),
        }
    }

    /// The group of a job.
    async fn group(&self, job: &StoredJob, known: &mut BTreeMap<String, GroupNow>) -> Result<Option<String>> {
        let wish = self.plan.state.job(job.place).and_then(|job| job.concurrency.as_ref());
        let Some(name) = wish.map(|wish| wish.group.as_str()) else { return Ok(None) };
        if !known.contains_key(name) && known.len() < GROUPS_LOOKED_AT {
            known.insert(name.to_owned(), self.group_now(name).await?);
        }
        let member = GroupMember { run_id: self.run.id, job: Some(job.place) };
        let told = known.get(name).map(|group| group.told(name, member));
        Ok(Some(told.unwrap_or_else(|| format!("the concurrency group '{name}'."))))
    }

    async fn group_now(&self, name: &str) -> Result<GroupNow> {
        let members = self.state.store.concurrency_group(self.run.no, name).await?.members;
        let holder = match members.running {
            Some(GroupMember { run_id, job }) => {
                let run = if run_id == self.run.id {
                    "this run".to_owned()
                } else {
                    let found = self.state.store.run(self.run.no, run_id).await?;
                    found.map_or_else(|| "another run".to_owned(), |run| format!("run {} of {}", run.number, run.file))
                };
                Some(match self.job_named(run_id, job).await? {
                    Some(job) => format!("the job {job} of {run}"),
                    None => run,
                })
            }
            None => None,
        };
        Ok(GroupNow { members, holder })
    }

    /// What people call the job at a place of a run.
    async fn job_named(&self, run_id: RunId, place: Option<JobPlace>) -> Result<Option<String>> {
        let Some(place) = place else { return Ok(None) };
        Ok(self.state.store.job_at(run_id, place).await?.map(|job| job.name))
    }

    /// What the run as a whole waits for.
    async fn whole(&self) -> Result<Option<String>> {
        if !self.run.waits_for_group {
            return Ok(None);
        }
        // Where nobody can look at its file now, it is told without the name.
        let group = group_of_run(self.state.actors.kernel.cpu(), self.run, self.plan).await;
        let Ok(Some(name)) = group else {
            return Ok(Some("another run of its concurrency group.".to_owned()));
        };
        let member = GroupMember { run_id: self.run.id, job: None };
        Ok(Some(self.group_now(&name).await?.told(&name, member)))
    }
}

/// What a run and its jobs wait for, a line for each.
pub(crate) async fn waits(
    state: &AppState,
    (run, plan): (&StoredRun, Option<&RunPlan>),
    jobs: &[StoredJob],
) -> Result<Vec<String>> {
    let mut told = Vec::new();
    if jobs.iter().any(|job| job.stage == JobStage::Queued) {
        let runners = RunnersNow::read(state, run.org_id).await?;
        // Jobs of a matrix mostly ask for the same.
        let mut reasons: BTreeMap<&[String], String> = BTreeMap::new();
        for job in jobs.iter().filter(|job| job.stage == JobStage::Queued) {
            let reason = reasons.entry(&job.labels).or_insert_with(|| runners.general_reason(&job.labels));
            told.push(format!("{}: {reason}", job.name));
        }
    }
    let Some(plan) = plan else { return Ok(told) };
    let waiting = Waiting { state, run, plan, jobs };
    let all: Vec<&StoredJob> = jobs.iter().collect();
    let held = waiting.held(&all).await?;
    told.extend(jobs.iter().filter_map(|job| Some(format!("{}: {}", job.name, held.get(&job.id)?))));
    told.extend(waiting.whole().await?.map(|what| format!("The run: {what}")));
    Ok(told)
}

/// What a job waits for that something holds back.
pub(crate) async fn held(state: &AppState, run: &StoredRun, job: &StoredJob) -> Result<Option<String>> {
    let Some(plan) = state.store.run_plan(run.id).await? else { return Ok(None) };
    let rows = state.store.run_jobs(run.id, run.attempt).await?;
    let jobs: Vec<StoredJob> = plan.rows_of(run, rows).into_values().collect();
    let waiting = Waiting { state, run, plan: &plan, jobs: &jobs };
    Ok(waiting.held(&[job]).await?.remove(&job.id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_said_in_the_largest_unit_of_which_there_are_two() {
        let told = |minutes: u64| span(Duration::from_secs(60 * minutes + 59));
        for (minutes, said) in
            [(2, "2 minutes"), (119, "119 minutes"), (120, "2 hours"), (2_879, "47 hours"), (2_880, "2 days")]
        {
            assert_eq!(told(minutes), said);
        }
    }
}
