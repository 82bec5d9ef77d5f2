//! The authenticator backup on two nodes.

use actors::backup::{BackupSaved, DeleteBackup, SaveBackup};
use domain::backup::BackupDraft;

use super::{Node, Nodes, context};

impl Node {
    async fn save(&self, seen_revision: u64) -> BackupSaved {
        let draft = BackupDraft::check(1, "A".repeat(24), "B".repeat(40), seen_revision).expect("a draft");
        self.actors.backup.ask(&self.user_id, SaveBackup(draft), context()).await.expect("an answer")
    }

    async fn delete_backup(&self) -> bool {
        self.actors.backup.ask(&self.user_id, DeleteBackup, context()).await.expect("an answer")
    }
}

fn saved(outcome: &BackupSaved) -> Option<i64> {
    match outcome {
        BackupSaved::Saved(backup) => Some(backup.revision),
        BackupSaved::Changed(_) => None,
    }
}

#[tokio::test]
async fn phones_on_two_nodes_see_each_others_saves() {
    let nodes = Nodes::start().await;
    for revision in 0..6 {
        let node = if revision % 2 == 0 { &nodes.left } else { &nodes.right };
        assert_eq!(saved(&node.save(revision).await), Some(revision.cast_signed() + 1));
    }
    let stale = nodes.left.save(5).await;
    assert!(matches!(stale, BackupSaved::Changed(Some(backup)) if backup.revision == 6));
}

#[tokio::test]
async fn a_deletion_on_one_node_is_one_on_both() {
    let nodes = Nodes::start().await;
    assert!(!nodes.right.delete_backup().await);
    nodes.left.save(0).await;
    assert!(nodes.right.delete_backup().await);
    assert!(!nodes.left.delete_backup().await);
    assert_eq!(saved(&nodes.left.save(0).await), Some(1));
    assert_eq!(saved(&nodes.right.save(1).await), Some(2));
}
