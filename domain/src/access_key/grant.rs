//! What an access key was given, beside what its maker may.

use crate::{
    app::names,
    authority::Authority,
    error::{Error, Result},
    id::ResourceId,
    scope::{Scope, ScopeSet},
    storage::{FileKey, KeyPrefix},
};

/// Buckets and tables that one access key is limited to.
pub const ACCESS_KEY_RESOURCES_MAX: usize = 100;

names! {
    /// Whether an access key writes.
    Access { Read = "read", Write = "write", }
}

impl Access {
    /// What it comes to, as far as the maker may.
    pub fn permissions(self) -> ScopeSet {
        let read = ScopeSet::EMPTY.with(Scope::ResourcesRead);
        match self {
            Self::Read => read,
            Self::Write => read.with(Scope::ResourcesWrite),
        }
    }
}

/// What an access key reaches, and whether it writes there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessKeyGrant {
    /// Whether it writes.
    pub access: Access,
    /// The buckets and tables that it reaches; all of the organization without.
    pub resources: Option<Vec<ResourceId>>,
    /// What the keys of files begin with that it reaches; whoever has one reaches files only, and no table.
    pub prefix: Option<KeyPrefix>,
}

/// 403: the access key was not made for that.
pub fn out_of_reach() -> Error {
    Error::forbidden("out_of_reach", "This access key doesn't reach that.")
}

impl AccessKeyGrant {
    /// Passes where somebody may give this to a key that they make: what they have themselves.
    pub fn give_check(&self, maker: &Authority) -> Result<()> {
        maker.require_all(self.access.permissions().iter())
    }

    /// Whether the key sees that there is this bucket or table.
    pub fn sees(&self, resource: ResourceId) -> bool {
        self.resources.as_ref().is_none_or(|resources| resources.contains(&resource))
    }

    /// Passes where it reaches all of the organization: to make resources.
    pub fn organization_check(&self) -> Result<()> {
        passes(self.resources.is_none() && self.prefix.is_none())
    }

    /// Passes where it reaches all of this bucket or table: its settings, its deletion, its items.
    pub fn resource_check(&self, resource: ResourceId) -> Result<()> {
        passes(self.sees(resource) && self.prefix.is_none())
    }

    /// Passes where it reaches this file.
    pub fn file_check(&self, bucket: ResourceId, key: &FileKey) -> Result<()> {
        passes(self.sees(bucket) && key.as_str().starts_with(self.prefix_text()))
    }

    /// Passes where it may list the keys with this prefix: all of them are such as it reaches.
    pub fn list_check(&self, bucket: ResourceId, prefix: &KeyPrefix) -> Result<()> {
        passes(self.sees(bucket) && prefix.as_str().starts_with(self.prefix_text()))
    }

    fn prefix_text(&self) -> &str {
        self.prefix.as_ref().map_or("", KeyPrefix::as_str)
    }
}

fn passes(is_in_reach: bool) -> Result<()> {
    if is_in_reach { Ok(()) } else { Err(out_of_reach()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    fn key(text: &str) -> FileKey {
        FileKey::parse(text).unwrap()
    }

    fn prefix(text: &str) -> KeyPrefix {
        KeyPrefix::parse(text).unwrap()
    }

    #[test]
    fn a_key_without_limits_reaches_everything() {
        let grant = AccessKeyGrant { access: Access::Write, resources: None, prefix: None };
        let bucket = ResourceId::new(Timestamp(0));
        grant.organization_check().unwrap();
        grant.resource_check(bucket).unwrap();
        grant.file_check(bucket, &key("a")).unwrap();
        grant.list_check(bucket, &prefix("")).unwrap();
    }

    #[test]
    fn a_key_of_some_resources_reaches_no_other_and_makes_none() {
        let (bucket, other) = (ResourceId::new(Timestamp(0)), ResourceId::new(Timestamp(0)));
        let grant = AccessKeyGrant { access: Access::Read, resources: Some(vec![bucket]), prefix: None };
        grant.resource_check(bucket).unwrap();
        grant.file_check(bucket, &key("a")).unwrap();
        assert!(grant.sees(bucket) && !grant.sees(other));
        assert!(grant.organization_check().is_err() && grant.resource_check(other).is_err());
        assert!(grant.file_check(other, &key("a")).is_err() && grant.list_check(other, &prefix("a")).is_err());
    }

    #[test]
    fn a_key_with_a_prefix_reaches_the_files_below_and_nothing_of_the_bucket_itself() {
        let bucket = ResourceId::new(Timestamp(0));
        let grant = AccessKeyGrant { access: Access::Write, resources: None, prefix: Some(prefix("a/")) };
        grant.file_check(bucket, &key("a/b")).unwrap();
        grant.list_check(bucket, &prefix("a/")).unwrap();
        grant.list_check(bucket, &prefix("a/b/")).unwrap();
        for beyond in ["a", "b", "A/b", "b/a/"] {
            assert!(grant.file_check(bucket, &key(beyond)).is_err(), "{beyond}");
        }
        assert!(grant.list_check(bucket, &prefix("")).is_err() && grant.list_check(bucket, &prefix("a")).is_err());
        assert!(grant.resource_check(bucket).is_err() && grant.organization_check().is_err());
    }
}
