//! A whole sync, as a new device does it: the index, and five reads of a hundred items.

use super::{
    changes::{CHANGES, ItemText, change, every_result_is_ok},
    owner::{Owner, device_made_id},
};
use crate::{
    load::{Bytes, Request, Traffic},
    report::Result,
    server::{Server, call, program::Person},
};

/// Items of a vault that is synced.
const ITEMS: usize = 500;
/// Items of one read, the contract's maximum (contract A 8).
const ITEMS_PER_READ: usize = 100;
/// Requests of one sync.
pub const REQUESTS: usize = 1 + ITEMS / ITEMS_PER_READ;

/// Syncs of one vault for each connection, one after the other: of Troupe, or of the baseline.
pub struct Syncs {
    requests: Vec<[Bytes; REQUESTS]>,
    sent: Vec<usize>,
}

impl Syncs {
    fn new(requests: Vec<[Bytes; REQUESTS]>) -> Self {
        let sent = vec![0; requests.len()];
        Self { requests, sent }
    }
}

impl Traffic for Syncs {
    fn next(&mut self, connection: usize) -> Option<Bytes> {
        let sent = self.sent.get_mut(connection)?;
        let request = self.requests[connection][*sent % REQUESTS].clone();
        *sent += 1;
        Some(request)
    }
}

/// Fills so many vaults; answers their syncs on Troupe, and on the baseline.
pub fn fill(server: &Server, count: usize) -> Result<(Syncs, Syncs)> {
    let items: Vec<_> = (0..ITEMS).map(ItemText::new).collect();
    let reads: Vec<_> = (0..ITEMS).map(|number| device_made_id("item", number)).collect();
    let reads: Vec<_> = reads.chunks(ITEMS_PER_READ).map(|ids| ids.join(",")).collect();
    let (mut troupe, mut rows) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for number in 0..count {
        let person = Person::sign_in(server, &format!("syncing-{number}"))?;
        let me = call(server.address(), person.get("/v1/me"))?.success()?;
        let user_id = me["user"]["userId"].as_str().ok_or("nobody is signed in")?.to_owned();
        // Other numbers than those of the vaults that are changed.
        let owner = Owner::create(server, person, 1_000_000 + number)?;
        for items in items.chunks(CHANGES) {
            every_result_is_ok(&call(server.address(), change(&owner, items, 0)?)?.success()?)?;
        }
        let read = |read: usize| match read.checked_sub(1) {
            None => owner.get(&owner.target("index")).bytes(),
            Some(read) => owner.get(&owner.target(&format!("items?ids={}", reads[read]))).bytes(),
        };
        troupe.push(std::array::from_fn(read));
        let row = |read: usize| match read.checked_sub(1) {
            None => Request::new("GET", &format!("/{user_id}/index")).bytes(),
            Some(read) => Request::new("GET", &format!("/{user_id}/items/{}", reads[read])).bytes(),
        };
        rows.push(std::array::from_fn(row));
    }
    Ok((Syncs::new(troupe), Syncs::new(rows)))
}
