//! What a commit says, and whose name it has.

use std::ops::RangeInclusive;

use crate::{Error, Result};

/// Characters of a commit's first line, without the blanks around it (contract C 4.3).
pub const WEB_MESSAGE_LEN: RangeInclusive<usize> = 1..=1_000;
/// Characters of what stands below it (contract C 4.3).
pub const WEB_DESCRIPTION_LEN_MAX: usize = 20_000;

/// The text of a commit, as git keeps it: lines end with a line feed.
pub fn commit_message(message: &str, description: Option<&str>) -> Result<String> {
    let (message, description) = (message.trim(), description.unwrap_or_default());
    if !WEB_MESSAGE_LEN.contains(&message.chars().count()) {
        return Err(Error::invalid("message", "Use 1 to 1,000 characters."));
    }
    if description.chars().count() > WEB_DESCRIPTION_LEN_MAX {
        return Err(Error::invalid("description", "Use at most 20,000 characters."));
    }
    for (field, text) in [("message", message), ("description", description)] {
        if text.contains('\0') {
            return Err(Error::invalid(field, "Must not have a NUL in it."));
        }
    }
    let description = description.trim();
    let between = if description.is_empty() { "" } else { "\n\n" };
    Ok(format!("{message}{between}{description}\n").replace("\r\n", "\n"))
}

/// A person's name or address, as it can stand in a commit: without what ends it there. Git leaves these signs out at either end,
/// and takes no name that is empty.
pub fn commit_name(text: &str) -> String {
    let kept: String = text.chars().filter(|it| !it.is_control() && !matches!(it, '<' | '>')).collect();
    let kept = kept.trim_matches(|it: char| it.is_whitespace() || ".,:;\"\\'".contains(it));
    if kept.is_empty() { "unknown".to_owned() } else { kept.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_says_its_message_and_below_it_what_describes_it() {
        assert_eq!(commit_message(" Add it ", None).unwrap(), "Add it\n");
        assert_eq!(commit_message("Add it", Some(" \r\n")).unwrap(), "Add it\n");
        assert_eq!(commit_message("Add it", Some("One\r\ntwo\n")).unwrap(), "Add it\n\nOne\ntwo\n");
        let (message, description) = ("m".repeat(1_000), "d".repeat(20_000));
        assert!(commit_message(&message, Some(&description)).is_ok());
        for (message, description) in [
            ("", ""),
            (" \n", ""),
            (&format!("{message}m"), ""),
            ("m", &format!("{description}d")),
            ("m\0", ""),
            ("m", "d\0"),
        ] {
            assert!(commit_message(message, Some(description)).is_err(), "{message}: {description}");
        }
    }

    #[test]
    fn a_name_ends_where_git_ends_it() {
        assert_eq!(commit_name("Ada Lovelace"), "Ada Lovelace");
        assert_eq!(commit_name(" Dr. Ada <ada@example.com>\n"), "Dr. Ada ada@example.com");
        assert_eq!(commit_name("<>"), "unknown");
        assert_eq!(commit_name(".,"), "unknown");
    }
}
