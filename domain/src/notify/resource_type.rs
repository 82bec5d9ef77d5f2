//! What an event can have happened in, and a protocol be attached to (contract A 2.3, `Protocol.attachments`).

use crate::app::names;

names! {
    /// A kind of thing that protocols are attached to.
    ResourceType {
        Org = "org", Project = "project", Agent = "agent", Calendar = "calendar", Mailbox = "mailbox", Space = "space",
    }
}
