//! The audit trail: who did what, on what, from where, when (contract A 2.4, `AuditEvent`).

use std::net::IpAddr;

use domain::{
    context::{Caller, Context},
    id::{AuditId, OrgId},
    time::Timestamp,
};
use sea_orm::{
    ActiveValue::Set, ColumnTrait, DbBackend, EntityTrait, ExprTrait, QueryFilter, QueryOrder, QuerySelect, Select,
    sea_query::Expr,
};
use serde_json::Value;

use crate::{Change, Purge, Store, StoreError, json, reader::Reads};

mod row {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "audit")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub org_id: Option<String>,
        pub action: String,
        pub actor_type: String,
        pub actor_id: String,
        pub actor_label: Option<String>,
        pub target_type: String,
        pub target_id: String,
        pub target_label: Option<String>,
        pub metadata: Option<String>,
        pub ip: Option<String>,
        pub user_agent: Option<String>,
        pub created_at: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// What kind of actor acted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActorKind {
    /// A person.
    User,
    /// An API key.
    Key,
    /// A device of a vault.
    Device,
    /// Troupe itself, or an operator at the command line.
    System,
}

impl ActorKind {
    /// The contract's name for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Key => "key",
            Self::Device => "device",
            Self::System => "system",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        [Self::User, Self::Key, Self::Device, Self::System].into_iter().find(|kind| kind.as_str() == name)
    }
}

/// Who acted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditActor {
    /// What kind of actor it is.
    pub kind: ActorKind,
    /// Its id.
    pub id: String,
    /// What it was called at the time.
    pub label: Option<String>,
}

impl AuditActor {
    /// Troupe itself.
    pub fn system() -> Self {
        Self { kind: ActorKind::System, id: "troupe".to_owned(), label: None }
    }
}

impl From<&Caller> for AuditActor {
    fn from(caller: &Caller) -> Self {
        let (kind, id) = match caller {
            Caller::Person(person) => (ActorKind::User, person.user_id.to_string()),
            Caller::Key(key) => (ActorKind::Key, key.key_id.to_string()),
            Caller::AccessKey(key) => (ActorKind::Key, key.id.to_string()),
            Caller::Job(job) => (ActorKind::System, job.job_id.to_string()),
            Caller::AppPassword(password) => (ActorKind::User, password.user_id.to_string()),
            Caller::Nobody | Caller::System => return Self::system(),
        };
        Self { kind, id, label: None }
    }
}

/// What was acted on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditTarget {
    /// What kind of thing it is, such as `vault`.
    pub kind: String,
    /// Its id.
    pub id: String,
    /// What it was called at the time.
    pub label: Option<String>,
}

impl AuditTarget {
    /// A thing without a label.
    #[expect(clippy::needless_pass_by_value, reason = "ids are small, and callers read better without a borrow")]
    pub fn new(kind: impl Into<String>, id: impl ToString) -> Self {
        Self { kind: kind.into(), id: id.to_string(), label: None }
    }

    /// The same with what it is called.
    #[must_use]
    pub fn labelled(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }
}

/// An entry to write.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditEntry {
    /// The organization in whose trail it stands; none for what a person does to their own things.
    pub org_id: Option<OrgId>,
    /// What was done, such as `vault.created`: lower-case words, one dot.
    pub action: String,
    /// Who did it.
    pub actor: AuditActor,
    /// What it was done to.
    pub target: AuditTarget,
    /// More about it.
    pub metadata: Option<Value>,
    /// Where it came from.
    pub ip: Option<IpAddr>,
    /// The program that it came through.
    pub user_agent: Option<String>,
}

impl AuditEntry {
    /// `action` on `target` by the caller of `context`, from where the context says.
    pub fn new(context: &Context, action: impl Into<String>, target: AuditTarget) -> Self {
        Self {
            org_id: None,
            action: action.into(),
            actor: AuditActor::from(&context.caller),
            target,
            metadata: None,
            ip: context.ip,
            user_agent: context.user_agent.as_deref().map(str::to_owned),
        }
    }

    /// The same in the trail of an organization.
    #[must_use]
    pub fn in_org(mut self, org_id: OrgId) -> Self {
        self.org_id = Some(org_id);
        self
    }

    /// The same by another actor.
    #[must_use]
    pub fn by(mut self, actor: AuditActor) -> Self {
        self.actor = actor;
        self
    }

    /// The same with more about it.
    #[must_use]
    pub fn with_metadata(mut self, metadata: Value) -> Self {
        self.metadata = Some(metadata);
        self
    }
}

/// An entry of the trail.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditEvent {
    /// Its id; ids sort by time.
    pub id: AuditId,
    /// What was written. An address that no longer reads as one is left out.
    pub entry: AuditEntry,
    /// When.
    pub created_at: Timestamp,
}

impl TryFrom<row::Model> for AuditEvent {
    type Error = StoreError;

    fn try_from(row: row::Model) -> Result<Self, StoreError> {
        let corrupt = || StoreError::corrupt(format_args!("audit {}", row.id));
        let org_id = row.org_id.as_deref().map(str::parse).transpose().map_err(|_| corrupt())?;
        let metadata = row.metadata.as_deref().map(serde_json::from_str).transpose().map_err(|_| corrupt())?;
        let kind = ActorKind::from_name(&row.actor_type).ok_or_else(corrupt)?;
        let entry = AuditEntry {
            org_id,
            action: row.action,
            actor: AuditActor { kind, id: row.actor_id, label: row.actor_label },
            target: AuditTarget { kind: row.target_type, id: row.target_id, label: row.target_label },
            metadata,
            ip: row.ip.and_then(|ip| ip.parse().ok()),
            user_agent: row.user_agent,
        };
        let id = row.id.parse().map_err(|_| StoreError::corrupt("audit.id"))?;
        Ok(Self { id, entry, created_at: Timestamp(row.created_at) })
    }
}

/// Which entries of an organization's trail to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditQuery {
    /// Whose trail.
    pub org_id: OrgId,
    /// Only this action; one without a dot matches everything that starts with it and a dot, too.
    pub action: Option<String>,
    /// Only by the actor with this id.
    pub actor: Option<String>,
    /// Only on the target with this id.
    pub target: Option<String>,
    /// Only older than this one (the last of the page before).
    pub before: Option<AuditId>,
    /// At most so many.
    pub limit: u32,
}

/// What stands before the dot of an action, as each database says it; there is an index by the very same words.
fn area_of_action(backend: DbBackend) -> Expr {
    Expr::cust(match backend {
        DbBackend::Postgres => "split_part(action, '.', 1)",
        _ => "substr(action, 1, instr(action || '.', '.') - 1)",
    })
}

impl AuditQuery {
    fn select(&self, backend: DbBackend) -> Select<row::Entity> {
        let mut select = row::Entity::find().filter(row::Column::OrgId.eq(self.org_id.to_string()));
        select = match &self.action {
            None => select,
            Some(action) if action.contains('.') => select.filter(row::Column::Action.eq(action.as_str())),
            Some(area) => select.filter(area_of_action(backend).eq(area.as_str())),
        };
        if let Some(actor) = &self.actor {
            select = select.filter(row::Column::ActorId.eq(actor.as_str()));
        }
        if let Some(target) = &self.target {
            select = select.filter(row::Column::TargetId.eq(target.as_str()));
        }
        if let Some(before) = self.before {
            select = select.filter(row::Column::Id.lt(before.to_string()));
        }
        select.order_by_desc(row::Column::Id).limit(u64::from(self.limit))
    }
}

impl Change {
    /// Writes `entry` into the trail.
    pub fn audit_add(&mut self, now: Timestamp, entry: AuditEntry) -> AuditId {
        let id = AuditId::new(now);
        self.insert(row::ActiveModel {
            id: Set(id.to_string()),
            org_id: Set(entry.org_id.map(|org_id| org_id.to_string())),
            action: Set(entry.action),
            actor_type: Set(entry.actor.kind.as_str().to_owned()),
            actor_id: Set(entry.actor.id),
            actor_label: Set(entry.actor.label),
            target_type: Set(entry.target.kind),
            target_id: Set(entry.target.id),
            target_label: Set(entry.target.label),
            metadata: Set(entry.metadata.as_ref().map(json::text)),
            ip: Set(entry.ip.map(|ip| ip.to_string())),
            user_agent: Set(entry.user_agent),
            created_at: Set(now.0),
        });
        id
    }
}

impl Purge {
    /// The entries from before `before`.
    pub fn audit(before: Timestamp) -> Self {
        // Ids sort by time, and have the index.
        Self::new("audit trail", ["audit", "id", "id < $1"], AuditId::new(before).to_string())
    }
}

impl Store {
    /// The entries that `query` asks for, newest first.
    pub async fn audit_list(&self, query: &AuditQuery) -> Result<Vec<AuditEvent>, StoreError> {
        let rows = query.select(self.parts.connections.backend()).read_all(self.reader()).await?;
        rows.into_iter().map(AuditEvent::try_from).collect()
    }
}

#[cfg(test)]
mod tests;
