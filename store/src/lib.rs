//! What Troupe remembers: entities and queries, one module per area; the commit writer; blobs.

pub mod accounts;
pub mod backup;
pub mod vault;
