//! How late timers are that tell somebody something, when very many are due within a minute.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use ::kernel::{Handle, Kernel, KernelOptions, Policy, Resource, TimerFired, Turn};
use domain::Timestamp;
use parking_lot::Mutex;
use store::{Change, Permits, Store, Turns};

use super::{
    Amount,
    people::{PEOPLE, People, notice},
};
use crate::report::{Report, Result, median};

/// Timers that are set in one commit.
const SET_AT_ONCE: usize = 1_000;
/// How long setting one takes at most; the first is due when all are set.
const SETTING_MAX: Duration = Duration::from_micros(200);
/// Timers that the other side takes at once.
const CLAIM_MAX: u32 = 64;
/// How long it has for them.
const LEASE: Duration = Duration::from_secs(60);
/// How often it is looked whether all is done.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How much longer than the window a round may take.
const PATIENCE: Duration = Duration::from_secs(1_200);

/// What a timer's owner works with.
#[derive(Clone)]
struct Bells {
    people: Arc<People>,
    late: Arc<Lateness>,
    round: usize,
}

/// Tells one person when its timer fires.
struct Bell;

impl Resource for Bell {
    type Key = u64;
    type Services = Bells;

    const KIND: &'static str = "bell";

    fn policy() -> Policy {
        Policy { idle_after: Duration::from_secs(5), ..Policy::default() }
    }

    async fn load(_: &u64, _: &Bells) -> domain::Result<Self> {
        Ok(Self)
    }
}

impl Handle<TimerFired> for Bell {
    async fn handle(&mut self, fired: &TimerFired, turn: &mut Turn<'_, Self>) -> domain::Result<()> {
        let bells = turn.services();
        let change = ring(&bells.people, *turn.key(), bells.round, turn.now());
        turn.commit(change).await?;
        bells.late.note(fired.due);
        Ok(())
    }
}

/// What comes of the timer `number`: a notice to one person.
fn ring(people: &People, number: u64, round: usize, now: Timestamp) -> Change {
    let place = usize::try_from(number).unwrap_or_default() % PEOPLE;
    let mut change = Change::new();
    change.notice_add(notice(people.0[place], format!("bell {number} of {round}"), now));
    change
}

/// How late each timer's notice was durable.
#[derive(Default)]
struct Lateness {
    late: Mutex<Vec<Duration>>,
    early: AtomicUsize,
}

impl Lateness {
    fn note(&self, due: Timestamp) {
        let due = Duration::from_millis(u64::try_from(due.as_millis()).unwrap_or_default());
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        match now.checked_sub(due) {
            Some(late) => self.late.lock().push(late),
            None => drop(self.early.fetch_add(1, Ordering::Relaxed)),
        }
    }

    fn count(&self) -> usize {
        self.late.lock().len() + self.early.load(Ordering::Relaxed)
    }

    /// The lateness at p50 and p99, in milliseconds; fails when one was early, missing, or there twice.
    fn quantiles(&self, timers: usize) -> Result<Late> {
        let (early, mut late) = (self.early.load(Ordering::Relaxed), self.late.lock().clone());
        if early > 0 || late.len() != timers {
            return Err(format!("of {timers} timers {} fired, and {early} fired early", late.len()).into());
        }
        late.sort_unstable();
        let at = |percent: usize| late[(late.len() - 1) * percent / 100].as_secs_f64() * 1e3;
        Ok(Late { p50_ms: at(50), p99_ms: at(99) })
    }
}

#[derive(Clone, Copy)]
struct Late {
    p50_ms: f64,
    p99_ms: f64,
}

/// Both sides of the measurement.
pub(super) struct Timers<'a> {
    store: &'a Store,
    people: &'a People,
}

impl<'a> Timers<'a> {
    pub const fn new(store: &'a Store, people: &'a People) -> Self {
        Self { store, people }
    }

    /// Lets the sides take turns.
    pub async fn measure(&self, amount: Amount, report: &mut Report) -> Result<()> {
        let (mut kernel, mut single) = (Vec::new(), Vec::new());
        for round in 1..=amount.rounds {
            let ours = self.round(amount, round * 2, Self::by_kernel).await?;
            let theirs = self.round(amount, round * 2 + 1, Self::one_by_one).await?;
            let show = |late: Late| format!("{:.1} ms at p50, {:.1} ms at p99", late.p50_ms, late.p99_ms);
            println!("round {round}: late by {}; one transaction per notice: {}", show(ours), show(theirs));
            kernel.push(ours);
            single.push(theirs);
        }
        let ratio =
            |of: fn(&Late) -> f64| median(kernel.iter().zip(&single).map(|(ours, theirs)| of(ours) / of(theirs)));
        report.ratio("timer_p50_to_single", ratio(|late| late.p50_ms));
        report.ratio("timer_p99_to_single", ratio(|late| late.p99_ms));
        for (name, late) in [("timer", &kernel), ("single_timer", &single)] {
            report.figure(format!("{name}_p50_ms"), median(late.iter().map(|late| late.p50_ms)));
            report.figure(format!("{name}_p99_ms"), median(late.iter().map(|late| late.p99_ms)));
        }
        report.figure("timers", f64::from(u32::try_from(amount.timers)?));
        report.figure("timers_window_s", amount.window.as_secs_f64());
        Ok(())
    }

    /// Sets the timers and lets `work` see to them; what became of them.
    async fn round(
        &self,
        amount: Amount,
        round: usize,
        work: impl AsyncFn(&Self, Bells, usize) -> Result<()>,
    ) -> Result<Late> {
        let bells = Bells { people: Arc::new(self.people.clone()), late: Arc::default(), round };
        let before = self.people.notices(self.store).await?;
        self.set(amount).await?;
        work(self, bells.clone(), amount.timers).await?;
        let made = self.people.notices(self.store).await? - before;
        if made != amount.timers as u64 {
            return Err(format!("{} timers made {made} notices", amount.timers).into());
        }
        bells.late.quantiles(amount.timers)
    }

    /// Sets timers that are due evenly over the window, which begins when all are set.
    async fn set(&self, Amount { timers, window, .. }: Amount) -> Result<()> {
        let count = u32::try_from(timers)?;
        let begin = self.store.now().after(SETTING_MAX * count + Duration::from_secs(1));
        let numbers: Vec<u32> = (0..count).collect();
        for some in numbers.chunks(SET_AT_ONCE) {
            let mut change = Change::new();
            for number in some {
                let due = begin.after(window * *number / count);
                change.timer_set(Bell::KIND, &number.to_string(), "ring", due);
            }
            self.store.commit(change).await?;
        }
        if self.store.now() > begin { Err("setting the timers took too long".into()) } else { Ok(()) }
    }

    /// As Troupe does it: the kernel claims what is due, actors handle it side by side, their commits are grouped.
    async fn by_kernel(&self, bells: Bells, timers: usize) -> Result<()> {
        let late = Arc::clone(&bells.late);
        let kernel = Kernel::start(self.store.clone(), KernelOptions::new("bench"))?;
        kernel.deliver_timers_to(&kernel.registry::<Bell>(bells));
        kernel.start_timers();
        let done = all_done(self.store, &late, timers).await;
        kernel.shutdown(LEASE).await;
        done
    }

    /// The same claims, but each timer in turn, with its notice in a transaction of its own.
    async fn one_by_one(&self, bells: Bells, timers: usize) -> Result<()> {
        let turns = Turns::new(Permits::shared(CLAIM_MAX));
        while bells.late.count() < timers {
            let claimed = self.store.timers_claim(Bell::KIND, &turns, LEASE).await?.taken();
            for timer in &claimed {
                let mut change = ring(&bells.people, timer.key.parse()?, bells.round, self.store.now());
                change.timer_done(timer);
                self.store.commit(change).await?;
                bells.late.note(timer.due);
            }
            if let (true, Some(next)) = (claimed.is_empty(), self.store.timers_next().await?) {
                self.store.clock().sleep_until(next).await;
            }
        }
        Ok(())
    }
}

async fn all_done(store: &Store, late: &Lateness, timers: usize) -> Result<()> {
    let started = Instant::now();
    while late.count() < timers || store.timers_next().await?.is_some() {
        if started.elapsed() > PATIENCE {
            return Err(format!("only {} of {timers} timers fired", late.count()).into());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(())
}
