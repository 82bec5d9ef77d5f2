//! Contents are swept by housekeeping, and scrubbed.

use std::{num::NonZeroUsize, time::Duration};

use actors::Actors;
use domain::id::{ContentId, OrgId};
use futures::stream;
use kernel::KernelOptions;
use store::{
    Change, Store,
    blobs::contents::{ContentSource, scrub},
};

use crate::node::{Node, START, soon};

fn start(node: &Node) -> Actors {
    let options = KernelOptions { arbiters: NonZeroUsize::MIN, ..KernelOptions::new("test") };
    Actors::start(&node.services, options).expect("actors")
}

async fn put(store: &Store, org_id: OrgId) -> ContentId {
    let source = stream::iter([Ok::<_, ()>(vec![7; 100_000].into())]);
    let any = ContentSource { size: None, limit: u64::MAX };
    let content = store.content_write(org_id, any, source).await.expect("is taken");
    let mut change = Change::new();
    change.content_put(store.now(), &content);
    store.commit(change).await.expect("a commit");
    content.id()
}

#[tokio::test]
async fn housekeeping_deletes_what_nothing_refers_to_any_more() {
    let node = Node::new().await;
    let (store, org_id) = (&node.services.store, OrgId::new(START));
    let id = put(store, org_id).await;
    let folder = id.to_string();
    let key = format!("contents/{}/{id}", &folder[folder.len() - 2..]).parse().expect("a key");
    let mut change = Change::new();
    change.contents_unref(store.now(), org_id, [id]);
    store.commit(change).await.expect("a commit");
    assert_eq!(store.blobs().size(&key).await, Ok(Some(100_000)));
    node.clock.advance(Duration::from_hours(1));
    let actors = start(&node);
    soon(async {
        while store.blobs().size(&key).await != Ok(None) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
    actors.shutdown(Duration::from_secs(10)).await;
}

#[tokio::test]
async fn a_node_reads_blobs_again_whose_turn_it_is() {
    let node = Node::new().await;
    let (store, org_id) = (&node.services.store, OrgId::new(START));
    let id = put(store, org_id).await;
    node.clock.advance(scrub::EVERY);
    let actors = start(&node);
    soon(async {
        while store.content_scrubbed_at(org_id, id).await != Ok(Some(node.clock.now())) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
    assert_eq!(store.scrub_next().await, Ok(Some(node.clock.now().after(scrub::EVERY))));
    actors.shutdown(Duration::from_secs(10)).await;
}
