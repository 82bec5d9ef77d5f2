//! How a co-editing connection ends, when it isn't the client who ends it.

use super::prescan::Malformed;

/// Why the server ends a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The page's content was written from outside: its shared history is over. Load the page anew.
    ChangedElsewhere,
    /// The page went to the trash.
    InTrash,
    /// The page is deleted.
    Deleted,
    /// The page would become larger than pages may be.
    TooLarge,
    /// The client said something that doesn't read.
    Malformed,
    /// The client says too much of itself.
    TooManyStates,
    /// The client reads too slowly.
    TooSlow,
    /// Something failed here; connect again.
    Failed,
}

impl Ending {
    /// The code of the close frame, and what it says.
    pub const fn close(self) -> (u16, &'static str) {
        match self {
            Self::ChangedElsewhere => (4409, "This page was changed elsewhere and reloaded."),
            Self::InTrash => (4404, "This page is in the trash."),
            Self::Deleted => (4404, "Page not found"),
            Self::TooLarge => (4413, "Pages can be up to 1 MB."),
            Self::Malformed => (4400, "That isn't a message of the y-websocket protocol."),
            Self::TooManyStates => (4400, "That is too much awareness for one connection."),
            Self::TooSlow => (1013, "Too much waits to be read."),
            Self::Failed => (1011, "Something went wrong on the server."),
        }
    }
}

impl From<Malformed> for Ending {
    fn from(_: Malformed) -> Self {
        Self::Malformed
    }
}
