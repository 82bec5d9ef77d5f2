//! What is done to a table, and the points at which each of it is killed.

/// Something that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Add,
    Replace,
    Rename,
    Update,
    Delete,
    DeleteBatch,
    Import,
    CreateIndex,
    DeleteIndex,
    Expire,
    DeleteTable,
}

/// All of them.
pub const ACTS: &[Act] = &[
    Act::Add,
    Act::Replace,
    Act::Rename,
    Act::Update,
    Act::Delete,
    Act::DeleteBatch,
    Act::Import,
    Act::CreateIndex,
    Act::DeleteIndex,
    Act::Expire,
    Act::DeleteTable,
];

impl Act {
    /// The points at which it is killed, each of which it comes to.
    pub fn rules(self) -> Vec<String> {
        let slot = |command| turn("kv_slot", command);
        let book = |command| turn("resource_book", command);
        match self {
            Self::Add | Self::Replace | Self::Rename => slot("put_item"),
            Self::Update => slot("update_item"),
            Self::Delete => slot("delete_item"),
            Self::DeleteBatch => slot("delete_items"),
            Self::Import => slot("import_items"),
            // Three times 25 items, and the index's being ready.
            Self::CreateIndex => [book("create_index"), later("databases.index_backfill", 4)].concat(),
            // The rows, and the job's end.
            Self::DeleteIndex => [book("delete_index"), later("databases.index_removal", 2)].concat(),
            Self::Expire => later("databases.expiry", 2),
            // The rows of indexes, the items, the table, the job's end.
            Self::DeleteTable => [book("delete_table"), later("databases.removal", 4)].concat(),
        }
    }
}

/// The points of a command that commits once.
fn turn(kind: &str, command: &str) -> Vec<String> {
    vec![format!("handler:{kind}/{command}=kill"), format!("commit:{kind}=kill"), format!("commit:{kind}=kill_after")]
}

/// Before and behind each of so many commits.
fn later(kind: &str, commits: usize) -> Vec<String> {
    (0..commits)
        .flat_map(|at| ["kill", "kill_after"].map(|effect| format!("commit:{kind}={effect};after={at}")))
        .collect()
}
