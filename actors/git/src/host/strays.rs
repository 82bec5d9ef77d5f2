//! Objects that came with a push, and that nothing which it names needs.
//!
//! Whoever reads a repository can fetch each of its objects by name, but only what a ref leads to is looked through for secrets.
//! Git never sends such an object, so a pack that has one isn't taken.

use std::{collections::HashSet, fmt::Write as _};

use domain::{Error, Result, git::ObjectId};
use tokio::{
    fs::File,
    io::{AsyncBufReadExt, AsyncSeekExt, BufReader},
};

use super::{Quarantine, internal, quarantine::objects_of, reading::PIECE_LEN, views::failed};

/// What a push reads that has them.
pub(super) const STRAYS: &str = "The pack has objects that nothing you push needs.";
/// Bytes of a line that names an object.
const LINE_LEN: u64 = 41;

impl Quarantine {
    /// Whether something came that is neither among what was `reached` nor in the repository.
    pub(super) async fn has_strays(&self, mut reached: File) -> Result<bool> {
        let Some(pack) = self.hash.map(|hash| self.pack_file(hash)) else { return Ok(false) };
        let len = reached.metadata().await.map_err(failed)?.len();
        if objects_of(&pack).await.map_err(failed)? * LINE_LEN <= len {
            // Each object of a pack is in it once, and what is reached isn't in the repository.
            return Ok(false);
        }
        // A thin pack was completed with objects of the repository.
        let index = tokio::fs::read(pack.with_extension("idx")).await.map_err(failed)?;
        let listed = self.host.parts.git.run(&self.job("show-index"), &index).await.map_err(internal)?;
        let mut strays = HashSet::new();
        for line in listed.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let name = line.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
            strays.insert(ObjectId::read(name).map_err(|_| strange(line))?);
        }
        reached.rewind().await.map_err(failed)?;
        let mut lines = BufReader::with_capacity(PIECE_LEN, reached).split(b'\n');
        while let Some(line) = lines.next_segment().await.map_err(failed)? {
            strays.remove(&ObjectId::read(&line).map_err(|_| strange(&line))?);
        }
        self.are_new(&strays).await
    }

    /// Whether the repository lacks one of these.
    async fn are_new(&self, objects: &HashSet<ObjectId>) -> Result<bool> {
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

fn strange(line: &[u8]) -> Error {
    Error::internal(format_args!("git says {:?}", String::from_utf8_lossy(line)))
}
