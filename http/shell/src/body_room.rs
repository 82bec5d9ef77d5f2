//! Room for large bodies: so many bytes of them are in memory at once, and who comes then waits, with the rest still unread.
//!
//! What a body becomes, texts that are read of it and bytes that they stand for, is there beside it: up to three times as much.

use std::{sync::Arc, time::Duration};

use domain::{Error, Result};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

/// Bytes that every body may have without any room.
pub(crate) const FREE_LEN: usize = 8 * 1024 * 1024;
/// How long the rest of a body may take that has room.
pub(crate) const REST_MAX: Duration = Duration::from_mins(10);

/// Bytes of large bodies on this node, in units of [`UNIT`]: two of the largest that there are.
const UNITS: u32 = 144;
const UNIT: usize = 1024 * 1024;
/// How long somebody waits for room.
const WAIT_MAX: Duration = Duration::from_mins(1);
/// When it makes sense to try again.
const BUSY_FOR: Duration = Duration::from_secs(30);

/// The room of this node.
#[derive(Debug)]
pub struct BodyRoom {
    units: Arc<Semaphore>,
}

impl Default for BodyRoom {
    fn default() -> Self {
        Self { units: Arc::new(Semaphore::new(UNITS as usize)) }
    }
}

impl BodyRoom {
    /// Room for a body of up to `len` bytes, in the order in which it is asked for; 503 where there is none for a minute.
    pub(crate) async fn take(&self, len: usize) -> Result<OwnedSemaphorePermit> {
        let units = u32::try_from(len.div_ceil(UNIT)).unwrap_or(UNITS).clamp(1, UNITS);
        let taken = timeout(WAIT_MAX, Arc::clone(&self.units).acquire_many_owned(units)).await;
        taken.map_err(|_| Error::busy(BUSY_FOR))?.map_err(Error::internal)
    }
}

#[cfg(test)]
mod tests {
    use domain::git::web::WEB_COMMIT_BODY_MAX;
    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn two_of_the_largest_bodies_have_room_and_a_third_one_waits() {
        let room = BodyRoom::default();
        let (first, second) = (room.take(WEB_COMMIT_BODY_MAX).await.unwrap(), room.take(WEB_COMMIT_BODY_MAX).await);
        assert!(room.take(1).now_or_never().is_none());
        drop(first);
        let small = room.take(WEB_COMMIT_BODY_MAX - UNIT).await.unwrap();
        assert!(room.take(UNIT + 1).now_or_never().is_none());
        let smallest = room.take(UNIT).now_or_never().unwrap().unwrap();
        assert!(room.take(0).now_or_never().is_none());
        drop((second, small, smallest));
        // Whatever is larger than all of it comes by itself.
        let all = room.take(usize::MAX).now_or_never().unwrap().unwrap();
        assert!(room.take(1).now_or_never().is_none());
        drop(all);
        assert!(room.take(1).now_or_never().is_some());
    }
}
