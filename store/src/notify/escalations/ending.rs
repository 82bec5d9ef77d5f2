//! Ending several escalations at once, whatever is being decided about them.

use domain::{
    Timestamp,
    id::{OrgId, ProtocolId},
    notify::{CancelReason, escalation::EndReason},
};

use super::TIMER_KIND;
use crate::{Change, Expect, sql::Sql};

impl Change {
    /// Ends the protocol's running escalations: no further step, and nothing that waits is delivered.
    pub fn escalations_end_of_protocol(&mut self, protocol_id: ProtocolId, now: Timestamp, reason: EndReason) {
        self.escalations_end(&OF_PROTOCOL, &protocol_id.to_string(), now, reason);
    }

    /// Ends the organization's running escalations.
    pub fn escalations_end_of_organization(&mut self, org_id: OrgId, now: Timestamp) {
        self.escalations_end(&OF_ORGANIZATION, &org_id.to_string(), now, EndReason::OrganizationDeleted);
    }

    fn escalations_end(&mut self, of: &Statements, id: &str, now: Timestamp, reason: EndReason) {
        let cancelled = [id.into(), now.0.into(), CancelReason::EscalationOver.as_str().into()];
        self.run_statement(Sql::new(of.cancel_deliveries, cancelled), Expect::Any);
        self.run_statement(Sql::new(of.delete_timers, [id.into(), TIMER_KIND.into()]), Expect::Any);
        self.run_statement(Sql::new(of.end, [id.into(), now.0.into(), reason.as_str().into()]), Expect::Any);
        self.run_statement(Sql::new(of.close, [id.into()]), Expect::Any);
    }
}

/// What ends the escalations of one thing. What waits and the timers go first, while it shows which are running.
struct Statements {
    cancel_deliveries: &'static str,
    delete_timers: &'static str,
    end: &'static str,
    close: &'static str,
}

macro_rules! statements {
    ($column:literal) => {
        Statements {
            cancel_deliveries: concat!(
                "UPDATE deliveries SET state = 'cancelled', lane = NULL, error = $3, updated_at = $2 WHERE lane IS NOT NULL \
                 AND escalation_id IN (SELECT id FROM escalations WHERE state = 'running' AND ",
                $column,
                " = $1)"
            ),
            delete_timers: concat!(
                "DELETE FROM timers WHERE kind = $2 AND key IN (SELECT id FROM escalations WHERE state = 'running' AND ",
                $column,
                " = $1)"
            ),
            end: concat!(
                "UPDATE escalations SET state = 'ended', end_reason = $3, ended_at = $2, next_at = NULL, \
                 version = version + 1 WHERE state = 'running' AND ",
                $column,
                " = $1"
            ),
            close: concat!(
                "UPDATE escalations SET open_key = NULL, version = version + 1 WHERE open_key IS NOT NULL AND ",
                $column,
                " = $1"
            ),
        }
    };
}

const OF_PROTOCOL: Statements = statements!("protocol_id");
const OF_ORGANIZATION: Statements = statements!("org_id");
