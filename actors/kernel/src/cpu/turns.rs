//! A queue that is taken from in turns by tenant.

use std::collections::{HashMap, VecDeque};

use domain::tenant::Tenant;

/// What waits, by tenant: each tenant's in its order, and tenants in turns.
#[derive(Debug)]
pub(super) struct Turns<T> {
    by_tenant: HashMap<Tenant, VecDeque<(u64, T)>>,
    /// The tenants with something waiting; the first one is next.
    order: VecDeque<Tenant>,
    len: usize,
    /// Counts what ever waited, to name it.
    next: u64,
}

/// Names something that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticket {
    tenant: Tenant,
    number: u64,
}

impl<T> Default for Turns<T> {
    fn default() -> Self {
        Self { by_tenant: HashMap::new(), order: VecDeque::new(), len: 0, next: 0 }
    }
}

impl<T> Turns<T> {
    pub(super) fn push(&mut self, tenant: Tenant, one: T) -> Ticket {
        let number = self.next;
        self.next += 1;
        self.len += 1;
        let waiting = self.by_tenant.entry(tenant).or_default();
        if waiting.is_empty() {
            self.order.push_back(tenant);
        }
        waiting.push_back((number, one));
        Ticket { tenant, number }
    }

    /// The next one; its tenant's next turn comes after everybody else's.
    pub(super) fn pop(&mut self) -> Option<T> {
        let tenant = self.order.pop_front()?;
        let waiting = self.by_tenant.get_mut(&tenant)?;
        let (_, one) = waiting.pop_front()?;
        if waiting.is_empty() {
            self.by_tenant.remove(&tenant);
        } else {
            self.order.push_back(tenant);
        }
        self.len -= 1;
        Some(one)
    }

    /// Takes something out before its turn; none when its turn has come.
    pub(super) fn remove(&mut self, ticket: Ticket) -> Option<T> {
        let waiting = self.by_tenant.get_mut(&ticket.tenant)?;
        let place = waiting.binary_search_by_key(&ticket.number, |(number, _)| *number).ok()?;
        let (_, one) = waiting.remove(place)?;
        if waiting.is_empty() {
            self.by_tenant.remove(&ticket.tenant);
            self.order.retain(|tenant| *tenant != ticket.tenant);
        }
        self.len -= 1;
        Some(one)
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    pub(super) fn len_of(&self, tenant: Tenant) -> usize {
        self.by_tenant.get(&tenant).map_or(0, VecDeque::len)
    }

    /// How many tenants have something waiting.
    pub(super) fn tenants(&self) -> usize {
        self.order.len()
    }
}

#[cfg(test)]
mod tests {
    use domain::{Timestamp, id::OrgId};

    use super::*;

    fn tenants<const N: usize>() -> [Tenant; N] {
        std::array::from_fn(|_| OrgId::new(Timestamp(1)).into())
    }

    fn drained(turns: &mut Turns<&'static str>) -> Vec<&'static str> {
        std::iter::from_fn(|| turns.pop()).collect()
    }

    #[test]
    fn each_tenant_has_a_turn_before_any_has_a_second() {
        let ([one, two, three], mut turns) = (tenants(), Turns::default());
        for (tenant, name) in [(one, "a1"), (one, "a2"), (one, "a3"), (two, "b1"), (three, "c1"), (two, "b2")] {
            turns.push(tenant, name);
        }
        assert_eq!((turns.len(), turns.len_of(one), turns.tenants()), (6, 3, 3));
        assert_eq!(drained(&mut turns), ["a1", "b1", "c1", "a2", "b2", "a3"]);
        assert_eq!((turns.len(), turns.len_of(one), turns.tenants()), (0, 0, 0));
    }

    #[test]
    fn whoever_comes_back_stands_behind_those_who_wait() {
        let ([one, two], mut turns) = (tenants(), Turns::default());
        turns.push(one, "a1");
        turns.push(two, "b1");
        assert_eq!(turns.pop(), Some("a1"));
        turns.push(one, "a2");
        assert_eq!(drained(&mut turns), ["b1", "a2"]);
    }

    #[test]
    fn what_was_taken_out_has_no_turn_and_leaves_no_trace() {
        let ([one, two], mut turns) = (tenants(), Turns::default());
        let first = turns.push(one, "a1");
        let second = turns.push(one, "a2");
        let only = turns.push(two, "b1");
        assert_eq!((turns.remove(second), turns.remove(second)), (Some("a2"), None));
        assert_eq!(turns.remove(only), Some("b1"));
        assert_eq!((turns.len(), turns.tenants()), (1, 1));
        assert_eq!(drained(&mut turns), ["a1"]);
        assert_eq!(turns.remove(first), None);
    }
}
