//! Work that takes the processor: in turns by tenant, bounded, given up with its asker.

use std::{
    num::NonZeroUsize,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
};

use domain::{Result, Timestamp, id::OrgId, tenant::Tenant};
use kernel::{
    Cpu, CpuKind,
    cpu::{CpuLaneSnapshot, WAITING_PER_TENANT_MAX},
};
use tokio::{runtime::Handle, task::JoinHandle};

use crate::stage::until;

fn organization() -> Tenant {
    OrgId::new(Timestamp(1)).into()
}

/// One thread in each lane.
fn one_thread() -> Cpu {
    Cpu::with_threads(&Handle::current(), NonZeroUsize::MIN)
}

fn short(cpu: &Cpu) -> CpuLaneSnapshot {
    cpu.snapshot().lanes[0].clone()
}

/// Has the short lane's one thread wait until the sender speaks, or is gone.
async fn occupied(cpu: &Cpu) -> (mpsc::Sender<()>, JoinHandle<Result<()>>) {
    let (sender, receiver) = mpsc::channel::<()>();
    let occupying = ask(cpu, Tenant::System, move || receiver.recv().unwrap_or_default());
    until("the thread is taken", || short(cpu).running == 1 && short(cpu).waiting == 0).await;
    (sender, occupying)
}

fn ask<T: Send + 'static>(
    cpu: &Cpu,
    tenant: Tenant,
    work: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<Result<T>> {
    let cpu = cpu.clone();
    tokio::spawn(async move { cpu.run(tenant, CpuKind::Password, work).await })
}

/// Has so many pieces of the tenant's work wait; each says the number of its turn.
async fn crowd(cpu: &Cpu, tenant: Tenant, count: usize, turn: &Arc<AtomicUsize>) -> Vec<JoinHandle<Result<usize>>> {
    let before = short(cpu).waiting;
    let asked = (0..count).map(|_| {
        let turn = Arc::clone(turn);
        ask(cpu, tenant, move || turn.fetch_add(1, SeqCst))
    });
    let asked = asked.collect();
    until("they wait", || short(cpu).waiting == before + count).await;
    asked
}

#[tokio::test]
async fn nobody_waits_behind_somebody_elses_hundreds() {
    let (cpu, turn) = (one_thread(), Arc::new(AtomicUsize::new(0)));
    let (go_on, occupying) = occupied(&cpu).await;
    let crowd_of = organization();
    let noisy = crowd(&cpu, crowd_of, 200, &turn).await;
    let quiet = crowd(&cpu, organization(), 2, &turn).await;
    drop(go_on);
    occupying.await.expect("a task").expect("done");
    let mut turns = Vec::new();
    for one in quiet {
        turns.push(one.await.expect("a task").expect("a turn"));
    }
    turns.sort_unstable();
    assert_eq!(turns, [1, 3], "each has one turn before the other has a second");
    for one in noisy {
        one.await.expect("a task").expect("a turn");
    }
    assert_eq!((short(&cpu).done, short(&cpu).waiting), (203, 0));
}

#[tokio::test]
async fn whoever_has_too_much_waiting_is_busy_and_others_are_not() {
    let (cpu, turn) = (one_thread(), Arc::new(AtomicUsize::new(0)));
    let (go_on, _occupying) = occupied(&cpu).await;
    let noisy = organization();
    let _crowd = crowd(&cpu, noisy, WAITING_PER_TENANT_MAX, &turn).await;
    let refused = cpu.run(noisy, CpuKind::Password, || ()).await.expect_err("one more");
    assert_eq!((refused.status(), refused.code()), (503, "busy"));
    assert_eq!(short(&cpu).refused, 1);
    let quiet = crowd(&cpu, organization(), 1, &turn).await;
    drop(go_on);
    for one in quiet {
        one.await.expect("a task").expect("a turn");
    }
}

#[tokio::test]
async fn work_whose_asker_is_gone_is_never_begun_and_takes_no_place() {
    let (cpu, turn) = (one_thread(), Arc::new(AtomicUsize::new(0)));
    let (go_on, _occupying) = occupied(&cpu).await;
    let tenant = organization();
    for gone in crowd(&cpu, tenant, WAITING_PER_TENANT_MAX, &turn).await {
        gone.abort();
    }
    until("their places are free", || short(&cpu).waiting == 0).await;
    assert_eq!(short(&cpu).abandoned, WAITING_PER_TENANT_MAX as u64);
    let stays = crowd(&cpu, tenant, 1, &turn).await;
    drop(go_on);
    for one in stays {
        assert_eq!(one.await.expect("a task").expect("a turn"), 0, "the first that was begun");
    }
}

#[tokio::test]
async fn an_archive_keeps_no_password_waiting() {
    let cpu = one_thread();
    let (go_on, waits) = mpsc::channel::<()>();
    let archiving = tokio::spawn({
        let cpu = cpu.clone();
        async move { cpu.run(Tenant::System, CpuKind::Archive, move || waits.recv().unwrap_or_default()).await }
    });
    until("the archive has the long lane's thread", || cpu.snapshot().lanes[1].running == 1).await;
    assert_eq!(cpu.run(Tenant::System, CpuKind::Password, || 6 * 7).await.expect("a hash"), 42);
    drop(go_on);
    archiving.await.expect("a task").expect("done");
}

#[tokio::test]
async fn a_panic_is_an_error_of_its_asker_and_the_thread_goes_on() {
    let cpu = one_thread();
    let failed: Result<()> = cpu.run(Tenant::System, CpuKind::Password, || panic!("miscalculated")).await;
    assert_eq!(failed.expect_err("an error").status(), 500);
    assert_eq!(cpu.run(Tenant::System, CpuKind::Password, || 6 * 7).await.expect("a number"), 42);
    until("the thread is given back", || short(&cpu).running == 0).await;
}
