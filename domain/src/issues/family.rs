//! Which issue may be whose parent.

use super::limits::{GENERATIONS_MAX, PARENT_CIRCLE, PARENT_GENERATIONS, PARENT_LEVEL, SUBTASK_PARENT};
use crate::{Error, Result};

/// The level of types that stand below another issue.
const SUBTASK_LEVEL: i64 = -1;

/// An issue that is to have a parent, or none.
#[derive(Clone, Copy, Debug)]
pub struct Child<'a> {
    /// The issue; one that is only being made has no name yet.
    pub key: Option<&'a str>,
    /// The level of the type.
    pub level: i64,
    /// The space.
    pub space: &'a str,
    /// Generations from the issue down, itself included.
    pub generations: usize,
}

/// The parent that is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Parent<'a> {
    /// The level of the parent's type.
    pub level: i64,
    /// The space.
    pub space: &'a str,
    /// The parent, its parent, and so on up.
    pub line: &'a [&'a str],
}

/// Whether an issue may have this parent.
pub fn parent_of(child: Child<'_>, parent: Option<Parent<'_>>) -> Result<()> {
    let is_subtask = child.level == SUBTASK_LEVEL;
    let refused = |message: &str| Err(Error::invalid("parent", message));
    let Some(parent) = parent else { return if is_subtask { refused(SUBTASK_PARENT) } else { Ok(()) } };
    if is_subtask && parent.space != child.space {
        return refused(SUBTASK_PARENT);
    }
    if child.key.is_some_and(|key| parent.line.contains(&key)) {
        return refused(PARENT_CIRCLE);
    }
    if parent.level <= child.level {
        return refused(PARENT_LEVEL);
    }
    if parent.line.len() + child.generations > GENERATIONS_MAX {
        return refused(PARENT_GENERATIONS);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: Child<'static> = Child { key: Some("A-1"), level: 0, space: "A", generations: 1 };
    const EPIC: Parent<'static> = Parent { level: 1, space: "B", line: &["B-1"] };

    fn refusal(child: Child<'_>, parent: Option<Parent<'_>>) -> Option<String> {
        match parent_of(child, parent) {
            Err(Error::Invalid { problems }) => Some(problems[0].message.clone()),
            _ => None,
        }
    }

    #[test]
    fn a_parent_is_higher_and_no_descendant() {
        assert_eq!(refusal(TASK, None), None);
        assert_eq!(refusal(TASK, Some(EPIC)), None);
        assert_eq!(refusal(TASK, Some(Parent { level: 0, ..EPIC })).as_deref(), Some(PARENT_LEVEL));
        assert_eq!(refusal(TASK, Some(Parent { line: &["B-1", "A-1"], ..EPIC })).as_deref(), Some(PARENT_CIRCLE));
    }

    #[test]
    fn a_subtask_needs_a_parent_of_its_space() {
        let subtask = Child { level: -1, ..TASK };
        assert_eq!(refusal(subtask, None).as_deref(), Some(SUBTASK_PARENT));
        assert_eq!(refusal(subtask, Some(EPIC)).as_deref(), Some(SUBTASK_PARENT));
        assert_eq!(refusal(subtask, Some(Parent { space: "A", ..EPIC })), None);
    }

    #[test]
    fn generations_are_limited() {
        let line = ["1", "2", "3", "4", "5", "6"];
        let above = |count: usize| Parent { line: &line[..count], ..EPIC };
        assert_eq!(refusal(Child { generations: 2, ..TASK }, Some(above(4))), None);
        assert_eq!(refusal(Child { generations: 2, ..TASK }, Some(above(5))), None);
        assert_eq!(refusal(Child { generations: 2, ..TASK }, Some(above(6))).as_deref(), Some(PARENT_GENERATIONS));
    }
}
