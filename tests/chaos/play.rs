//! How a plan is played, and what must hold at its end.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use futures::future::join_all;

use super::{
    alarms::Company,
    editors::Editors,
    outsiders::Outsiders,
    plan::{Act, Plan, Trouble},
    stage::Stage,
    trees::Gardener,
};
use crate::{
    harness::{Client, Dice},
    outages::worker::{Progress, Worker},
};

/// How long an act may take on the slowest of machines.
const ACT_WITHIN: Duration = Duration::from_mins(4);
const WORKERS: usize = 3;
const GARDENERS: usize = 2;

/// Everybody who works.
struct Cast {
    progress: Arc<Progress>,
    workers: Vec<Worker>,
    gardeners: Vec<Gardener>,
    editors: Editors,
    outsiders: Outsiders,
    company: Company,
    /// Somebody who only looks.
    guest: Client,
}

/// Plays a plan; panics where the end isn't as it must be.
pub async fn play(plan: &Plan) {
    let stage = Stage::open().await;
    let mut cast = Cast::enrol(&stage, Dice::new(plan.seed)).await;
    for (number, act) in plan.acts.iter().enumerate() {
        cast.progress.may_fail.store(act.trouble.may_fail(), Ordering::Relaxed);
        let acting = Box::pin(async { tokio::join!(stage.suffer(&act.trouble), cast.work(act)) });
        let ended = tokio::time::timeout(ACT_WITHIN, acting).await;
        assert!(ended.is_ok(), "act {number} does not end: {act:?}");
        // What is still to fail fails nobody who looks.
        stage.recover(&cast.guest).await;
        cast.progress.may_fail.store(false, Ordering::Relaxed);
    }
    cast.verify(&stage).await;
    stage.assert_alarms().await;
    let (failed, happened) = (cast.progress.failed.load(Ordering::Relaxed), stage.server.faults.happened());
    assert!(failed <= happened, "{failed} answers of 500 after {happened} faults");
    eprintln!(
        "plan {}: {} acts, {} writes, {} answers of 503, {failed} of 500, {happened} faults",
        plan.seed,
        plan.acts.len(),
        cast.progress.acknowledged(),
        cast.progress.turned_away(),
    );
    drop(cast);
    stage.close().await;
}

impl Cast {
    async fn enrol(stage: &Stage, mut dice: Dice) -> Self {
        let (client, clock) = (stage.server.client(), &stage.server.clock);
        let workers = (0..WORKERS).map(|number| Worker::enrol_at(&client, number, dice.fork(), clock.clone()));
        let workers = join_all(workers.collect::<Vec<_>>()).await;
        let (garden, guest) = (client.with_authenticator("gardener").await, client.with_authenticator("guest").await);
        let org_id = garden.org("Garden").await;
        let gardeners = (0..GARDENERS).map(|number| Gardener::new(&garden, &org_id, number)).collect();
        let editors = Editors::enrol(&garden, &org_id).await;
        let outsiders = Outsiders::enrol(&garden, &org_id).await;
        let company = Company::found(&stage.server).await;
        Self { progress: Arc::default(), workers, gardeners, editors, outsiders, company, guest }
    }

    /// Everybody does what the act asks for, all at the same time.
    async fn work(&mut self, act: &Act) {
        let Self { progress, workers, gardeners, editors, outsiders, company, .. } = self;
        let (progress, mut dice) = (&**progress, Dice::new(act.seed));
        let workers = join_all(workers.iter_mut().map(async |worker| {
            for _ in 0..act.work {
                worker.work_once(progress).await;
            }
        }));
        let mut own = || dice.fork();
        let gardeners = gardeners.iter_mut().map(|gardener| gardener.work(act.work, own(), progress));
        let gardeners = join_all(gardeners.collect::<Vec<_>>());
        let questions = if let Trouble::SyncFlood { questions } = act.trouble { questions } else { 0 };
        let flood = editors.flood(questions);
        let (editors, company) = (editors.work(act.work, own()), company.work(act.work, progress));
        tokio::join!(workers, gardeners, editors, outsiders.work(act.work), flood, company);
    }

    async fn verify(&mut self, stage: &Stage) {
        for worker in &mut self.workers {
            worker.verify().await;
        }
        self.editors.settle().await;
        self.outsiders.verify().await;
        Gardener::verify(&self.gardeners, &[&self.editors.page, &self.outsiders.page]).await;
        self.company.verify(stage).await;
    }
}
