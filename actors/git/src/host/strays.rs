//! Objects that came with a push, and that nothing which it names needs.
//!
//! Whoever reads a repository can fetch each of its objects by name, but only what a ref leads to is looked through for secrets.
//! Git never sends such an object, so a pack that has one isn't taken.

use std::{collections::HashSet, fmt::Write as _};

use domain::{Error, Result, git::ObjectId};

use super::{Quarantine, internal, views::failed};

/// What a push reads that has them.
pub(super) const STRAYS: &str = "The pack has objects that nothing you push needs.";

impl Quarantine {
    /// The objects that came.
    pub(super) async fn sent(&self) -> Result<HashSet<ObjectId>> {
        let Some(pack) = self.hash.map(|hash| self.pack_file(hash)) else { return Ok(HashSet::new()) };
        let index = tokio::fs::read(pack.with_extension("idx")).await.map_err(failed)?;
        let listed = self.host.parts.git.run(&self.job("show-index"), &index).await.map_err(internal)?;
        let mut objects = Vec::new();
        for line in listed.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            objects.push(placed(line).ok_or_else(|| strange(line))?);
        }
        // Behind them are objects of the repository, with which git completed a thin pack.
        objects.sort_unstable();
        objects.truncate(self.sent.unwrap_or(objects.len()));
        Ok(objects.into_iter().map(|(_, oid)| oid).collect())
    }

    /// Whether the repository lacks one of these.
    pub(super) async fn are_new(&self, objects: &HashSet<ObjectId>) -> Result<bool> {
        if objects.is_empty() {
            return Ok(false);
        }
        let mut question = String::new();
        for oid in objects {
            // Writing to a text doesn't fail.
            let _ = writeln!(question, "{oid}");
        }
        let job = self.view.job("cat-file").with("--batch-check=%(objecttype)");
        let answer = self.host.parts.git.run(&job, question.as_bytes()).await.map_err(internal)?;
        Ok(answer.split(|byte| *byte == b'\n').any(|line| line.ends_with(b" missing")))
    }
}

/// Where in a pack which object is, of a line that begins with both.
fn placed(line: &[u8]) -> Option<(u64, ObjectId)> {
    let mut words = line.split(|byte| *byte == b' ');
    let place = std::str::from_utf8(words.next()?).ok()?.parse().ok()?;
    Some((place, ObjectId::read(words.next()?).ok()?))
}

fn strange(line: &[u8]) -> Error {
    Error::internal(format_args!("git says {:?}", String::from_utf8_lossy(line)))
}
