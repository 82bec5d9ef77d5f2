//! The category that a mailbox chooses for a sender (contract B 4.8).

use std::collections::BTreeSet;

use domain::{
    Result,
    id::{MailThreadId, OrgId},
    mail::{Conversation, MailCategory, Mailbox, block_check, no_thread},
};
use kernel::{Command, Handle, Turn};

use super::{MailboxOwner, filters::tell, open};

/// Conversations that one commit moves.
const AT_ONCE: u32 = 200;

/// Has what a sender sends be of a category, and moves what of theirs is in the inbox.
#[derive(Clone, Debug)]
pub struct SenderCategorize {
    /// The organization.
    pub org_id: OrgId,
    /// Who sends, in small letters.
    pub address: String,
    /// The category.
    pub category: MailCategory,
    /// A conversation that is moved whoever wrote last.
    pub thread_id: Option<MailThreadId>,
}

impl Command for SenderCategorize {
    /// How many conversations were moved.
    type Reply = usize;

    const NAME: &'static str = "sender_categorize";
}

impl Handle<SenderCategorize> for MailboxOwner {
    async fn handle(&mut self, command: &SenderCategorize, turn: &mut Turn<'_, Self>) -> Result<usize> {
        let mailbox = open(turn, command.org_id).await?;
        let store = turn.services().store.clone();
        let mut conversations = Vec::new();
        if let Some(id) = command.thread_id {
            let found = store.mail_conversations(mailbox.id, &[id]).await?.into_values().next();
            conversations.push(found.ok_or_else(no_thread)?);
        }
        let mut moved = self.categorize(command, turn, &mailbox, conversations).await?;
        loop {
            let ids = store.mail_threads_to_move(mailbox.id, &command.address, command.category, AT_ONCE).await?;
            if ids.is_empty() {
                return Ok(moved);
            }
            let conversations = store.mail_conversations(mailbox.id, &ids).await?.into_values().collect();
            let now_moved = self.categorize(command, turn, &mailbox, conversations).await?;
            moved += now_moved;
            if now_moved == 0 {
                return Ok(moved);
            }
        }
    }
}

/// Keeps a sender out, whose mail is spam from then on, or lets them in again.
#[derive(Clone, Debug)]
pub struct SenderBlock {
    /// The organization.
    pub org_id: OrgId,
    /// Who sends, in small letters.
    pub address: String,
    /// Whether they are kept out.
    pub is_blocked: bool,
}

impl Command for SenderBlock {
    type Reply = ();

    const NAME: &'static str = "sender_block";
}

impl Handle<SenderBlock> for MailboxOwner {
    async fn handle(&mut self, command: &SenderBlock, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (mailbox, store) = (open(turn, command.org_id).await?, turn.services().store.clone());
        let is_blocked = !store.mail_blocked(mailbox.id, &BTreeSet::from([command.address.as_str()])).await?.is_empty();
        if is_blocked == command.is_blocked {
            return Ok(());
        }
        if command.is_blocked {
            block_check(&mailbox, &command.address, store.mail_blocked_count(mailbox.id).await?)?;
        }
        let mut draft = self.draft(&mailbox);
        draft.change.mail_block_set(mailbox.id, &command.address, command.is_blocked, turn.now());
        tell(&mut draft, &mailbox, turn.now());
        self.commit(turn, &mailbox, draft).await
    }
}

impl MailboxOwner {
    /// Writes what is chosen, and moves these conversations; how many weren't there yet.
    async fn categorize(
        &mut self,
        command: &SenderCategorize,
        turn: &mut Turn<'_, Self>,
        mailbox: &Mailbox,
        conversations: Vec<Conversation>,
    ) -> Result<usize> {
        let mut draft = self.draft(mailbox);
        draft.change.mail_sender_set(mailbox.id, &command.address, command.category);
        let mut moved = 0;
        for mut conversation in conversations {
            let before = conversation.state();
            let last = conversation.messages.iter_mut().rev().find(|message| message.placing.is_incoming);
            let Some(last) = last.filter(|last| last.placing.category != command.category) else { continue };
            last.placing.category = command.category;
            draft.rewrite(&before, &conversation);
            moved += 1;
        }
        self.commit(turn, mailbox, draft).await?;
        Ok(moved)
    }
}
