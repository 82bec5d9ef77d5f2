//! Acknowledging what somebody was told: in the app, or over the phone that a delivery reached.

use domain::{Context, Error, Result, notify::escalation::AckVia};
use kernel::Registry;
use store::{Delivery, Notice};

use super::{
    escalation::{Acknowledge, Escalation},
    inbox::{AckNotice, Inbox},
};

/// What an acknowledgement led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledgement {
    /// It counts: nobody is asked any more.
    Made,
    /// Somebody had acknowledged before, or nobody was asked to.
    Before,
    /// What it is about is gone, or no longer this person's to acknowledge.
    Gone,
}

/// Who is told that somebody acknowledged. A cheap handle.
#[derive(Clone)]
pub struct Acknowledgements {
    escalations: Registry<Escalation>,
    inboxes: Registry<Inbox>,
}

impl Acknowledgements {
    /// Acknowledgements that these escalations and these inboxes hear of.
    pub fn new(escalations: Registry<Escalation>, inboxes: Registry<Inbox>) -> Self {
        Self { escalations, inboxes }
    }

    /// Acknowledges `notice`, as the person who has it; answers whether this was the acknowledgement. What an escalation
    /// stands behind ends for everybody. Somebody to whom the escalation is nothing any more, because they left its
    /// organization, acknowledges for themselves.
    pub async fn by_notice(&self, notice: &Notice, context: Context) -> Result<bool> {
        let by = notice.user_id;
        let is_asked = notice.require_ack && notice.acked_at.is_none();
        if let Some(escalation_id) = notice.escalation_id.filter(|_| is_asked) {
            let command = Acknowledge { by, via: AckVia::App };
            match self.escalations.ask(&escalation_id, command, context.clone()).await {
                Err(Error::NotFound { .. } | Error::MissingScope(_)) => {}
                answer => return answer,
            }
        }
        self.inboxes.ask(&by, AckNotice(notice.id), context).await
    }

    /// Acknowledges what `delivery` told of, as the person that it reached.
    pub async fn by_delivery(&self, delivery: &Delivery, via: AckVia, context: Context) -> Result<Acknowledgement> {
        let by = delivery.user_id;
        let acknowledged = match (delivery.escalation_id, delivery.notice_id) {
            (Some(escalation_id), _) => self.escalations.ask(&escalation_id, Acknowledge { by, via }, context).await,
            (None, Some(notice_id)) => self.inboxes.ask(&by, AckNotice(notice_id), context).await,
            (None, None) => Ok(false),
        };
        match acknowledged {
            Ok(true) => Ok(Acknowledgement::Made),
            Ok(false) => Ok(Acknowledgement::Before),
            Err(Error::NotFound { .. } | Error::MissingScope(_) | Error::Conflict { .. }) => Ok(Acknowledgement::Gone),
            Err(error) => Err(error),
        }
    }
}
