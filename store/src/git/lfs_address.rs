//! Signed addresses of large files: whoever holds one may download one, or send the bytes of one, until it expires.
//!
//! Troupe signs `/v1/repos/lfs/<repository>?oid=…&expires=…&signature=…` with HMAC-SHA256; one that sends bytes says how many
//! they are, and names its [maker](AddressMaker), in whose name they are kept.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{Timestamp, git::LfsOid, id::ResourceId};
use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::{Store, blobs::BlobRefusal, storage::AddressMaker};

/// What an address permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LfsAddress {
    /// The repository.
    pub repository: ResourceId,
    /// The large file.
    pub oid: LfsOid,
    /// What is done with it.
    pub act: LfsAct,
    /// Until when it may begin; at that moment it is over.
    pub expires_at: Timestamp,
}

/// What is done with a large file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LfsAct {
    /// Its bytes are read.
    Download,
    /// Its bytes are sent.
    Upload {
        /// How many they are.
        size: u64,
        /// In whose name they are kept.
        maker: AddressMaker,
    },
}

/// The query of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LfsQuery {
    /// The file's name.
    pub oid: String,
    /// How many bytes are sent.
    pub size: Option<u64>,
    /// In whose name they are kept.
    pub maker: Option<String>,
    /// Until when, in milliseconds.
    pub expires: i64,
    /// The signature, in base64url without padding.
    pub signature: String,
}

impl Store {
    /// The path and query that permit it.
    pub fn lfs_address(&self, address: &LfsAddress) -> String {
        let LfsAddress { repository, oid, act, expires_at } = address;
        let signature = URL_SAFE_NO_PAD.encode(self.lfs_mac(address).finalize().into_bytes());
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("oid", &oid.to_string());
        if let LfsAct::Upload { size, maker } = act {
            query.append_pair("size", &size.to_string()).append_pair("maker", &maker.to_string());
        }
        query.append_pair("expires", &expires_at.to_string()).append_pair("signature", &signature);
        format!("/v1/repos/lfs/{repository}?{}", query.finish())
    }

    /// What the address of this repository with this query permits.
    pub fn lfs_address_verify(&self, repository: ResourceId, query: &LfsQuery) -> Result<LfsAddress, BlobRefusal> {
        let act = match (query.size, &query.maker) {
            (None, None) => LfsAct::Download,
            (Some(size), Some(maker)) => {
                LfsAct::Upload { size, maker: maker.parse().map_err(|_| BlobRefusal::Forged)? }
            }
            _ => return Err(BlobRefusal::Forged),
        };
        let oid = query.oid.parse().map_err(|_| BlobRefusal::Forged)?;
        let address = LfsAddress { repository, oid, act, expires_at: Timestamp(query.expires) };
        let signature = URL_SAFE_NO_PAD.decode(&query.signature).map_err(|_| BlobRefusal::Forged)?;
        self.lfs_mac(&address).verify_slice(&signature).map_err(|_| BlobRefusal::Forged)?;
        if self.now() < address.expires_at { Ok(address) } else { Err(BlobRefusal::Expired) }
    }

    fn lfs_mac(&self, address: &LfsAddress) -> Hmac<Sha256> {
        let LfsAddress { repository, oid, act, expires_at } = address;
        let act = match act {
            LfsAct::Download => "download".to_owned(),
            LfsAct::Upload { size, maker } => format!("upload\n{size}\n{maker}"),
        };
        let mut mac = self.blobs().signer().clone();
        mac.update(format!("troupe-lfs/v1\n{repository}\n{oid}\n{expires_at}\n{act}").as_bytes());
        mac
    }
}
