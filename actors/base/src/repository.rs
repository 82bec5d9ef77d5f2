//! What whoever watches a repository is told: that its refs, its pull requests, or what is said of them or of its commits,
//! changed. Clients read what they want to know of it.

use domain::{
    git::ObjectId,
    id::{PushId, ResourceId},
};
use gateways::hub::Hub;
use serde::Serialize;

/// Something of a repository that changed, as it is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum RepositoryChange {
    /// A push moved refs.
    #[serde(rename = "refs.moved")]
    Refs {
        /// The push.
        push_id: PushId,
        /// Counts the moves of refs.
        version: i64,
    },
    /// A pull request was opened or changed.
    #[serde(rename = "pull.changed")]
    Pull {
        /// The number of the pull request.
        number: u32,
        /// Counts its changes.
        version: i64,
    },
    /// What is said of a pull request changed, or who is asked to review it.
    #[serde(rename = "review.changed")]
    Review {
        /// The number of the pull request.
        number: u32,
    },
    /// A check says something of a commit.
    #[serde(rename = "status.changed")]
    Status {
        /// The commit.
        commit_id: ObjectId,
        /// The check.
        context: String,
    },
}

/// The channel on which the changes of a repository are heard.
pub fn repository_channel(repository_id: ResourceId) -> String {
    format!("repository:{repository_id}")
}

/// Tells whoever watches the repository what a commit changed.
pub fn tell_repository(hub: &Hub, repository_id: ResourceId, changes: impl IntoIterator<Item = RepositoryChange>) {
    let channel = repository_channel(repository_id);
    for change in changes {
        // Ids, numbers and texts can always be written.
        let message = serde_json::to_vec(&change).unwrap_or_default();
        hub.publish(&channel, message);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_change_names_what_it_is_of() {
        let written = |change: RepositoryChange| serde_json::to_value(change).unwrap();
        let push_id: PushId = "psh_01jd7rt4m5e9fv2w8x3c6k0hqz".parse().unwrap();
        let refs = json!({ "type": "refs.moved", "pushId": push_id, "version": 3 });
        assert_eq!(written(RepositoryChange::Refs { push_id, version: 3 }), refs);
        let pull = json!({ "type": "pull.changed", "number": 7, "version": 2 });
        assert_eq!(written(RepositoryChange::Pull { number: 7, version: 2 }), pull);
        let review = json!({ "type": "review.changed", "number": 7 });
        assert_eq!(written(RepositoryChange::Review { number: 7 }), review);
        let commit_id = ObjectId::of_bytes([1; 20]);
        let status = json!({ "type": "status.changed", "commitId": "01".repeat(20), "context": "CI" });
        assert_eq!(written(RepositoryChange::Status { commit_id, context: "CI".into() }), status);
    }
}
