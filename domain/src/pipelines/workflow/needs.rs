//! Which jobs wait for which.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use super::{problem::Problems, yaml::Node};

/// What a job of the file needs.
pub(super) struct Needing<'a> {
    pub key: Arc<str>,
    pub needs: Vec<(Arc<str>, &'a Node)>,
}

/// Finds jobs that wait for what isn't there, or for themselves.
pub(super) fn check(jobs: &Node, needing: &[Needing<'_>], problems: &mut Problems<'_>) {
    if !needing.iter().any(|job| job.needs.is_empty()) {
        problems.error(jobs.place, "The workflow must contain at least one job with no dependencies.");
        return;
    }
    let places: HashMap<&str, usize> = needing.iter().enumerate().map(|(at, job)| (&*job.key, at)).collect();
    let never = never(needing, &places);
    for job in needing.iter().filter(|job| never.contains(&*job.key)) {
        for (need, node) in &job.needs {
            let key = &job.key;
            if !places.contains_key(&**need) {
                problems.error(node.place, format!("Job '{key}' depends on unknown job '{need}'."));
            } else if never.contains(&**need) {
                let path = cycle(need, needing, &places).map(|path| format!(" ({path})")).unwrap_or_default();
                let message =
                    format!("Job '{key}' depends on job '{need}' which creates a cycle in the dependency graph{path}.");
                problems.error(node.place, message);
            }
        }
    }
}

/// Jobs whose turn never comes: what remains when all jobs are taken away whose needs are.
fn never<'a>(needing: &'a [Needing<'_>], places: &HashMap<&str, usize>) -> HashSet<&'a str> {
    let mut open: Vec<usize> = needing.iter().map(|job| job.needs.len()).collect();
    let mut waiting: Vec<Vec<usize>> = vec![Vec::new(); needing.len()];
    for (at, job) in needing.iter().enumerate() {
        for place in job.needs.iter().filter_map(|(need, _)| places.get(&**need)) {
            waiting[*place].push(at);
        }
    }
    let mut ready: Vec<usize> = (0..needing.len()).filter(|at| open[*at] == 0).collect();
    while let Some(done) = ready.pop() {
        for next in &waiting[done] {
            open[*next] -= 1;
            if open[*next] == 0 {
                ready.push(*next);
            }
        }
    }
    needing.iter().zip(&open).filter(|(_, open)| **open > 0).map(|(job, _)| &*job.key).collect()
}

/// The way from a job back to itself, if there is one.
fn cycle(from: &str, needing: &[Needing<'_>], places: &HashMap<&str, usize>) -> Option<String> {
    let start = *places.get(from)?;
    let mut before: HashMap<usize, usize> = HashMap::new();
    let mut open = vec![start];
    while let Some(at) = open.pop() {
        for next in needing[at].needs.iter().filter_map(|(need, _)| places.get(&**need)) {
            if *next == start {
                let mut path = vec![from, &*needing[at].key];
                let mut step = at;
                while step != start {
                    step = *before.get(&step)?;
                    path.push(&*needing[step].key);
                }
                path.reverse();
                return Some(path.join(" → "));
            }
            if !before.contains_key(next) {
                before.insert(*next, at);
                open.push(*next);
            }
        }
    }
    None
}
