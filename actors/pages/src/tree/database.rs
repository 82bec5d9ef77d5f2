//! What databases have, and what their rows say.

use domain::{
    Error, Result,
    id::PageId,
    pages::{
        Page, PageChange, PageKind,
        database::{LIST_LEN_MAX, PropertiesDraft, Relation, RelationEnd, Schema, Views},
    },
    problems::Problems,
};
use store::{Change, Store};

/// The rows that a row's relations name from now on.
#[derive(Debug, Default)]
pub(super) struct Relations(Vec<(Relation, Vec<PageId>)>);

impl Relations {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds them to a commit, for the row `row`.
    pub fn write(&self, change: &mut Change, row: PageId) {
        for (relation, rows) in &self.0 {
            change.page_relation_set(relation, row, rows);
        }
    }
}

/// Gives `page` the schema and the views of a change; what its views say of properties that are gone goes with them.
pub(super) async fn shape(store: &Store, page: &mut Page, change: &PageChange) -> Result<()> {
    if page.kind != PageKind::Database {
        if change.schema.is_some() {
            return Err(Error::bad_request("not_a_database", "Only databases have properties."));
        }
        if change.views.is_some() {
            return Err(Error::bad_request("not_a_database", "Only databases have views."));
        }
        return Ok(());
    }
    if let Some(properties) = &change.schema {
        let schema = Schema::check(properties.clone())?;
        relations_check(store, page, &schema).await?;
        page.views = page.views.take().map(|views| views.fitted(&schema));
        page.schema = Some(schema);
    }
    if let Some(views) = &change.views {
        page.views = Some(Views::check(views.clone(), page.schema.as_ref().unwrap_or(&Schema::default()))?);
    }
    Ok(())
}

/// Whether each relation that is new names a database of the organization, and what it is the other side of. Those that
/// were there stay, even when their database is gone: otherwise nothing else of the schema could be changed.
async fn relations_check(store: &Store, page: &Page, schema: &Schema) -> Result<()> {
    let mut problems = Problems::new();
    for (place, property) in schema.properties().iter().enumerate() {
        let Some(database_id) = property.database_id else { continue };
        let before = page.schema.as_ref().and_then(|before| before.property(&property.id));
        let is_there = before.is_some_and(|before| {
            before.database_id == property.database_id && before.inverse_of == property.inverse_of
        });
        if is_there {
            continue;
        }
        let database = store.page(page.org_id, database_id).await?.filter(|other| other.kind == PageKind::Database);
        let is_known = database.is_some();
        problems.require(is_known, format!("schema[{place}].databaseId"), "There is no such database.");
        let Some(inverse_of) = &property.inverse_of else { continue };
        let other =
            if database_id == page.id { Some(schema) } else { database.as_ref().and_then(|it| it.schema.as_ref()) };
        let fits = other.is_some_and(|other| other.can_have_inverse(inverse_of, page.id));
        let message = "That database has no such relation to this one.";
        problems.require(fits, format!("schema[{place}].inverseOf"), message);
    }
    problems.into_result()
}

/// Gives the row `page` of `database` the values that somebody sent; answers what its relations name from now on.
pub(super) async fn fill(
    store: &Store,
    database: Option<&Page>,
    page: &mut Page,
    values: Option<&PropertiesDraft>,
) -> Result<Relations> {
    let Some(values) = values else { return Ok(Relations::default()) };
    let Some(database) = database else {
        return Err(Error::bad_request("not_a_row", "Only database rows have property values."));
    };
    let schema = database.schema.clone().unwrap_or_default();
    let change = schema.check_values(values.clone())?;
    let mut problems = Problems::new();
    let mut relations = Relations::default();
    for (id, rows) in change.relations() {
        let Some(relation) = schema.property(id).and_then(|property| property.relation(database.id)) else { continue };
        let found = store.page_rows_among(page.org_id, relation.values_of, rows).await?;
        let known = found.len() == rows.len();
        problems.require(known, format!("properties.{id}"), "Give ids of rows of the related database.");
        let room = has_room(store, &relation, page.id, rows).await?;
        problems.require(room, format!("properties.{id}"), "A row names up to 50 others.");
        relations.0.push((relation, rows.clone()));
    }
    problems.into_result()?;
    if !change.is_empty() {
        page.properties = Some(change.apply(page.properties.take().unwrap_or_default()));
    }
    Ok(relations)
}

/// Whether each of `rows` may name one more, where that is what they come to do.
async fn has_room(store: &Store, relation: &Relation, named: PageId, rows: &[PageId]) -> Result<bool> {
    if relation.end == RelationEnd::Row || rows.is_empty() {
        return Ok(true);
    }
    let counts = store.page_relation_counts(relation, named).await?;
    Ok(rows.iter().all(|row| counts.get(row).is_none_or(|count| *count < LIST_LEN_MAX as u64)))
}
