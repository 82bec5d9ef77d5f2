//! Names of files, from titles and back.

use std::collections::HashSet;

/// Bytes of a file's name without its extension, at most: deep paths stay within what file systems take.
const STEM_BYTES_MAX: usize = 80;
/// What a page without a title is called as a file.
const UNTITLED: &str = "Untitled";
/// The folder that macOS adds to archives, which an import passes over.
pub(super) const MACOS: &str = "__MACOSX";
/// Names that Windows keeps for devices, with any extension.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];
/// Characters of the id that Notion ends the names of exported files with.
const NOTION_ID_LEN: usize = 32;

/// The names that a folder has already, without regard to case.
#[derive(Debug, Default)]
pub(super) struct Taken(HashSet<String>);

impl Taken {
    /// A name for a page with this title that every file system takes and that no sibling has.
    pub(super) fn stem(&mut self, title: &str) -> String {
        let stem = stem(title);
        let mut name = stem.clone();
        let mut number = 1_u32;
        while !self.0.insert(name.to_lowercase()) {
            number += 1;
            name = format!("{stem} ({number})");
        }
        name
    }
}

/// The title as a file's name.
fn stem(title: &str) -> String {
    let is_padding = |c: char| c == '.' || c.is_whitespace();
    let usable = |c: char| if c.is_control() || r#"/\:*?"<>|"#.contains(c) { '-' } else { c };
    let text: String = title.chars().map(usable).collect();
    let mut text = text.trim_end().trim_start_matches(is_padding);
    let mut end = text.len().min(STEM_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text = text[..end].trim_end_matches(is_padding);
    if text.is_empty() {
        return UNTITLED.to_owned();
    }
    if is_device(text) || text == MACOS { format!("_{text}") } else { text.to_owned() }
}

fn is_device(name: &str) -> bool {
    let name = name.split('.').next().unwrap_or_default().trim().to_lowercase();
    let numbered = |prefix: &str| {
        name.strip_prefix(prefix)
            .is_some_and(|number| number.chars().count() == 1 && number.chars().all(char::is_numeric))
    };
    DEVICES.contains(&name.as_str()) || numbered("com") || numbered("lpt")
}

/// The title that the name of a file of others' says, without its extension and without the id that Notion adds.
pub(super) fn title_of(stem: &str) -> String {
    let title = match stem.rsplit_once(' ') {
        Some((title, id)) if id.len() == NOTION_ID_LEN && id.bytes().all(|byte| byte.is_ascii_hexdigit()) => title,
        _ => stem,
    };
    clean(title)
}

/// A title without what titles don't have, cut to their length.
pub(super) fn clean(title: &str) -> String {
    let text: String = title.chars().filter(|c| !c.is_control()).collect();
    let text: String = text.trim().chars().take(*crate::pages::TITLE_LEN.end()).collect();
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_becomes_a_name_that_every_file_system_takes() {
        for (title, name) in [
            ("Roadmap", "Roadmap"),
            ("", "Untitled"),
            ("..", "Untitled"),
            ("../../etc/passwd", "-..-etc-passwd"),
            ("a/b\\c:d*e?f\"g<h>i|j", "a-b-c-d-e-f-g-h-i-j"),
            ("  Ends in dots...  ", "Ends in dots"),
            (".hidden", "hidden"),
            (". .x", "x"),
            ("CON", "_CON"),
            ("nul.txt", "_nul.txt"),
            ("com1", "_com1"),
            ("company", "company"),
            ("__MACOSX", "___MACOSX"),
            ("Ä ö 漢字 🚀", "Ä ö 漢字 🚀"),
        ] {
            assert_eq!(stem(title), name, "{title}");
        }
        assert_eq!(stem(&"é".repeat(200)).len(), 80);
        assert_eq!(stem(&"漢".repeat(200)).len(), 78);
    }

    #[test]
    fn siblings_have_different_names_whatever_the_case() {
        let mut taken = Taken::default();
        let names = ["Notes", "notes", "Notes (2)", "NOTES"].map(|title| taken.stem(title));
        assert_eq!(names, ["Notes", "notes (2)", "Notes (2) (2)", "NOTES (3)"]);
    }

    #[test]
    fn a_name_of_others_says_the_title() {
        assert_eq!(title_of("Meeting 2026-01-02"), "Meeting 2026-01-02");
        assert_eq!(title_of("Roadmap 0123456789abcdef0123456789abcdef"), "Roadmap");
        assert_eq!(title_of(&"é".repeat(300)).chars().count(), 200);
        assert_eq!(title_of(" a\tb "), "ab");
    }
}
