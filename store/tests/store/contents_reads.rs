//! Contents that are read while nothing refers to them any more.

use std::time::Duration;

use domain::id::OrgId;
use futures::TryStreamExt;
use store::{
    Clock,
    blobs::contents::{DOOMED_FOR, HELD_FOR, HOLD_AFTER},
    testing,
};

use crate::{
    START,
    contents::{bytes, files, put, rows, unref},
    open,
};

const LEN: usize = 3 * 1024 * 1024;

#[tokio::test]
async fn what_one_node_reads_for_long_no_node_sweeps() {
    let moment = Duration::from_millis(1);
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let (reads, sweeps) = (open(&scratch, &clock).await, open(&scratch, &clock).await);
        let (org_id, text) = (OrgId::new(START), bytes(LEN, 9));
        let content = put(&reads, org_id, &text).await;
        let download = reads.content_read(org_id, content.id(), None).await.expect("reads").expect("is there");
        unref(&reads, org_id, content.id()).await.expect("commits");
        clock.advance(HOLD_AFTER - moment);
        assert_eq!(reads.contents_hold_read().await, Ok(0));
        clock.advance(moment);
        assert_eq!(reads.contents_hold_read().await, Ok(1));
        clock.set(START.after(DOOMED_FOR));
        assert_eq!(sweeps.contents_sweep_all(10).await, Ok(0));
        clock.set(START.after(HOLD_AFTER).after(HELD_FOR).before(moment));
        assert_eq!(sweeps.contents_sweep_all(10).await, Ok(0));
        assert_eq!(reads.contents_hold_read().await, Ok(1), "is renewed");
        clock.advance(moment);
        assert_eq!(sweeps.contents_sweep_all(10).await, Ok(0));
        // Who sweeps knows its own reads, however late it is to hold them.
        clock.advance(HELD_FOR);
        assert_eq!(reads.contents_sweep_all(10).await, Ok(0));
        assert_eq!(download.bytes.map_ok(|bytes| bytes.to_vec()).try_concat().await.expect("reads"), text);
        assert_eq!(reads.contents_hold_read().await, Ok(0));
        assert_eq!(sweeps.contents_sweep_all(10).await, Ok(0), "the hold stands until it ends");
        clock.advance(HELD_FOR);
        assert_eq!(sweeps.contents_sweep_all(10).await, Ok(2));
        assert_eq!((rows(&scratch).await, files(&scratch).len()), ([0; 4], 0));
    }
}
