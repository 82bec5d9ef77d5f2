//! What goes with an issue, and with an organization.

use domain::{Timestamp, id::OrgId};

use crate::Purge;

/// The issues that were thrown away before `$1`.
macro_rules! thrown_away {
    () => {
        "deleted_at < $1"
    };
    ($column:literal, $before:literal) => {
        concat!($before, " IN (SELECT ", $column, " FROM issues WHERE ", thrown_away!(), ")")
    };
}

/// The issues of the organization `$1`.
macro_rules! of_organization {
    () => {
        "org_no = (SELECT no FROM issue_values WHERE org_id = $1 AND kind = 'org' AND value = $1)"
    };
    ($column:literal, $before:literal) => {
        concat!($before, " IN (SELECT ", $column, " FROM issues WHERE ", of_organization!(), ")")
    };
}

/// What hangs on issues, with the issues themselves behind it.
macro_rules! whole {
    ($which:ident, $bound:expr) => {
        [
            ("clocks of issues", ["issue_clocks", "seq, sla_key", $which!("seq", "seq")]),
            ("what closed issues", ["issue_closings", "seq, cause", $which!("seq", "seq")]),
            ("steps of clocks", ["issue_steps", "seq, n", $which!("seq", "seq")]),
            ("terms of issues", ["issue_terms", "value_no, field, seq", $which!("seq", "seq")]),
            ("changes of issues", ["issue_change_values", "seq, n, side, value_no", $which!("seq", "seq")]),
            ("changes of issues", ["issue_changes", "seq, n", $which!("seq", "seq")]),
            ("times of issues", ["issue_spans", "no", $which!("seq", "seq")]),
            ("texts of issues", ["issue_texts", "no", $which!("seq", "seq")]),
            ("comments by mail", ["issue_mail_comments", "comment_id", $which!("id", "issue_id")]),
            ("messages about requests", ["issue_messages", "issue_id, message_hash", $which!("id", "issue_id")]),
            ("comments on issues", ["issue_comments", "id", $which!("id", "issue_id")]),
            ("links of issues", ["issue_links", "id", $which!("id", "from_id")]),
            ("links of issues", ["issue_links", "id", $which!("id", "to_id")]),
            ("former keys of issues", ["issue_former_keys", "space_id, number", $which!("id", "issue_id")]),
            ("requests", ["issue_requests", "issue_id", $which!("id", "issue_id")]),
            ("participants of requests", ["issue_participants", "issue_id, person_id", $which!("id", "issue_id")]),
            ("documents of issues", ["issue_docs", "id", $which!("id", "id")]),
            ("issues", ["issues", "seq", $which!()]),
        ]
        .into_iter()
        .map(|(what, names)| Purge::new(what, names, $bound))
    };
}

impl Purge {
    /// The issues that were thrown away before a moment, with all that hangs on them.
    pub fn issues_thrown_away(before: Timestamp) -> Vec<Self> {
        whole!(thrown_away, before.0).collect()
    }

    /// The rows of imports that were made before a moment: nobody repeats a call any more.
    pub fn issue_imports(before: Timestamp) -> Self {
        let names = ["issue_imports", "space_id, content_hash, place", "imported_at < $1"];
        Self::new("rows of issue imports", names, before.0)
    }

    /// All that an organization has of issue tracking.
    pub fn issues_of_organization(org_id: OrgId) -> Vec<Self> {
        const OF_FILTERS: &str = "filter_id IN (SELECT id FROM issue_filters WHERE org_id = $1)";
        const OF_SPACES: &str = "space_id IN (SELECT id FROM issue_spaces WHERE org_id = $1)";
        const OF_JOBS: &str = "job_id IN (SELECT id FROM issue_jobs WHERE org_id = $1)";
        const OWN: &str = "org_id = $1";
        let id = org_id.to_string();
        let mut purges: Vec<Self> = whole!(of_organization, id.clone()).collect();
        let rest = [
            ("stars of filters", ["issue_filter_stars", "filter_id, user_id", OF_FILTERS]),
            ("subscriptions to filters", ["issue_filter_subscriptions", "filter_id, user_id", OF_FILTERS]),
            ("filters", ["issue_filters", "id", OWN]),
            ("rows of issue imports", ["issue_imports", "space_id, content_hash, place", OF_SPACES]),
            ("components", ["issue_components", "id", OWN]),
            ("versions", ["issue_versions", "id", OWN]),
            ("results of changes of many issues", ["issue_job_results", "job_id, n", OF_JOBS]),
            ("changes of many issues", ["issue_jobs", "id", OWN]),
            ("sprints", ["issue_sprints", "id", OWN]),
            ("boards", ["issue_boards", "id", OWN]),
            ("addresses of desks", ["mail_addresses", "org_id, address", "org_id = $1 AND kind = 'desk'"]),
            ("letterboxes of desks", ["issue_mail_boxes", "mailbox_id", OWN]),
            ("hooks of desks", ["issue_mail_hooks", "id", OWN]),
            ("messages of hooks", ["issue_mail_seen", "space_id, message_hash", OWN]),
            ("counts of refused mail", ["issue_mail_refused", "space_id, reason", OWN]),
            ("spaces", ["issue_spaces", "id", OWN]),
            ("catalogs of issues", ["issue_catalogs", "org_id", OWN]),
            ("values of issues", ["issue_values", "no", OWN]),
        ];
        purges.extend(rest.into_iter().map(|(what, names)| Self::new(what, names, id.clone())));
        purges
    }
}
