//! How many conversations stand in each view, kept in step with them: nobody counts when somebody asks.

use std::collections::BTreeMap;

use super::{MailCategory, ThreadState, View};

/// Where a conversation stands: a view, and the category that it is listed under there.
pub type Standing = (String, MailCategory);

/// How many conversations stand somewhere, and how many of them have something unread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// All of them.
    pub threads: i64,
    /// Those with something unread.
    pub unread: i64,
}

/// By how much counts change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally(BTreeMap<Standing, Count>);

impl Tally {
    /// Adds what a conversation was, with -1, or is now, with 1.
    pub fn add(&mut self, thread: &ThreadState, times: i64) {
        let unread = i64::from(thread.unread() > 0);
        for view in thread.views() {
            let count = self.0.entry((View::place(view), thread.category())).or_default();
            count.threads += times;
            count.unread += times * unread;
        }
    }

    /// What changes, in order; what adds up to nothing is left out.
    pub fn changes(&self) -> impl Iterator<Item = (&Standing, Count)> {
        self.0.iter().map(|(standing, count)| (standing, *count)).filter(|(_, count)| *count != Count::default())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::{
        Timestamp,
        id::{MailLabelId, MailMessageId, MailThreadId},
        mail::{Acted, MailBox, Placing, ThreadAction},
    };

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    fn message(number: i64, place: MailBox) -> Placing {
        let at = Timestamp(NOW.0 + number);
        let is_incoming = !matches!(place, MailBox::Sent | MailBox::Drafts);
        let category = MailCategory::ALL[usize::try_from(number).unwrap_or(0) % 4];
        Placing {
            id: MailMessageId::new(at),
            place,
            is_incoming,
            is_unread: is_incoming,
            is_starred: false,
            category,
            at,
        }
    }

    fn thread(messages: Vec<Placing>) -> ThreadState {
        ThreadState {
            id: MailThreadId::new(NOW),
            messages,
            labels: BTreeSet::new(),
            snoozed_until: None,
            raised_at: None,
        }
    }

    fn changed(thread: &ThreadState, action: ThreadAction) -> ThreadState {
        match thread.act(action, NOW).expect("an action") {
            Acted::Changed(after) => after,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_conversation_stands_in_each_view_that_holds_a_message_of_it() {
        let it = thread(vec![message(0, MailBox::Inbox), message(1, MailBox::Sent), message(2, MailBox::Trash)]);
        assert_eq!(it.views(), BTreeSet::from([View::Inbox, View::Sent, View::Trash, View::All]));
        assert_eq!((it.main_box(), it.unread()), (MailBox::Inbox, 2));
        let away = changed(&it, ThreadAction::Trash);
        assert_eq!(away.views(), BTreeSet::from([View::Trash]));
        let back = changed(&away, ThreadAction::Inbox);
        assert_eq!(back.views(), BTreeSet::from([View::Inbox, View::Sent, View::All]));
        assert_eq!(thread(vec![message(0, MailBox::Sent)]).main_box(), MailBox::Archive);
    }

    #[test]
    fn only_what_is_away_is_deleted() {
        let it = thread(vec![message(0, MailBox::Spam), message(1, MailBox::Archive)]);
        assert_eq!(it.act(ThreadAction::Delete, NOW).unwrap_err().to_string(), "Move the conversation to trash first.");
        let away = changed(&it, ThreadAction::Trash);
        assert_eq!(away.act(ThreadAction::Delete, NOW).expect("deleted"), Acted::Deleted);
    }

    #[test]
    fn unread_and_star_are_of_the_newest_message() {
        let it = thread(vec![message(0, MailBox::Inbox), message(1, MailBox::Inbox), message(2, MailBox::Sent)]);
        let read = changed(&it, ThreadAction::Read);
        assert_eq!(read.act(ThreadAction::Read, NOW).expect("an action"), Acted::Same);
        let unread = changed(&read, ThreadAction::Unread);
        assert_eq!(unread.messages.iter().map(|it| it.is_unread).collect::<Vec<_>>(), [false, true, false]);
        let starred = changed(&it, ThreadAction::Star);
        assert_eq!(starred.messages.iter().map(|it| it.is_starred).collect::<Vec<_>>(), [false, false, true]);
        assert!(!changed(&starred, ThreadAction::Unstar).is_starred());
    }

    #[test]
    fn what_is_snoozed_is_archived_and_comes_back_on_top() {
        let it = thread(vec![message(0, MailBox::Inbox)]);
        let asleep = changed(&it, ThreadAction::Snooze(Timestamp(NOW.0 + 1)));
        assert_eq!(asleep.views(), BTreeSet::from([View::Archive, View::All, View::Snoozed]));
        let mut awake = asleep;
        let later = Timestamp(NOW.0 + 3_600_000);
        awake.come_back(later);
        assert_eq!(awake.views(), BTreeSet::from([View::Inbox, View::All]));
        assert_eq!((awake.sort_at(), awake.snoozed_until), (later, None));
    }

    #[test]
    fn a_snooze_ends_between_a_minute_and_366_days_from_now() {
        let read = |millis: i64| ThreadAction::read("snooze", None, Some(Timestamp(NOW.0 + millis)), NOW);
        let day = 86_400_000;
        for (millis, fits) in
            [(59_999, false), (60_000, true), (60_001, true), (366 * day, true), (366 * day + 1, false)]
        {
            assert_eq!(read(millis).is_ok(), fits, "{millis}");
        }
        let without = ThreadAction::read("snooze", None, None, NOW).unwrap_err();
        assert_eq!(without.to_string(), "Choose when the conversation comes back.");
        for name in ["label", "unlabel"] {
            assert_eq!(ThreadAction::read(name, None, None, NOW).unwrap_err().to_string(), "Choose a label.");
        }
        assert_eq!(ThreadAction::read("shred", None, None, NOW).expect("no refusal"), None);
    }

    fn actions() -> impl Strategy<Value = ThreadAction> {
        let label = MailLabelId::new(NOW);
        prop::sample::select(vec![
            ThreadAction::Archive,
            ThreadAction::Inbox,
            ThreadAction::Trash,
            ThreadAction::Spam,
            ThreadAction::NotSpam,
            ThreadAction::Read,
            ThreadAction::Unread,
            ThreadAction::Star,
            ThreadAction::Unstar,
            ThreadAction::Label(label),
            ThreadAction::Unlabel(label),
            ThreadAction::Snooze(Timestamp(NOW.0 + 60_000)),
            ThreadAction::Unsnooze,
        ])
    }

    proptest! {
        #[test]
        fn counts_kept_in_step_equal_counts_made_anew(
            places in prop::collection::vec(prop::sample::select(MailBox::ALL.to_vec()), 1..6),
            plan in prop::collection::vec(actions(), 0..30),
        ) {
            let mut it = thread((0..).zip(places).map(|(number, place)| message(number, place)).collect());
            let mut kept = Tally::default();
            kept.add(&it, 1);
            for action in plan {
                if let Acted::Changed(after) = it.act(action, NOW).expect("an action") {
                    kept.add(&it, -1);
                    kept.add(&after, 1);
                    it = after;
                }
                let mut anew = Tally::default();
                anew.add(&it, 1);
                prop_assert!(kept.changes().eq(anew.changes()));
            }
        }
    }
}
