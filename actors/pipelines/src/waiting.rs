//! Who waits for jobs, on this node, and which of them is told that there is one.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use dashmap::{DashMap, DashSet};
use domain::{
    id::{OrgId, RunnerId},
    pipelines::runner::label_missing,
};
use store::pipelines::StoredRunner;
use tokio::sync::oneshot;

/// How far apart those who wait look which jobs are queued, at least: a look reads hundreds, and sees all that came meanwhile.
const LOOKS_APART: Duration = Duration::from_millis(50);

/// Who waits for jobs of which organization, on this node. However many wait, a queued job wakes one that may take it, and one more
/// that looks which jobs there are. What another node queued, or changed of a runner, is found by a look every few seconds, for all
/// who wait.
#[derive(Clone, Debug, Default)]
pub struct WaitingRunners {
    of: Arc<DashMap<OrgId, Crowd>>,
    /// Where a job was queued or given by this node since somebody was last given none: there is one most likely.
    queued: Arc<DashSet<OrgId>>,
}

/// What somebody who waits is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Look which jobs are queued, and offer them.
    Look,
    /// Ask for a job.
    Take,
    /// Wait no longer: what is known of the runner has changed.
    Leave,
}

/// Those who wait for jobs of one organization.
#[derive(Debug, Default)]
struct Crowd {
    /// Who was told nothing yet, by what jobs may ask of it, then by its place: the last is told first, for it is there most likely.
    idle: BTreeMap<Vec<String>, BTreeMap<i64, Idle>>,
    /// How many places were given.
    places: i64,
    /// How many are there, with a sign or without.
    count: usize,
    /// When it was last looked, for all, what other nodes did.
    looked_at: Option<Instant>,
    /// When it was last looked which jobs are queued, and whether somebody is about to.
    offered_at: Option<Instant>,
    is_look_planned: bool,
}

/// What was read of a runner before it waited.
#[derive(Clone, Copy, Debug)]
struct Known {
    id: RunnerId,
    version: i64,
    is_paused: bool,
}

#[derive(Debug)]
struct Idle {
    known: Known,
    bell: oneshot::Sender<Sign>,
}

/// Somebody who waits. Dropped with a sign that it did not follow, it leaves it to another one.
#[derive(Debug)]
pub struct Waiter {
    all: WaitingRunners,
    org_id: OrgId,
    known: Known,
    labels: Vec<String>,
    /// Its place, while it was told nothing, and where its sign comes from.
    place: Option<(i64, oneshot::Receiver<Sign>)>,
    /// Whether it is about to look which jobs are queued.
    is_about_to_look: bool,
}

impl WaitingRunners {
    /// Begins to wait for a job that the runner may take.
    pub fn enter(&self, runner: &StoredRunner) -> Waiter {
        let StoredRunner { org_id, id, version, is_paused, .. } = *runner;
        self.of.entry(org_id).or_default().count += 1;
        let known = Known { id, version, is_paused };
        let labels = runner.labels.clone();
        let mut waiter = Waiter { all: self.clone(), org_id, known, labels, place: None, is_about_to_look: false };
        waiter.stand(true);
        waiter
    }

    /// Tells one of those who wait to look which jobs of the organization are queued.
    pub fn wake(&self, org_id: OrgId) {
        self.queued.insert(org_id);
        if let Some(mut crowd) = self.of.get_mut(&org_id) {
            crowd.tell(Sign::Look, |_, _| true);
        }
    }

    /// Tells one of those who may take a job with these labels to ask for it.
    pub fn offer(&self, org_id: OrgId, labels: &[String]) {
        if let Some(mut crowd) = self.of.get_mut(&org_id) {
            crowd.tell(Sign::Take, |has, idle| !idle.known.is_paused && label_missing(labels, has).is_none());
        }
    }

    /// Ends what a runner waits for, since its row has changed.
    pub(crate) fn leave(&self, org_id: OrgId, runner_id: RunnerId) {
        self.leave_if(org_id, |known| known.id == runner_id);
    }

    /// Ends what runners wait for whose rows haven't these versions any more: another node changed or deleted them.
    pub fn leave_changed(&self, org_id: OrgId, versions: &BTreeMap<RunnerId, i64>) {
        // What was read here may be older than what a runner was read with that came meanwhile.
        self.leave_if(org_id, |known| versions.get(&known.id).is_none_or(|version| *version > known.version));
    }

    fn leave_if(&self, org_id: OrgId, is_told: impl Fn(&Known) -> bool) {
        if let Some(mut crowd) = self.of.get_mut(&org_id) {
            while crowd.tell(Sign::Leave, |_, idle| is_told(&idle.known)) {}
        }
    }

    /// Notes whether somebody who asked was given a job.
    pub fn answered(&self, org_id: OrgId, was_given: bool) {
        if was_given {
            self.queued.insert(org_id);
        } else {
            self.queued.remove(&org_id);
        }
    }

    /// Whether there is a job most likely, so that asking for it is worth more than looking whether there is one.
    pub fn is_queued_likely(&self, org_id: OrgId) -> bool {
        self.queued.contains(&org_id)
    }

    /// Whether nobody looked for so long; who is told so looks.
    pub fn is_look_due(&self, org_id: OrgId, every: Duration) -> bool {
        let Some(mut crowd) = self.of.get_mut(&org_id) else { return false };
        let is_due = crowd.looked_at.is_none_or(|at| at.elapsed() >= every);
        if is_due {
            crowd.looked_at = Some(Instant::now());
        }
        is_due
    }
}

impl Crowd {
    /// Gives a sign to the last of those whom it is for; false where there is none.
    fn tell(&mut self, sign: Sign, is_for: impl Fn(&[String], &Idle) -> bool) -> bool {
        while let Some((place, labels)) = self.last(&is_for) {
            if self.remove(&labels, place).is_some_and(|idle| idle.bell.send(sign).is_ok()) {
                return true;
            }
        }
        false
    }

    /// The last place of those whom a sign is for, with their labels.
    fn last(&self, is_for: impl Fn(&[String], &Idle) -> bool) -> Option<(i64, Vec<String>)> {
        let places = self.idle.iter().filter_map(|(labels, standing)| {
            let place = standing.iter().rev().find(|(_, idle)| is_for(labels, idle)).map(|(place, _)| *place);
            place.map(|place| (place, labels))
        });
        places.max().map(|(place, labels)| (place, labels.clone()))
    }

    /// Gives a sign that somebody with these labels didn't follow to another one: whoever has the same may take the same jobs.
    fn pass_on(&mut self, sign: Sign, labels: &[String]) {
        let is_taken = match sign {
            Sign::Leave => true,
            Sign::Take => self.tell(sign, |has, idle| !idle.known.is_paused && has == labels),
            Sign::Look => false,
        };
        if !is_taken {
            self.tell(Sign::Look, |_, _| true);
        }
    }

    fn remove(&mut self, labels: &[String], place: i64) -> Option<Idle> {
        let standing = self.idle.get_mut(labels)?;
        let found = standing.remove(&place);
        if standing.is_empty() {
            self.idle.remove(labels);
        }
        found
    }
}

impl Waiter {
    /// What it is told, as soon as it is told something.
    pub async fn told(&mut self) -> Sign {
        let Some((_, bell)) = &mut self.place else { return Sign::Look };
        let sign = bell.await.unwrap_or(Sign::Look);
        self.place = None;
        sign
    }

    /// Waits on: behind all others where there was no job for it, so that the next sign goes to another one.
    pub fn wait_on(&mut self, is_first: bool) {
        if self.place.is_none() {
            self.stand(is_first);
        }
    }

    /// After how long it is to look which jobs are queued; none where another one is about to, who sees what this one would.
    pub fn plan_look(&mut self) -> Option<Duration> {
        let mut crowd = self.all.of.get_mut(&self.org_id)?;
        if crowd.is_look_planned {
            return None;
        }
        (crowd.is_look_planned, self.is_about_to_look) = (true, true);
        Some(crowd.offered_at.map_or(Duration::ZERO, |at| LOOKS_APART.saturating_sub(at.elapsed())))
    }

    /// Looks now: what is queued from here on is for another look.
    pub fn begin_look(&mut self) {
        self.is_about_to_look = false;
        if let Some(mut crowd) = self.all.of.get_mut(&self.org_id) {
            (crowd.is_look_planned, crowd.offered_at) = (false, Some(Instant::now()));
        }
    }

    fn stand(&mut self, is_first: bool) {
        let Some(mut crowd) = self.all.of.get_mut(&self.org_id) else { return };
        crowd.places += 1;
        let place = if is_first { crowd.places } else { -crowd.places };
        let (bell, sign) = oneshot::channel();
        let idle = Idle { known: self.known, bell };
        crowd.idle.entry(self.labels.clone()).or_default().insert(place, idle);
        drop(crowd);
        self.place = Some((place, sign));
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        if let Some(mut crowd) = self.all.of.get_mut(&self.org_id) {
            crowd.count -= 1;
            if let Some((place, sign)) = &mut self.place {
                crowd.remove(&self.labels, *place);
                if let Ok(sign) = sign.try_recv() {
                    crowd.pass_on(sign, &self.labels);
                }
            }
            if self.is_about_to_look {
                crowd.is_look_planned = false;
                crowd.tell(Sign::Look, |_, _| true);
            }
        }
        self.all.of.remove_if(&self.org_id, |_, crowd| crowd.count == 0);
    }
}

#[cfg(test)]
mod tests {
    use domain::{
        Timestamp,
        id::UserId,
        token::{Token, TokenKind},
    };
    use futures::FutureExt;

    use super::*;

    fn runner(org_id: OrgId, labels: &[&str]) -> StoredRunner {
        StoredRunner {
            id: RunnerId::new(Timestamp(1)),
            org_id,
            name: "box".to_owned(),
            labels: labels.iter().map(|label| (*label).to_owned()).collect(),
            os: "linux".to_owned(),
            arch: "x64".to_owned(),
            program: String::new(),
            is_ephemeral: false,
            is_paused: false,
            secret: Token::generate(TokenKind::Runner).unwrap().hash(),
            made_by: UserId::new(Timestamp(1)),
            version: 1,
            created_at: Timestamp(1),
            seen_at: None,
        }
    }

    fn told(waiter: &mut Waiter) -> Option<Sign> {
        waiter.told().now_or_never()
    }

    #[test]
    fn one_job_wakes_the_one_who_came_last_among_those_that_may_take_it() {
        let (all, org_id) = (WaitingRunners::default(), OrgId::new(Timestamp(1)));
        let (plain, gpu) = (runner(org_id, &["linux"]), runner(org_id, &["gpu", "linux"]));
        let (mut first, mut second, mut third) = (all.enter(&gpu), all.enter(&gpu), all.enter(&plain));
        all.offer(org_id, &["GPU".to_owned()]);
        assert_eq!([told(&mut first), told(&mut second), told(&mut third)], [None, Some(Sign::Take), None]);
        all.offer(org_id, &["linux".to_owned()]);
        assert_eq!([told(&mut first), told(&mut third)], [None, Some(Sign::Take)]);
        all.offer(org_id, &["mac".to_owned()]);
        assert_eq!(told(&mut first), None);
    }

    #[test]
    fn who_got_no_job_is_told_last() {
        let (all, org_id) = (WaitingRunners::default(), OrgId::new(Timestamp(1)));
        let row = runner(org_id, &["linux"]);
        let (mut first, mut second) = (all.enter(&row), all.enter(&row));
        all.offer(org_id, &[]);
        assert_eq!(told(&mut second), Some(Sign::Take));
        second.wait_on(false);
        all.offer(org_id, &[]);
        assert_eq!([told(&mut first), told(&mut second)], [Some(Sign::Take), None]);
    }

    #[test]
    fn a_sign_that_nobody_follows_is_left_to_who_may_take_the_same_or_lets_another_one_look() {
        let (all, org_id) = (WaitingRunners::default(), OrgId::new(Timestamp(1)));
        let (row, gpu) = (runner(org_id, &["linux"]), runner(org_id, &["gpu", "linux"]));
        let (mut other, mut first, second) = (all.enter(&gpu), all.enter(&row), all.enter(&row));
        all.offer(org_id, &[]);
        drop(second);
        assert_eq!([told(&mut other), told(&mut first)], [None, Some(Sign::Take)]);
        first.wait_on(true);
        all.offer(org_id, &[]);
        drop(first);
        assert_eq!(told(&mut other), Some(Sign::Look));
    }

    #[test]
    fn one_looks_for_all_and_not_again_at_once() {
        let (all, org_id) = (WaitingRunners::default(), OrgId::new(Timestamp(1)));
        let row = runner(org_id, &["linux"]);
        let [mut first, mut second, mut third] = [(); 3].map(|()| all.enter(&row));
        assert_eq!((first.plan_look(), second.plan_look()), (Some(Duration::ZERO), None));
        first.begin_look();
        assert!(second.plan_look().is_some_and(|wait| wait <= LOOKS_APART));
        assert_eq!((third.plan_look(), told(&mut third)), (None, None));
        drop(second);
        assert_eq!(told(&mut third), Some(Sign::Look));
        assert!(third.plan_look().is_some());
    }

    #[test]
    fn a_paused_runner_is_offered_nothing_and_one_that_changed_leaves() {
        let (all, org_id) = (WaitingRunners::default(), OrgId::new(Timestamp(1)));
        let row = StoredRunner { is_paused: true, ..runner(org_id, &["linux"]) };
        let mut waiter = all.enter(&row);
        all.offer(org_id, &[]);
        assert_eq!(told(&mut waiter), None);
        all.leave(org_id, row.id);
        assert_eq!(told(&mut waiter), Some(Sign::Leave));
    }

    #[test]
    fn who_takes_a_job_hears_what_is_queued_meanwhile_and_after_all_others() {
        let (all, org_id) = (WaitingRunners::default(), OrgId::new(Timestamp(1)));
        let row = runner(org_id, &["linux"]);
        let mut only = all.enter(&row);
        all.offer(org_id, &[]);
        assert_eq!(told(&mut only), Some(Sign::Take));
        only.wait_on(false);
        all.wake(org_id);
        assert_eq!(told(&mut only), Some(Sign::Look));
        only.wait_on(false);
        let mut other = all.enter(&row);
        all.wake(org_id);
        assert_eq!([told(&mut only), told(&mut other)], [None, Some(Sign::Look)]);
        all.wake(org_id);
        other.wait_on(true);
        drop(only);
        assert_eq!(told(&mut other), Some(Sign::Look), "who is gone with a job leaves the sign to others");
    }

    #[test]
    fn what_another_node_changed_or_deleted_leaves() {
        let (all, org_id) = (WaitingRunners::default(), OrgId::new(Timestamp(1)));
        let rows: Vec<_> = (0..3).map(|_| runner(org_id, &["linux"])).collect();
        let mut waiters: Vec<_> = rows.iter().map(|row| all.enter(row)).collect();
        all.leave_changed(org_id, &BTreeMap::from([(rows[0].id, 1), (rows[1].id, 2)]));
        let heard: Vec<_> = waiters.iter_mut().map(told).collect();
        assert_eq!(heard, [None, Some(Sign::Leave), Some(Sign::Leave)]);
        // Rows that were read before a runner was change nothing.
        let newer = StoredRunner { version: 2, ..rows[0].clone() };
        let mut waiter = all.enter(&newer);
        all.leave_changed(org_id, &BTreeMap::from([(newer.id, 1)]));
        assert_eq!(told(&mut waiter), None);
    }

    #[test]
    fn nobody_who_waits_is_kept_when_it_is_gone() {
        let (all, org_id) = (WaitingRunners::default(), OrgId::new(Timestamp(1)));
        let waiters: Vec<_> = (0..3).map(|_| all.enter(&runner(org_id, &["linux"]))).collect();
        assert!(all.is_look_due(org_id, Duration::from_mins(1)));
        assert!(!all.is_look_due(org_id, Duration::from_mins(1)));
        drop(waiters);
        assert!(all.of.is_empty());
    }
}
