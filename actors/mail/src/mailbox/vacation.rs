//! What a mailbox answers while its people are away, as its members choose it. Answers are made while messages are filed.

use domain::{
    Result,
    id::OrgId,
    mail::{Vacation, clean_html},
};
use kernel::{Command, Handle, Turn};
use serde_json::json;

use super::{MailboxOwner, filters::noted, open};

/// Chooses what is answered.
#[derive(Clone, Debug)]
pub struct VacationSet {
    /// The organization.
    pub org_id: OrgId,
    /// What is answered; its HTML is cleaned.
    pub vacation: Vacation,
}

impl Command for VacationSet {
    type Reply = Vacation;

    const NAME: &'static str = "vacation_set";
}

impl Handle<VacationSet> for MailboxOwner {
    async fn handle(&mut self, command: &VacationSet, turn: &mut Turn<'_, Self>) -> Result<Vacation> {
        let (mailbox, store) = (open(turn, command.org_id).await?, turn.services().store.clone());
        let html = command.vacation.html.as_deref().map(clean_html).filter(|html| !html.trim().is_empty());
        let vacation = Vacation { html, ..command.vacation.clone() }.check()?;
        if store.mail_vacation(mailbox.id).await? == vacation {
            return Ok(vacation);
        }
        let mut draft = self.draft(&mailbox);
        draft.change.mail_vacation_set(mailbox.id, &vacation);
        let said = json!({ "enabled": vacation.enabled, "from": vacation.from, "until": vacation.until });
        noted(&mut draft, turn, &mailbox, "mail.vacation_changed", said);
        self.commit(turn, &mailbox, draft).await?;
        Ok(vacation)
    }
}
