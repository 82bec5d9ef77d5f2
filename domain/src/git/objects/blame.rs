//! Who wrote which line, as `git blame --incremental` says it.

use crate::git::ObjectId;

/// Lines of a file that came with one commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlamedLines {
    /// The commit that they came with.
    pub commit: ObjectId,
    /// The first of them, from 1.
    pub from: u64,
    /// How many they are.
    pub count: u64,
    /// Which line the first of them was in that commit.
    pub was_from: u64,
    /// What the file was called there; what isn't UTF-8 is shown as such.
    pub was_in: String,
}

impl BlamedLines {
    /// Reads `<oid> 7 9 3`.
    fn read(line: &str) -> Option<Self> {
        let mut facts = line.split(' ');
        let commit = facts.next()?.parse().ok()?;
        let mut number = || facts.next()?.parse().ok();
        let (was_from, from, count) = (number()?, number()?, number()?);
        Some(Self { commit, from, count, was_from, was_in: String::new() })
    }
}

/// The lines of a file in their order.
pub fn read_blame(output: &[u8]) -> Vec<BlamedLines> {
    let mut found: Vec<BlamedLines> = Vec::new();
    let mut current = None;
    for line in output.split(|byte| *byte == b'\n') {
        let line = String::from_utf8_lossy(line);
        if let Some(lines) = BlamedLines::read(&line) {
            current = Some(lines);
        } else if let Some(name) = line.strip_prefix("filename ") {
            // The last that is said of them.
            found.extend(current.take().map(|lines| BlamedLines { was_in: name.to_owned(), ..lines }));
        }
    }
    found.sort_by_key(|lines| lines.from);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_in_their_order() {
        let (one, two) = ("4b825dc642cb6eb9a060e54bf8d69288fbee4904", "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0");
        let output = format!(
            "{two} 1 3 2\nauthor A\nsummary 1 2 3 4\nprevious {one} a\nfilename a b\n{one} 7 1 2\nauthor B\nfilename old\n\
             {two} 9 5 1\nfilename a b\n"
        );
        let told: Vec<_> =
            read_blame(output.as_bytes()).into_iter().map(|it| (it.from, it.count, it.was_from, it.was_in)).collect();
        let named = |from, count, was_from, name: &str| (from, count, was_from, name.to_owned());
        assert_eq!(told, [named(1, 2, 7, "old"), named(3, 2, 1, "a b"), named(5, 1, 9, "a b")]);
        assert!(read_blame(b"").is_empty());
    }
}
