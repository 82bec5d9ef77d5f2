//! Who signs requests, and what they may do.

use std::{net::IpAddr, sync::Arc};

use async_trait::async_trait;
use domain::{
    Authority, Scope,
    access_key::{AccessKeyCaller, out_of_reach},
    id::ResourceId,
    storage::{FileKey, KeyPrefix},
};
use s3s::{
    S3Error, S3Result,
    access::{S3Access, S3AccessContext},
    auth::{Credentials, S3Auth, SecretKey},
    s3_error,
};
use store::storage::StoredBucket;

use crate::{
    error::refusal,
    service::Door,
    visit::{Visit, Visitor},
};

/// An access key that is good now.
#[derive(Clone)]
pub struct AccessKey {
    /// What signs with it.
    pub secret: String,
    /// Who asks actors with it, and what it was given.
    pub caller: AccessKeyCaller,
    /// What its maker may do now, of what it was given.
    pub authority: Authority,
}

impl std::fmt::Debug for AccessKey {
    /// Without the secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AccessKey").field("caller", &self.caller).finish_non_exhaustive()
    }
}

/// Where access keys are found.
#[async_trait]
pub trait AccessKeys: Send + Sync + 'static {
    /// The key with this id; none where there is none that is good now.
    async fn find(&self, id: &str) -> domain::Result<Option<AccessKey>>;

    /// Has it noted that somebody signed with this key; nobody waits for that.
    async fn used(&self, id: &str);

    /// Counts a signature that isn't one against the address that it came from; 429 where there were too many.
    async fn failed(&self, ip: IpAddr) -> domain::Result<()>;
}

/// What a request needs of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// To read one file, which strangers may in public buckets.
    ReadFile,
    /// To read what there is of it.
    Read,
    /// To read how it is set: for keys that have all of it.
    Settings,
    /// To write its files.
    Write,
    /// To change the bucket itself: for keys that have all of it.
    Change,
}

impl AccessKey {
    /// Passes where the key was given the bucket for this. What it needs of a file or a list is looked at with that.
    fn check(&self, bucket: ResourceId, need: Need) -> domain::Result<()> {
        let grant = &self.caller.grant;
        match need {
            Need::Change => {
                self.authority.require(Scope::ResourcesWrite)?;
                grant.resource_check(bucket)
            }
            Need::Settings => grant.resource_check(bucket),
            Need::Write => {
                self.authority.require(Scope::ResourcesWrite)?;
                if grant.sees(bucket) { Ok(()) } else { Err(out_of_reach()) }
            }
            Need::ReadFile | Need::Read => {
                if grant.sees(bucket) {
                    Ok(())
                } else {
                    Err(out_of_reach())
                }
            }
        }
    }

    /// Passes where the key was given all of the organization, to make buckets.
    pub(crate) fn check_organization(&self) -> domain::Result<()> {
        self.authority.require(Scope::ResourcesWrite)?;
        self.caller.grant.organization_check()
    }
}

pub(crate) fn denied() -> S3Error {
    s3_error!(AccessDenied, "Access Denied")
}

impl Door {
    /// Who asks with these credentials, and what their maker may do now.
    pub(crate) async fn visitor(&self, credentials: Option<&Credentials>) -> S3Result<Visitor> {
        let Some(credentials) = credentials else { return Ok(Visitor::Stranger) };
        let key = self.key(&credentials.access_key).await?;
        key.authority.require(Scope::ResourcesRead).map_err(refusal)?;
        self.keys.used(&credentials.access_key).await;
        Ok(Visitor::Key(Arc::new(key)))
    }

    /// Passes where the key that signed is still one that writes: bytes may have taken long to come.
    pub(crate) async fn still_writes(&self, visit: &Visit) -> S3Result<()> {
        let Visitor::Key(key) = visit.visitor() else { return Err(denied()) };
        let now = self.key(&key.caller.id.to_string()).await?;
        now.authority.require(Scope::ResourcesWrite).map_err(refusal)
    }

    async fn key(&self, id: &str) -> S3Result<AccessKey> {
        let found = self.keys.find(id).await.map_err(refusal)?;
        found.ok_or_else(|| {
            s3_error!(InvalidAccessKeyId, "The AWS Access Key Id you provided does not exist in our records.")
        })
    }

    /// The bucket of this name, where the visitor may do that with it. Whoever has a key finds the buckets of its
    /// organization by their own names, and by those that no other bucket has; everybody finds public ones by these.
    pub(crate) async fn bucket(&self, visit: &Visit, name: &str, need: Need) -> S3Result<StoredBucket> {
        let own = match visit.visitor() {
            Visitor::Key(key) => Some(key.caller.org_id),
            Visitor::Stranger => None,
        };
        let found = self.store.bucket_called(own, name).await.map_err(refusal)?;
        let found = found.filter(|bucket| bucket.check_usable().is_ok());
        let is_public = |bucket: &StoredBucket| bucket.settings.public_read && need == Need::ReadFile;
        let bucket = match (visit.visitor(), found) {
            (Visitor::Stranger, Some(bucket)) if is_public(&bucket) && self.serves_strangers(visit) => bucket,
            (Visitor::Stranger, _) => return Err(denied()),
            (Visitor::Key(key), Some(bucket)) if bucket.seen.org_id == key.caller.org_id => {
                key.check(bucket.id(), need).map_err(refusal)?;
                bucket
            }
            (Visitor::Key(_), Some(bucket)) if is_public(&bucket) => bucket,
            (Visitor::Key(_), _) => return Err(no_such_bucket()),
        };
        visit.check_owner(&bucket.seen.org_id)?;
        Ok(bucket)
    }

    /// Strangers' pages never come from the console's own host.
    pub(crate) fn serves_strangers(&self, visit: &Visit) -> bool {
        visit.host.is_some() && visit.host.as_deref() != self.options.console_host.as_deref()
    }

    /// Passes where the visitor may do something with the file of this key. Of others' buckets, and for strangers, only
    /// public ones are found.
    pub(crate) fn check_file(visit: &Visit, bucket: &StoredBucket, key: &FileKey) -> S3Result<()> {
        match own_key(visit, bucket) {
            Some(access) => access.caller.grant.file_check(bucket.id(), key).map_err(refusal),
            None => Ok(()),
        }
    }

    /// Passes where the visitor may list all whose keys begin so.
    pub(crate) fn check_list(visit: &Visit, bucket: &StoredBucket, prefix: &KeyPrefix) -> S3Result<()> {
        match own_key(visit, bucket) {
            Some(access) => access.caller.grant.list_check(bucket.id(), prefix).map_err(refusal),
            None => Err(denied()),
        }
    }

    /// The file that a request names in its own bucket.
    pub(crate) fn file_key(visit: &Visit, bucket: &StoredBucket, key: &str) -> S3Result<FileKey> {
        let key = FileKey::parse(key).map_err(refusal)?;
        Self::check_file(visit, bucket, &key)?;
        Ok(key)
    }
}

/// The key of the bucket's own organization that signed.
pub(crate) fn own_key<'v>(visit: &'v Visit, bucket: &StoredBucket) -> Option<&'v AccessKey> {
    match visit.visitor() {
        Visitor::Key(key) if key.caller.org_id == bucket.seen.org_id => Some(key),
        Visitor::Key(_) | Visitor::Stranger => None,
    }
}

pub(crate) fn no_such_bucket() -> S3Error {
    s3_error!(NoSuchBucket, "The specified bucket does not exist")
}

/// What `s3s` verifies signatures with.
pub(crate) struct Signatures(pub Arc<Door>);

#[async_trait]
impl S3Auth for Signatures {
    async fn get_secret_key(&self, access_key: &str) -> S3Result<SecretKey> {
        Ok(SecretKey::from(self.0.key(access_key).await?.secret.as_str()))
    }
}

/// Where `s3s` says who asks for what.
pub(crate) struct Entrance(pub Arc<Door>);

#[async_trait]
impl S3Access for Entrance {
    async fn check(&self, context: &mut S3AccessContext<'_>) -> S3Result<()> {
        let visit = Visit::of(context.extensions_mut())?;
        visit.is_for(operation_name(context.s3_op().name()));
        let visitor = self.0.visitor(context.credentials()).await?;
        // Files of public buckets are read by a route of their own; nothing else that strangers send is read.
        if matches!(visitor, Visitor::Stranger) {
            return Err(denied());
        }
        visit.is_by(visitor);
        Ok(())
    }
}

/// The name of an operation, which `s3s` has for as long as it lives.
fn operation_name(name: &str) -> &'static str {
    crate::protocol::OPERATIONS.iter().find(|known| **known == name).copied().unwrap_or("other")
}
