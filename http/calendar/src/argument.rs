//! The event that the path names, as an argument.

use domain::{
    calendar::{Event, no_event},
    id::EventId,
    mail::Mailbox,
};
use http_shell::{argument::Argument, call::Call, error::Result, facts::Facts, owned::Owned, path::Path};

/// An event of the mailbox that the path names, in a calendar that is in sight.
pub(crate) struct MailboxEvent {
    pub mailbox: Mailbox,
    pub event: Event,
}

impl Argument for MailboxEvent {
    fn describe(facts: &mut Facts) {
        Owned::<Mailbox>::describe(facts);
        Path::<EventId>::describe(facts);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let Owned(mailbox) = Owned::<Mailbox>::take(call).await?;
        let Path(id) = Path::<EventId>::take(call).await?;
        let store = &call.state.store;
        let event = store.calendar_event(mailbox.id, id).await?.ok_or_else(no_event)?;
        let calendars = store.calendars(mailbox.id).await?;
        if calendars.iter().all(|calendar| calendar.id != event.head.calendar_id) {
            return Err(no_event().into());
        }
        Ok(Self { mailbox, event })
    }
}
