//! The commit that a repository begins with.

use domain::{
    Timestamp,
    git::{BranchName, ObjectId, RefName, RefVerdict},
    id::{KeyId, PushId, ResourceId, UserId},
};

use super::NewPack;
use crate::{Change, Expect, sql::Sql};

/// A commit that a repository begins with, as if it had been pushed.
#[derive(Clone, Debug)]
pub struct FirstCommit {
    /// The commit.
    pub commit: ObjectId,
    /// The pack that it is in, with all that it names.
    pub pack: NewPack,
    /// The key that made it.
    pub key_id: Option<KeyId>,
    /// From where.
    pub ip: Option<String>,
}

impl Change {
    /// Has a repository begin with a commit on this branch, made by that person; for the commit that adds the repository.
    pub fn repository_begin(
        &mut self,
        (id, branch): (ResourceId, &BranchName),
        first: &FirstCommit,
        (by, now): (UserId, Timestamp),
    ) {
        let FirstCommit { commit, pack, key_id, ip } = first;
        let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let (id, name, push) = (id.to_string(), RefName::of_branch(branch), PushId::new(now).to_string());
        let (name, oid) = (name.as_bytes().to_vec(), commit.as_bytes().to_vec());
        self.content_put(now, &pack.pack);
        self.content_put(now, &pack.index);
        let of_repository = |change: &mut Self, statement: &'static str, values: Vec<sea_orm::Value>| {
            let values = [id.as_str().into()].into_iter().chain(values);
            change.run_statement(Sql::new(statement, values), Expect::Rows(1));
        };
        of_repository(
            self,
            "INSERT INTO git_packs (repo_no, hash, pack, pack_index, objects, size, made_at) \
             SELECT repo_no, $2, $3, $4, $5, $6, $7 FROM repositories WHERE id = $1",
            vec![
                pack.hash.as_bytes().to_vec().into(),
                pack.pack.id().to_string().into(),
                pack.index.id().to_string().into(),
                signed(pack.objects).into(),
                signed(pack.size()).into(),
                now.0.into(),
            ],
        );
        of_repository(
            self,
            "INSERT INTO git_refs (repo_no, name, oid) SELECT repo_no, $2, $3 FROM repositories WHERE id = $1",
            vec![name.clone().into(), oid.clone().into()],
        );
        of_repository(
            self,
            "INSERT INTO pushes (repo_no, id, pushed_by, key_id, ip, atomic, report, pushed_at) \
             SELECT repo_no, $2, $3, $4, $5, $6, $7, $8 FROM repositories WHERE id = $1",
            vec![
                push.as_str().into(),
                by.to_string().into(),
                key_id.map(|id| id.to_string()).into(),
                ip.clone().into(),
                true.into(),
                format!("{} {}\n", RefVerdict::Created.as_str(), RefName::of_branch(branch)).into(),
                now.0.into(),
            ],
        );
        of_repository(
            self,
            "INSERT INTO push_refs (repo_no, push_id, name, new_oid, verdict) \
             SELECT repo_no, $2, $3, $4, $5 FROM repositories WHERE id = $1",
            vec![push.as_str().into(), name.into(), oid.into(), RefVerdict::Created.as_str().into()],
        );
        of_repository(
            self,
            "UPDATE repositories SET refs_version = 1, packs_version = 1, size = $2, pushed_at = $3 WHERE id = $1",
            vec![signed(pack.size()).into(), now.0.into()],
        );
    }
}
