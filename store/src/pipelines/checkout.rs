//! What jobs fetch their repositories with: credentials that are signed, and kept nowhere. One is good for its repository, until
//! its time or its job is over.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{
    Timestamp,
    id::{JobId, ResourceId},
    pipelines::checkout::CHECKOUT_PREFIX,
};
use hmac::{Hmac, Mac};
use sha2::Sha256;

use super::StoredJob;
use crate::{Store, StoreError, git::StoredRepository};

impl Store {
    /// What opens the repository for a job until this moment.
    pub fn checkout_credential(&self, repository: ResourceId, job_id: JobId, expires_at: Timestamp) -> String {
        let mac = self.checkout_mac(repository, job_id, expires_at).finalize().into_bytes();
        format!("{CHECKOUT_PREFIX}{job_id}.{expires_at}.{}", URL_SAFE_NO_PAD.encode(mac))
    }

    /// The job for which this text opens the repository now; none where it doesn't.
    pub async fn checkout_opens(
        &self,
        repository: &StoredRepository,
        text: &str,
    ) -> Result<Option<StoredJob>, StoreError> {
        let Some((job_id, expires_at, signature)) = read(text) else { return Ok(None) };
        let mac = self.checkout_mac(repository.id(), job_id, expires_at);
        if mac.verify_slice(&signature).is_err() || expires_at <= self.now() {
            return Ok(None);
        }
        Ok(self.job(repository.no, job_id).await?.filter(|job| job.conclusion.is_none()))
    }

    fn checkout_mac(&self, repository: ResourceId, job_id: JobId, expires_at: Timestamp) -> Hmac<Sha256> {
        let mut mac = self.blobs().signer().clone();
        mac.update(format!("troupe-checkout/v1\n{repository}\n{job_id}\n{expires_at}").as_bytes());
        mac
    }
}

fn read(text: &str) -> Option<(JobId, Timestamp, Vec<u8>)> {
    let mut parts = text.strip_prefix(CHECKOUT_PREFIX)?.splitn(3, '.');
    let (job_id, expires_at) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let signature = URL_SAFE_NO_PAD.decode(parts.next()?).ok()?;
    Some((job_id, Timestamp(expires_at), signature))
}
