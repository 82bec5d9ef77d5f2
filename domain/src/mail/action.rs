//! What people do with conversations (contract B 4.8), as one function from what is there to what is there afterwards.

use std::{ops::RangeInclusive, time::Duration};

use super::{
    MailBox, ThreadState,
    refusals::{choose_a_label, comes_back_when, trash_first},
};
use crate::{Result, Timestamp, id::MailLabelId};

/// How far ahead a conversation may come back.
pub const SNOOZE_FOR: RangeInclusive<Duration> = Duration::from_secs(60)..=Duration::from_hours(366 * 24);
/// Conversations that one request names (contract B 4.8).
pub const ACTION_THREADS: RangeInclusive<usize> = 1..=100;

/// What is done with conversations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadAction {
    /// Out of the inbox.
    Archive,
    /// Into the inbox, from anywhere.
    Inbox,
    /// All of it into the trash.
    Trash,
    /// All of it is spam.
    Spam,
    /// What is spam goes to the inbox.
    NotSpam,
    /// For good.
    Delete,
    /// All of it was read.
    Read,
    /// The newest message that came in wasn't.
    Unread,
    /// The newest message gets a star.
    Star,
    /// No message has one.
    Unstar,
    /// It gets a label.
    Label(MailLabelId),
    /// It loses a label.
    Unlabel(MailLabelId),
    /// Out of the inbox until then.
    Snooze(Timestamp),
    /// Back into the inbox now.
    Unsnooze,
}

impl ThreadAction {
    /// The contract's names.
    pub const NAMES: [&'static str; 14] = [
        "archive", "inbox", "trash", "spam", "not_spam", "delete", "read", "unread", "star", "unstar", "label",
        "unlabel", "snooze", "unsnooze",
    ];

    /// The action with this name, with what it needs; none for a name that is no action's.
    ///
    /// 400 for a label's without one, and for a snooze that doesn't end between a minute and 366 days from now.
    pub fn read(
        name: &str,
        label: Option<MailLabelId>,
        until: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<Option<Self>> {
        Ok(Some(match name {
            "archive" => Self::Archive,
            "inbox" => Self::Inbox,
            "trash" => Self::Trash,
            "spam" => Self::Spam,
            "not_spam" => Self::NotSpam,
            "delete" => Self::Delete,
            "read" => Self::Read,
            "unread" => Self::Unread,
            "star" => Self::Star,
            "unstar" => Self::Unstar,
            "label" => Self::Label(label.ok_or_else(choose_a_label)?),
            "unlabel" => Self::Unlabel(label.ok_or_else(choose_a_label)?),
            "snooze" => Self::Snooze(snooze_check(until, now)?),
            "unsnooze" => Self::Unsnooze,
            _ => return Ok(None),
        }))
    }
}

fn snooze_check(until: Option<Timestamp>, now: Timestamp) -> Result<Timestamp> {
    let (from, to) = (now.after(*SNOOZE_FOR.start()), now.after(*SNOOZE_FOR.end()));
    until.filter(|until| (from..=to).contains(until)).ok_or_else(comes_back_when)
}

/// What became of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acted {
    /// It is as it was.
    Same,
    /// It is so now.
    Changed(ThreadState),
    /// It is gone.
    Deleted,
}

impl ThreadState {
    /// What the action makes of it.
    ///
    /// 400 for deleting what lies elsewhere than in trash and spam.
    pub fn act(&self, action: ThreadAction, now: Timestamp) -> Result<Acted> {
        let mut after = self.clone();
        match action {
            ThreadAction::Archive => after.move_from(&[MailBox::Inbox], MailBox::Archive),
            ThreadAction::Inbox => {
                after.move_from(&[MailBox::Archive, MailBox::Spam, MailBox::Trash], MailBox::Inbox);
                after.snoozed_until = None;
            }
            ThreadAction::Trash | ThreadAction::Spam => {
                let to = if action == ThreadAction::Trash { MailBox::Trash } else { MailBox::Spam };
                after.move_from(&MailBox::THROWN_FROM, to);
                after.snoozed_until = None;
            }
            ThreadAction::NotSpam => after.move_from(&[MailBox::Spam], MailBox::Inbox),
            ThreadAction::Delete => {
                let is_away = |place: MailBox| matches!(place, MailBox::Trash | MailBox::Spam);
                let may_go = self.messages.iter().all(|it| is_away(it.place));
                return if may_go { Ok(Acted::Deleted) } else { Err(trash_first()) };
            }
            ThreadAction::Read => after.messages.iter_mut().for_each(|it| it.is_unread = false),
            ThreadAction::Unread => {
                let newest = after.messages.iter_mut().filter(|it| it.is_incoming).max_by_key(|it| (it.at, it.id));
                if let Some(newest) = newest {
                    newest.is_unread = true;
                }
            }
            ThreadAction::Star => {
                let newest = after.messages.iter_mut().max_by_key(|it| (it.at, it.id));
                if let Some(newest) = newest {
                    newest.is_starred = true;
                }
            }
            ThreadAction::Unstar => after.messages.iter_mut().for_each(|it| it.is_starred = false),
            ThreadAction::Label(id) => {
                after.labels.insert(id);
            }
            ThreadAction::Unlabel(id) => {
                after.labels.remove(&id);
            }
            ThreadAction::Snooze(until) => {
                after.move_from(&[MailBox::Inbox], MailBox::Archive);
                after.snoozed_until = Some(until);
            }
            ThreadAction::Unsnooze => after.come_back(now),
        }
        Ok(if after == *self { Acted::Same } else { Acted::Changed(after) })
    }

    /// Into the inbox again, at this moment's place; nothing where it isn't snoozed.
    pub fn come_back(&mut self, now: Timestamp) {
        if self.snoozed_until.take().is_some() {
            self.move_from(&[MailBox::Archive], MailBox::Inbox);
            self.raised_at = Some(now);
        }
    }

    /// What the mailbox wrote itself never goes to the inbox, but back to what was sent.
    fn move_from(&mut self, from: &[MailBox], to: MailBox) {
        for message in self.messages.iter_mut().filter(|it| from.contains(&it.place)) {
            message.place = if to == MailBox::Inbox && !message.is_incoming { MailBox::Sent } else { to };
        }
    }
}
