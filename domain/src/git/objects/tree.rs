//! Folders, as `git ls-tree -z --long` lists them.

use crate::git::ObjectId;

/// What an entry of a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A file.
    File,
    /// A file that can be run.
    Executable,
    /// A symbolic link.
    Link,
    /// A folder.
    Folder,
    /// A commit of another repository.
    Submodule,
}

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeEntry {
    /// What it is.
    pub kind: EntryKind,
    /// The object that it names.
    pub oid: ObjectId,
    /// Bytes of a file.
    pub size: Option<u64>,
    /// Its path, from the folder that was asked for; what isn't UTF-8 is shown as such.
    pub path: String,
}

impl EntryKind {
    /// What a mode says that it is.
    pub fn of_mode(mode: &[u8]) -> Option<Self> {
        Some(match mode {
            b"100644" | b"100664" => Self::File,
            b"100755" => Self::Executable,
            b"120000" => Self::Link,
            b"040000" | b"40000" => Self::Folder,
            b"160000" => Self::Submodule,
            _ => return None,
        })
    }

    /// The mode that git keeps it with.
    pub const fn mode(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Link => "120000",
            Self::Folder => "040000",
            Self::Submodule => "160000",
        }
    }

    /// As it is answered.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Executable => "executable",
            Self::Link => "link",
            Self::Folder => "folder",
            Self::Submodule => "submodule",
        }
    }
}

impl TreeEntry {
    fn read(line: &[u8]) -> Option<Self> {
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        let mut facts = line[..tab].split(|byte| *byte == b' ').filter(|fact| !fact.is_empty());
        let kind = EntryKind::of_mode(facts.next()?)?;
        let (_, oid) = (facts.next()?, ObjectId::read(facts.next()?).ok()?);
        let size = facts.next().and_then(|size| std::str::from_utf8(size).ok()?.parse().ok());
        Some(Self { kind, oid, size, path: String::from_utf8_lossy(&line[tab + 1..]).into_owned() })
    }
}

/// The entries of a folder, in git's order.
pub fn read_tree(listed: &[u8]) -> Vec<TreeEntry> {
    listed.split(|byte| *byte == 0).filter_map(TreeEntry::read).collect()
}

/// The entries of a folder's object: what each is, its name and its object. What git doesn't know as anything else is a file.
pub fn read_tree_object(object: &[u8]) -> impl Iterator<Item = (EntryKind, &[u8], ObjectId)> {
    let mut rest = object;
    std::iter::from_fn(move || {
        let space = rest.iter().position(|byte| *byte == b' ')?;
        let end = space + rest[space..].iter().position(|byte| *byte == 0)?;
        let (oid, behind) = rest[end + 1..].split_first_chunk::<20>()?;
        let kind = EntryKind::of_mode(&rest[..space]).unwrap_or(EntryKind::File);
        let entry = (kind, &rest[space + 1..end], ObjectId::of_bytes(*oid));
        rest = behind;
        Some(entry)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_listed() {
        let oid = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
        let listed = format!(
            "100644 blob {oid}      12\ta b\0100755 blob {oid}       0\trun\0040000 tree {oid}       -\tfolder\0\
             120000 blob {oid}       3\tlink\0160000 commit {oid}       -\tsub\0"
        );
        let found = read_tree(listed.as_bytes());
        let told: Vec<_> = found.iter().map(|it| (it.kind.as_str(), it.size, it.path.as_str())).collect();
        assert_eq!(
            told,
            [
                ("file", Some(12), "a b"),
                ("executable", Some(0), "run"),
                ("folder", None, "folder"),
                ("link", Some(3), "link"),
                ("submodule", None, "sub")
            ]
        );
        assert!(read_tree(b"").is_empty());
    }

    #[test]
    fn the_object_of_a_folder_is_read_until_it_breaks_off() {
        let mut object = [b"100755 run it\0", &[b' '; 20][..], b"40000 folder\0", &[0; 20]].concat();
        let found: Vec<_> =
            read_tree_object(&object).map(|(kind, name, oid)| (kind.mode(), name.to_vec(), oid)).collect();
        let oid = |byte| ObjectId::of_bytes([byte; 20]);
        let expected = [("100755", b"run it".to_vec(), oid(b' ')), ("040000", b"folder".to_vec(), oid(0))];
        assert_eq!(found, expected);
        object.pop();
        assert_eq!(read_tree_object(&object).count(), 1);
    }
}
