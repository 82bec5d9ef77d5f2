//! What git lists of a walk from what refs are to name.

use std::collections::HashSet;

use domain::{Error, Result, git::ObjectId};
use tokio::{
    fs::File,
    io::{AsyncBufReadExt, AsyncSeekExt, BufReader},
};

use super::{reading::PIECE_LEN, views::failed};

/// Bytes of an object's name, as git writes it.
pub(super) const NAME_LEN: usize = 40;

/// The names of objects that are new, a line each, in a file that has no name itself. A commit's line ends with its name, another
/// one's goes on with its path.
#[derive(Debug)]
pub struct NewNames(pub(super) File);

/// A walk through all that is new.
pub(super) struct Walk {
    pub(super) names: NewNames,
    /// What is asked for and is a commit among them.
    pub(super) commits: HashSet<ObjectId>,
    /// The commits of the repository at which it ended.
    pub(super) edges: HashSet<ObjectId>,
}

impl Walk {
    /// Reads what was listed for what is `asked`, and takes it out of what was `sent`.
    pub(super) async fn read(
        NewNames(mut file): NewNames,
        asked: &HashSet<ObjectId>,
        sent: &mut HashSet<ObjectId>,
    ) -> Result<Self> {
        let (mut commits, mut edges) = (HashSet::new(), HashSet::new());
        let mut lines = BufReader::with_capacity(PIECE_LEN, &mut file).split(b'\n');
        while let Some(line) = lines.next_segment().await.map_err(failed)? {
            if let Some(edge) = edge_of(&line) {
                edges.insert(object_of(edge)?.0);
                continue;
            }
            let (oid, _) = object_of(&line)?;
            sent.remove(&oid);
            if is_commit(&line) && asked.contains(&oid) {
                commits.insert(oid);
            }
        }
        file.rewind().await.map_err(failed)?;
        Ok(Self { names: NewNames(file), commits, edges })
    }
}

/// What is behind the sign that something isn't new, but what is new comes after it.
pub(super) fn edge_of(line: &[u8]) -> Option<&[u8]> {
    line.strip_prefix(b"-")
}

/// Only a commit has nothing behind its name, not even a space.
pub(super) const fn is_commit(line: &[u8]) -> bool {
    line.len() == NAME_LEN
}

/// The object in a line of git's, and what stands behind it.
pub(super) fn object_of(line: &[u8]) -> Result<(ObjectId, &[u8])> {
    let strange = || Error::internal(format_args!("git says {:?}", String::from_utf8_lossy(line)));
    let (name, rest) = line.split_at_checked(NAME_LEN).ok_or_else(strange)?;
    let oid = ObjectId::read(name).map_err(|_| strange())?;
    Ok((oid, rest.strip_prefix(b" ").unwrap_or(rest)))
}
