//! Rows that nobody folds: the node that wrote them died, and nobody has opened the page since.
//!
//! Nothing is lost of them, but the page's content doesn't have them yet. Each node looks for such rows every now and then,
//! and has their pages folded. Two nodes that do so at once fold one after the other.

use std::time::{Duration, Instant};

use domain::{Context, Origin, Result};
use kernel::{Command, Handle, Registry, Turn};
use store::Store;
use tokio::task::JoinHandle;

use super::{PageSession, join::open};

/// How often is looked.
const LOOK_EVERY: Duration = Duration::from_secs(15);
/// How old a row is when nobody can be about to fold it.
const STRANDED_AFTER: Duration = Duration::from_secs(15);
/// How many pages are folded at a look.
const PAGES_MAX: u64 = 50;
/// How long a page may take.
const SETTLED_WITHIN: Duration = Duration::from_secs(30);

/// Fold what was written, whether anybody has the page open or not.
#[derive(Clone, Copy, Debug)]
pub struct SettleStranded;

impl Command for SettleStranded {
    type Reply = ();

    const NAME: &'static str = "settle_stranded";
}

impl Handle<SettleStranded> for PageSession {
    async fn handle(&mut self, _: &SettleStranded, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (page_id, store) = (*turn.key(), &turn.services().services.store);
        if self.live.is_none() {
            let (Some(page), Some(_)) = (store.page_head(page_id).await?, store.page_history(page_id).await?) else {
                return Ok(());
            };
            self.live = Some(open(turn, page).await?);
        }
        self.settle(turn).await;
        Ok(())
    }
}

/// What looks for stranded rows, until it is stopped.
#[derive(Debug)]
pub struct StrandedLooker(JoinHandle<()>);

impl StrandedLooker {
    /// Begins to look, now and every now and then.
    pub fn start(store: Store, sessions: Registry<PageSession>) -> Self {
        Self(tokio::spawn(async move {
            loop {
                look(&store, &sessions).await;
                store.clock().sleep_until(store.now().after(LOOK_EVERY)).await;
            }
        }))
    }

    /// Looks no more.
    pub fn stop(&self) {
        self.0.abort();
    }
}

impl Drop for StrandedLooker {
    fn drop(&mut self) {
        self.stop();
    }
}

async fn look(store: &Store, sessions: &Registry<PageSession>) {
    let pages = match store.pages_unfolded(store.now().before(STRANDED_AFTER), PAGES_MAX).await {
        Ok(pages) => pages,
        Err(error) => return tracing::warn!(%error, "pages that nobody folds can't be looked for"),
    };
    for page_id in pages {
        // One after the other: nobody waits for them.
        let context = Context::system(Origin::Actor, Instant::now() + SETTLED_WITHIN);
        if let Err(error) = sessions.ask(&page_id, SettleStranded, context).await {
            tracing::warn!(%error, page = %page_id, "a page was not folded; it is looked for again");
        }
    }
}
