//! A mailbox's labels. Names are unique over all of them, so each command reads them all: there are 500 at most.
//!
//! A label that is deleted is no label from that commit on. It is taken from conversations a batch at a time: some in the same
//! commit, the others by a timer that sets itself again until none has it.

use domain::{
    Result,
    id::{MailLabelId, OrgId},
    mail::{
        LabelColor, MailLabel, Mailbox, label_count_check, label_name_check, label_name_is_free, labels_renamed,
        no_label,
    },
};
use kernel::{Command, Handle, Resource, Turn};

use super::{Draft, MailboxOwner, open};

/// How the timers are called that take a label from conversations.
pub(super) const UNLABEL: &str = "unlabel:";
/// Conversations that one commit takes a label from.
const AT_ONCE: u32 = 200;

/// Makes a label.
#[derive(Clone, Debug)]
pub struct LabelCreate {
    /// The organization.
    pub org_id: OrgId,
    /// What it is called.
    pub name: String,
    /// Its color; the one that is used least where nothing is said.
    pub color: Option<LabelColor>,
}

impl Command for LabelCreate {
    type Reply = MailLabel;

    const NAME: &'static str = "label_create";
}

impl Handle<LabelCreate> for MailboxOwner {
    async fn handle(&mut self, command: &LabelCreate, turn: &mut Turn<'_, Self>) -> Result<MailLabel> {
        let (mailbox, now) = (open(turn, command.org_id).await?, turn.now());
        let labels = turn.services().store.mail_labels(mailbox.id).await?;
        let name = label_name_check("name", &command.name)?;
        label_name_is_free(&labels, &name, None)?;
        label_count_check(labels.len())?;
        let color = command.color.unwrap_or_else(|| LabelColor::least_used(&labels));
        let label = MailLabel { id: MailLabelId::new(now), name, color };
        let mut draft = self.draft(&mailbox);
        draft.change.mail_label_add(mailbox.id, &label, now);
        draft.labels.insert(label.id);
        self.commit(turn, &mailbox, draft).await?;
        Ok(label)
    }
}

/// Changes a label; nothing of what is `None`. The labels that lie in it go along with its name.
#[derive(Clone, Debug)]
pub struct LabelUpdate {
    /// The organization.
    pub org_id: OrgId,
    /// Which label.
    pub id: MailLabelId,
    /// What it is called.
    pub name: Option<String>,
    /// Its color.
    pub color: Option<LabelColor>,
}

impl Command for LabelUpdate {
    type Reply = MailLabel;

    const NAME: &'static str = "label_update";
}

impl Handle<LabelUpdate> for MailboxOwner {
    async fn handle(&mut self, command: &LabelUpdate, turn: &mut Turn<'_, Self>) -> Result<MailLabel> {
        let mailbox = open(turn, command.org_id).await?;
        let labels = turn.services().store.mail_labels(mailbox.id).await?;
        let label = labels.iter().find(|it| it.id == command.id).ok_or_else(no_label)?;
        let name = command.name.as_deref().map(|name| label_name_check("name", name)).transpose()?;
        let name = name.unwrap_or_else(|| label.name.clone());
        let renamed = labels_renamed(&labels, label.id, &name)?;
        let after = MailLabel { id: label.id, name, color: command.color.unwrap_or(label.color) };
        let changed = labels.iter().filter_map(|it| {
            let name = renamed.get(&it.id)?.clone();
            let color = if it.id == after.id { after.color } else { it.color };
            let now = MailLabel { id: it.id, name, color };
            (now != *it).then_some(now)
        });
        let changed: Vec<MailLabel> = changed.collect();
        if changed.is_empty() {
            return Ok(after);
        }
        let mut draft = self.draft(&mailbox);
        draft.change.mail_labels_set(mailbox.id, &changed);
        draft.labels.extend(changed.iter().map(|it| it.id));
        self.commit(turn, &mailbox, draft).await?;
        Ok(after)
    }
}

/// Deletes a label; conversations stay.
#[derive(Clone, Debug)]
pub struct LabelDelete {
    /// The organization.
    pub org_id: OrgId,
    /// Which label.
    pub id: MailLabelId,
}

impl Command for LabelDelete {
    type Reply = ();

    const NAME: &'static str = "label_delete";
}

impl Handle<LabelDelete> for MailboxOwner {
    async fn handle(&mut self, command: &LabelDelete, turn: &mut Turn<'_, Self>) -> Result<()> {
        let mailbox = open(turn, command.org_id).await?;
        turn.services().store.mail_label(mailbox.id, command.id).await?.ok_or_else(no_label)?;
        let mut draft = self.draft(&mailbox);
        draft.change.mail_label_remove(mailbox.id, command.id);
        draft.labels.insert(command.id);
        self.unlabel(turn, &mailbox, &mut draft, command.id).await?;
        self.commit(turn, &mailbox, draft).await
    }
}

impl MailboxOwner {
    /// Goes on taking a label from conversations that is deleted.
    pub(super) async fn unlabel_on(
        &mut self,
        turn: &mut Turn<'_, Self>,
        mailbox: &Mailbox,
        id: MailLabelId,
    ) -> Result<()> {
        let mut draft = self.draft(mailbox);
        self.unlabel(turn, mailbox, &mut draft, id).await?;
        self.commit(turn, mailbox, draft).await
    }

    /// Takes a label from some conversations, and has the timer come again until none has it.
    async fn unlabel(
        &self,
        turn: &Turn<'_, Self>,
        mailbox: &Mailbox,
        draft: &mut Draft,
        id: MailLabelId,
    ) -> Result<()> {
        let store = &turn.services().store;
        let ids = store.mail_threads_labelled(mailbox.id, id, AT_ONCE).await?;
        for mut conversation in store.mail_conversations(mailbox.id, &ids).await?.into_values() {
            let before = conversation.state();
            conversation.labels.remove(&id);
            draft.rewrite(&before, &conversation);
        }
        if ids.is_empty() {
            draft.change.mail_label_counts_forget(mailbox.id, id);
        } else {
            let (key, name) = (mailbox.id.to_string(), format!("{UNLABEL}{id}"));
            draft.change.timer_set_for(mailbox.org_id, Self::KIND, &key, &name, turn.now());
        }
        Ok(())
    }
}
