//! Notifications (contract A 2.3, 3, 4.3, 6): what becomes of the events that actors emit, what people are told, and that it
//! reaches them.

pub mod acknowledge;
mod cast;
pub mod deliveries;
mod ending;
pub mod escalation;
pub mod fan_out;
pub mod inbox;
pub mod protocols;
mod tell;
mod telling;

pub use cast::cast;

use std::time::Duration;

use actors_base::Area;
use domain::{
    Timestamp,
    id::OrgId,
    notify::{ALERT_FORGOTTEN_AFTER, budget_day, phone},
};
use store::{Change, Purge};

/// How long settled deliveries are kept, counted from when they were made.
const DELIVERIES_KEPT: Duration = Duration::from_hours(90 * 24);
/// How many days what was spent on texts and calls is kept.
const BUDGET_DAYS_KEPT: i64 = 35;

/// What goes over all areas knows of notifications.
pub const AREA: Area = Area { purges, lanes: deliveries::lanes, deletes_organization, ..Area::named("notify") };

fn purges(now: Timestamp) -> Vec<Purge> {
    vec![
        Purge::push_devices(now),
        Purge::live_activities(now),
        Purge::phone_codes(now.before(phone::CODES_COUNTED_FOR)),
        Purge::deliveries(now.before(DELIVERIES_KEPT)),
        Purge::alerts(now.before(ALERT_FORGOTTEN_AFTER)),
        Purge::text_budgets(budget_day(now) - BUDGET_DAYS_KEPT),
    ]
}

/// Ends what rings: an alarm of an organization that is gone has nobody whom it concerns.
fn deletes_organization(change: &mut Change, org_id: OrgId, now: Timestamp) {
    change.escalations_end_of_organization(org_id, now);
    change.protocol_book_remove(org_id);
}
