//! What the objects are that refs are to name.

use std::{
    collections::{HashMap, HashSet},
    fmt::Write as _,
};

use domain::{
    Error, Result,
    git::{
        ObjectId, RefKind, RefMove,
        wire::{Listing, PushCommand},
    },
};
use gateways::{GitError, GitJob};

use super::{
    NewObjects, Quarantine, internal,
    strays::STRAYS,
    walk::{NewNames, Walk},
};

/// What a push asks for once its objects are there.
#[derive(Debug, Default)]
pub struct Unpacked {
    /// The refs that can be moved.
    pub moves: Vec<RefMove>,
    /// The other ones, and why they can't.
    pub refused: Vec<(PushCommand, String)>,
    /// The objects that the refs need and that weren't there; none where one is missing.
    pub new: Option<NewNames>,
}

/// An object, and what kind of one it is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Found {
    oid: ObjectId,
    is_commit: bool,
}

impl Quarantine {
    /// Looks at what the refs are to name: each has to be there with all that it needs. `refs` are the repository's.
    pub async fn look(&self, commands: &[PushCommand], refs: &[Listing]) -> Result<Unpacked> {
        let asked: HashSet<ObjectId> = commands.iter().filter_map(|command| command.new).collect();
        let (mut sent, names) = tokio::try_join!(self.sent(), self.reached(&asked, refs))?;
        let walk = match names {
            Some(names) => Some(Walk::read(names, &asked, &mut sent).await?),
            None => None,
        };
        let bars = match &walk {
            None => Some("missing necessary objects"),
            Some(_) => self.are_new(&sent).await?.then_some(STRAYS),
        };
        let tips = self.tips(asked, refs, walk.as_ref()).await?;
        let there: HashMap<&[u8], ObjectId> = refs.iter().map(|it| (it.name.as_bytes(), it.oid)).collect();
        // What one ref is to name comes after the edges of the walk.
        let edges = walk.as_ref().filter(|_| tips.len() == 1).map(|walk| &walk.edges);
        let found = Looked { tips: &tips, there: &there, edges, bars };
        let mut unpacked = Unpacked::default();
        for command in commands {
            match self.move_of(command, &found).await? {
                Ok(asked) => unpacked.moves.push(asked),
                Err(reason) => unpacked.refused.push((command.clone(), reason)),
            }
        }
        unpacked.new = walk.map(|walk| walk.names);
        Ok(unpacked)
    }

    async fn move_of(
        &self,
        command: &PushCommand,
        &Looked { tips, there, edges, bars }: &Looked<'_>,
    ) -> Result<std::result::Result<RefMove, String>> {
        let name = match RefMove::check_name(&command.name) {
            Ok(name) => name,
            Err(reason) => return Ok(Err(reason.to_owned())),
        };
        let (old, new) = (command.old, command.new);
        let Some(oid) = new else {
            return Ok(Ok(RefMove { old, new, ..RefMove::nothing(name) }));
        };
        if let Some(reason) = bars {
            return Ok(Err(reason.to_owned()));
        }
        let Some(tip) = tips.get(&oid) else {
            return Ok(Err("missing necessary objects".to_owned()));
        };
        if name.kind() == RefKind::Branch && !tip.object.is_commit {
            return Ok(Err("A branch names a commit.".to_owned()));
        }
        let peeled = Some(tip.peeled.oid).filter(|peeled| *peeled != oid);
        let is_old = old.filter(|old| there.get(command.name.as_slice()) == Some(old) && *old != oid);
        let is_forced = match is_old {
            Some(old) if edges.is_some_and(|edges| edges.contains(&old)) => false,
            Some(old) if tip.peeled.is_commit => self.leaves_behind(old, oid).await?,
            _ => false,
        };
        Ok(Ok(RefMove { old, new, peeled, is_forced, ..RefMove::nothing(name) }))
    }

    /// The objects that refs are to name, and what those end at; those that aren't there are left out.
    async fn tips(
        &self,
        asked: HashSet<ObjectId>,
        refs: &[Listing],
        walk: Option<&Walk>,
    ) -> Result<HashMap<ObjectId, Tip>> {
        let branches = refs.iter().filter(|it| it.name.kind() == RefKind::Branch).map(|it| it.oid);
        let known: HashSet<ObjectId> =
            branches.chain(walk.iter().flat_map(|walk| walk.commits.iter().copied())).collect();
        let (commits, asked): (Vec<_>, Vec<_>) = asked.into_iter().partition(|oid| known.contains(oid));
        let mut tips: HashMap<_, _> = commits.into_iter().map(|oid| (oid, Tip::of_commit(oid))).collect();
        if asked.is_empty() {
            return Ok(tips);
        }
        let mut input = String::new();
        for oid in &asked {
            // Writing to a text doesn't fail.
            let _ = write!(input, "{oid}\n{oid}^{{}}\n");
        }
        let job = self.job("cat-file").with("--batch-check=%(objectname) %(objecttype)");
        let output = self.run(&job, input.as_bytes()).await?;
        let output = String::from_utf8_lossy(&output);
        let mut lines = output.lines();
        for oid in asked {
            let (Some(object), Some(peeled)) = (lines.next(), lines.next()) else {
                return Err(Error::internal(format_args!("git cat-file says {output:?}")));
            };
            if let (Some(object), Some(peeled)) = (found(object), found(peeled)) {
                tips.insert(oid, Tip { object, peeled });
            }
        }
        Ok(tips)
    }

    /// All that can be reached from what refs are to name, without what is there already; none where an object of it isn't there.
    async fn reached(&self, tips: &HashSet<ObjectId>, refs: &[Listing]) -> Result<Option<NewNames>> {
        let tips: Vec<ObjectId> = tips.iter().copied().collect();
        let objects = NewObjects { folder: self.folder(), tips: &tips, known: refs };
        match objects.list(&self.host.parts.git, &["--boundary"]).await? {
            Ok(names) => Ok(Some(names)),
            Err(GitError::Failed { said, .. }) => {
                tracing::debug!(said, "a push without all of its objects");
                Ok(None)
            }
            Err(other) => Err(internal(other)),
        }
    }

    /// Whether a ref that names `new` instead of `old` leaves commits behind.
    async fn leaves_behind(&self, old: ObjectId, new: ObjectId) -> Result<bool> {
        let job = self.job("rev-list").with_all(["--max-count=1", &old.to_string(), &format!("^{new}")]);
        Ok(!self.run(&job, b"").await?.is_empty())
    }

    async fn run(&self, job: &GitJob, input: &[u8]) -> Result<Vec<u8>> {
        self.host.parts.git.run(job, input).await.map_err(internal)
    }
}

/// What was found of a push.
struct Looked<'l> {
    tips: &'l HashMap<ObjectId, Tip>,
    /// What refs of the repository name.
    there: &'l HashMap<&'l [u8], ObjectId>,
    /// Commits of the repository that all that is pushed comes after.
    edges: Option<&'l HashSet<ObjectId>>,
    /// Why none of it can be named.
    bars: Option<&'static str>,
}

/// What a ref is to name.
#[derive(Clone, Debug)]
struct Tip {
    object: Found,
    peeled: Found,
}

impl Tip {
    const fn of_commit(oid: ObjectId) -> Self {
        Self { object: Found { oid, is_commit: true }, peeled: Found { oid, is_commit: true } }
    }
}

/// A line of `git cat-file`; none where the object isn't there.
fn found(line: &str) -> Option<Found> {
    let (oid, kind) = line.split_once(' ')?;
    let oid = oid.parse().ok()?;
    matches!(kind, "commit" | "tree" | "blob" | "tag").then_some(Found { oid, is_commit: kind == "commit" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_there_or_it_is_not() {
        let oid = "0101010101010101010101010101010101010101";
        assert_eq!(found(&format!("{oid} commit")), Some(Found { oid: oid.parse().unwrap(), is_commit: true }));
        assert!(found(&format!("{oid} tag")).is_some_and(|found| !found.is_commit));
        assert_eq!(found(&format!("{oid} missing")), None);
        assert_eq!(found(&format!("{oid}^{{}} missing")), None);
    }
}
