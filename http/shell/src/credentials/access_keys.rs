//! Access keys, for the listeners of S3's and DynamoDB's protocols: remembered as tokens are.

use std::sync::Arc;

use domain::access_key::AccessKeyId;
use store::{Store, accounts::AccessKeyCredential};

use super::{Credentials, note_use};
use crate::{error::Result, state::State};

impl Credentials {
    /// What a signature with this access key is checked with, and what it may do now: its secret, its organization, what it
    /// was given and its maker's part. None for one that never was, was deleted, has expired, or was made under another
    /// secret of the server, and where its maker has left the organization; on every node within a second.
    pub async fn access_key(&self, id: AccessKeyId, store: &Store) -> Result<Option<Arc<AccessKeyCredential>>> {
        let now = store.now();
        let is_valid = |found: &Arc<AccessKeyCredential>| found.is_valid(now);
        if self.is_trusted()
            && let Some(found) = self.access_keys.recall(&id, |found| Some(Arc::clone(found)))
        {
            return Ok(Some(found).filter(is_valid));
        }
        let epoch = self.access_keys.epoch();
        let Some(found) = store.access_key_credential(id).await?.map(Arc::new) else { return Ok(None) };
        self.access_keys.remember(id, Arc::clone(&found), found.last_used_at, epoch);
        Ok(Some(found).filter(is_valid))
    }

    /// Has it written down, once an hour, that somebody signed with this access key; nobody waits for that.
    pub fn access_key_used(&self, credential: &AccessKeyCredential, state: &State) {
        if self.access_keys.use_is_due(&credential.caller.id, state.store.now()) {
            note_use(state, &credential.caller());
        }
    }
}
