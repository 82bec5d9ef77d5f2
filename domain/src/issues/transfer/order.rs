//! In which order the issues of a file are made.

use std::collections::HashMap;

use super::SourceIssue;

/// The places of the issues in their file, parents before what stands below them; a circle is cut where it is met.
pub fn parents_first(issues: &[SourceIssue]) -> Vec<usize> {
    let mut named: HashMap<&str, usize> = HashMap::new();
    for (at, issue) in issues.iter().enumerate() {
        for name in &issue.names {
            named.entry(name).or_insert(at);
        }
    }
    let parent = |at: usize| issues[at].parent.iter().find_map(|name| named.get(name.as_str()).copied());
    let mut depths: Vec<Option<usize>> = vec![None; issues.len()];
    for start in 0..issues.len() {
        let mut line = Vec::new();
        let mut next = Some(start);
        while let Some(at) = next.filter(|at| depths[*at].is_none()) {
            // The issue counts as the eldest until its line is known, which also ends a circle.
            depths[at] = Some(0);
            line.push(at);
            next = parent(at);
        }
        let eldest = next.filter(|at| !line.contains(at)).and_then(|at| depths[at]).map_or(0, |depth| depth + 1);
        for (depth, at) in (eldest..).zip(line.into_iter().rev()) {
            depths[at] = Some(depth);
        }
    }
    let mut order: Vec<usize> = (0..issues.len()).collect();
    order.sort_by_key(|at| depths[*at]);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issue(name: &str, parent: &str) -> SourceIssue {
        let parent = Some(parent.to_owned()).filter(|it| !it.is_empty()).into_iter().collect();
        SourceIssue { names: vec![name.to_owned()], parent, ..SourceIssue::default() }
    }

    #[test]
    fn parents_come_before_children_and_the_rest_keeps_its_order() {
        let order = |rows: &[(&str, &str)]| {
            parents_first(&rows.iter().map(|(name, parent)| issue(name, parent)).collect::<Vec<_>>())
        };
        assert_eq!(order(&[("a", ""), ("b", ""), ("c", "gone")]), [0, 1, 2]);
        assert_eq!(order(&[("c", "b"), ("b", "a"), ("a", ""), ("d", "")]), [2, 3, 1, 0]);
        let mut circle = order(&[("a", "b"), ("b", "a"), ("c", "c"), ("d", "a")]);
        circle.sort_unstable();
        assert_eq!(circle, [0, 1, 2, 3]);
    }
}
