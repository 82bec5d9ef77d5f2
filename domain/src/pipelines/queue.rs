//! What waits for runners, for whoever runs them: how many jobs ask for which label, and for how long.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use crate::Timestamp;

/// Labels that are told apart, at most: each is a series of its own where metrics are kept.
pub const QUEUE_LABELS_MAX: usize = 20;
/// Stands for all other labels.
pub const OTHER_LABELS: &str = "other";

/// Jobs that wait for runners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitingJobs {
    /// How many.
    pub count: u64,
    /// Since when the first of them waits.
    pub since: Timestamp,
}

impl WaitingJobs {
    fn and(self, more: Self) -> Self {
        Self { count: self.count + more.count, since: self.since.min(more.since) }
    }
}

/// Jobs by what they ask of runners, from those of each set of labels: the labels that most ask for by themselves, and all others
/// together. A job that asks for several labels counts for each.
pub fn waiting_by_label(sets: &[(Vec<String>, WaitingJobs)]) -> Vec<(String, WaitingJobs)> {
    let mut by_label: BTreeMap<String, WaitingJobs> = BTreeMap::new();
    for (labels, jobs) in sets {
        let labels: BTreeSet<String> = labels.iter().map(|label| label.to_lowercase()).collect();
        for label in labels {
            by_label.entry(label).and_modify(|all| *all = all.and(*jobs)).or_insert(*jobs);
        }
    }
    by_label.remove(OTHER_LABELS);
    let mut told: Vec<_> = by_label.into_iter().collect();
    told.sort_by_key(|(_, jobs)| Reverse(jobs.count));
    told.truncate(QUEUE_LABELS_MAX);
    let is_told = |label: &String| told.iter().any(|(known, _)| *known == label.to_lowercase());
    let others = sets.iter().filter(|(labels, _)| labels.is_empty() || !labels.iter().all(is_told));
    if let Some(others) = others.map(|(_, jobs)| *jobs).reduce(WaitingJobs::and) {
        told.push((OTHER_LABELS.to_owned(), others));
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jobs(count: u64, since: i64) -> WaitingJobs {
        WaitingJobs { count, since: Timestamp(since) }
    }

    fn set(labels: &[&str], of: WaitingJobs) -> (Vec<String>, WaitingJobs) {
        (labels.iter().map(|label| (*label).to_owned()).collect(), of)
    }

    #[test]
    fn a_job_counts_for_each_label_that_it_asks_for() {
        let sets = [set(&["linux"], jobs(2, 7)), set(&["Linux", "gpu", "GPU"], jobs(3, 5)), set(&[], jobs(1, 9))];
        let told = waiting_by_label(&sets);
        let wanted = [("linux", jobs(5, 5)), ("gpu", jobs(3, 5)), ("other", jobs(1, 9))];
        assert_eq!(told, wanted.map(|(label, jobs)| (label.to_owned(), jobs)));
        assert!(waiting_by_label(&[]).is_empty());
    }

    #[test]
    fn labels_behind_the_most_wanted_are_told_together() {
        for (labels, others) in [(QUEUE_LABELS_MAX, None), (QUEUE_LABELS_MAX + 1, Some(jobs(1, 1)))] {
            let sets: Vec<_> =
                (1_i64..).take(labels).map(|at| (vec![format!("l{at}")], jobs(at.unsigned_abs(), at))).collect();
            let told = waiting_by_label(&sets);
            assert_eq!(told.len(), QUEUE_LABELS_MAX + usize::from(others.is_some()));
            assert_eq!(told[0], (format!("l{labels}"), jobs(labels as u64, i64::try_from(labels).unwrap())));
            assert_eq!(told.iter().find(|(label, _)| label == OTHER_LABELS).map(|(_, jobs)| *jobs), others);
        }
        // A label of that name is one of the others.
        let sets = [set(&["other", "linux"], jobs(2, 3))];
        let told = waiting_by_label(&sets);
        assert_eq!(told, [("linux".to_owned(), jobs(2, 3)), ("other".to_owned(), jobs(2, 3))]);
    }
}
