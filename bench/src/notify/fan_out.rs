//! Events that concern a hundred people each, from their emission until every notice is durable and told to the sockets.

use std::time::{Duration, Instant};

use actors::{Services, event::Event, work::Dispatcher};
use domain::id::NoticeId;
use futures::future::try_join_all;
use store::{Change, Store, outbox};

use super::{
    Amount,
    people::{BODY, EVENT, PEOPLE, People, TITLE, announce, notice},
};
use crate::report::{Report, Result, median};

/// Who emits at the same time, each waiting for its commit before the next.
const EMITTERS: usize = 32;
/// How many times fewer events the other side gets.
const FEWER: usize = 10;
/// How often it is looked whether all is done.
const LOOK_EVERY: Duration = Duration::from_millis(1);
/// How long a round may take.
const PATIENCE: Duration = Duration::from_secs(600);

/// Both sides of the measurement.
pub(super) struct FanOut<'a> {
    store: &'a Store,
    people: &'a People,
}

impl<'a> FanOut<'a> {
    pub const fn new(store: &'a Store, people: &'a People) -> Self {
        Self { store, people }
    }

    /// Lets the sides take turns; a first round only warms up.
    pub async fn measure(&self, amount: Amount, report: &mut Report) -> Result<()> {
        let mut lanes = actors::lanes(&Services::in_process(self.store.clone()));
        lanes.retain(|lane| !lane.name().starts_with("delivery"));
        let dispatcher = Dispatcher::new(self.store.clone(), lanes).start();
        let (mut emitted, mut single, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..=amount.rounds {
            let rate = self.rate(amount.events, Self::emit_all).await?;
            let baseline = self.rate((amount.events / FEWER).max(1), Self::one_by_one).await?;
            println!(
                "round {round}: {rate:.1} events/s to {PEOPLE} people each, one transaction per notice {baseline:.1}/s"
            );
            if round > 0 {
                emitted.push(rate);
                single.push(baseline);
                ratios.push(rate / baseline);
            }
        }
        dispatcher.stop(PATIENCE).await;
        report.figure("people_per_event", f64::from(u32::try_from(PEOPLE)?));
        report.figure("events_per_s", median(emitted));
        report.figure("single_events_per_s", median(single));
        report.ratio("fan_out_to_single", median(ratios));
        Ok(())
    }

    /// Events per second of `work`, until nothing waits any more; fails when a notice is missing or there twice.
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    async fn rate(&self, events: usize, work: impl AsyncFn(&Self, usize) -> Result<()>) -> Result<f64> {
        let before = self.people.notices(self.store).await?;
        let started = Instant::now();
        work(self, events).await?;
        while self.waits().await? {
            if started.elapsed() > PATIENCE {
                return Err("the outbox is never empty".into());
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        let took = started.elapsed();
        let made = self.people.notices(self.store).await? - before;
        if made != (events * PEOPLE) as u64 {
            return Err(format!("{events} events made {made} notices").into());
        }
        Ok(events as f64 / took.as_secs_f64())
    }

    /// Whether an event, or a live message of one, is not delivered yet.
    async fn waits(&self) -> Result<bool> {
        let event = self.store.work_next(outbox::EVENT).await?;
        Ok(event.is_some() || self.store.work_next(outbox::LIVE).await?.is_some())
    }

    /// Each event in a commit of its own, as whatever happens in Troupe emits it.
    async fn emit_all(&self, events: usize) -> Result<()> {
        let emitters = (0..EMITTERS).map(async |emitter| {
            for number in (emitter..events).step_by(EMITTERS) {
                let event = Event {
                    user_ids: self.people.0.clone(),
                    body: BODY.to_owned(),
                    ..Event::new(EVENT, ("vault", number.to_string()), TITLE)
                };
                let mut change = Change::new();
                event.emit(&mut change, self.store.now());
                self.store.commit(change).await?;
            }
            Ok::<_, store::CommitError>(())
        });
        try_join_all(emitters).await?;
        Ok(())
    }

    /// The same notices and live messages, each person's in a transaction of their own.
    async fn one_by_one(&self, events: usize) -> Result<()> {
        for _ in 0..events {
            let source = NoticeId::new(self.store.now()).to_string();
            for user_id in &self.people.0 {
                let notice = notice(*user_id, source.clone(), self.store.now());
                let mut change = Change::new();
                announce(&mut change, &notice);
                change.notice_add(notice);
                self.store.commit(change).await?;
            }
        }
        Ok(())
    }
}
