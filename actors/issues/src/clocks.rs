//! The clocks of desks: each commit of an issue tells them what happened, and a timer comes when a goal is reached.

use std::collections::BTreeMap;

use actors_base::event::Event;
use domain::{
    Result, Timestamp,
    issues::{
        issue::Issue,
        sla::{Course, Hours, KeptCycle, Said, SlaSettings, Step, step_of, steps_so_far},
        space::Space,
    },
};
use kernel::{Resource, Turn};
use store::{Change, Store, issues::clock_key};

use super::{issue::IssueOwner, telling::about};

/// What the timer of an issue's clocks is called.
pub(crate) const TIMER: &str = "sla";

/// A clock of an issue, before and after a commit.
struct Clock<'a> {
    sla: &'a SlaSettings,
    before: Vec<KeptCycle>,
    after: Vec<KeptCycle>,
}

/// The clocks of an issue, as a commit leaves them.
#[derive(Default)]
pub(crate) struct Clocks<'a> {
    hours: Option<Hours>,
    followed: Vec<Clock<'a>>,
    /// Keys of clocks that the desk has no more.
    gone: Vec<String>,
    /// Steps that were kept before, and those that are new.
    known: usize,
    steps: Vec<Step>,
}

/// What happens to an issue in a commit.
#[derive(Clone, Copy)]
pub(crate) struct Happened<'a> {
    /// The issue before; nothing where it is being made.
    pub before: Option<&'a Issue>,
    /// Who says something in public.
    pub said: Option<Said>,
}

impl<'a> Clocks<'a> {
    /// Tells the clocks of an issue what happens to it, and puts them into it. [`Clocks::write`] comes behind what writes the issue.
    pub(crate) async fn follow(
        store: &Store,
        space: &'a Space,
        (happened, issue): (Happened<'_>, &mut Issue),
        now: Timestamp,
    ) -> Result<Self> {
        let desk = space.config.servicedesk.as_ref();
        let slas = desk.map_or(&[][..], |desk| &desk.slas);
        if slas.is_empty() && issue.sla.is_empty() {
            return Ok(Self::default());
        }
        let hours = desk.and_then(|desk| desk.hours.as_ref()).map(Hours::read).transpose()?;
        let (mut steps, mut kept) = match happened.before {
            Some(_) => (store.issue_steps(issue.issue_id).await?, store.issue_clocks(issue.issue_id).await?),
            None => (Vec::new(), BTreeMap::new()),
        };
        let known = steps.len();
        if let (Some(before), true) = (happened.before, steps.is_empty()) {
            steps = steps_so_far(before);
        }
        steps.extend(step_of(happened.before, issue, happened.said, (steps.last(), now)));
        issue.sla.clear();
        let mut followed = Vec::new();
        for sla in slas {
            let before = kept.remove(&clock_key(space.space_id, &sla.sla_id)).unwrap_or_default();
            let course = Course { sla, hours: hours.as_ref(), before: &before, steps: &steps };
            let after = course.cycles(now);
            issue.sla.extend(after.last().map(|cycle| (sla.sla_id.clone(), cycle.wire())));
            followed.push(Clock { sla, before, after });
        }
        Ok(Self { hours, followed, gone: kept.into_keys().collect(), known, steps })
    }

    /// Keeps the clocks, sets the timer of the next goal, and tells of goals that were passed.
    pub(crate) fn write(&self, change: &mut Change, (space, issue): (&Space, &Issue), now: Timestamp) {
        for (n, step) in self.steps.iter().enumerate().skip(self.known) {
            change.issue_step_add(issue, n, step);
        }
        for key in &self.gone {
            change.issue_clock_remove(issue, key);
        }
        for clock in &self.followed {
            if clock.after != clock.before {
                change.issue_clock_set(issue, &clock.sla.sla_id, (&clock.after, self.hours.as_ref()));
            }
            clock.tell(change, (space, issue), now);
        }
        let newest = self.followed.iter().filter_map(|clock| clock.after.last());
        let next = newest.flat_map(|cycle| [cycle.warns_at, cycle.breaches_at]).flatten().min();
        let key = issue.issue_id.to_string();
        match next {
            Some(due) => change.timer_set_for(issue.org_id, IssueOwner::KIND, &key, TIMER, due),
            None if self.followed.is_empty() && self.gone.is_empty() => {}
            None => change.timer_cancel(IssueOwner::KIND, &key, TIMER),
        }
    }
}

/// Nothing of an issue that goes into the trash rings any more: goals that it has passed are told to be over, and its timer goes.
pub(crate) async fn leave(
    change: &mut Change,
    store: &Store,
    (space, issue): (&Space, &Issue),
    now: Timestamp,
) -> Result<()> {
    let mut kept = store.issue_clocks(issue.issue_id).await?;
    for sla in space.config.servicedesk.iter().flat_map(|desk| &desk.slas) {
        let cycles = kept.remove(&clock_key(space.space_id, &sla.sla_id)).unwrap_or_default();
        let Some((at, cycle)) = cycles.iter().enumerate().next_back() else { continue };
        if cycle.breached_at.is_some() && cycle.stopped_at.is_none() {
            let clock = Clock { sla, before: Vec::new(), after: cycles.clone() };
            Event { resolved: true, ..clock.event(at, (space, issue)) }.emit(change, now);
        }
    }
    change.timer_cancel(IssueOwner::KIND, &issue.issue_id.to_string(), TIMER);
    Ok(())
}

impl Clock<'_> {
    /// Tells once of each cycle whose goal is near, once where it is passed, and once where that one ends.
    fn tell(&self, change: &mut Change, (space, issue): (&Space, &Issue), now: Timestamp) {
        for (at, cycle) in self.after.iter().enumerate() {
            let is_news = self.before.get(at).is_none_or(|was| was.warned_at.is_none());
            if cycle.warned_at.is_some() && is_news && cycle.breached_at.is_none() && cycle.stopped_at.is_none() {
                self.warning(at, (space, issue)).emit(change, now);
            }
        }
        for (at, cycle) in self.after.iter().enumerate().filter(|(_, cycle)| cycle.breached_at.is_some()) {
            let was = self.before.get(at);
            let is_new = was.is_none_or(|was| was.breached_at.is_none());
            let is_over = cycle.stopped_at.is_some() && was.is_some_and(|was| was.stopped_at.is_none());
            if is_new && cycle.stopped_at.is_none() {
                self.event(at, (space, issue)).emit(change, now);
            } else if is_over && !is_new {
                Event { resolved: true, ..self.event(at, (space, issue)) }.emit(change, now);
            }
        }
    }

    /// What whoever is responsible is told before a goal passes. The contract's list of events has none for it, and that of a goal that
    /// has passed would ring for it.
    fn warning(&self, at: usize, (space, issue): (&Space, &Issue)) -> Event {
        let title = format!("{} will soon pass \"{}\": {}", issue.key, self.sla.name, issue.summary);
        let mut event =
            Event { kind: "issue.assigned".into(), title, dedup_key: None, ..self.event(at, (space, issue)) };
        event.data.insert("reason".to_owned(), "sla_warning".into());
        event
    }

    fn event(&self, at: usize, (space, issue): (&Space, &Issue)) -> Event {
        let sla = self.sla;
        let title = format!("{} has passed \"{}\": {}", issue.key, sla.name, issue.summary);
        let people = issue.assignee_id.or(space.lead_id).into_iter().collect();
        let mut event = about("issue.sla_breached", (space, issue), (people, title));
        event.dedup_key = Some(format!("sla:{}:{}:{at}", issue.issue_id, sla.sla_id));
        event.data.insert("sla".to_owned(), sla.sla_id.as_str().into());
        if let Some(goal) = self.after.get(at).and_then(|cycle| cycle.goal) {
            event.data.insert("goal".to_owned(), goal.into());
        }
        event
    }
}

/// A goal's moment came, or the configuration changed: the clocks are looked at anew. The issue's content stays, so nothing of it but
/// its version counts.
pub(crate) async fn look(turn: &mut Turn<'_, IssueOwner>) -> Result<()> {
    let (id, now) = (*turn.key(), turn.now());
    let store = &turn.services().store;
    let mut change = Change::new();
    let stored = match store.issue_org(id).await? {
        Some(org_id) => store.issue(org_id, id).await?,
        None => None,
    };
    let space = match &stored {
        Some(stored) => store.issue_space(stored.issue.org_id, stored.issue.space_id).await?,
        None => None,
    };
    if let (Some(stored), Some(space)) = (stored, space) {
        let mut after = stored.clone();
        let happened = Happened { before: Some(&stored.issue), said: None };
        let clocks = Clocks::follow(store, &space, (happened, &mut after.issue), now).await?;
        after.issue.version += 1;
        change.issue_set(&after, &stored);
        clocks.write(&mut change, (&space, &after.issue), now);
    }
    turn.commit(change).await
}
