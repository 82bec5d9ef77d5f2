//! The budget of texts and calls of an organization and day (decisions, "Notifications", "Deliveries").
//!
//! It is spent where a delivery is first tried: what quiet hours hold back, or somebody acknowledges before it goes out,
//! costs nothing. Spending is one statement that fails when nothing is left, so that nodes and hands never overspend it.
//! What belongs to no organization (codes that confirm a number, tests, summaries of several things) has limits of its own.

use actors_base::Services;
use domain::{
    id::OrgId,
    notify::{Channel, budget_day, is_mostly_spent},
};
use store::{
    Change, CommitError, Delivery, EmailTo, OutboxEntry, StoreError,
    notify::{SpentBudget, TextBudget},
};

/// Whether a delivery may go out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Budget {
    /// There was room, or nothing to spend.
    Left,
    /// All of today's is spent.
    Spent,
}

/// Spends one of the organization's texts or calls of today on `delivery`, at its first try.
pub(super) async fn spend(services: &Services, delivery: &Delivery) -> Result<Budget, StoreError> {
    if delivery.attempts > 1 || !delivery.channel.needs_phone() {
        return Ok(Budget::Left);
    }
    let Some(org_id) = organization(services, delivery).await? else { return Ok(Budget::Left) };
    let budget = TextBudget { org_id, day: budget_day(services.store.now()), channel: delivery.channel };
    let most = services.settings.most_a_day(delivery.channel);
    let mut change = Change::new();
    change.text_budget_spend(&budget, most);
    let outcome = match services.store.commit(change).await {
        Ok(()) => Budget::Left,
        Err(CommitError::Stale) => Budget::Spent,
        Err(error) => return Err(error.into()),
    };
    tell(services, &budget, most).await?;
    Ok(outcome)
}

/// The organization that the delivery tells of.
async fn organization(services: &Services, delivery: &Delivery) -> Result<Option<OrgId>, StoreError> {
    if let Some(id) = delivery.escalation_id {
        return Ok(services.store.escalation(id).await?.map(|escalation| escalation.org_id));
    }
    let Some(id) = delivery.notice_id else { return Ok(None) };
    Ok(services.store.notice(delivery.user_id, id).await?.and_then(|notice| notice.org_id))
}

/// Tells the owners when most of the budget is spent, and when all of it is; once each.
async fn tell(services: &Services, budget: &TextBudget, most: u64) -> Result<(), StoreError> {
    let SpentBudget { spent, told_most, told_all } = services.store.text_budget(budget).await?;
    if spent >= most && !told_all {
        return mail(services, budget, most, Share::All).await;
    }
    if is_mostly_spent(spent, most) && !told_most && !told_all {
        return mail(services, budget, most, Share::Most).await;
    }
    Ok(())
}

/// How much of a budget is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Share {
    Most,
    All,
}

async fn mail(services: &Services, budget: &TextBudget, most: u64, share: Share) -> Result<(), StoreError> {
    let store = &services.store;
    let mut change = Change::new();
    match share {
        Share::Most => change.text_budget_told_most(budget),
        Share::All => change.text_budget_told_all(budget),
    }
    // An organization that was deleted meanwhile has no owners, and nobody is told.
    let name = store.organization(budget.org_id).await?.map(|organization| organization.name).unwrap_or_default();
    for owner in store.owners(budget.org_id).await? {
        change.outbox_add(store.now(), &letter(EmailTo::Person(owner), &name, budget.channel, most, share));
    }
    match store.commit(change).await {
        // Another hand has told them in this moment.
        Ok(()) | Err(CommitError::Stale) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn letter(to: EmailTo, organization: &str, channel: Channel, most: u64, share: Share) -> OutboxEntry {
    let what = if channel == Channel::Voice { "calls" } else { "texts" };
    let (subject, happens) = match share {
        Share::Most => {
            (format!("80 % of today's {what} of {organization} are spent"), format!("Once all are, no {what} go out"))
        }
        Share::All => (format!("Today's {what} of {organization} are spent"), format!("No further {what} go out")),
    };
    let body = format!(
        "{organization} has {most} {what} a day for what it tells people. {happens} before midnight, UTC. \
         What it tells people in the app, by push message and by e-mail goes on.\n\n\
         Its escalations show what raises so many alarms. Whoever runs the server sets the number \
         (notify.{what}_per_day).\n"
    );
    OutboxEntry::Email { to, subject, body, calendar: None }
}
