//! Refs of repositories.

use std::collections::HashMap;

use domain::git::{ObjectId, RefName, RefPlace, wire::Listing};

use super::RepositoryNo;
use crate::{
    Change, Expect, Store, StoreError,
    change::{Form, RowStatement},
    reader::row,
    sql::Sql,
};

/// Repository, name; object, what it ends at.
static PUT: RowStatement = RowStatement {
    tables: &["git_refs"],
    // SQLite takes what follows a list of rows for a condition of a join, unless there is another one.
    text: "INSERT INTO git_refs (repo_no, name, oid, peeled) SELECT column1, column2, column3, column4 \
           FROM (/*rows*/) AS new WHERE true ON CONFLICT (repo_no, name) DO UPDATE SET oid = excluded.oid, \
           peeled = excluded.peeled",
    form: Form::Listed,
    key: 2,
    expect: Expect::Rows(1),
};
/// Repository, name.
static DELETE: RowStatement = RowStatement {
    tables: &["git_refs"],
    text: "DELETE FROM git_refs WHERE /*rows*/",
    form: Form::Matching(&["repo_no", "name"]),
    key: 2,
    expect: Expect::Rows(1),
};
/// Names that one statement asks for.
const NAMES_MAX: usize = 500;

row! {
    struct RefRow {
        name: Vec<u8>,
        oid: Vec<u8>,
        peeled: Option<Vec<u8>>,
    }
}

row! {
    struct NameRow {
        name: Vec<u8>,
    }
}

/// The name of an object, as its bytes.
pub(super) fn oid_of(bytes: Vec<u8>) -> Result<ObjectId, StoreError> {
    bytes.try_into().map(ObjectId::of_bytes).map_err(|_| StoreError::corrupt("the name of an object"))
}

fn ref_name(bytes: &[u8]) -> Result<RefName, StoreError> {
    RefName::parse(bytes).ok_or_else(|| StoreError::corrupt("git_refs.name"))
}

impl TryFrom<RefRow> for Listing {
    type Error = StoreError;

    fn try_from(row: RefRow) -> Result<Self, StoreError> {
        let (name, oid) = (ref_name(&row.name)?, oid_of(row.oid)?);
        Ok(Self { name, oid, peeled: row.peeled.map(oid_of).transpose()? })
    }
}

impl Store {
    /// All refs of a repository, by their names.
    pub async fn repository_refs(&self, no: RepositoryNo) -> Result<Vec<Listing>, StoreError> {
        let sql = Sql::new("SELECT name, oid, peeled FROM git_refs WHERE repo_no = $1 ORDER BY name", [no.0.into()]);
        let rows: Vec<RefRow> = self.reader().rows(&sql).await?;
        rows.into_iter().map(Listing::try_from).collect()
    }

    /// Which version of its refs and of its packs a repository is in.
    pub async fn repository_versions(&self, no: RepositoryNo) -> Result<Option<(i64, i64)>, StoreError> {
        row! {
            struct VersionsRow {
                refs_version: i64,
                packs_version: i64,
            }
        }
        let sql = Sql::new("SELECT refs_version, packs_version FROM repositories WHERE repo_no = $1", [no.0.into()]);
        let found: Option<VersionsRow> = self.reader().row(&sql).await?;
        Ok(found.map(|row| (row.refs_version, row.packs_version)))
    }

    /// What is there where each of these refs is to be moved, in their order.
    pub async fn repository_ref_places(
        &self,
        no: RepositoryNo,
        names: &[RefName],
    ) -> Result<Vec<RefPlace>, StoreError> {
        let wanted = names.iter().flat_map(|name| name.folders().chain([name.as_bytes()])).map(<[u8]>::to_vec);
        let found = self.refs_named(no, wanted.collect()).await?;
        let mut places = Vec::with_capacity(names.len());
        for name in names {
            let oid = found.get(name.as_bytes()).copied();
            let in_the_way = match oid {
                Some(_) => None,
                None => match name.folders().find(|folder| found.contains_key(*folder)) {
                    Some(folder) => Some(ref_name(folder)?),
                    None => self.ref_inside(no, name).await?,
                },
            };
            places.push(RefPlace { oid, in_the_way });
        }
        Ok(places)
    }

    async fn refs_named(
        &self,
        no: RepositoryNo,
        mut names: Vec<Vec<u8>>,
    ) -> Result<HashMap<Vec<u8>, ObjectId>, StoreError> {
        names.sort_unstable();
        names.dedup();
        let mut found = HashMap::new();
        for chunk in names.chunks(NAMES_MAX) {
            let places: Vec<String> = (2..chunk.len() + 2).map(|at| format!("${at}")).collect();
            let text = format!(
                "SELECT name, oid, peeled FROM git_refs WHERE repo_no = $1 AND name IN ({})",
                places.join(", ")
            );
            let values = [no.0.into()].into_iter().chain(chunk.iter().map(|name| name.clone().into()));
            let rows: Vec<RefRow> = self.reader().rows(&Sql::new(text, values.collect::<Vec<_>>())).await?;
            for row in rows {
                found.insert(row.name, oid_of(row.oid)?);
            }
        }
        Ok(found)
    }

    /// Whether a repository has any branch.
    pub async fn repository_has_branches(&self, no: RepositoryNo) -> Result<bool, StoreError> {
        let statement = "SELECT name FROM git_refs WHERE repo_no = $1 AND name >= $2 AND name < $3 LIMIT 1";
        let values = [no.0.into(), b"refs/heads/".to_vec().into(), b"refs/heads0".to_vec().into()];
        Ok(self.reader().row::<NameRow>(&Sql::new(statement, values)).await?.is_some())
    }

    /// A ref for which this one would be a folder.
    async fn ref_inside(&self, no: RepositoryNo, name: &RefName) -> Result<Option<RefName>, StoreError> {
        let (from, to) = name.inside();
        let statement =
            "SELECT name FROM git_refs WHERE repo_no = $1 AND name >= $2 AND name < $3 ORDER BY name LIMIT 1";
        let found: Option<NameRow> =
            self.reader().row(&Sql::new(statement, [no.0.into(), from.into(), to.into()])).await?;
        found.map(|row| ref_name(&row.name)).transpose()
    }
}

impl Change {
    /// Has a ref name an object from now on.
    pub fn repository_ref_put(&mut self, no: RepositoryNo, listing: &Listing) {
        let Listing { name, oid, peeled } = listing;
        let peeled = peeled.map(|oid| oid.as_bytes().to_vec());
        let values = [no.0.into(), name.as_bytes().to_vec().into(), oid.as_bytes().to_vec().into(), peeled.into()];
        self.row(&PUT, values);
    }

    /// Takes a ref away.
    pub fn repository_ref_remove(&mut self, no: RepositoryNo, name: &RefName) {
        self.row(&DELETE, [no.0.into(), name.as_bytes().to_vec().into()]);
    }
}
