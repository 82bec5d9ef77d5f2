//! Resources of an organization: repositories, databases and buckets, as far as they have the same record (contract C 2.3).

use crate::{
    Timestamp,
    app::names,
    id::{OrgId, ProjectId, ResourceId, UserId},
};

/// Characters of a physical name, so that it is one of a bucket and of a table alike.
const PHYSICAL_NAME_LEN_MAX: usize = 63;
/// Characters of the id that a physical name ends with.
const SUFFIX_LEN: usize = 8;

names! {
    /// What a resource is (contract C 2.3, `type`).
    ResourceType { Repository = "repository", Database = "database", Bucket = "bucket", }
}

names! {
    /// How far a resource is (contract C 2.3, `status`).
    ResourceStatus { Error = "error", Active = "active", Deleting = "deleting", Creating = "creating", }
}

/// The record that a resource has whatever its type (contract C 2.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Its id.
    pub id: ResourceId,
    /// Whose it is.
    pub org_id: OrgId,
    /// What it is.
    pub resource_type: ResourceType,
    /// What people call it.
    pub name: String,
    /// What its name is compared by: no two of one type and organization have the same.
    pub name_key: String,
    /// Its name to Amazon's protocols, which no other of its type has in any organization.
    pub physical_name: String,
    /// How far it is.
    pub status: ResourceStatus,
    /// Why it is in [`ResourceStatus::Error`].
    pub status_reason: Option<String>,
    /// Where it is kept (`server.location`).
    pub location: String,
    /// What it says its region is (`aws.region`).
    pub region: String,
    /// The project that it is attached to.
    pub project_id: Option<ProjectId>,
    /// Who made it, or the key that did.
    pub created_by: UserId,
    /// When.
    pub created_at: Timestamp,
    /// When its record last changed.
    pub updated_at: Timestamp,
    /// Counts its changes.
    pub version: i64,
}

/// The physical name of the resource with this id: its name and eight characters of the id, 63 at most. Nobody finds out by
/// it which names others have.
pub fn physical_name(name: &str, id: ResourceId) -> String {
    let id = id.to_string();
    let suffix = &id[id.len() - SUFFIX_LEN..];
    let start: String = name.chars().take(PHYSICAL_NAME_LEN_MAX - SUFFIX_LEN - 1).collect();
    format!("{}-{suffix}", start.trim_end_matches(['.', '-']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::BucketName;

    #[test]
    fn a_physical_name_is_the_name_and_the_end_of_the_id() {
        let id: ResourceId = "res_01h455vb4pex5vsknk084sn02q".parse().unwrap();
        assert_eq!(physical_name("Users", id), "Users-084sn02q");
        assert_eq!(physical_name("a.-", id), "a-084sn02q");
        let long = physical_name(&"a".repeat(255), id);
        assert_eq!(long.len(), 63);
        assert!(long.ends_with("-084sn02q"));
    }

    #[test]
    fn a_bucket_is_named_likewise() {
        let id = ResourceId::new(Timestamp(1_700_000_000_000));
        for name in ["photos", "a.b-c", &"a".repeat(63)] {
            let bucket = BucketName::parse("name", name).unwrap();
            assert_eq!(bucket.physical(id).as_str(), physical_name(name, id));
        }
    }
}
