//! Access keys of an organization: what programs sign requests of S3's and DynamoDB's protocols with.
//!
//! A signature is checked with the secret itself, which no hash of it can do. So a secret is never kept: it follows from the
//! server's own secret, the key's id and a salt.

mod grant;
mod id;
mod secret;

use std::sync::Arc;

pub use self::{
    grant::{ACCESS_KEY_RESOURCES_MAX, Access, AccessKeyGrant, out_of_reach},
    id::{AccessKeyId, NotAnAccessKeyId},
    secret::{ACCESS_KEY_SALT_LEN, AccessKeySecret},
};
use crate::{
    error::Error,
    id::{OrgId, UserId},
};

/// Access keys of one organization.
pub const ACCESS_KEYS_MAX: u64 = 100;

/// A program that signs with an access key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessKeyCaller {
    /// The key.
    pub id: AccessKeyId,
    /// The organization that it belongs to.
    pub org_id: OrgId,
    /// Who made it; it never has more rights than they have at the moment of use.
    pub maker: UserId,
    /// What it was given: it may do that as far as its maker may ([`Authority`](crate::Authority)).
    pub grant: Arc<AccessKeyGrant>,
}

/// 404: the organization has no access key with this id.
pub fn access_key_not_found() -> Error {
    Error::not_found("Access key not found.")
}
