//! Files that are too large to be pushed: they belong into Git LFS.

use std::fmt::Write as _;

use super::{FINDINGS_SHOWN_MAX, ObjectId, secrets::path_shown};

/// A file of a push that is too large.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LargeFile {
    /// Its path; none where the push names its bytes without one. Of a long one, the end.
    pub path: Option<String>,
    /// Its bytes' name.
    pub blob: ObjectId,
    /// How many bytes it has.
    pub size: u64,
}

impl LargeFile {
    /// Where it is, on one line.
    fn place(&self) -> String {
        let path = self.path.as_deref().map(|path| path.replace(char::is_control, "\u{fffd}"));
        path.unwrap_or_else(|| self.blob.to_string())
    }
}

/// The files of a push that are too large.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LargeFiles {
    size_max: Option<u64>,
    /// As many of them as are shown.
    shown: Vec<LargeFile>,
    count: u64,
}

impl LargeFiles {
    /// None so far, where a file has at most so many bytes (`git.blob_max`).
    pub const fn over(size_max: Option<u64>) -> Self {
        Self { size_max, shown: Vec::new(), count: 0 }
    }

    /// Notes a file that the push brings, where it is too large.
    pub fn see(&mut self, blob: ObjectId, path: &[u8], size: u64) {
        if self.size_max.is_none_or(|most| size <= most) {
            return;
        }
        self.count += 1;
        if self.shown.len() < FINDINGS_SHOWN_MAX {
            self.shown.push(LargeFile { path: path_shown(path), blob, size });
        }
    }

    /// Why the push is refused, where there are any: in one line, as it stands behind each ref.
    pub fn reason(&self) -> Option<String> {
        let (first, most) = (self.shown.first()?, self.size_max?);
        let more = match self.count - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let LargeFile { size, .. } = first;
        Some(format!("file too large: {} has {size} bytes of at most {most}{more}; use Git LFS", first.place()))
    }

    /// In full, as a client prints it before that; empty where there are none.
    pub fn text(&self) -> String {
        let (Some(first), Some(most)) = (self.shown.first(), self.size_max) else { return String::new() };
        let mut text =
            "\nThere are files in what you push that are too large, and nothing of it was taken.\n\n".to_owned();
        for file in &self.shown {
            // Writing to a text doesn't fail.
            let _ = writeln!(text, "  {} has {} bytes", file.place(), file.size);
        }
        let hidden = self.count - self.shown.len() as u64;
        if hidden > 0 {
            let _ = writeln!(text, "  and {hidden} more");
        }
        let path = first.path.as_deref().filter(|path| is_plain(path)).unwrap_or("<path>");
        let _ = write!(
            text,
            "\nA file has at most {most} bytes. Keep larger ones in Git LFS, also in the commits that have them:\n\n  \
             git lfs migrate import --everything --include=\"{path}\"\n\n",
        );
        text
    }
}

/// Whether a path can stand in a command as it is.
fn is_plain(path: &str) -> bool {
    path.chars().all(|it| it.is_ascii_alphanumeric() || matches!(it, '/' | '.' | '_' | '-' | ' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(paths: &[&str], size: u64) -> LargeFiles {
        let mut files = LargeFiles::over(Some(1_000));
        for path in paths {
            files.see(ObjectId::of_bytes([1; 20]), path.as_bytes(), size);
        }
        files
    }

    #[test]
    fn a_file_over_the_limit_is_named_with_its_size_and_a_smaller_one_is_not() {
        assert_eq!((of(&["a"], 999).reason(), of(&["a"], 1_000).reason()), (None, None));
        assert_eq!(of(&["a"], 1_000).text(), "");
        let refused = of(&["dir/a.bin", "b"], 1_001);
        let reason = refused.reason().unwrap();
        assert_eq!(reason, "file too large: dir/a.bin has 1001 bytes of at most 1000 and 1 more; use Git LFS");
        let text = refused.text();
        assert!(text.contains("  dir/a.bin has 1001 bytes\n  b has 1001 bytes\n\nA file has"), "{text}");
        assert!(text.contains("git lfs migrate import --everything --include=\"dir/a.bin\"\n"), "{text}");
        let mut any = LargeFiles::over(None);
        any.see(ObjectId::of_bytes([1; 20]), b"a", u64::MAX);
        assert_eq!(any.reason(), None);
    }

    #[test]
    fn fifty_are_shown_and_no_path_becomes_a_command() {
        let paths = vec!["$(echo)\"\n"; FINDINGS_SHOWN_MAX + 2];
        let text = of(&paths, 2_000).text();
        assert!(text.contains("  and 2 more\n") && text.contains("--include=\"<path>\""), "{text}");
        assert_eq!(text.matches("  $(echo)\"\u{fffd} has 2000 bytes\n").count(), FINDINGS_SHOWN_MAX);
        assert!(of(&[""], 2_000).text().contains(&format!("  {} has", "01".repeat(20))));
    }
}
