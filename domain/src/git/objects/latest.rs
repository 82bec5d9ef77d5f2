//! Which commit each entry of a folder is from, as `git log -z --raw -t -c` tells it, from the newest commit on.

use std::collections::HashMap;

use super::{EntryKind, RepositoryPath, TreeEntry};
use crate::git::ObjectId;

/// Commits that are looked at for the entries of a folder.
pub const LATEST_WALK_MAX: usize = 20_000;

/// What an entry is: its name, its kind and its object.
type Wanted = (String, EntryKind, ObjectId);

/// The commits that the entries of one folder are from. An entry is from the newest commit that made it what it is: so what
/// a merge left behind isn't named, however young it is.
#[derive(Clone, Debug)]
pub struct LatestCommits {
    /// What the folder's paths begin with.
    folder: Vec<u8>,
    found: HashMap<Wanted, Option<ObjectId>>,
    missing: usize,
    walked: usize,
    /// The commit whose changes are read.
    commit: Option<ObjectId>,
    next: Next,
}

/// What is read next.
#[derive(Clone, Copy, Debug)]
enum Next {
    /// A commit, or what became of a path.
    Facts,
    /// The path that this became of; none where it is gone.
    Path(Option<(EntryKind, ObjectId)>),
}

impl LatestCommits {
    /// Of these entries, which are in `folder`; in the repository itself where it is none.
    pub fn of(entries: &[TreeEntry], folder: Option<&RepositoryPath>) -> Self {
        let folder = folder.map_or_else(Vec::new, |path| format!("{}/", path.as_str()).into_bytes());
        let found: HashMap<_, _> = entries.iter().map(|entry| (wanted(entry), None)).collect();
        Self { folder, missing: found.len(), found, walked: 0, commit: None, next: Next::Facts }
    }

    /// Takes what stands before the next NUL.
    pub fn take(&mut self, field: &[u8]) {
        if let Next::Path(became) = self.next {
            if let Some((kind, oid)) = became {
                self.made(kind, oid, field);
            }
            self.next = Next::Facts;
            return;
        }
        // Git ends what it says of a commit with a line's end.
        let field = field.strip_prefix(b"\n").unwrap_or(field);
        if field.first() == Some(&b':') {
            self.next = Next::Path(result_of(field));
        } else if let Ok(commit) = ObjectId::read(field) {
            self.commit = Some(commit);
            self.walked += 1;
        }
    }

    /// Whether nothing more is to be found, or enough commits were looked at.
    pub const fn is_done(&self) -> bool {
        self.missing == 0 || self.walked > LATEST_WALK_MAX
    }

    /// The commit that an entry is from, where it was found.
    pub fn commit_of(&self, entry: &TreeEntry) -> Option<ObjectId> {
        self.found.get(&wanted(entry)).copied().flatten()
    }

    /// All commits that were found, each once.
    pub fn commits(&self) -> Vec<ObjectId> {
        let mut commits: Vec<ObjectId> = self.found.values().copied().flatten().collect();
        commits.sort_unstable();
        commits.dedup();
        commits
    }

    /// Notes that the commit made a path what it says.
    fn made(&mut self, kind: EntryKind, oid: ObjectId, path: &[u8]) {
        let Some(name) = path.strip_prefix(self.folder.as_slice()).filter(|name| !name.contains(&b'/')) else { return };
        let made = (String::from_utf8_lossy(name).into_owned(), kind, oid);
        if let (Some(commit), Some(from)) = (self.commit, self.found.get_mut(&made))
            && from.is_none()
        {
            *from = Some(commit);
            self.missing -= 1;
        }
    }
}

fn wanted(entry: &TreeEntry) -> Wanted {
    (entry.path.clone(), entry.kind, entry.oid)
}

/// Reads what a path is since, of `:100644 100755 <oid> <oid> M`; a merge has a colon, a mode and an object for each commit that it
/// follows, and a mode and an object for itself.
fn result_of(facts: &[u8]) -> Option<(EntryKind, ObjectId)> {
    let parents = facts.iter().take_while(|byte| **byte == b':').count();
    let mut facts = facts.get(parents..)?.split(|byte| *byte == b' ');
    let kind = EntryKind::of_mode(facts.nth(parents)?)?;
    let oid = ObjectId::read(facts.nth(parents)?).ok()?;
    Some((kind, oid))
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    fn oid(byte: u8) -> ObjectId {
        ObjectId::of_bytes([byte; 20])
    }

    fn entry(kind: EntryKind, byte: u8, path: &str) -> TreeEntry {
        TreeEntry { kind, oid: oid(byte), size: None, path: path.to_owned() }
    }

    /// What git writes of commits, each with its changes.
    fn log(commits: &[(u8, Vec<(&String, &str)>)]) -> Vec<u8> {
        let mut text = String::new();
        for (commit, changes) in commits {
            write!(text, "{}\0", oid(*commit)).unwrap();
            for (at, (facts, path)) in changes.iter().enumerate() {
                let before = if at == 0 { "\n" } else { "" };
                write!(text, "{before}{facts}\0{path}\0").unwrap();
            }
        }
        text.into_bytes()
    }

    fn change(modes: &str, from: u8, to: u8) -> String {
        format!(":{modes} {} {} M", oid(from), oid(to))
    }

    fn walk(mut latest: LatestCommits, log: &[u8]) -> LatestCommits {
        for field in log.strip_suffix(b"\0").unwrap_or(log).split(|byte| *byte == 0) {
            latest.take(field);
        }
        latest
    }

    #[test]
    fn an_entry_is_from_the_newest_commit_that_made_it_what_it_is() {
        let entries = [
            entry(EntryKind::File, 1, "file"),
            entry(EntryKind::Folder, 2, "sub"),
            entry(EntryKind::Executable, 3, "run"),
            entry(EntryKind::File, 4, "old"),
        ];
        let path = RepositoryPath::parse("path", "a/b").unwrap();
        let (file, other) = (change("100644 100644", 9, 1), change("100644 100644", 1, 8));
        let (sub, inside) = (change("040000 040000", 9, 2), change("100644 100644", 9, 1));
        let (run, plain) = (change("100644 100755", 3, 3), change("000000 100644", 0, 3));
        let gone = format!(":100644 000000 {} {} D", oid(1), ObjectId::ZERO);
        let log = log(&[
            // What a merge didn't take over.
            (50, vec![(&other, "a/b/file"), (&gone, "a/b/gone")]),
            (51, vec![(&file, "a/file"), (&file, "a/b/c/file"), (&file, "file")]),
            (52, vec![(&sub, "a/b/sub"), (&inside, "a/b/sub/file")]),
            (53, vec![(&file, "a/b/file")]),
            (54, vec![(&file, "a/b/file"), (&run, "a/b/run")]),
            (55, vec![(&plain, "a/b/run")]),
        ]);
        let latest = walk(LatestCommits::of(&entries, Some(&path)), &log);
        let found = entries.each_ref().map(|entry| latest.commit_of(entry));
        assert_eq!(found, [Some(oid(53)), Some(oid(52)), Some(oid(54)), None]);
        assert_eq!(latest.commits(), [oid(52), oid(53), oid(54)]);
        assert!(!latest.is_done());
        assert!(walk(LatestCommits::of(&entries[..3], Some(&path)), &log).is_done());
        assert!(LatestCommits::of(&[], None).is_done());
    }

    #[test]
    fn a_merge_is_read_with_all_that_it_follows() {
        let entries = [entry(EntryKind::File, 7, ":x")];
        let facts = format!("::100644 100644 100644 {} {} {} MM", oid(1), oid(2), oid(7));
        let latest = walk(LatestCommits::of(&entries, None), &log(&[(40, vec![(&facts, ":x")])]));
        assert_eq!(latest.commit_of(&entries[0]), Some(oid(40)));
        for bad in [":", "::", ":100644", ":100644 100644 1 2 M", "::100644 100644 100644"] {
            let latest = walk(LatestCommits::of(&entries, None), &log(&[(40, vec![(&bad.to_owned(), ":x")])]));
            assert_eq!(latest.commit_of(&entries[0]), None, "{bad}");
        }
    }

    #[test]
    fn only_so_many_commits_are_looked_at() {
        let mut latest = LatestCommits::of(&[entry(EntryKind::File, 1, "a")], None);
        for _ in 0..LATEST_WALK_MAX {
            latest.take(oid(9).to_string().as_bytes());
            assert!(!latest.is_done());
        }
        latest.take(oid(9).to_string().as_bytes());
        assert!(latest.is_done());
    }
}
