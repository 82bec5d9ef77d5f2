//! What a person's inbox does about deliveries: trying a channel out, and noting what providers report later.

use std::time::Duration;

use domain::{
    App, Error, Result,
    id::{DeliveryId, NoticeId},
    notify::{Channel, Target},
};
use gateways::hub::{Limit, RetryAfter};
use kernel::{Command, Handle, Turn};
use serde_json::json;
use store::{Change, Delivery, NewDelivery, NewNotice};

use crate::inbox::{Inbox, notice_message, tell};

/// Tests that a person may send within [`TESTS_WINDOW`].
const TESTS_MAX: u32 = 10;
/// See [`TESTS_MAX`].
const TESTS_WINDOW: Duration = Duration::from_hours(1);
/// The type of a test's notice. It is none of the contract's events: nobody chooses channels for it.
const TEST_EVENT: &str = "account.test";
/// The headline of a test.
const TEST_TITLE: &str = "This is a test";
/// What a test says.
const TEST_BODY: &str = "You asked for it, and it reached you.";

/// Tells the person something over one channel, to see whether it reaches them; answers the delivery.
#[derive(Clone, Copy, Debug)]
pub struct SendTest(pub Channel);

/// What a provider says of a delivery that it had taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryReport {
    /// It arrived.
    Arrived,
    /// It can't arrive, and why.
    Lost(String),
}

/// Notes what a provider says.
#[derive(Clone, Debug)]
pub struct ReportDelivery {
    /// The delivery.
    pub id: DeliveryId,
    /// What is said.
    pub report: DeliveryReport,
}

impl Command for SendTest {
    type Reply = Delivery;

    const NAME: &'static str = "send_test";
}

impl Handle<SendTest> for Inbox {
    async fn handle(&mut self, SendTest(channel): &SendTest, turn: &mut Turn<'_, Self>) -> Result<Delivery> {
        let (user_id, now) = (*turn.key(), turn.now());
        let target = target(turn, *channel).await?;
        let limit = Limit::new(TESTS_MAX, TESTS_WINDOW);
        let verdict = turn.services().hub.limit_check(&format!("notify-test:{user_id}"), limit, now).await;
        verdict.map_err(|RetryAfter(retry_after)| Error::RateLimited {
            message: "That were too many tests; try again later.".into(),
            retry_after,
        })?;
        let (delivery, notice) = test(turn, *channel, target);
        let id = delivery.id;
        let unread = turn.services().store.notices_unread_count(user_id).await? + 1;
        let mut change = Change::new();
        let message =
            json!({ "type": "notice.created", "notice": notice_message(&notice.to_notice()), "unread": unread });
        tell(&mut change, user_id, now, message);
        change.notice_add(notice);
        change.delivery_add(delivery);
        turn.commit(change).await?;
        let made = turn.services().store.delivery(id).await?;
        made.ok_or_else(|| Error::internal(format_args!("{id} is gone")))
    }
}

/// Where a test over this channel goes; 400 when it can't reach the person.
async fn target(turn: &Turn<'_, Inbox>, channel: Channel) -> Result<Target> {
    let (services, user_id) = (turn.services(), *turn.key());
    let person = services.store.recipients(&[user_id]).await?.pop();
    let person = person.ok_or_else(|| Error::not_found("Person not found."))?;
    match channel {
        Channel::Email => Ok(Target::Email(person.email.to_string())),
        Channel::Inapp => Ok(Target::Inbox),
        Channel::Sms | Channel::Voice if !services.calls_available() => {
            Err(Error::bad_request("calls_unavailable", "This server doesn't text or call."))
        }
        Channel::Sms | Channel::Voice => person
            .phone
            .map(Target::Phone)
            .ok_or_else(|| Error::bad_request("no_confirmed_phone", "Confirm a telephone number first.")),
        Channel::Push => {
            let registered = services.store.push_devices(user_id).await?;
            let target = registered.last().map(|device| Target::Device(device.target()));
            let none = "No device of yours is registered for push messages.";
            target.ok_or_else(|| Error::bad_request("no_device", none))
        }
    }
}

fn test(turn: &Turn<'_, Inbox>, channel: Channel, target: Target) -> (NewDelivery, NewNotice) {
    let (user_id, now) = (*turn.key(), turn.now());
    let (id, notice_id) = (DeliveryId::new(now), NoticeId::new(now));
    let delivery = NewDelivery {
        id,
        user_id,
        notice_id: Some(notice_id),
        escalation_id: None,
        channel,
        target,
        hold_until: None,
        urgent: true,
        title: TEST_TITLE.to_owned(),
        body: Some(TEST_BODY.to_owned()),
        url: None,
        created_at: now,
    };
    let notice = NewNotice {
        id: notice_id,
        user_id,
        org_id: None,
        event: TEST_EVENT.to_owned(),
        app: App::Account,
        title: TEST_TITLE.to_owned(),
        body: Some(TEST_BODY.to_owned()),
        url: None,
        require_ack: false,
        escalation_id: None,
        is_read: false,
        created_at: now,
        source: format!("test:{id}"),
    };
    (delivery, notice)
}

impl Command for ReportDelivery {
    type Reply = ();

    const NAME: &'static str = "report_delivery";
}

impl Handle<ReportDelivery> for Inbox {
    async fn handle(&mut self, command: &ReportDelivery, turn: &mut Turn<'_, Self>) -> Result<()> {
        let mut change = Change::new();
        match &command.report {
            DeliveryReport::Arrived => change.delivery_arrived(command.id, turn.now()),
            DeliveryReport::Lost(error) => {
                tracing::warn!(id = %command.id, error, "a delivery that was taken did not arrive");
                change.delivery_lost(command.id, error, turn.now());
            }
        }
        turn.commit(change).await
    }
}
