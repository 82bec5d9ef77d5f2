use domain::Error;
use futures::future::join_all;
use kernel::{Kernel, KernelOptions};

use crate::{
    counter::{self, AlwaysStale, Counter, Increment},
    stage::{CALM, Stage, context, options, stats},
};

#[tokio::test]
async fn a_commit_decided_on_a_stale_version_is_decided_again_unseen() {
    let stage = Stage::new().await;
    let counters = stage.kernel.registry_with::<Counter>(stage.store.clone(), CALM);
    let key = "one".to_owned();
    counter::create(&stage.store, std::slice::from_ref(&key)).await;
    counters.ask(&key, Increment { id: 1 }, context()).await.expect("an answer");

    let other =
        Kernel::start(stage.store.clone(), KernelOptions { node: "other".into(), ..options() }).expect("a kernel");
    let there = other.registry_with::<Counter>(stage.store.clone(), CALM);
    assert_eq!(there.ask(&key, Increment { id: 2 }, context()).await.expect("an answer"), 2);
    // This node still has 1 in memory.
    assert_eq!(counters.ask(&key, Increment { id: 3 }, context()).await.expect("an answer"), 3);
    let reruns: u64 = stats(&stage.kernel, "counter").commands.iter().map(|command| command.stale).sum();
    assert_eq!((reruns, stats(&stage.kernel, "counter").crashes), (1, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_that_host_one_resource_lose_no_update() {
    const EACH: u64 = 40;
    let stage = Stage::new().await;
    let other_store = stage.scratch.store(stage.clock.clone()).await.expect("a second connection");
    let other = Kernel::start(other_store.clone(), options()).expect("a kernel");
    let key = "one".to_owned();
    counter::create(&stage.store, std::slice::from_ref(&key)).await;
    let nodes = [
        stage.kernel.registry_with::<Counter>(stage.store.clone(), CALM),
        other.registry_with::<Counter>(other_store, CALM),
    ];
    let asks = nodes.iter().enumerate().map(|(node, counters)| {
        let (counters, key) = (counters.clone(), key.clone());
        tokio::spawn(async move {
            let mut acknowledged = 0;
            for id in 0..EACH {
                let id = id * 2 + node as u64;
                acknowledged += i64::from(counters.ask(&key, Increment { id }, context()).await.is_ok());
            }
            acknowledged
        })
    });
    let acknowledged: i64 = join_all(asks).await.into_iter().map(|node| node.expect("a task")).sum();
    assert_eq!(counter::stored(&stage.store, &key).await, acknowledged);
    assert!(acknowledged >= EACH.cast_signed(), "at least the faster node gets through: {acknowledged}");
}

#[tokio::test]
async fn deciding_again_has_an_end() {
    let stage = Stage::new().await;
    let counters = stage.kernel.registry_with::<Counter>(stage.store.clone(), CALM);
    let key = "one".to_owned();
    counter::create(&stage.store, std::slice::from_ref(&key)).await;
    let error = counters.ask(&key, AlwaysStale, context()).await.expect_err("never the right version");
    assert!(matches!(error, Error::Stale));
    assert_eq!((error.status(), error.code()), (503, "busy"));
    assert_eq!(stats(&stage.kernel, "counter").loads, 9);
    assert_eq!(counters.ask(&key, Increment { id: 1 }, context()).await.expect("an answer"), 1);
}
