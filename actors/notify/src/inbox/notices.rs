//! Reading, acknowledging and deleting notices.

use domain::{App, Result, id::NoticeId, notify::CancelReason};
use kernel::{Command, Handle, Turn};
use serde_json::json;
use store::{Change, Notice};

use super::{Inbox, no_notice, tell_own};

/// Marks notices as read; those that the person doesn't have are passed over.
#[derive(Clone, Debug)]
pub struct ReadNotices(pub Vec<NoticeId>);

/// Marks all notices as read, or all of one app.
#[derive(Clone, Copy, Debug)]
pub struct ReadAllNotices(pub Option<App>);

/// Acknowledges a notice that no escalation stands behind; answers whether this was the acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct AckNotice(pub NoticeId);

/// Deletes a notice.
#[derive(Clone, Copy, Debug)]
pub struct DeleteNotice(pub NoticeId);

impl Command for ReadNotices {
    type Reply = ();

    const NAME: &'static str = "read_notices";
}

impl Handle<ReadNotices> for Inbox {
    async fn handle(&mut self, ReadNotices(ids): &ReadNotices, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (store, user_id) = (&turn.services().store, *turn.key());
        let unread = store.notices_unread(user_id, ids).await?;
        if unread.is_empty() {
            return Ok(());
        }
        let left = store.notices_unread_count(user_id).await?.saturating_sub(unread.len() as u64);
        let mut change = Change::new();
        change.notices_read(user_id, &unread);
        tell_own(&mut change, turn, json!({ "type": "notices.read", "noticeIds": unread, "unread": left }));
        turn.commit(change).await
    }
}

impl Command for ReadAllNotices {
    type Reply = ();

    const NAME: &'static str = "read_all_notices";
}

impl Handle<ReadAllNotices> for Inbox {
    async fn handle(&mut self, ReadAllNotices(app): &ReadAllNotices, turn: &mut Turn<'_, Self>) -> Result<()> {
        let user_id = *turn.key();
        let unread = turn.services().store.notices_unread_by_app(user_id).await?;
        let is_meant = |of: App| app.is_none_or(|app| app == of);
        if !unread.iter().any(|(of, _)| is_meant(*of)) {
            return Ok(());
        }
        let left: u64 = unread.iter().filter(|(of, _)| !is_meant(*of)).map(|(_, count)| count).sum();
        let mut change = Change::new();
        change.notices_read_all(user_id, *app);
        tell_own(&mut change, turn, json!({ "type": "notices.read", "all": true, "app": app, "unread": left }));
        turn.commit(change).await
    }
}

impl Command for AckNotice {
    type Reply = bool;

    const NAME: &'static str = "ack_notice";
}

impl Handle<AckNotice> for Inbox {
    async fn handle(&mut self, AckNotice(id): &AckNotice, turn: &mut Turn<'_, Self>) -> Result<bool> {
        let notice = own(turn, *id).await?;
        if !notice.require_ack || notice.acked_at.is_some() {
            return Ok(false);
        }
        let (user_id, now) = (*turn.key(), turn.now());
        let left = unread_without(turn, &notice).await?;
        let mut change = Change::new();
        change.notice_ack(user_id, *id, now);
        change.deliveries_cancel_of_notice(*id, CancelReason::Acknowledged, now);
        let message = json!({ "type": "notice.acked", "noticeId": id, "ackedAt": now, "unread": left });
        tell_own(&mut change, turn, message);
        turn.commit(change).await?;
        Ok(true)
    }
}

impl Command for DeleteNotice {
    type Reply = ();

    const NAME: &'static str = "delete_notice";
}

impl Handle<DeleteNotice> for Inbox {
    async fn handle(&mut self, DeleteNotice(id): &DeleteNotice, turn: &mut Turn<'_, Self>) -> Result<()> {
        let notice = own(turn, *id).await?;
        let left = unread_without(turn, &notice).await?;
        let mut change = Change::new();
        change.notice_delete(*turn.key(), *id);
        if notice.escalation_id.is_none() {
            // What an escalation sends ends with an acknowledgement only.
            change.deliveries_cancel_of_notice(*id, CancelReason::NoticeDeleted, turn.now());
        }
        tell_own(&mut change, turn, json!({ "type": "notice.deleted", "noticeId": id, "unread": left }));
        turn.commit(change).await
    }
}

async fn own(turn: &Turn<'_, Inbox>, id: NoticeId) -> Result<Notice> {
    turn.services().store.notice(*turn.key(), id).await?.ok_or_else(no_notice)
}

/// How many notices are left unread once this one is read or gone.
async fn unread_without(turn: &Turn<'_, Inbox>, notice: &Notice) -> Result<u64> {
    let unread = turn.services().store.notices_unread_count(*turn.key()).await?;
    Ok(unread.saturating_sub(u64::from(!notice.is_read)))
}
