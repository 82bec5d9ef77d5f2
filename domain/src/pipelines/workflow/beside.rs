//! What is wrong with a workflow file because of its name, and of the files beside it.

use super::{
    WORKFLOW_FILES_MAX, WORKFLOW_FOLDER, WorkflowFile,
    problem::{Severity, WorkflowProblem},
};

/// Bytes of a workflow file's name, at most: no file system of a runner takes more.
pub const WORKFLOW_NAME_LEN_MAX: usize = 255;

/// What a commit has where workflow files are.
#[derive(Clone, Copy, Debug)]
pub struct FilesBeside<'a> {
    /// The names of all workflow files.
    pub names: &'a [String],
    /// Those of them that were read.
    pub read: &'a [(&'a str, &'a WorkflowFile)],
    /// Folders.
    pub folders: &'a [String],
}

impl WorkflowFile {
    /// The name of a workflow file, of its path in the repository or of the name alone; none where no workflow file can have it.
    pub fn name_of(text: &str) -> Option<&str> {
        let inside = text.strip_prefix(WORKFLOW_FOLDER).and_then(|rest| rest.strip_prefix('/'));
        let name = inside.unwrap_or(text);
        let fits = name.len() <= WORKFLOW_NAME_LEN_MAX && !name.chars().any(char::is_control);
        (fits && Self::is_path(&format!("{WORKFLOW_FOLDER}/{name}"))).then_some(name)
    }

    /// What is wrong with this file under a name beside those that are there; one of the same name is the one that it replaces.
    pub fn problems_beside(&self, name: &str, beside: FilesBeside<'_>) -> Vec<WorkflowProblem> {
        let error = |message: String| WorkflowProblem::error(message, None);
        let warning =
            |message: String| WorkflowProblem { severity: Severity::Warning, ..WorkflowProblem::error(message, None) };
        let others = || beside.names.iter().filter(|other| *other != name);
        let mut problems = Vec::new();
        if beside.folders.iter().any(|folder| folder == name) {
            problems.push(error(format!("'{WORKFLOW_FOLDER}/{name}' is a folder")));
        }
        if others().count() >= WORKFLOW_FILES_MAX {
            let message = format!(
                "There are {WORKFLOW_FILES_MAX} workflow files already; of more, only the first by their names start anything"
            );
            problems.push(error(message));
        }
        let alike = others().filter(|other| other.to_lowercase() == name.to_lowercase());
        problems.extend(alike.map(|other| warning(format!("'{other}' differs from '{name}' in capitals only"))));
        let called = self.title(name);
        let same = beside
            .read
            .iter()
            .filter(|(other, file)| *other != name && file.title(other) == called && file.shares_event(self));
        problems.extend(same.map(|(other, _)| {
            warning(format!(
                "'{other}' is called '{called}', too, so that one hides the status of the other on commits"
            ))
        }));
        problems
    }

    /// What people call the workflow.
    fn title<'a>(&'a self, name: &'a str) -> &'a str {
        self.workflow.as_ref().and_then(|it| it.name.as_deref()).unwrap_or(name)
    }

    /// Whether an event may start both.
    fn shares_event(&self, other: &Self) -> bool {
        let names = |file: &Self| file.workflow.as_ref().map(|it| it.triggers.names.clone()).unwrap_or_default();
        let ours = names(self);
        names(other).iter().any(|event| ours.contains(event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: FilesBeside<'_> = FilesBeside { names: &[], read: &[], folders: &[] };

    fn file(name: &str, on: &str) -> WorkflowFile {
        let file = WorkflowFile::read(&format!("name: {name}\non: {on}\njobs: {{a: {{runs-on: x}}}}"));
        assert!(file.workflow.is_some(), "{:?}", file.problems);
        file
    }

    fn messages(problems: &[WorkflowProblem]) -> Vec<(Severity, &str)> {
        problems.iter().map(|it| (it.severity, it.message.as_str())).collect()
    }

    #[test]
    fn a_file_is_named_by_its_path_or_its_name() {
        for text in ["ci.yml", ".service/workflows/ci.yml"] {
            assert_eq!(WorkflowFile::name_of(text), Some("ci.yml"));
        }
        assert_eq!(WorkflowFile::name_of("a b.yaml"), Some("a b.yaml"));
        let long = "a".repeat(WORKFLOW_NAME_LEN_MAX - 4);
        assert!(WorkflowFile::name_of(&format!("{}.yml", &long[1..])).is_some());
        assert!(WorkflowFile::name_of(&format!("{long}.yml")).is_some());
        assert!(WorkflowFile::name_of(&format!("{long}a.yml")).is_none());
        for bad in [
            "",
            "ci",
            ".yml",
            "ci.YML",
            "ci.txt",
            "sub/ci.yml",
            "../ci.yml",
            "/ci.yml",
            ".service/workflows/",
            ".service/workflows/sub/ci.yml",
            ".github/workflows/ci.yml",
            "a\nb.yml",
        ] {
            assert_eq!(WorkflowFile::name_of(bad), None, "{bad}");
        }
    }

    #[test]
    fn two_hundred_files_are_enough() {
        let names = |count: usize| (0..count).map(|at| format!("{at}.yml")).collect::<Vec<_>>();
        let new = file("New", "push");
        for (count, expected) in [(199, 0), (200, 1), (201, 1)] {
            let names = names(count);
            let found = new.problems_beside("new.yml", FilesBeside { names: &names, ..NOTHING });
            assert_eq!(found.len(), expected, "{count}");
            assert!(found.iter().all(|it| it.severity == Severity::Error));
        }
        let names = names(200);
        assert!(new.problems_beside("0.yml", FilesBeside { names: &names, ..NOTHING }).is_empty());
    }

    #[test]
    fn names_that_are_taken_are_told() {
        let (ci, other, by_hand) = (file("CI", "push"), file("CI", "[push]"), file("CI", "workflow_dispatch"));
        let names = ["ci.yml", "CI.yml", "other.yml", "hand.yml"].map(str::to_owned);
        let read = [("ci.yml", &ci), ("other.yml", &other), ("hand.yml", &by_hand)];
        let folders = ["sub.yml".to_owned()];
        let beside = FilesBeside { names: &names, read: &read, folders: &folders };
        let found = ci.problems_beside("ci.yml", beside);
        let expected = [
            (Severity::Warning, "'CI.yml' differs from 'ci.yml' in capitals only"),
            (
                Severity::Warning,
                "'other.yml' is called 'CI', too, so that one hides the status of the other on commits",
            ),
        ];
        assert_eq!(messages(&found), expected);
        let found = file("Sub", "push").problems_beside("sub.yml", beside);
        assert_eq!(messages(&found), [(Severity::Error, "'.service/workflows/sub.yml' is a folder")]);
    }
}
