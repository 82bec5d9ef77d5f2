//! What two commits have differently, as `git diff-tree -r -z --raw` and `--numstat` say it.

use super::EntryKind;
use crate::git::ObjectId;

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It wasn't there.
    Added,
    /// It is gone.
    Deleted,
    /// Its bytes are others, or whether it can be run.
    Modified,
    /// It is what another file was, as it was or nearly.
    Renamed,
    /// It is of another kind: a link where a file was.
    Retyped,
}

/// A file that two commits have differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// What became of it.
    pub kind: ChangeKind,
    /// Its path, as git knows it; that of a file that is gone is what it was.
    pub path: Vec<u8>,
    /// What its path was, where it is renamed.
    pub old_path: Option<Vec<u8>>,
    /// What it was.
    pub before: Option<(EntryKind, ObjectId)>,
    /// What it is.
    pub after: Option<(EntryKind, ObjectId)>,
}

/// How many lines a file gained and lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineCounts {
    /// So many.
    Text {
        /// Lines that weren't there.
        added: u64,
        /// Lines that are gone.
        deleted: u64,
    },
    /// It has no lines.
    Binary,
}

impl ChangeKind {
    fn of_letter(letter: u8) -> Option<Self> {
        Some(match letter {
            b'A' => Self::Added,
            b'D' => Self::Deleted,
            b'M' => Self::Modified,
            b'R' => Self::Renamed,
            b'T' => Self::Retyped,
            _ => return None,
        })
    }

    /// As it is answered.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Deleted => "deleted",
            Self::Modified => "modified",
            Self::Renamed => "renamed",
            Self::Retyped => "retyped",
        }
    }

    /// How many parts a patch has for it: what is of another kind is taken away and added.
    pub const fn patches(self) -> usize {
        match self {
            Self::Retyped => 2,
            Self::Added | Self::Deleted | Self::Modified | Self::Renamed => 1,
        }
    }
}

impl FileChange {
    /// Reads `:100644 100755 <oid> <oid> M` and the paths that follow it.
    fn read<'o>(facts: &[u8], paths: &mut impl Iterator<Item = &'o [u8]>) -> Option<Self> {
        let mut facts = facts.strip_prefix(b":")?.split(|byte| *byte == b' ');
        let (old_mode, new_mode) = (facts.next()?, facts.next()?);
        let (old, new) = (ObjectId::read(facts.next()?).ok()?, ObjectId::read(facts.next()?).ok()?);
        let kind = ChangeKind::of_letter(*facts.next()?.first()?)?;
        let side = |mode: &[u8], oid: ObjectId| Some((EntryKind::of_mode(mode)?, oid));
        let first = paths.next()?.to_vec();
        let (path, old_path) = match kind {
            ChangeKind::Renamed => (paths.next()?.to_vec(), Some(first)),
            _ => (first, None),
        };
        Some(Self { kind, path, old_path, before: side(old_mode, old), after: side(new_mode, new) })
    }
}

impl LineCounts {
    /// Reads `3\t1\t`; what has no lines has a dash.
    fn read(added: &[u8], deleted: &[u8]) -> Option<Self> {
        if (added, deleted) == (b"-", b"-") {
            return Some(Self::Binary);
        }
        let number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse().ok();
        Some(Self::Text { added: number(added)?, deleted: number(deleted)? })
    }
}

/// The changes of `--raw -z`, in git's order. What is cut at the end is left out.
pub fn read_changes(output: &[u8]) -> Vec<FileChange> {
    // Whatever has no end is cut.
    let whole = output.iter().rposition(|byte| *byte == 0).map_or(&output[..0], |end| &output[..end]);
    let mut fields = whole.split(|byte| *byte == 0);
    let mut found = Vec::new();
    while let Some(facts) = fields.next().filter(|facts| !facts.is_empty()) {
        found.extend(FileChange::read(facts, &mut fields));
    }
    found
}

/// The numbers of `--numstat -z`, in the order of the changes.
pub fn read_line_counts(output: &[u8]) -> Vec<LineCounts> {
    let mut fields = output.split(|byte| *byte == 0);
    let mut found = Vec::new();
    while let Some(facts) = fields.next().filter(|facts| !facts.is_empty()) {
        let mut parts = facts.splitn(3, |byte| *byte == b'\t');
        let (added, deleted, path) = (parts.next(), parts.next(), parts.next());
        found.extend(added.zip(deleted).and_then(|(added, deleted)| LineCounts::read(added, deleted)));
        if path.is_none_or(<[u8]>::is_empty) {
            // What is renamed has its two paths behind it.
            fields.by_ref().take(2).for_each(drop);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
    const NEW: &str = "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0";
    const NONE: &str = "0000000000000000000000000000000000000000";

    #[test]
    fn changes_are_read() {
        let raw = format!(
            ":100644 100755 {OLD} {NEW} M\0a b\0:000000 100644 {NONE} {NEW} A\0new\0:100644 000000 {OLD} {NONE} D\0gone\0\
             :100644 100644 {OLD} {NEW} R086\0from\0to\0:100644 120000 {OLD} {NEW} T\0link\0"
        );
        let found = read_changes(raw.as_bytes());
        let text = |path: &[u8]| String::from_utf8(path.to_vec()).unwrap();
        let told: Vec<_> =
            found.iter().map(|it| (it.kind.as_str(), text(&it.path), it.old_path.as_deref().map(text))).collect();
        let plain = |kind, path: &str| (kind, path.to_owned(), None);
        assert_eq!(
            told,
            [
                plain("modified", "a b"),
                plain("added", "new"),
                plain("deleted", "gone"),
                ("renamed", "to".to_owned(), Some("from".to_owned())),
                plain("retyped", "link"),
            ]
        );
        assert_eq!(found[0].after.unwrap().0, EntryKind::Executable);
        assert_eq!((found[1].before, found[2].after), (None, None));
        for end in 0..raw.len() {
            assert!(read_changes(&raw.as_bytes()[..end]).len() < 5, "{end}");
        }
        assert!(read_changes(b"").is_empty());
    }

    #[test]
    fn numbers_of_lines_are_read() {
        let counted = |added, deleted| LineCounts::Text { added, deleted };
        assert_eq!(
            read_line_counts(b"3\t1\ta b\0-\t-\tpicture.png\x000\t2\t\0from\0to\x0012\t0\tlast\0"),
            [counted(3, 1), LineCounts::Binary, counted(0, 2), counted(12, 0)]
        );
        assert!(read_line_counts(b"").is_empty());
    }
}
