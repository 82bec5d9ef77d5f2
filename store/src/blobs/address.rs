//! Signed addresses: whoever holds one may move exactly one blob of exactly one size, until it expires.
//!
//! Troupe signs `/v1/blobs/<key>?expires=…&size=…&signature=…` with HMAC-SHA256 over the method, the key, the expiry and
//! the size. S3-compatible storage signs downloads itself; uploads come through Troupe there too, because what
//! `object_store` has it sign can't hold an upload to a size.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::time::Timestamp;
use hmac::{Hmac, Mac};
use object_store::signer::{Method, Signer};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::{BlobKey, Blobs, path};
use crate::StoreError;

/// Where Troupe serves blobs itself.
const PATH_PREFIX: &str = "/v1/blobs/";

/// What an address is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlobMethod {
    /// Download.
    Get,
    /// Upload.
    Put,
}

impl BlobMethod {
    /// The HTTP method's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Put => "PUT",
        }
    }
}

/// What an address permits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlobGrant {
    /// Download or upload.
    pub method: BlobMethod,
    /// Which blob.
    pub key: BlobKey,
    /// The blob's size in bytes: an upload of another is refused.
    pub size: u64,
    /// Until when; at that moment it is over.
    pub expires_at: Timestamp,
}

/// A signed address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlobAddress {
    /// An absolute URL of the storage's, or a path of Troupe's own (which starts with `/`).
    pub url: String,
    /// The method to use with it.
    pub method: BlobMethod,
    /// Until when it works.
    pub expires_at: Timestamp,
}

/// The query of an address that Troupe signed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlobQuery {
    /// [`BlobGrant::expires_at`], in milliseconds.
    pub expires: i64,
    /// [`BlobGrant::size`].
    pub size: u64,
    /// The signature, in base64url without padding.
    pub signature: String,
}

/// Why an address is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlobRefusal {
    /// It was not signed here for this.
    #[error("this address was not signed here")]
    Forged,
    /// Its time is over.
    #[error("this address has expired")]
    Expired,
}

impl Blobs {
    /// An address for `method` of the blob `key` of exactly `size` bytes, for as long as `valid_for`.
    pub async fn address(
        &self,
        method: BlobMethod,
        key: &BlobKey,
        size: u64,
        valid_for: Duration,
    ) -> Result<BlobAddress, StoreError> {
        let grant = BlobGrant { method, key: key.clone(), size, expires_at: self.clock.now().after(valid_for) };
        match (&self.s3, method) {
            (Some(s3), BlobMethod::Get) => {
                let url = s3.signed_url(Method::GET, &path(key), valid_for).await?.into();
                Ok(BlobAddress { url, method, expires_at: grant.expires_at })
            }
            _ => Ok(self.sign(&grant)),
        }
    }

    /// The address of Troupe's own that permits `grant`.
    pub fn sign(&self, grant: &BlobGrant) -> BlobAddress {
        let signature = URL_SAFE_NO_PAD.encode(self.mac(grant).finalize().into_bytes());
        let BlobGrant { method, key, size, expires_at } = grant;
        let url = format!("{PATH_PREFIX}{key}?expires={expires_at}&size={size}&signature={signature}");
        BlobAddress { url, method: *method, expires_at: *expires_at }
    }

    /// What the address with this path (after `/v1/blobs/`) and query permits to who comes with `method`.
    pub fn verify(&self, method: BlobMethod, key: &str, query: &BlobQuery) -> Result<BlobGrant, BlobRefusal> {
        let key = key.parse().map_err(|_| BlobRefusal::Forged)?;
        let grant = BlobGrant { method, key, size: query.size, expires_at: Timestamp(query.expires) };
        let signature = URL_SAFE_NO_PAD.decode(&query.signature).map_err(|_| BlobRefusal::Forged)?;
        self.mac(&grant).verify_slice(&signature).map_err(|_| BlobRefusal::Forged)?;
        if self.clock.now() < grant.expires_at { Ok(grant) } else { Err(BlobRefusal::Expired) }
    }

    fn mac(&self, grant: &BlobGrant) -> Hmac<Sha256> {
        let BlobGrant { method, key, size, expires_at } = grant;
        let mut mac = self.signer.clone();
        mac.update(format!("troupe-blob/v1\n{}\n{key}\n{expires_at}\n{size}", method.as_str()).as_bytes());
        mac
    }
}
