//! The permits of one lane of one node, and whose turn it is.

use std::{collections::BTreeMap, sync::Arc};

use domain::Tenant;
use parking_lot::Mutex;
use tokio::sync::Notify;

/// How much of a lane one node has under way at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permits {
    /// Entries altogether.
    pub total: u32,
    /// Entries of one tenant: what remains of the total is for others, however much that tenant has waiting.
    pub per_tenant: u32,
    /// Which entries end in the order in which they were claimed.
    pub order: Order,
}

/// Which entries of a lane end in the order in which they were claimed: they are claimed, as one batch, only while none of
/// them is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// None; each is worked off by itself.
    Free,
    /// Those of a tenant; a tenant's batch waits for nobody else's.
    OfTenant,
    /// All of the lane.
    OfLane,
}

impl Permits {
    /// Up to `total` entries at once, whosever they are.
    pub const fn shared(total: u32) -> Self {
        Self { total, per_tenant: total, order: Order::Free }
    }

    /// Up to `per_tenant` entries of a tenant at once, and `spare` more for other tenants.
    pub const fn with_spare(per_tenant: u32, spare: u32) -> Self {
        Self { total: per_tenant + spare, per_tenant, order: Order::Free }
    }

    /// Batches of up to `total` entries, one batch after the other.
    pub const fn batches(total: u32) -> Self {
        Self { total, per_tenant: total, order: Order::OfLane }
    }

    /// Batches of up to `entries` of a tenant, one behind the other, of up to `tenants` at once.
    pub const fn batches_by_tenant(entries: u32, tenants: u32) -> Self {
        Self { total: entries * tenants, per_tenant: entries, order: Order::OfTenant }
    }
}

/// The turns of one lane: which entries are under way, and which tenant was served last. A cheap handle.
#[derive(Clone, Debug)]
pub struct Turns {
    permits: Permits,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct State {
    under_way: BTreeMap<Tenant, u32>,
    served_last: String,
}

/// The permit of one entry that is under way; it is free again when this is dropped.
#[derive(Debug)]
pub struct Permit {
    shared: Arc<Shared>,
    tenant: Tenant,
}

impl Turns {
    /// Turns in which nothing is under way.
    pub fn new(permits: Permits) -> Self {
        Self { permits, shared: Arc::default() }
    }

    /// How many entries may be claimed now.
    pub fn free(&self) -> u32 {
        let under_way = self.under_way();
        if self.permits.order == Order::OfLane && under_way > 0 {
            0
        } else {
            self.permits.total.saturating_sub(under_way)
        }
    }

    /// How many entries are under way.
    pub fn under_way(&self) -> u32 {
        self.shared.state.lock().under_way.values().sum()
    }

    /// Notes that an entry of `tenant` is under way.
    pub fn take(&self, tenant: Tenant) -> Permit {
        *self.shared.state.lock().under_way.entry(tenant).or_default() += 1;
        Permit { shared: Arc::clone(&self.shared), tenant }
    }

    /// Told when a permit is free again.
    pub fn freed(&self) -> &Notify {
        &self.shared.freed
    }

    /// Whether a tenant may have less under way than all tenants together.
    pub(super) const fn limits_tenants(&self) -> bool {
        self.permits.per_tenant < self.permits.total
    }

    /// Behind which tenant the next turn starts.
    pub(super) fn served_last(&self) -> String {
        self.shared.state.lock().served_last.clone()
    }

    /// Whether one more entry of `tenant` may be claimed.
    pub(super) fn has_room(&self, tenant: &str) -> bool {
        self.room(tenant) > 0
    }

    /// Shares what is free among `tenants`, who all have something due, the first ones first; the next turn starts behind
    /// the last one that got something.
    pub(super) fn share(&self, tenants: Vec<String>) -> Vec<(String, u32)> {
        let mut free = self.free();
        let fair = free.div_ceil(u32::try_from(tenants.len()).unwrap_or(u32::MAX).max(1));
        let mut shares = Vec::with_capacity(tenants.len());
        for tenant in tenants {
            let share = fair.min(self.room(&tenant)).min(free);
            if share > 0 {
                free -= share;
                shares.push((tenant, share));
            }
        }
        if let Some((last, _)) = shares.last() {
            self.shared.state.lock().served_last.clone_from(last);
        }
        shares
    }

    fn room(&self, tenant: &str) -> u32 {
        let under_way = self.shared.state.lock().under_way.get(&Tenant::of_key(tenant)).copied().unwrap_or_default();
        if self.permits.order == Order::OfTenant && under_way > 0 {
            return 0;
        }
        self.permits.per_tenant.saturating_sub(under_way)
    }
}

impl Permit {
    /// Whose entry it is.
    pub fn tenant(&self) -> Tenant {
        self.tenant
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        if let Some(under_way) = state.under_way.get_mut(&self.tenant) {
            *under_way -= 1;
            if *under_way == 0 {
                state.under_way.remove(&self.tenant);
            }
        }
        drop(state);
        self.shared.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use domain::{Timestamp, id::OrgId};

    use super::*;

    #[test]
    fn what_is_free_is_shared_evenly_and_never_exceeded() {
        let turns = Turns::new(Permits::shared(5));
        let tenants = || ["a", "b", "c"].map(str::to_owned).to_vec();
        assert_eq!(turns.share(tenants()), [("a".to_owned(), 2), ("b".to_owned(), 2), ("c".to_owned(), 1)]);
        assert_eq!(turns.served_last(), "c");
    }

    #[test]
    fn a_tenant_with_all_its_permits_leaves_the_spare_ones_to_others() {
        let turns = Turns::new(Permits::with_spare(2, 1));
        let (loud, quiet) = (OrgId::new(Timestamp(0)), OrgId::new(Timestamp(0)));
        let held: Vec<_> = (0..2).map(|_| turns.take(loud.into())).collect();
        assert_eq!(turns.share(vec![loud.to_string(), quiet.to_string()]), [(quiet.to_string(), 1)]);
        drop(held);
        assert_eq!(turns.free(), 3);
    }

    #[test]
    fn a_tenants_batch_waits_for_its_own_one_before_and_for_nobody_elses() {
        let turns = Turns::new(Permits::batches_by_tenant(8, 2));
        let (loud, quiet) = (OrgId::new(Timestamp(0)), OrgId::new(Timestamp(0)));
        let held = turns.take(loud.into());
        assert_eq!(turns.share(vec![loud.to_string(), quiet.to_string()]), [(quiet.to_string(), 8)]);
        drop(held);
        assert_eq!(turns.share(vec![loud.to_string()]), [(loud.to_string(), 8)]);
    }

    #[test]
    fn a_batch_waits_for_the_one_before() {
        let turns = Turns::new(Permits::batches(8));
        let held = turns.take(Tenant::System);
        assert_eq!(turns.free(), 0);
        drop(held);
        assert_eq!(turns.free(), 8);
    }
}
