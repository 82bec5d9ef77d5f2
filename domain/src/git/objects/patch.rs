//! Patches, as `git diff-tree -p` writes them.

/// Some lines that two files have differently, and what is around them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk {
    /// Where it begins in the old file, from 1; 0 where it is empty.
    pub old_start: u64,
    /// How many lines of the old file it has.
    pub old_lines: u64,
    /// Where it begins in the new file.
    pub new_start: u64,
    /// How many lines of the new file it has.
    pub new_lines: u64,
    /// The line before it that git takes for a heading.
    pub heading: String,
    /// The lines, each behind a blank, `+` or `-`; behind `\` stands that the line before it has no end.
    pub lines: Vec<String>,
}

/// What became of the lines of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// The differences, in their order.
    pub hunks: Vec<Hunk>,
    /// Whether the file has no lines that could be compared.
    pub is_binary: bool,
    /// Whether there is more of it than was read.
    pub is_cut: bool,
}

/// Reads patches a line at a time.
#[derive(Debug, Default)]
pub struct PatchReader {
    patches: Vec<Patch>,
    /// Lines of the old and of the new file that the hunk has still to come.
    left: (u64, u64),
    len: usize,
}

impl Hunk {
    /// Reads `@@ -1,3 +1,4 @@ fn main() {`.
    fn read(line: &str) -> Option<Self> {
        let (places, heading) = line.strip_prefix("@@ -")?.split_once(" @@")?;
        let (old, new) = places.split_once(" +")?;
        let side = |text: &str| {
            let (start, lines) = text.split_once(',').unwrap_or((text, "1"));
            Some((start.parse().ok()?, lines.parse().ok()?))
        };
        let ((old_start, old_lines), (new_start, new_lines)) = (side(old)?, side(new)?);
        let heading = heading.strip_prefix(' ').unwrap_or(heading).to_owned();
        Some(Self { old_start, old_lines, new_start, new_lines, heading, lines: Vec::new() })
    }
}

impl Patch {
    /// Where a line of the old file is in the new one, going by a patch that has no lines around what differs; nothing where the
    /// line changed, or that can't be said.
    pub fn line_after(&self, line: u64) -> Option<u64> {
        if self.is_binary || self.is_cut {
            return None;
        }
        let mut after = line;
        for hunk in &self.hunks {
            if hunk.old_lines > 0 && (hunk.old_start..hunk.old_start + hunk.old_lines).contains(&line) {
                return None;
            }
            // What is only added stands behind the line that it begins at.
            if hunk.old_start < line {
                after = (after + hunk.new_lines).checked_sub(hunk.old_lines)?;
            }
        }
        Some(after)
    }
}

impl PatchReader {
    /// Takes a line, without its end. What isn't UTF-8 in it is shown as such.
    pub fn take(&mut self, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        if line.starts_with("diff --git ") && self.left == (0, 0) {
            self.patches.push(Patch::default());
            return;
        }
        let Some(patch) = self.patches.last_mut() else { return };
        let begins = |sign: char| line.starts_with(sign);
        if self.left == (0, 0) && !begins('\\') {
            if let Some(hunk) = Hunk::read(&line) {
                self.left = (hunk.old_lines, hunk.new_lines);
                self.len += hunk.heading.len();
                patch.hunks.push(hunk);
            } else if line.starts_with("Binary files ") {
                patch.is_binary = true;
            }
            return;
        }
        let (old, new) = match line.chars().next() {
            Some('-') => (1, 0),
            Some('+') => (0, 1),
            Some('\\') => (0, 0),
            _ => (1, 1),
        };
        self.left = (self.left.0.saturating_sub(old), self.left.1.saturating_sub(new));
        self.len += line.len();
        if let Some(hunk) = patch.hunks.last_mut() {
            hunk.lines.push(line.into_owned());
        }
    }

    /// Bytes of the lines that were taken.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing was taken yet.
    pub const fn is_empty(&self) -> bool {
        self.patches.is_empty()
    }

    /// The patches, one for each file. Where reading ended early, the last one is cut.
    pub fn finish(mut self, is_cut: bool) -> Vec<Patch> {
        if let Some(last) = self.patches.last_mut() {
            last.is_cut = is_cut;
        }
        self.patches
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_where_what_is_before_it_puts_it() {
        let mut reader = PatchReader::default();
        let text = "diff --git a/a b/a\n@@ -0,0 +1,2 @@\n+x\n+y\n@@ -3,2 +5 @@\n-3\n-4\n+z\n@@ -6,0 +8 @@\n+n\n";
        text.lines().for_each(|line| reader.take(line.as_bytes()));
        let patch = reader.finish(false).remove(0);
        let after: Vec<_> = (1..=7).map(|line| patch.line_after(line)).collect();
        assert_eq!(after, [Some(3), Some(4), None, None, Some(6), Some(7), Some(9)]);
        assert_eq!(Patch { is_cut: true, ..patch }.line_after(1), None);
        assert_eq!(Patch { is_binary: true, ..Patch::default() }.line_after(1), None);
        assert_eq!(Patch::default().line_after(7), Some(7));
    }

    fn read(text: &str) -> Vec<Patch> {
        let mut reader = PatchReader::default();
        for line in text.lines() {
            reader.take(line.as_bytes());
        }
        reader.finish(false)
    }

    #[test]
    fn patches_are_read() {
        let patches = read(
            "diff --git a/a b/a\nindex 1..2 100644\n--- a/a\n+++ b/a\n@@ -1,2 +1,3 @@ fn main() {\n one\n\
             --- two\n+diff --git a/x b/x\n+@@ -1 +1 @@\n\\ No newline at end of file\n@@ -9 +10,0 @@\n-nine\n\
             diff --git a/p.png b/p.png\nBinary files a/p.png and b/p.png differ\n\
             diff --git a/run b/run\nold mode 100644\nnew mode 100755\n",
        );
        let lines: Vec<_> = patches[0].hunks.iter().map(|hunk| hunk.lines.len()).collect();
        assert_eq!((patches.len(), lines), (3, vec![5, 1]));
        let first = &patches[0].hunks[0];
        assert_eq!((first.old_start, first.old_lines, first.new_start, first.new_lines), (1, 2, 1, 3));
        assert_eq!((first.heading.as_str(), first.lines[1].as_str()), ("fn main() {", "--- two"));
        assert_eq!((patches[0].hunks[1].old_start, patches[0].hunks[1].new_lines), (9, 0));
        assert!(patches[1].is_binary && patches[1].hunks.is_empty());
        assert_eq!(patches[2], Patch::default());
    }

    #[test]
    fn only_the_last_patch_is_cut() {
        let mut reader = PatchReader::default();
        for line in ["diff --git a/a b/a", "diff --git a/b b/b", "@@ -0,0 +1,2 @@", "+one"] {
            reader.take(line.as_bytes());
        }
        assert_eq!(reader.len(), 4);
        let patches = reader.finish(true);
        assert_eq!(patches.iter().map(|it| it.is_cut).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn bytes_that_are_no_text_are_shown_as_such() {
        let mut reader = PatchReader::default();
        for line in [&b"diff --git a/a b/a"[..], b"@@ -1 +1 @@", b"-\xff", b"+\xe9t\xc3\xa9"] {
            reader.take(line);
        }
        let patches = reader.finish(false);
        assert_eq!(patches[0].hunks[0].lines, ["-\u{fffd}", "+\u{fffd}t\u{e9}"]);
    }
}
