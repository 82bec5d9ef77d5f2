//! Schedules of the default branch: when each comes next, and what is left for the queue once it does.
//!
//! They are planned anew whenever the default branch moves. A timer only leaves an entry of the work queue: what starts then is
//! read of the file that the branch has by that time.

use domain::{
    Result, Timestamp,
    git::{ObjectId, RefKind, RefName},
    id::{OrgId, UserId},
    pipelines::workflow::{LATE_MAX, Schedule, ScheduleTimes},
    resource::ResourceStatus,
};
use kernel::{Command, Handle, Resource, TimerFired, Turn};
use store::{
    Change,
    git::StoredRepository,
    pipelines::{PipelineTrigger, StoredSchedule, Triggered},
};

use crate::{
    retention::{clear, is_retention},
    workflows::{Workflows, is_disabled},
};

const TIMER: &str = "schedule:";

/// A file that has schedules.
#[derive(Clone, Debug)]
pub struct ScheduledFile {
    /// The file's name.
    pub name: String,
    /// Tells its text from others.
    pub hash: String,
    /// What it says of times.
    pub schedules: Vec<Schedule>,
}

/// Plans the schedules that the default branch has, in the place of those that it had.
#[derive(Clone, Debug)]
pub struct PlanSchedules {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// The default branch.
    pub branch: RefName,
    /// The commit that the files were read of.
    pub tip: ObjectId,
    /// Each file that has schedules.
    pub files: Vec<ScheduledFile>,
    /// The person who moved the branch.
    pub by: Option<UserId>,
}

impl Command for PlanSchedules {
    type Reply = ();

    const NAME: &'static str = "plan_schedules";
}

fn timer(it: &StoredSchedule) -> String {
    format!("{TIMER}{}:{}", it.file, it.place)
}

/// The file and the place that a timer is for.
fn read_timer(name: &str) -> Option<(&str, u32)> {
    let (file, place) = name.strip_prefix(TIMER)?.rsplit_once(':')?;
    Some((file, place.parse().ok()?))
}

/// The ref that a repository's default branch is.
pub(crate) fn default_ref(repository: &StoredRepository) -> Option<RefName> {
    let name = format!("refs/heads/{}", repository.settings.default_branch.as_str());
    RefName::parse(name.as_bytes()).filter(|name| name.kind() == RefKind::Branch)
}

fn set(change: &mut Change, turn: &Turn<'_, Workflows>, repository: &StoredRepository, it: &StoredSchedule) {
    change.schedule_put(repository.no, it);
    let (org_id, key) = (repository.resource.org_id, turn.key().to_string());
    change.timer_set_for(org_id, Workflows::KIND, &key, &timer(it), it.next_at);
}

fn remove(change: &mut Change, turn: &Turn<'_, Workflows>, repository: &StoredRepository, it: &StoredSchedule) {
    change.schedule_remove(repository.no, it);
    change.timer_cancel(Workflows::KIND, &turn.key().to_string(), &timer(it));
}

impl PlanSchedules {
    /// All of them, each with its first time from now on.
    fn planned(&self, now: Timestamp) -> Vec<StoredSchedule> {
        let all = self
            .files
            .iter()
            .flat_map(|file| file.schedules.iter().zip(0_u32..).map(move |(schedule, place)| (file, place, schedule)));
        let first = |(file, place, schedule): (&ScheduledFile, u32, &Schedule)| {
            Some(StoredSchedule {
                file: file.name.clone(),
                place,
                schedule: schedule.clone(),
                next_at: ScheduleTimes::of(schedule)?.next_after(now)?,
                set_by: self.by.map(|by| by.to_string()),
                file_hash: Some(file.hash.clone()),
            })
        };
        all.filter_map(first).collect()
    }
}

impl Handle<PlanSchedules> for Workflows {
    async fn handle(&mut self, command: &PlanSchedules, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (store, now) = (turn.services().services.store.clone(), turn.now());
        let Some(repository) = store.repository(command.org_id, *turn.key()).await? else { return Ok(()) };
        // A branch that moved on, or is no longer the default, has an entry of its own.
        let branches = std::slice::from_ref(&command.branch);
        let places = store.repository_ref_places(repository.no, branches).await?;
        let is_at_tip = places.first().is_some_and(|place| place.oid == Some(command.tip));
        if !is_at_tip || default_ref(&repository).as_ref() != Some(&command.branch) {
            return Ok(());
        }
        let before = store.schedules(repository.no).await?;
        let planned = command.planned(now);
        let is_of = |one: &StoredSchedule, other: &StoredSchedule| (&one.file, one.place) == (&other.file, other.place);
        let mut change = Change::new();
        for gone in before.iter().filter(|it| !planned.iter().any(|new| is_of(it, new))) {
            remove(&mut change, turn, &repository, gone);
        }
        for new in &planned {
            let old = before.iter().find(|old| is_of(old, new) && old.schedule == new.schedule);
            let Some(old) = old else {
                set(&mut change, turn, &repository, new);
                continue;
            };
            // Whoever changed the rest of the file is whom its runs act for from now on.
            let is_same_text = old.file_hash == new.file_hash;
            let set_by = if is_same_text { &old.set_by } else { &new.set_by };
            let kept = StoredSchedule { next_at: old.next_at.min(new.next_at), set_by: set_by.clone(), ..new.clone() };
            // One that stays waits for its time, unless a clock that had jumped put that off.
            if kept.next_at < old.next_at {
                set(&mut change, turn, &repository, &kept);
            } else if !is_same_text {
                change.schedule_put(repository.no, &kept);
            }
        }
        if change.is_empty() {
            return Ok(());
        }
        change.ref_hold(repository.no, &command.branch, command.tip);
        turn.commit(change).await
    }
}

impl Handle<TimerFired> for Workflows {
    async fn handle(&mut self, fired: &TimerFired, turn: &mut Turn<'_, Self>) -> Result<()> {
        if is_retention(&fired.name) {
            return clear(&fired.name, turn).await;
        }
        let (store, now) = (turn.services().services.store.clone(), turn.now());
        let Some((file, place)) = read_timer(&fired.name) else { return Ok(()) };
        let Some(org_id) = store.repository_org(*turn.key()).await? else { return Ok(()) };
        let Some(repository) = store.repository(org_id, *turn.key()).await? else { return Ok(()) };
        let found = store.schedules_of(repository.no, file).await?.into_iter().find(|it| it.place == place);
        let Some(mut it) = found else { return Ok(()) };
        let Some(times) = ScheduleTimes::of(&it.schedule) else { return Ok(()) };
        let mut change = Change::new();
        let is_there = !repository.is_gone() && repository.resource.status != ResourceStatus::Deleting;
        let is_late = it.next_at.after(LATE_MAX) < now;
        if is_there && !is_late && !is_disabled(&store, repository.no, file).await? {
            change.pipeline_trigger_add(now, &trigger(&repository, &it));
        }
        let next = times.next_start(it.next_at).filter(|next| *next > now).or_else(|| times.next_after(now));
        match next {
            Some(next_at) => {
                it.next_at = next_at;
                set(&mut change, turn, &repository, &it);
            }
            None => remove(&mut change, turn, &repository, &it),
        }
        turn.commit(change).await
    }
}

/// What is left for the queue when a schedule's time has come.
fn trigger(repository: &StoredRepository, it: &StoredSchedule) -> PipelineTrigger {
    let StoredSchedule { file, place, schedule, next_at, set_by, file_hash } = it;
    PipelineTrigger {
        org_id: repository.resource.org_id,
        repository_id: repository.id(),
        cause: format!("schedule {file} {place} {}", next_at.0),
        by: None,
        what: Triggered::Schedule {
            file: file.clone(),
            cron: schedule.cron.clone(),
            timezone: schedule.timezone.clone(),
            set_by: set_by.as_deref().and_then(|id| id.parse().ok()),
            file_hash: file_hash.clone(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_names_a_file_whatever_is_in_its_name() {
        assert_eq!(read_timer("schedule:ci.yml:0"), Some(("ci.yml", 0)));
        assert_eq!(read_timer("schedule:a:b.yml:12"), Some(("a:b.yml", 12)));
        assert_eq!(read_timer("schedule:ci.yml"), None);
        assert_eq!(read_timer("retention"), None);
    }
}
