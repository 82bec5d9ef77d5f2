//! What is live of an organization's pages: what happens to the tree, and who is on which page (decisions, "Notes
//! pages").
//!
//! The tree's owner says what it did once it is committed ([`TreeMessage`]); the hub carries it to the [`Rooms`] of every
//! node, and those to their sockets. A message may be lost, as all on the hub; the tree's revision stands in each, so
//! that who misses one knows. Who is where is known to nobody but the rooms: it is never stored.

mod message;
mod presence;
mod room;
mod visit;
mod wire;

use domain::id::OrgId;

pub use self::{
    message::{TreeChange, TreeMessage, TreePage},
    presence::Viewer,
    visit::{Rooms, Visit},
};

/// The hub's channel for what is live of an organization's pages.
pub fn channel(org_id: OrgId) -> String {
    format!("pages:{org_id}")
}
