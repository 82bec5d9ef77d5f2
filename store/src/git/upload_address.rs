//! Signed addresses of files that are to be uploaded: whoever holds one may send that one file, until it expires.
//!
//! Troupe signs `/v1/repos/files/<repository>?upload=…&index=…&size=…&expires=…&signature=…` with HMAC-SHA256.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{Timestamp, git::web::WebUploadId, id::ResourceId};
use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::{Store, blobs::BlobRefusal};

/// What an address permits: to send exactly these bytes of an upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GitUploadAddress {
    /// The repository.
    pub repository: ResourceId,
    /// The upload.
    pub upload: WebUploadId,
    /// The file's number in it.
    pub index: u64,
    /// The file's bytes.
    pub size: u64,
    /// Until when sending it may begin; at that moment it is over.
    pub expires_at: Timestamp,
}

/// The query of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitUploadQuery {
    /// The upload.
    pub upload: String,
    /// The file's number in it.
    pub index: u64,
    /// The file's bytes.
    pub size: u64,
    /// Until when, in milliseconds.
    pub expires: i64,
    /// The signature, in base64url without padding.
    pub signature: String,
}

impl Store {
    /// The path and query that permit it.
    pub fn git_upload_address(&self, address: &GitUploadAddress) -> String {
        let GitUploadAddress { repository, upload, index, size, expires_at } = address;
        let signature = URL_SAFE_NO_PAD.encode(self.git_upload_mac(address).finalize().into_bytes());
        format!(
            "/v1/repos/files/{repository}?upload={upload}&index={index}&size={size}&expires={expires_at}\
             &signature={signature}"
        )
    }

    /// What the address of this repository with this query permits.
    pub fn git_upload_address_verify(
        &self,
        repository: ResourceId,
        query: &GitUploadQuery,
    ) -> Result<GitUploadAddress, BlobRefusal> {
        let address = GitUploadAddress {
            repository,
            upload: query.upload.parse().map_err(|_| BlobRefusal::Forged)?,
            index: query.index,
            size: query.size,
            expires_at: Timestamp(query.expires),
        };
        let signature = URL_SAFE_NO_PAD.decode(&query.signature).map_err(|_| BlobRefusal::Forged)?;
        self.git_upload_mac(&address).verify_slice(&signature).map_err(|_| BlobRefusal::Forged)?;
        if self.now() < address.expires_at { Ok(address) } else { Err(BlobRefusal::Expired) }
    }

    fn git_upload_mac(&self, address: &GitUploadAddress) -> Hmac<Sha256> {
        let GitUploadAddress { repository, upload, index, size, expires_at } = address;
        let mut mac = self.blobs().signer().clone();
        mac.update(
            format!("troupe-repository/v1\nPUT\n{repository}\n{upload}\n{index}\n{size}\n{expires_at}").as_bytes(),
        );
        mac
    }
}
