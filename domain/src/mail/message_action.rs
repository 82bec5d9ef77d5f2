//! What people do with single messages: what they do with a conversation, as if it had no others. Labels are the conversation's.

use std::collections::BTreeSet;

use super::{Acted, MailBox, Placing, ThreadAction, ThreadState};
use crate::{Error, Result, Timestamp, id::MailMessageId};

/// Beside the contract's text for conversations.
pub const MESSAGE_TRASH_FIRST: &str = "Move the message to trash first.";
/// The actions on messages: all on conversations but to have them come back later.
pub const MESSAGE_ACTIONS: [&str; 12] =
    ["archive", "inbox", "trash", "spam", "not_spam", "delete", "read", "unread", "star", "unstar", "label", "unlabel"];

/// What became of a conversation, some of whose messages something was done with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActedOn {
    /// It is as it was.
    Same,
    /// It is so now, with so many of its messages changed.
    Changed(ThreadState, usize),
    /// Its messages with these ids are gone; with all of them it is.
    Deleted(BTreeSet<MailMessageId>),
}

impl ThreadState {
    /// What an action on some of its messages makes of it. Those that it doesn't have are passed over.
    ///
    /// 400 for deleting what lies elsewhere than in trash and spam.
    pub fn act_on(&self, ids: &BTreeSet<MailMessageId>, action: ThreadAction, now: Timestamp) -> Result<ActedOn> {
        let is_named = |it: &&Placing| ids.contains(&it.id);
        let part = Self { messages: self.messages.iter().filter(is_named).cloned().collect(), ..self.clone() };
        if part.messages.is_empty() {
            return Ok(ActedOn::Same);
        }
        let mut acted = match action {
            ThreadAction::Delete if part.messages.iter().any(|it| !is_thrown(it)) => {
                return Err(Error::bad_request("not_in_trash", MESSAGE_TRASH_FIRST));
            }
            ThreadAction::Delete => {
                return Ok(ActedOn::Deleted(part.messages.iter().map(|it| it.id).collect()));
            }
            // Of a conversation the newest one is meant, of messages each.
            ThreadAction::Unread | ThreadAction::Star => part.clone(),
            _ => match part.act(action, now)? {
                Acted::Changed(after) => after,
                Acted::Same | Acted::Deleted => return Ok(ActedOn::Same),
            },
        };
        for it in &mut acted.messages {
            it.is_unread |= action == ThreadAction::Unread && it.is_incoming;
            it.is_starred |= action == ThreadAction::Star;
        }
        let changed = part.messages.iter().zip(&acted.messages).filter(|(before, after)| before != after).count();
        let mut after = Self { labels: acted.labels, ..self.clone() };
        for it in acted.messages {
            if let Some(place) = after.messages.iter_mut().find(|other| other.id == it.id) {
                *place = it;
            }
        }
        if action == ThreadAction::Inbox {
            after.snoozed_until = None;
        }
        if after == *self {
            return Ok(ActedOn::Same);
        }
        let is_of_the_whole = after.labels != self.labels || changed == 0;
        Ok(ActedOn::Changed(after, if is_of_the_whole { part.messages.len() } else { changed }))
    }
}

const fn is_thrown(it: &Placing) -> bool {
    matches!(it.place, MailBox::Trash | MailBox::Spam)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        id::{MailLabelId, MailThreadId},
        mail::MailCategory,
    };

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    fn state(places: &[MailBox]) -> ThreadState {
        let message = |(at, place): (i64, &MailBox)| Placing {
            id: MailMessageId::new(NOW),
            place: *place,
            is_incoming: *place != MailBox::Sent,
            is_unread: false,
            is_starred: false,
            category: MailCategory::Primary,
            at: Timestamp(at),
        };
        ThreadState {
            id: MailThreadId::new(NOW),
            messages: (1..).zip(places).map(message).collect(),
            labels: BTreeSet::new(),
            snoozed_until: None,
            raised_at: None,
        }
    }

    fn on(state: &ThreadState, places: &[usize], action: ThreadAction) -> ActedOn {
        let ids = places.iter().map(|place| state.messages[*place].id).collect();
        state.act_on(&ids, action, NOW).expect("an action")
    }

    #[test]
    fn only_the_named_messages_change() {
        let it = state(&[MailBox::Inbox, MailBox::Inbox, MailBox::Sent]);
        let ActedOn::Changed(after, 1) = on(&it, &[0], ThreadAction::Trash) else { panic!("{it:?}") };
        let places: Vec<MailBox> = after.messages.iter().map(|it| it.place).collect();
        assert_eq!(places, [MailBox::Trash, MailBox::Inbox, MailBox::Sent]);
        let ActedOn::Changed(after, 2) = on(&it, &[0, 1, 2], ThreadAction::Unread) else { panic!("{it:?}") };
        assert_eq!(after.messages.iter().map(|it| it.is_unread).collect::<Vec<_>>(), [true, true, false]);
        let ActedOn::Changed(after, 1) = on(&it, &[0], ThreadAction::Star) else { panic!("{it:?}") };
        assert_eq!(after.messages.iter().map(|it| it.is_starred).collect::<Vec<_>>(), [true, false, false]);
        assert_eq!(on(&it, &[0], ThreadAction::Read), ActedOn::Same);
        assert_eq!(on(&it, &[], ThreadAction::Trash), ActedOn::Same);
        let other = BTreeSet::from([MailMessageId::new(NOW)]);
        assert_eq!(it.act_on(&other, ThreadAction::Star, NOW).expect("an action"), ActedOn::Same);
    }

    #[test]
    fn a_label_is_the_conversation_s() {
        let (it, label) = (state(&[MailBox::Inbox, MailBox::Inbox]), MailLabelId::new(NOW));
        let ActedOn::Changed(after, 1) = on(&it, &[1], ThreadAction::Label(label)) else { panic!("{it:?}") };
        assert_eq!((after.labels.clone(), after.messages.clone()), (BTreeSet::from([label]), it.messages));
        assert_eq!(on(&after, &[0], ThreadAction::Label(label)), ActedOn::Same);
    }

    #[test]
    fn only_what_lies_in_trash_or_spam_is_deleted() {
        let it = state(&[MailBox::Trash, MailBox::Spam, MailBox::Inbox]);
        let ids = |places: &[usize]| places.iter().map(|place| it.messages[*place].id).collect::<BTreeSet<_>>();
        assert_eq!(on(&it, &[0, 1], ThreadAction::Delete), ActedOn::Deleted(ids(&[0, 1])));
        let refused = it.act_on(&ids(&[0, 2]), ThreadAction::Delete, NOW);
        assert_eq!(refused.expect_err("a refusal").to_string(), MESSAGE_TRASH_FIRST);
    }
}
