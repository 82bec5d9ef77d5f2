//! How a table behaves, and changing that.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::attribute_name_fault;
use crate::{
    app::names,
    databases::{table_creating, table_deleting, table_protected},
    error::Result,
    problems::Problems,
};

/// Days for which changes are kept so that a table can be restored as of any moment in them (DynamoDB, up to 35).
pub const RECOVERY_DAYS: RangeInclusive<u32> = 0..=35;

names! {
    /// How a table is billed where it is DynamoDB's (decisions, "Key-value databases").
    BillingMode { PayPerRequest = "PAY_PER_REQUEST", Provisioned = "PROVISIONED", }
}

names! {
    /// How a table is kept where it is DynamoDB's.
    TableClass { Standard = "STANDARD", }
}

names! {
    /// How far a table is (DynamoDB).
    TableStatus { Creating = "CREATING", Updating = "UPDATING", Deleting = "DELETING", Active = "ACTIVE", }
}

impl TableStatus {
    /// Passes where items can be read and written; 409 otherwise.
    pub fn check_usable(self) -> Result<()> {
        match self {
            Self::Creating => Err(table_creating()),
            Self::Deleting => Err(table_deleting()),
            Self::Updating | Self::Active => Ok(()),
        }
    }
}

/// How a table behaves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TableSettings {
    /// Kept and shown only.
    pub billing_mode: BillingMode,
    /// Whether the table can't be deleted.
    pub deletion_protection: bool,
    /// The attribute that says when an item expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_attribute: Option<String>,
    /// Whether changes of items are kept.
    pub keep_changes: bool,
    /// For how many days, where they are there to restore the table from.
    pub recovery_days: u32,
    /// Whether every write of an item is audited.
    pub audit_data: bool,
}

impl TableSettings {
    /// Passes where the table may be deleted; 409 otherwise.
    pub fn check_deletable(&self) -> Result<()> {
        if self.deletion_protection { Err(table_protected()) } else { Ok(()) }
    }
}

impl Default for TableSettings {
    /// What a request doesn't say of a new table: nothing is kept, nothing expires.
    fn default() -> Self {
        Self {
            billing_mode: BillingMode::PayPerRequest,
            deletion_protection: false,
            ttl_attribute: None,
            keep_changes: false,
            recovery_days: 0,
            audit_data: false,
        }
    }
}

/// What is to be changed of a table's settings; what isn't named stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableChange {
    /// How it is billed where it is DynamoDB's.
    pub billing_mode: Option<BillingMode>,
    /// Whether it can't be deleted.
    pub deletion_protection: Option<bool>,
    /// The attribute that says when an item expires; none of them with `Some(None)`.
    pub ttl_attribute: Option<Option<String>>,
    /// Whether changes of items are kept.
    pub keep_changes: Option<bool>,
    /// For how many days.
    pub recovery_days: Option<u32>,
    /// Whether every write of an item is audited.
    pub audit_data: Option<bool>,
}

impl TableChange {
    /// The settings after the change; 400 naming every field at fault.
    pub fn apply(self, to: TableSettings) -> Result<TableSettings> {
        let mut problems = Problems::new();
        ttl_attribute_check(self.ttl_attribute.as_ref().and_then(Option::as_deref), &mut problems);
        let is_known = self.recovery_days.is_none_or(|days| RECOVERY_DAYS.contains(&days));
        problems.require(is_known, "recoveryDays", "Must be 0 to 35.");
        problems.into_result()?;
        Ok(TableSettings {
            billing_mode: self.billing_mode.unwrap_or(to.billing_mode),
            deletion_protection: self.deletion_protection.unwrap_or(to.deletion_protection),
            ttl_attribute: self.ttl_attribute.unwrap_or(to.ttl_attribute),
            keep_changes: self.keep_changes.unwrap_or(to.keep_changes),
            recovery_days: self.recovery_days.unwrap_or(to.recovery_days),
            audit_data: self.audit_data.unwrap_or(to.audit_data),
        })
    }
}

/// Notes what is wrong with the name of the attribute that says when an item expires.
pub(super) fn ttl_attribute_check(name: Option<&str>, problems: &mut Problems) {
    if let Some(fault) = name.and_then(attribute_name_fault) {
        problems.add("ttlAttribute", fault);
    }
}
