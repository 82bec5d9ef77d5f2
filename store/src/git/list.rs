//! Listing repositories.

use std::collections::HashMap;

use domain::{
    id::{OrgId, ResourceId, UserId},
    resource::{Resource, ResourceType},
};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};

use super::{
    StoredRepository,
    row::{self, Column, Entity},
};
use crate::{
    Store, StoreError,
    reader::{Reads, row},
    sql::Sql,
};

/// In whose name repositories are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListedBy {
    /// Of somebody who runs the organization: all of them.
    Everyone,
    /// Of a member: those in which they have a part.
    Member(UserId),
}

/// Which repositories are listed.
#[derive(Clone, Copy, Debug)]
pub struct RepositoryList<'q> {
    /// Whose.
    pub org_id: OrgId,
    /// For whom.
    pub by: ListedBy,
    /// What is part of their names, regardless of case.
    pub part: Option<&'q str>,
    /// Behind which one.
    pub after: Option<ResourceId>,
    /// How many at most.
    pub limit: u64,
}

row! {
    struct IdRow {
        id: String,
    }
}

/// A pattern of `LIKE` for texts in which `part` stands; `!` is before what means something else.
pub(super) fn containing(part: &str) -> String {
    let mut pattern = String::from("%");
    for character in part.to_lowercase().chars() {
        if matches!(character, '%' | '_' | '!') {
            pattern.push('!');
        }
        pattern.push(character);
    }
    pattern + "%"
}

impl RepositoryList<'_> {
    fn sql(&self) -> Sql {
        let member = match self.by {
            ListedBy::Everyone => String::new(),
            ListedBy::Member(user_id) => user_id.to_string(),
        };
        let with_part = match self.by {
            ListedBy::Everyone => "$5 = ''",
            ListedBy::Member(_) => {
                "(r.visibility = 'organization' OR EXISTS (SELECT 1 FROM repository_grants g \
                 WHERE g.repo_no = r.repo_no AND (g.principal = $5 OR g.principal IN \
                 (SELECT team_id FROM team_members WHERE org_id = $1 AND user_id = $5))))"
            }
        };
        let statement = format!(
            "SELECT s.id FROM resources s JOIN repositories r ON r.id = s.id \
             WHERE s.org_id = $1 AND s.type = 'repository' AND s.id > $2 AND s.name_key LIKE $3 ESCAPE '!' \
             AND (r.purge_at IS NULL OR r.purge_at > 0) AND {with_part} ORDER BY s.id LIMIT $4"
        );
        let values = [
            self.org_id.to_string().into(),
            self.after.map_or_else(String::new, |after| after.to_string()).into(),
            containing(self.part.unwrap_or_default()).into(),
            i64::try_from(self.limit).unwrap_or(i64::MAX).into(),
            member.into(),
        ];
        Sql::new(statement, values)
    }
}

impl Store {
    /// Repositories, oldest first.
    pub async fn repositories(&self, list: RepositoryList<'_>) -> Result<Vec<StoredRepository>, StoreError> {
        let found: Vec<IdRow> = self.reader().rows(&list.sql()).await?;
        let ids: Vec<String> = found.into_iter().map(|row| row.id).collect();
        let rows = Entity::find().filter(Column::Id.is_in(ids.iter().cloned())).read_list(self.reader()).await?;
        let mut records: HashMap<String, Resource> = HashMap::with_capacity(ids.len());
        for record in self.resources_with(list.org_id, ResourceType::Repository, &ids).await? {
            records.insert(record.id.to_string(), record);
        }
        let mut repositories = Vec::with_capacity(ids.len());
        for row in rows {
            if let Some(record) = records.remove(&row.id) {
                repositories.push(row::read(row, record)?);
            }
        }
        repositories.sort_by_key(StoredRepository::id);
        Ok(repositories)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_something_to_like_is_taken_as_it_is() {
        assert_eq!(containing("A_b%!"), "%a!_b!%!!%");
        assert_eq!(containing(""), "%%");
    }
}
