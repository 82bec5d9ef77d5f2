//! Each of the six templates over days: quiet hours, clocks that change, people who answer, and nodes that die between
//! steps. Every step must happen exactly when the protocol says, once.

use domain::{
    Role, Timestamp,
    id::UserId,
    notify::{
        Rule, Template,
        escalation::{AckVia, EscalationState},
    },
};
use serde_json::Map;

use actors::{
    event::Event,
    notify::escalation::{Acknowledge, HandOver, Snooze},
};
use store::notify::escalations::{Escalation as Row, Occasion};

use crate::{
    calendar::{DAY, HOUR, MINUTE, NEW_YORK, Place, Quiet, VIENNA},
    dice::Dice,
    oracle::{Expected, Line},
    world::{Member, World},
};

/// Events of one run.
const EVENTS: usize = 6;

struct Run {
    world: World,
    members: Vec<Member>,
    rules: Vec<Rule>,
    dice: Dice,
    expected: Vec<Expected>,
}

impl Run {
    async fn new(rules: Vec<Rule>, start: Timestamp, seed: u64) -> Self {
        let world = World::new(start).await;
        let quiet =
            |place: Place, start, end, days, allow_urgent| Some(Quiet { place, start, end, days, allow_urgent });
        let night = quiet(VIENNA, 22 * 60, 7 * 60, None, true);
        let weekdays = quiet(NEW_YORK, 90, 6 * 60, Some(&[0, 1, 5, 6]), false);
        let change = quiet(VIENNA, 2 * 60 + 30, 2 * 60 + 45, None, false);
        let members = vec![
            world.member("ada", Role::Owner, night, true, true).await,
            world.member("bob", Role::Admin, weekdays, true, false).await,
            world.member("eve", Role::Developer, change, false, true).await,
            world.member("joe", Role::Viewer, None, true, true).await,
        ];
        world.protocol(rules.clone()).await;
        Self { world, members, rules, dice: Dice::new(seed), expected: Vec::new() }
    }

    fn someone(&mut self) -> Member {
        self.dice.pick(&self.members).clone()
    }

    async fn emit(&mut self) {
        let now = self.world.now();
        let kinds: Vec<_> = self.rules.iter().flat_map(|rule| rule.events.clone()).collect();
        let kind = domain::notify::EventType::find(self.dice.pick::<String>(&kinds)).expect("a type").kind;
        let title = format!("Event {}", self.expected.len());
        let concerned: Vec<UserId> = vec![self.someone().user_id];
        let starts_at = Timestamp(now.0 + self.dice.below(40) * MINUTE);
        let about: Vec<_> = self.rules.iter().filter(|rule| rule.applies(kind, &Map::new())).cloned().collect();
        let counts_back = about.iter().any(|rule| rule.before_event);
        let starts_at = counts_back.then_some(starts_at);
        let event = Event::new(kind, ("thing", "1".to_owned()), title.clone());
        self.world.emit(Event { user_ids: concerned.clone(), starts_at, ..event }).await;
        let expected = Expected::new(title, kind, about, concerned, now, starts_at);
        assert!(expected.starts());
        self.expected.push(expected);
    }

    /// The next moment at which something must happen, or `or` when that is before.
    fn next(&self, or: Option<Timestamp>) -> Option<Timestamp> {
        self.expected.iter().filter_map(Expected::next).chain(or).min()
    }

    /// Waits until all that must have happened by now has, and compares it with what did.
    async fn check(&mut self) {
        let now = self.world.now();
        for place in 0..self.expected.len() {
            self.expected[place].run(now, &self.members);
            let expected = &self.expected[place];
            let is_there = async || {
                let row = self.world.escalation(&expected.title).await?;
                (row.progress.done == expected.done && row.state == expected.state).then_some(row)
            };
            let row = self.world.eventually(&format!("{} at {now}: {expected:#?}", expected.title), is_there).await;
            assert_eq!(self.lines(&row).await, sorted(expected.lines.clone()), "{} at {now}", expected.title);
        }
    }

    async fn lines(&self, row: &Row) -> Vec<Line> {
        let tellings = self.world.store.escalation_tellings(row.id).await.expect("tellings");
        let mut deliveries = std::collections::BTreeSet::new();
        let line = |telling: store::notify::escalations::Telling| {
            assert_eq!(telling.delivery_id.is_some(), telling.why_not.is_none());
            assert!(telling.delivery_id.is_none_or(|id| deliveries.insert(id)), "a delivery for each");
            let step = |place: usize| {
                let step = row.progress.plan.steps()[place];
                (step.rule, step.step)
            };
            Line {
                at: telling.at.0,
                step: if let Occasion::Step(place) = telling.occasion { Some(step(place)) } else { None },
                user_id: telling.user_id.expect("somebody"),
                channel: telling.channel.expect("a channel"),
                held_until: telling.held_until.map(|at| at.0),
                why_not: telling.why_not,
            }
        };
        sorted(tellings.into_iter().map(line).collect())
    }

    /// Perhaps somebody does something about one of the escalations.
    async fn answer(&mut self) {
        let running: Vec<_> =
            (0..self.expected.len()).filter(|place| self.expected[*place].state == EscalationState::Running).collect();
        if running.is_empty() || self.dice.below(100) >= 35 {
            return;
        }
        let place = *self.dice.pick(&running);
        let told = self.expected[place].told();
        let Some(last) = self.expected[place].last_step().filter(|_| !told.is_empty()) else { return };
        let (id, by, now) = (self.id(place).await, *self.dice.pick(&told), self.world.now());
        match self.dice.below(4) {
            0 => {
                let to = self.someone();
                self.world.ask(id, HandOver { to: to.user_id, by }).await.expect("a hand-over");
                self.expected[place].hand_over(now, &to, last);
            }
            1 => {
                let until = Timestamp(now.0 + (1 + self.dice.below(24 * 60)) * MINUTE);
                self.world.ask(id, Snooze { until, by }).await.expect("a snooze");
                self.expected[place].snooze(now, until);
            }
            _ => {
                let first = self.world.ask(id, Acknowledge { by, via: AckVia::App }).await.expect("an acknowledgement");
                let second = self.world.ask(id, Acknowledge { by, via: AckVia::Sms }).await.expect("an answer");
                assert!(first && !second);
                self.expected[place].acknowledge();
            }
        }
    }

    async fn id(&self, place: usize) -> domain::id::EscalationId {
        self.world.escalation(&self.expected[place].title).await.expect("an escalation").id
    }

    /// Moves the clock to `to`, with a node that dies on the way, or that is away for a while around it, or neither.
    async fn pass_to(&mut self, to: Timestamp) {
        match self.dice.below(10) {
            0..=3 => {
                self.world.kill().await;
                self.world.start().await;
                self.world.clock.set(to);
            }
            4 => {
                self.world.kill().await;
                let late = self.dice.below(3 * HOUR);
                self.world.clock.set(Timestamp(to.0 + late));
                self.world.start().await;
            }
            _ => {
                // Just before, nothing may happen: what does shows with the wrong time.
                self.world.clock.set(Timestamp(to.0 - 1));
                tokio::task::yield_now().await;
                self.world.clock.set(to);
            }
        }
    }

    async fn finish(&mut self) {
        let mut left = EVENTS;
        let mut event_at = (left > 0).then(|| self.world.now());
        while let Some(next) = self.next(event_at) {
            if next > self.world.now() {
                self.pass_to(next).await;
            }
            self.check().await;
            if event_at.is_some_and(|at| at <= self.world.now()) {
                self.emit().await;
                self.check().await;
                left -= 1;
                let gap = self.dice.below(12 * HOUR);
                event_at = (left > 0).then(|| Timestamp(self.world.now().0 + gap));
            }
            self.answer().await;
            self.check().await;
        }
    }
}

fn sorted(mut lines: Vec<Line>) -> Vec<Line> {
    lines.sort();
    lines
}

/// The nights in which clocks change, a day and a half ahead.
fn changes() -> [Timestamp; 4] {
    [VIENNA.summer.0, VIENNA.summer.1, NEW_YORK.summer.0, NEW_YORK.summer.1].map(|at| Timestamp(at.0 - 3 * DAY / 2))
}

async fn template(id: &str) {
    let rules = Template::find(id).expect("a template").rules();
    for (seed, start) in changes().into_iter().enumerate() {
        eprintln!("{id}, seed {seed}, from {start}");
        Run::new(rules.clone(), start, seed as u64).await.finish().await;
    }
}

macro_rules! templates {
    ($($name:ident = $id:literal;)*) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $name() {
            template($id).await;
        }
    )*};
}

templates! {
    production_on_call_happens_when_it_says_once = "production-on-call";
    meeting_guard_happens_when_it_says_once = "meeting-guard";
    invitation_chaser_happens_when_it_says_once = "invitation-chaser";
    vip_mail_happens_when_it_says_once = "vip-mail";
    service_desk_sla_happens_when_it_says_once = "service-desk-sla";
    agent_jobs_happens_when_it_says_once = "agent-jobs";
}
