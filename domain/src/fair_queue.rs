//! A queue that is taken from in turns by tenant.

use std::collections::{HashMap, VecDeque};

use crate::tenant::Tenant;

/// What waits, by tenant: each tenant's in its order, and tenants in turns.
#[derive(Debug)]
pub struct FairQueue<T> {
    by_tenant: HashMap<Tenant, VecDeque<(u64, T)>>,
    /// The tenants with something waiting; the first one is next.
    order: VecDeque<Tenant>,
    len: usize,
    /// Counts what ever waited, to name it.
    next: u64,
}

/// Names something that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    tenant: Tenant,
    number: u64,
}

impl<T> Default for FairQueue<T> {
    fn default() -> Self {
        Self { by_tenant: HashMap::new(), order: VecDeque::new(), len: 0, next: 0 }
    }
}

impl<T> FairQueue<T> {
    /// Has `one` wait; the ticket takes it out again before its turn.
    pub fn push(&mut self, tenant: Tenant, one: T) -> Ticket {
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
    pub fn pop(&mut self) -> Option<T> {
        self.pop_if(|_| true)
    }

    /// The next one, if it is `wanted`; otherwise it stays the next one.
    pub fn pop_if(&mut self, wanted: impl FnOnce(&T) -> bool) -> Option<T> {
        let tenant = *self.order.front()?;
        let waiting = self.by_tenant.get_mut(&tenant)?;
        if !waiting.front().is_some_and(|(_, one)| wanted(one)) {
            return None;
        }
        self.order.pop_front();
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
    pub fn remove(&mut self, ticket: Ticket) -> Option<T> {
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

    /// How much waits.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing waits.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How much of `tenant` waits.
    pub fn len_of(&self, tenant: Tenant) -> usize {
        self.by_tenant.get(&tenant).map_or(0, VecDeque::len)
    }

    /// How many tenants have something waiting.
    pub fn tenants(&self) -> usize {
        self.order.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{id::OrgId, time::Timestamp};

    fn tenants<const N: usize>() -> [Tenant; N] {
        std::array::from_fn(|_| OrgId::new(Timestamp(1)).into())
    }

    fn drained(queue: &mut FairQueue<&'static str>) -> Vec<&'static str> {
        std::iter::from_fn(|| queue.pop()).collect()
    }

    #[test]
    fn each_tenant_has_a_turn_before_any_has_a_second() {
        let ([one, two, three], mut queue) = (tenants(), FairQueue::default());
        for (tenant, name) in [(one, "a1"), (one, "a2"), (one, "a3"), (two, "b1"), (three, "c1"), (two, "b2")] {
            queue.push(tenant, name);
        }
        assert_eq!((queue.len(), queue.len_of(one), queue.tenants()), (6, 3, 3));
        assert_eq!(drained(&mut queue), ["a1", "b1", "c1", "a2", "b2", "a3"]);
        assert_eq!((queue.len(), queue.len_of(one), queue.tenants()), (0, 0, 0));
    }

    #[test]
    fn whoever_comes_back_stands_behind_those_who_wait() {
        let ([one, two], mut queue) = (tenants(), FairQueue::default());
        queue.push(one, "a1");
        queue.push(two, "b1");
        assert_eq!(queue.pop(), Some("a1"));
        queue.push(one, "a2");
        assert_eq!(drained(&mut queue), ["b1", "a2"]);
    }

    #[test]
    fn what_is_not_wanted_stays_next() {
        let ([one, two], mut queue) = (tenants(), FairQueue::default());
        queue.push(one, "a1");
        queue.push(two, "b1");
        assert_eq!(queue.pop_if(|name| *name == "b1"), None);
        assert_eq!(queue.pop_if(|name| *name == "a1"), Some("a1"));
        assert_eq!(drained(&mut queue), ["b1"]);
    }

    #[test]
    fn what_was_taken_out_has_no_turn_and_leaves_no_trace() {
        let ([one, two], mut queue) = (tenants(), FairQueue::default());
        let first = queue.push(one, "a1");
        let second = queue.push(one, "a2");
        let only = queue.push(two, "b1");
        assert_eq!((queue.remove(second), queue.remove(second)), (Some("a2"), None));
        assert_eq!(queue.remove(only), Some("b1"));
        assert_eq!((queue.len(), queue.tenants()), (1, 1));
        assert_eq!(drained(&mut queue), ["a1"]);
        assert_eq!(queue.remove(first), None);
    }
}
