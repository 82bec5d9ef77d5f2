//! Uploads that are too large to hold, on the disk while they are worked on.

use std::{collections::HashMap, fs::File, io, path::PathBuf, sync::Arc, time::Duration};

use actors::pages::imports::{others_are_under_way, unnamed_file};
use bytes::Bytes;
use domain::{Error, id::OrgId};
use futures::{Stream, StreamExt};
use parking_lot::Mutex;
use tokio::{
    fs,
    io::AsyncWriteExt,
    time::{Instant, timeout_at},
};

use crate::error::Result;

/// Uploads that a node works on at once.
const AT_ONCE_MAX: usize = 4;
/// Those of them that are one organization's.
const AT_ONCE_PER_ORGANIZATION_MAX: usize = 2;
/// When whoever's upload the disk did not take may try again.
const BUSY_RETRY: Duration = Duration::from_secs(10);
/// How long the next bytes of an upload may take.
const SILENCE_MAX: Duration = Duration::from_secs(60);
/// How long an upload may take.
const UPLOAD_MAX: Duration = Duration::from_mins(15);

/// Where uploads are kept while they are worked on, and how many may be. A cheap handle.
#[derive(Clone, Debug)]
pub struct Spool {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    folder: PathBuf,
    /// Uploads that are worked on, by organization.
    taken: Mutex<HashMap<OrgId, usize>>,
}

/// The right to have one upload in the spool, given back when it is dropped.
#[derive(Debug)]
pub struct SpoolPlace {
    spool: Spool,
    org_id: OrgId,
}

impl Spool {
    /// A spool in `folder`, which is made when it is first needed.
    pub fn new(folder: PathBuf) -> Self {
        Self { shared: Arc::new(Shared { folder, taken: Mutex::default() }) }
    }

    /// A place for an upload of the organization; 503 when there is none.
    pub fn place(&self, org_id: OrgId) -> Result<SpoolPlace> {
        let mut taken = self.shared.taken.lock();
        let own = taken.get(&org_id).copied().unwrap_or_default();
        if own >= AT_ONCE_PER_ORGANIZATION_MAX || taken.values().sum::<usize>() >= AT_ONCE_MAX {
            return Err(others_are_under_way().into());
        }
        taken.insert(org_id, own + 1);
        Ok(SpoolPlace { spool: self.clone(), org_id })
    }
}

impl SpoolPlace {
    /// Takes in a body of at most `len_max` bytes; one byte more is a 413 with `too_large`. The file has no name, so that
    /// nothing is left of it when it is closed, however that comes about.
    pub async fn receive<E>(
        &self,
        mut body: impl Stream<Item = Result<Bytes, E>> + Unpin,
        len_max: u64,
        too_large: &'static str,
    ) -> Result<File> {
        let unnamed = unnamed_file(&self.spool.shared.folder).await.map_err(|error| unwritable(&error))?;
        let mut file = fs::File::from_std(unnamed);
        let (end, mut len) = (Instant::now() + UPLOAD_MAX, 0);
        let next = |now: Instant| end.min(now + SILENCE_MAX);
        while let Some(chunk) = timeout_at(next(Instant::now()), body.next()).await.map_err(|_| broken_off())? {
            let chunk = chunk.map_err(|_| broken_off())?;
            len += chunk.len() as u64;
            if len > len_max {
                return Err(Error::too_large(too_large).into());
            }
            file.write_all(&chunk).await.map_err(|error| unwritable(&error))?;
        }
        file.flush().await.map_err(|error| unwritable(&error))?;
        Ok(file.into_std().await)
    }
}

impl Drop for SpoolPlace {
    fn drop(&mut self) {
        let mut taken = self.spool.shared.taken.lock();
        if let Some(own) = taken.get_mut(&self.org_id) {
            *own -= 1;
            if *own == 0 {
                taken.remove(&self.org_id);
            }
        }
    }
}

fn broken_off() -> Error {
    Error::bad_request("malformed", "The body broke off.")
}

/// 503: the disk doesn't take the upload, which is for operators to mend.
fn unwritable(error: &io::Error) -> Error {
    tracing::error!(%error, "an upload can't be written to the spool");
    Error::busy(BUSY_RETRY)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek};

    use domain::Timestamp;
    use futures::stream;

    use super::*;

    fn spool() -> (tempfile::TempDir, Spool) {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::new(folder.path().join("spool"));
        (folder, spool)
    }

    fn organization() -> OrgId {
        OrgId::new(Timestamp(1))
    }

    async fn received(spool: &Spool, chunks: &[&'static str], len_max: u64) -> Result<String, u16> {
        let chunks: Vec<_> = chunks.iter().map(|chunk| Ok::<_, ()>(Bytes::from_static(chunk.as_bytes()))).collect();
        let place = spool.place(organization()).unwrap();
        let received = place.receive(stream::iter(chunks), len_max, "Too large.").await;
        let mut file = received.map_err(|error| error.status().as_u16())?;
        let mut text = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut text).unwrap();
        Ok(text)
    }

    #[tokio::test]
    async fn an_upload_is_kept_up_to_its_limit_and_leaves_nothing_behind() {
        let (folder, spool) = spool();
        assert_eq!(received(&spool, &["ab", "c"], 3).await, Ok("abc".to_owned()));
        assert_eq!(received(&spool, &["ab", "cd"], 3).await, Err(413));
        assert_eq!(received(&spool, &[], 3).await, Ok(String::new()));
        assert_eq!(std::fs::read_dir(folder.path().join("spool")).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn an_organization_has_two_places_and_a_node_four() {
        let (_folder, spool) = spool();
        let [one, two, three] = [(); 3].map(|()| organization());
        let status = |org_id| spool.place(org_id).map_err(|error| error.status().as_u16());
        let first = status(one).unwrap();
        let _second = status(one).unwrap();
        assert_eq!(status(one).unwrap_err(), 503);
        let _others = [status(two).unwrap(), status(two).unwrap()];
        assert_eq!(status(three).unwrap_err(), 503);
        drop(first);
        status(three).unwrap();
    }
}
