//! What one node knows is behind what the other did; nobody may notice.

use std::time::Duration;

use actors::vault::{ChangeItems, DeleteVault, ItemResult, ItemsChanged, VaultDeleted};
use domain::vault::{Proof, Reset};

use super::{
    Nodes, START,
    phone::{Phone, item_id},
};

fn revision(changed: &ItemsChanged) -> Option<i64> {
    match changed.results[..] {
        [ItemResult::Done { head, .. }] => Some(head.revision),
        _ => None,
    }
}

#[tokio::test]
async fn a_change_over_what_the_other_node_wrote_is_no_conflict() {
    let (nodes, device) = Nodes::with_vault().await;
    for turn in 0..6 {
        let node = if turn % 2 == 0 { &nodes.left } else { &nodes.right };
        let changed = node.vault(device.put_item(item_id(1), turn, &nodes.clock)).await.expect("an answer");
        assert_eq!((revision(&changed), changed.revision), (Some(turn + 1), turn + 1));
    }
}

#[tokio::test]
async fn a_conflict_shows_the_item_that_the_other_node_wrote() {
    let (nodes, device) = Nodes::with_vault().await;
    nodes.right.vault(device.put_item(item_id(1), 0, &nodes.clock)).await.expect("an answer");
    let changed = nodes.left.vault(device.put_item(item_id(1), 0, &nodes.clock)).await.expect("an answer");
    assert_eq!(changed.revision, 1);
    let [ItemResult::Conflict { current: Some(current), .. }] = &changed.results[..] else { panic!("{changed:?}") };
    assert_eq!(current.revision, 1);
}

#[tokio::test]
async fn both_nodes_at_once_lose_nothing() {
    let (nodes, device) = Nodes::with_vault().await;
    let put = |node: usize, item: u8| {
        let node = [&nodes.left, &nodes.right][node];
        node.vault(device.put_item(item_id(item), 0, &nodes.clock))
    };
    let puts = (0..20_u8).map(|item| put(usize::from(item % 2), item));
    let changed = futures::future::join_all(puts).await;
    let mut revisions: Vec<_> = changed.into_iter().map(|changed| changed.expect("an answer").revision).collect();
    revisions.sort_unstable();
    assert!(revisions.into_iter().eq(1..=20));
    assert_eq!(nodes.left.store.vault_index(nodes.user_id).await.expect("an index").len(), 20);
}

#[tokio::test]
async fn a_device_that_the_other_node_registered_may_sign_here() {
    let (nodes, device) = Nodes::with_vault().await;
    let second = device.another(2);
    nodes.left.vault(second.put_device(&nodes.clock)).await.expect("a device");
    let changed = nodes.right.vault(second.put_item(item_id(1), 0, &nodes.clock)).await.expect("an answer");
    assert_eq!(revision(&changed), Some(1));
}

#[tokio::test]
async fn a_signature_that_one_node_accepted_is_refused_by_the_other() {
    let (nodes, device) = Nodes::with_vault().await;
    let first = device.put_item(item_id(1), 0, &nodes.clock);
    let again = ChangeItems { vault_id: first.vault_id, changes: first.changes.clone(), proof: first.proof.clone() };
    nodes.left.vault(first).await.expect("an answer");
    let refusal = nodes.right.vault(again).await.expect_err("a refusal");
    assert_eq!(refusal.code(), "vault_signature");
}

#[tokio::test]
async fn a_vault_that_the_other_node_replaced_is_not_taken_for_the_old_one() {
    let (nodes, old) = Nodes::with_vault().await;
    nodes.left.vault(old.delete_vault(&nodes.clock)).await.expect("a deletion");
    nodes.clock.advance(Duration::from_millis(1));
    // The same ids, another key.
    let new = old.with_another_key(9);
    nodes.left.vault(new.create(&nodes.clock)).await.expect("a vault");
    let refusal = nodes.right.vault(old.put_item(item_id(1), 0, &nodes.clock)).await.expect_err("a refusal");
    assert_eq!(refusal.code(), "vault_signature");
    assert!(nodes.left.store.vault_index(nodes.user_id).await.expect("an index").is_empty());
}

#[tokio::test]
async fn a_vault_that_the_other_node_deleted_can_be_made_again_here() {
    let (nodes, old) = Nodes::with_vault().await;
    let exists = nodes.right.vault(Phone::new(9).create(&nodes.clock)).await.expect_err("a refusal");
    assert_eq!(exists.code(), "vault_exists");
    nodes.left.vault(old.delete_vault(&nodes.clock)).await.expect("a deletion");
    nodes.right.vault(Phone::new(8).create(&nodes.clock)).await.expect("a vault");
    let gone = nodes.left.vault(old.put_item(item_id(1), 0, &nodes.clock)).await.expect_err("a refusal");
    assert_eq!(gone.code(), "not_found");
}

#[tokio::test]
async fn a_reset_that_the_other_node_noted_is_the_one_that_waits() {
    let (nodes, device) = Nodes::with_vault().await;
    let ask = || DeleteVault { proof: Proof::Missing };
    let pending = VaultDeleted::ResetPending(Reset { requested_at: START });
    assert_eq!(nodes.left.vault(ask()).await.expect("a reset"), pending);
    nodes.clock.advance(Duration::from_mins(1));
    assert_eq!(nodes.right.vault(ask()).await.expect("a reset"), pending);
    let cancel = actors::vault::CancelReset { proof: device.delete_vault(&nodes.clock).proof };
    nodes.left.vault(cancel).await.expect("a cancellation");
    let anew = VaultDeleted::ResetPending(Reset { requested_at: nodes.clock.now() });
    assert_eq!(nodes.right.vault(ask()).await.expect("a reset"), anew);
}
