//! Signed addresses of artifacts and caches: whoever holds one may send the bytes of one, or fetch them, until it expires.
//!
//! Troupe signs `/v1/runner/files/<id>?size=…&expires=…&signature=…` with HMAC-SHA256. What a job fetches has `job=…` in the place of the
//! size.

use std::{fmt, str::FromStr};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{
    Timestamp,
    id::{ArtifactId, CacheId, JobId},
};
use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::{Store, blobs::BlobRefusal};

/// An artifact or a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobFile {
    /// An artifact.
    Artifact(ArtifactId),
    /// A cache.
    Cache(CacheId),
}

/// The text is the id of neither an artifact nor a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("neither an artifact nor a cache")]
pub struct NotAJobFile;

impl fmt::Display for JobFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Artifact(id) => id.fmt(f),
            Self::Cache(id) => id.fmt(f),
        }
    }
}

impl FromStr for JobFile {
    type Err = NotAJobFile;

    fn from_str(text: &str) -> Result<Self, NotAJobFile> {
        let artifact = text.parse().map(Self::Artifact);
        artifact.or_else(|_| text.parse().map(Self::Cache)).map_err(|_| NotAJobFile)
    }
}

/// What is done with the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobFileAct {
    /// They are fetched; by this job, where one asked for the address.
    Download(Option<JobId>),
    /// So many are sent.
    Upload(u64),
}

/// What an address permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobFileAddress {
    /// Of what.
    pub file: JobFile,
    /// What is done.
    pub act: JobFileAct,
    /// Until when it may begin; at that moment it is over.
    pub expires_at: Timestamp,
}

/// The query of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobFileQuery {
    /// How many bytes are sent.
    pub size: Option<u64>,
    /// The job that fetches them.
    pub job: Option<JobId>,
    /// Until when, in milliseconds.
    pub expires: i64,
    /// The signature, in base64url without padding.
    pub signature: String,
}

impl Store {
    /// The path and query that permit it.
    pub fn job_file_address(&self, address: &JobFileAddress) -> String {
        let JobFileAddress { file, act, expires_at } = address;
        let signature = URL_SAFE_NO_PAD.encode(self.job_file_mac(address).finalize().into_bytes());
        let act = match act {
            JobFileAct::Download(None) => String::new(),
            JobFileAct::Download(Some(job)) => format!("job={job}&"),
            JobFileAct::Upload(size) => format!("size={size}&"),
        };
        format!("/v1/runner/files/{file}?{act}expires={expires_at}&signature={signature}")
    }

    /// What the address of this file with this query permits.
    pub fn job_file_address_verify(&self, file: JobFile, query: &JobFileQuery) -> Result<JobFileAddress, BlobRefusal> {
        let act = match (query.size, query.job) {
            (None, job) => JobFileAct::Download(job),
            (Some(size), None) => JobFileAct::Upload(size),
            (Some(_), Some(_)) => return Err(BlobRefusal::Forged),
        };
        let address = JobFileAddress { file, act, expires_at: Timestamp(query.expires) };
        let signature = URL_SAFE_NO_PAD.decode(&query.signature).map_err(|_| BlobRefusal::Forged)?;
        self.job_file_mac(&address).verify_slice(&signature).map_err(|_| BlobRefusal::Forged)?;
        if self.now() < address.expires_at { Ok(address) } else { Err(BlobRefusal::Expired) }
    }

    fn job_file_mac(&self, address: &JobFileAddress) -> Hmac<Sha256> {
        let JobFileAddress { file, act, expires_at } = address;
        let act = match act {
            JobFileAct::Download(None) => "download".to_owned(),
            JobFileAct::Download(Some(job)) => format!("download\n{job}"),
            JobFileAct::Upload(size) => format!("upload\n{size}"),
        };
        let mut mac = self.blobs().signer().clone();
        mac.update(format!("troupe-job-file/v1\n{file}\n{expires_at}\n{act}").as_bytes());
        mac
    }
}
