//! Signed addresses of what is in repositories: whoever holds one may download one file, or all files of one commit, until it
//! expires.
//!
//! Troupe signs `/v1/repos/files/<repository>?blob=…|archive=…&name=…&expires=…&signature=…` with HMAC-SHA256.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{Timestamp, git::ObjectId, id::ResourceId};
use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::{Store, blobs::BlobRefusal};

/// What an address permits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitFileAddress {
    /// The repository.
    pub repository: ResourceId,
    /// What is downloaded.
    pub what: GitFile,
    /// As what it is saved.
    pub name: String,
    /// Until when the download may begin; at that moment it is over.
    pub expires_at: Timestamp,
}

/// What is downloaded from a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitFile {
    /// The bytes of a file.
    Blob(ObjectId),
    /// All files of a commit, as a ZIP.
    Archive(ObjectId),
}

/// The query of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitFileQuery {
    /// The file's object.
    pub blob: Option<String>,
    /// The commit.
    pub archive: Option<String>,
    /// As what it is saved.
    pub name: String,
    /// Until when, in milliseconds.
    pub expires: i64,
    /// The signature, in base64url without padding.
    pub signature: String,
}

impl GitFile {
    const fn parts(self) -> (&'static str, ObjectId) {
        match self {
            Self::Blob(oid) => ("blob", oid),
            Self::Archive(oid) => ("archive", oid),
        }
    }
}

impl Store {
    /// The path and query that permit it.
    pub fn git_file_address(&self, address: &GitFileAddress) -> String {
        let GitFileAddress { repository, what, name, expires_at } = address;
        let signature = URL_SAFE_NO_PAD.encode(self.git_file_mac(address).finalize().into_bytes());
        let (kind, oid) = what.parts();
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair(kind, &oid.to_string()).append_pair("name", name);
        query.append_pair("expires", &expires_at.to_string()).append_pair("signature", &signature);
        format!("/v1/repos/files/{repository}?{}", query.finish())
    }

    /// What the address of this repository with this query permits.
    pub fn git_file_address_verify(
        &self,
        repository: ResourceId,
        query: GitFileQuery,
    ) -> Result<GitFileAddress, BlobRefusal> {
        let oid = |text: String| text.parse::<ObjectId>().map_err(|_| BlobRefusal::Forged);
        let what = match (query.blob, query.archive) {
            (Some(blob), None) => GitFile::Blob(oid(blob)?),
            (None, Some(archive)) => GitFile::Archive(oid(archive)?),
            _ => return Err(BlobRefusal::Forged),
        };
        let address = GitFileAddress { repository, what, name: query.name, expires_at: Timestamp(query.expires) };
        let signature = URL_SAFE_NO_PAD.decode(&query.signature).map_err(|_| BlobRefusal::Forged)?;
        self.git_file_mac(&address).verify_slice(&signature).map_err(|_| BlobRefusal::Forged)?;
        if self.now() < address.expires_at { Ok(address) } else { Err(BlobRefusal::Expired) }
    }

    fn git_file_mac(&self, address: &GitFileAddress) -> Hmac<Sha256> {
        let GitFileAddress { repository, what, name, expires_at } = address;
        let (kind, oid) = what.parts();
        let mut mac = self.blobs().signer().clone();
        // The name comes last, since it may be any text.
        mac.update(format!("troupe-repository/v1\n{kind}\n{repository}\n{oid}\n{expires_at}\n{name}").as_bytes());
        mac
    }
}
