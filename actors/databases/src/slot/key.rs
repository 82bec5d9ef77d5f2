//! What names a slot.

use std::{fmt, str::FromStr};

use domain::{
    databases::{RowKey, SLOTS},
    id::{NotAnId, OrgId, ResourceId},
};

/// A slot of an organization's table; `org_…/res_…/a` as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlotKey {
    /// Whose table.
    pub org_id: OrgId,
    /// The table.
    pub table: ResourceId,
    /// Which of its slots: 0 to 15.
    slot: u8,
}

impl SlotKey {
    /// The slot that writes this row.
    pub fn of(org_id: OrgId, table: ResourceId, row: &RowKey) -> Self {
        Self { org_id, table, slot: row.slot() }
    }
}

impl fmt::Display for SlotKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{:x}", self.org_id, self.table, self.slot)
    }
}

impl FromStr for SlotKey {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let mut parts = text.split('/');
        let (Some(org_id), Some(table), Some(slot), None) = (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(NotAnId);
        };
        let slot = u8::from_str_radix(slot, 16).ok().filter(|slot| *slot < SLOTS).ok_or(NotAnId)?;
        Ok(Self { org_id: org_id.parse()?, table: table.parse()?, slot })
    }
}

#[cfg(test)]
mod tests {
    use domain::{Tenant, Timestamp};

    use super::*;

    #[test]
    fn a_slot_reads_as_it_is_written_and_belongs_to_its_organization() {
        let (org_id, table) = (OrgId::new(Timestamp(1)), ResourceId::new(Timestamp(2)));
        for pk in [0x00, 0x9f, 0xff] {
            let key = SlotKey::of(org_id, table, &RowKey { pk: vec![pk], sk: Vec::new() });
            assert_eq!(key.to_string().parse(), Ok(key));
            assert_eq!(Tenant::of_key(&key.to_string()), Tenant::Org(org_id));
        }
        for text in ["", "a/b/c", &format!("{org_id}/{table}/10"), &format!("{org_id}/{table}/1/1")] {
            assert_eq!(text.parse::<SlotKey>(), Err(NotAnId), "{text}");
        }
    }
}
