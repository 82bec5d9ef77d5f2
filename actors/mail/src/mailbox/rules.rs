//! What a mailbox does by itself with what arrives, in the commit that files it: senders who are kept out, filters, and answers while
//! its people are away. What is imported, and what the mailbox writes, is left as it is.

use std::collections::{BTreeMap, BTreeSet};

use domain::{
    Email, Result, Timestamp,
    id::{MailLabelId, MailMessageId},
    mail::{
        ANSWERED_FOR, ANSWERS_UP_TO, Conversation, FORWARDS_MAX, Filtered, Leaving, MailBox, MailFilter, MailMessage,
        MailQuestion, Mailbox, MessageFacts, Placed, Point, RawId, SPAM_FROM, Vacation, answered, may_be_passed_on,
        own_message_id, vacation_answer,
    },
};
use kernel::Turn;
use store::{Change, Store};

use super::{Arrived, MailboxOwner, automatic::let_go_later, sending::sender_check};

/// What a mailbox does by itself, as it was when a commit began.
#[derive(Debug)]
pub(super) struct Rules {
    filters: Vec<(MailFilter, MailQuestion)>,
    /// What labels are called, in small letters.
    labels: BTreeMap<MailLabelId, String>,
    blocked: BTreeSet<String>,
    vacation: Option<Vacation>,
    /// How many messages may be sent yet.
    sends_left: u64,
    /// Who is answered in this commit.
    answered: BTreeSet<Email>,
}

/// A message that is being filed.
pub(super) struct Ruled<'r> {
    pub mailbox: &'r Mailbox,
    pub arrived: &'r Arrived,
    pub message: &'r mut MailMessage,
    /// The conversation that it is put into.
    pub conversation: &'r mut Conversation,
    pub now: Timestamp,
}

impl Rules {
    /// Those of a mailbox, as far as they matter for what arrived.
    pub(super) async fn load(turn: &Turn<'_, MailboxOwner>, mailbox: &Mailbox, arrived: &[Arrived]) -> Result<Self> {
        let (store, now) = (&turn.services().store, turn.now());
        let filters = store.mail_filters(mailbox.id).await?.into_iter();
        let asks = |filter: MailFilter| filter.question(now).map(|question| (filter, question));
        let filters: Vec<_> = filters.filter_map(asks).collect();
        let labels = if filters.is_empty() { Vec::new() } else { store.mail_labels(mailbox.id).await? };
        let senders: BTreeSet<&str> =
            arrived.iter().filter_map(|it| it.content.from.as_ref()).map(|from| from.email.as_str()).collect();
        let blocked = store.mail_blocked(mailbox.id, &senders).await?;
        let vacation = Some(store.mail_vacation(mailbox.id).await?).filter(|vacation| vacation.is_on(now));
        let sends = vacation.is_some() || filters.iter().any(|(filter, _)| filter.actions.forward.is_some());
        let may_send = sends && sender_check(turn, mailbox, &mailbox.address).await.is_ok();
        let sent = if may_send { store.mail_sent_in_a_day(mailbox.id, now).await? } else { ANSWERS_UP_TO };
        Ok(Self {
            filters,
            labels: labels.into_iter().map(|label| (label.id, label.folded())).collect(),
            blocked,
            vacation,
            sends_left: ANSWERS_UP_TO.saturating_sub(sent),
            answered: BTreeSet::new(),
        })
    }

    /// Does to a message what the mailbox does by itself; answers go into the change.
    pub(super) async fn apply(&mut self, store: &Store, change: &mut Change, mut it: Ruled<'_>) -> Result<()> {
        let forwards = self.filter(&mut it);
        let from = it.message.people.from.clone();
        let is_own = |email: &str| it.mailbox.addresses().any(|own| own.as_str() == email);
        if let Some(from) = from.filter(|from| it.message.placing.place != MailBox::Spam && !is_own(&from.email)) {
            change.mail_person_heard(it.mailbox.id, &from, it.message.placing.at);
        }
        it.message.verdict.is_answered = self.answer(store, change, &it).await?;
        for to in forwards {
            if self.forward(store, change, &it, &to).await? {
                it.message.verdict.forwarded.push(to.to_string());
            }
        }
        Ok(())
    }

    /// Puts a message where the mailbox's people said that such messages go; to whom it is passed on.
    fn filter(&self, it: &mut Ruled<'_>) -> BTreeSet<Email> {
        let mut forwards = BTreeSet::new();
        let (message, words) = (&mut *it.message, &it.arrived.words);
        let sender = message.people.from.as_ref().map(|from| from.email.as_str()).unwrap_or_default();
        if self.blocked.contains(sender) {
            message.verdict.points.push(Point { rule: "blocked_sender".to_owned(), tenths: SPAM_FROM });
            (message.placing.place, message.verdict.placed) = (MailBox::Spam, Placed::Spam);
            return forwards;
        }
        let mut filtered = Filtered::new(&message.placing, &it.conversation.labels);
        let (at, size, has_file) = (message.placing.at, message.size, message.files.iter().any(|file| !file.inline));
        for (filter, question) in &self.filters {
            let Filtered { place, category, is_unread, is_starred, .. } = filtered;
            let labels = filtered.labels.iter().filter_map(|id| self.labels.get(id).cloned()).collect();
            let is_snoozed = it.conversation.snoozed_until.is_some();
            let facts =
                MessageFacts { words, place, category, is_unread, is_starred, is_snoozed, has_file, labels, at, size };
            if question.holds(&facts) {
                filtered.act(&filter.actions, |id| self.labels.contains_key(&id));
                message.verdict.filters.push(filter.note());
                forwards.extend(filter.actions.forward.iter().filter_map(|to| to.parse::<Email>().ok()));
            }
        }
        message.verdict.placed = if filtered.place == MailBox::Spam { Placed::Spam } else { Placed::Inbox };
        filtered.write(&mut message.placing, &mut it.conversation.labels);
        forwards
    }

    /// Passes a message on to somebody of the organization; whether it did.
    async fn forward(&mut self, store: &Store, change: &mut Change, it: &Ruled<'_>, to: &Email) -> Result<bool> {
        let (mailbox, arrived) = (it.mailbox, it.arrived);
        let (arrival, content, place) = (&arrived.arrival, &arrived.content, it.message.placing.place);
        if self.sends_left == 0
            || it.message.verdict.forwarded.len() >= FORWARDS_MAX
            || !may_be_passed_on(mailbox, arrival, content, place, to)
            || !store.mail_is_of_org(mailbox.org_id, to).await?
        {
            return Ok(false);
        }
        let id = MailMessageId::new(it.now);
        change.mail_forward_add(mailbox.id, id, arrival.raw_id, it.now);
        self.send(change, it, (id, arrival.raw_id), to);
        Ok(true)
    }

    /// Has a message that stands in no conversation be on its way.
    fn send(&mut self, change: &mut Change, it: &Ruled<'_>, (message_id, raw_id): (MailMessageId, RawId), to: &Email) {
        let (mailbox, now) = (it.mailbox, it.now);
        let (org_id, mailbox_id) = (mailbox.org_id, mailbox.id);
        let leaving = Leaving { org_id, mailbox_id, message_id, raw_id, sender: &mailbox.address };
        change.mail_outgoing_add(now, &[leaving.to(to, now)]);
        let_go_later(change, mailbox, now);
        self.sends_left -= 1;
    }

    /// Answers who wrote, where the mailbox's people are away; whether it did.
    async fn answer(&mut self, store: &Store, change: &mut Change, it: &Ruled<'_>) -> Result<bool> {
        let Some(vacation) = self.vacation.as_ref().filter(|_| self.sends_left > 0) else { return Ok(false) };
        let (mailbox, now, content) = (it.mailbox, it.now, &it.arrived.content);
        let Some(to) = answered(mailbox, &it.arrived.arrival, content, it.message.placing.place) else {
            return Ok(false);
        };
        if self.answered.contains(&to)
            || store.mail_vacation_told(mailbox.id, &to, now.before(ANSWERED_FOR)).await?
            || (vacation.only_contacts && !store.mail_wrote_to(mailbox.id, &to).await?)
            || (vacation.only_org && !store.mail_is_of_org(mailbox.org_id, &to).await?)
        {
            return Ok(false);
        }
        let id = MailMessageId::new(now);
        let message_id = own_message_id(id, &mailbox.address);
        let bytes = vacation_answer(vacation, mailbox, (&to, content), &message_id, now);
        let raw = store.mail_raw_write(mailbox.org_id, bytes.into()).await?;
        change.mail_automatic_add(mailbox.id, id, &raw, now);
        self.send(change, it, (id, raw.id()), &to);
        change.mail_vacation_tell(mailbox.id, &to, now);
        self.answered.insert(to);
        Ok(true)
    }
}
