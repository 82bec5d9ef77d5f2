//! The areas: a new one has its line here.

use actors_base::Area;

/// All areas, by their descriptors.
pub(crate) const AREAS: &[Area] = &[
    actors_accounts::AREA,
    actors_backup::AREA,
    actors_calendar::AREA,
    actors_databases::AREA,
    actors_git::AREA,
    actors_mail::AREA,
    actors_issues::AREA,
    actors_notify::AREA,
    actors_pages::AREA,
    actors_pipelines::AREA,
    actors_storage::AREA,
    actors_vault::AREA,
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_areas_have_one_name_or_jobs_of_one_name() {
        let names: BTreeSet<_> = AREAS.iter().map(|area| area.name).collect();
        assert_eq!(names.len(), AREAS.len());
        let jobs: Vec<_> = crate::jobs::topics().map(|topic| topic.name).collect();
        assert_eq!(jobs.iter().collect::<BTreeSet<_>>().len(), jobs.len(), "{jobs:?}");
    }
}
