//! Labels of a mailbox, which conversations have any number of.

use std::{collections::BTreeMap, ops::RangeInclusive};

use crate::{Error, Result, account::text_check, app::names, id::MailLabelId};

/// Characters of a label's name.
pub const LABEL_NAME_LEN: RangeInclusive<usize> = 1..=100;
/// Labels of a mailbox.
pub const LABELS_MAX: usize = 500;
/// Past [`LABELS_MAX`].
pub const TOO_MANY_LABELS: &str = "A mailbox has at most 500 labels.";
/// For a name that another label of the mailbox has, whatever their case.
pub const LABEL_NAME_IN_USE: &str = "A label has this name already.";
/// What stands between the names of labels that lie in each other, as between IMAP's folders.
const WITHIN: char = '/';
/// The folders of a mailbox, which IMAP shows beside its labels.
const FOLDERS: [&str; 8] = ["inbox", "archive", "sent", "drafts", "junk", "spam", "trash", "outbox"];

names! {
    /// A label's color: those that calendars have (contract B 4.9).
    LabelColor {
        Blue = "blue", Orange = "orange", Teal = "teal", Amber = "amber", Pink = "pink", Green = "green", Red = "red",
        Gray = "gray",
    }
}

impl LabelColor {
    /// The first that is used least.
    pub fn least_used(used: &[MailLabel]) -> Self {
        let count = |color: &&Self| used.iter().filter(|it| it.color == **color).count();
        Self::ALL.iter().min_by_key(count).copied().unwrap_or(Self::Blue)
    }
}

/// A label of a mailbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailLabel {
    /// Its id.
    pub id: MailLabelId,
    /// What it is called. A `/` stands between its own name and those of the labels in which it lies.
    pub name: String,
    /// Its color.
    pub color: LabelColor,
}

impl MailLabel {
    /// Its name as names are compared.
    pub fn folded(&self) -> String {
        label_folded(&self.name)
    }
}

/// A label's name as names are compared.
pub fn label_folded(name: &str) -> String {
    name.to_lowercase()
}

/// A label's name: trimmed, as is each name between two `/`, none of which is empty; the first one is no folder's.
pub fn label_name_check(path: &str, name: &str) -> Result<String> {
    let name = text_check(path, name, &LABEL_NAME_LEN)?;
    let levels: Vec<&str> = name.split(WITHIN).map(str::trim).collect();
    if levels.iter().any(|level| level.is_empty()) {
        return Err(Error::invalid(path, "Write a name on each side of a /."));
    }
    if levels.first().is_some_and(|first| FOLDERS.contains(&label_folded(first).as_str())) {
        return Err(Error::invalid(path, "This is the name of a folder."));
    }
    Ok(levels.join("/"))
}

/// Whether a mailbox with so many labels may have one more.
pub fn label_count_check(labels: usize) -> Result<()> {
    if labels < LABELS_MAX { Ok(()) } else { Err(Error::bad_request("limit_reached", TOO_MANY_LABELS)) }
}

/// 409 for a name that another label has.
pub fn label_name_in_use() -> Error {
    Error::conflict("label_exists", LABEL_NAME_IN_USE)
}

/// Whether no label but `but` is called so.
pub fn label_name_is_free(labels: &[MailLabel], name: &str, but: Option<MailLabelId>) -> Result<()> {
    let folded = label_folded(name);
    let is_taken = labels.iter().any(|it| Some(it.id) != but && it.folded() == folded);
    if is_taken { Err(label_name_in_use()) } else { Ok(()) }
}

/// What labels are called once the one with this id is called `name`: those that lie in it go along.
///
/// 409 where a name would be another label's, 400 where one would be too long.
pub fn labels_renamed(labels: &[MailLabel], id: MailLabelId, name: &str) -> Result<BTreeMap<MailLabelId, String>> {
    let Some(label) = labels.iter().find(|it| it.id == id) else { return Ok(BTreeMap::new()) };
    let within = format!("{}{WITHIN}", label.folded());
    let mut renamed = BTreeMap::from([(id, name.to_owned())]);
    for other in labels.iter().filter(|it| it.id != id && it.folded().starts_with(&within)) {
        let depth = label.name.split(WITHIN).count();
        let rest: Vec<&str> = other.name.split(WITHIN).skip(depth).collect();
        let moved = format!("{name}{WITHIN}{}", rest.join("/"));
        if !LABEL_NAME_LEN.contains(&moved.chars().count()) {
            return Err(Error::invalid("name", "The name of a label in this one would be longer than 100 characters."));
        }
        renamed.insert(other.id, moved);
    }
    let mut taken: Vec<String> =
        labels.iter().map(|it| renamed.get(&it.id).map_or_else(|| it.folded(), |name| label_folded(name))).collect();
    taken.sort_unstable();
    if taken.windows(2).any(|two| two[0] == two[1]) { Err(label_name_in_use()) } else { Ok(renamed) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    fn labels(names: &[&str]) -> Vec<MailLabel> {
        let label = |name: &&str| MailLabel {
            id: MailLabelId::new(Timestamp(1)),
            name: (*name).to_owned(),
            color: LabelColor::Blue,
        };
        names.iter().map(label).collect()
    }

    #[test]
    fn a_name_has_its_length_and_no_folders() {
        let name = |length| label_name_check("name", &"a".repeat(length)).is_ok();
        assert_eq!([0, 1, 100, 101].map(name), [false, true, true, false]);
        assert_eq!(label_name_check("name", "  Work / Bills ").expect("a name"), "Work/Bills");
        for refused in ["/", "a//b", "a/", "/a", "Inbox", "inbox/later", "TRASH", "a\nb", " "] {
            assert!(label_name_check("name", refused).is_err(), "{refused}");
        }
        assert!(label_name_check("name", "Work/Inbox").is_ok());
    }

    #[test]
    fn a_mailbox_has_five_hundred_labels_and_no_more() {
        assert!(label_count_check(LABELS_MAX - 1).is_ok());
        assert_eq!(label_count_check(LABELS_MAX).unwrap_err().to_string(), TOO_MANY_LABELS);
    }

    #[test]
    fn a_new_label_has_the_color_that_is_used_least() {
        let mut used = labels(&["a", "b"]);
        assert_eq!(LabelColor::least_used(&used), LabelColor::Orange);
        used[1].color = LabelColor::Orange;
        assert_eq!(LabelColor::least_used(&used), LabelColor::Teal);
    }

    #[test]
    fn what_lies_in_a_label_goes_along_when_it_is_renamed() {
        let all = labels(&["Work", "work/Bills", "Workshop", "Home", "Home/Bills"]);
        let renamed = labels_renamed(&all, all[0].id, "Job").expect("names");
        assert_eq!(renamed, BTreeMap::from([(all[0].id, "Job".to_owned()), (all[1].id, "Job/Bills".to_owned())]));
        assert_eq!(labels_renamed(&all, all[0].id, "WORK").expect("names").len(), 2);
        for taken in ["home", "workshop"] {
            assert_eq!(labels_renamed(&all, all[0].id, taken).unwrap_err().to_string(), LABEL_NAME_IN_USE);
        }
        assert!(labels_renamed(&all, all[0].id, &"a".repeat(94)).is_ok());
        assert!(labels_renamed(&all, all[0].id, &"a".repeat(95)).is_err());
        assert!(label_name_is_free(&all, "HOME", None).is_err());
        assert!(label_name_is_free(&all, "HOME", Some(all[3].id)).is_ok());
    }
}
