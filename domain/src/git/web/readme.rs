//! What a repository begins with that isn't to be empty.

use super::{WebEdit, WrittenBytes};
use crate::{
    Result,
    git::{
        RepositoryDraft,
        objects::{EntryKind, RepositoryPath},
    },
};

/// What the first commit says of such a repository.
pub const README_MESSAGE: &str = "Begin with a README\n";

/// The file that says what a new repository is: its name and, where there is one, its description.
pub fn readme(draft: &RepositoryDraft) -> Result<WebEdit> {
    let (name, description) = (draft.name.as_str(), draft.settings.description.trim());
    let text = if description.is_empty() { format!("# {name}\n") } else { format!("# {name}\n\n{description}\n") };
    Ok(WebEdit::Write {
        path: RepositoryPath::parse_written("README.md")?,
        kind: EntryKind::File,
        bytes: WrittenBytes::Sent(text.into_bytes()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::{AllowBy, BranchName, RepositoryName, RepositorySettings, Visibility};

    #[test]
    fn a_readme_has_the_name_and_what_describes_it() {
        let text = |description: &str| {
            let settings = RepositorySettings {
                description: description.to_owned(),
                default_branch: BranchName::default(),
                visibility: Visibility::Organization,
                allow_secrets_by: AllowBy::Write,
            };
            let draft = RepositoryDraft { name: RepositoryName::parse("name", "web-app").unwrap(), settings };
            match readme(&draft).unwrap() {
                WebEdit::Write { bytes: WrittenBytes::Sent(bytes), .. } => String::from_utf8(bytes).unwrap(),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(text(""), "# web-app\n");
        assert_eq!(text("What people see.\nAnd more."), "# web-app\n\nWhat people see.\nAnd more.\n");
    }
}
