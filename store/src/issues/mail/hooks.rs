//! Hooks by which mail comes to desks. One that was deleted has no row.

use domain::{
    Timestamp, TokenHash,
    id::{IssueMailHookId, OrgId, SpaceId, UserId},
    mail::MessageIdHash,
};

use crate::{Change, Expect, Purge, Store, StoreError, reader::row, sql::Sql};

/// A hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssueMailHook {
    /// Its id.
    pub id: IssueMailHookId,
    /// The organization.
    pub org_id: OrgId,
    /// The desk's space.
    pub space_id: SpaceId,
    /// What it is called.
    pub name: String,
    /// Who made it.
    pub created_by: UserId,
    /// When.
    pub created_at: Timestamp,
    /// When something last came in by it, give or take a minute.
    pub last_used_at: Option<Timestamp>,
}

row! {
    struct HookRow {
        id: String,
        org_id: String,
        space_id: String,
        name: String,
        created_by: String,
        created_at: i64,
        last_used_at: Option<i64>,
    }
}

row! {
    struct SeenRow {
        at: i64,
    }
}

const COLUMNS: &str = "id, org_id, space_id, name, created_by, created_at, last_used_at";

impl TryFrom<HookRow> for IssueMailHook {
    type Error = StoreError;

    fn try_from(row: HookRow) -> Result<Self, StoreError> {
        let corrupt = || StoreError::corrupt("an id of issue_mail_hooks");
        Ok(Self {
            id: row.id.parse().map_err(|_| corrupt())?,
            org_id: row.org_id.parse().map_err(|_| corrupt())?,
            space_id: row.space_id.parse().map_err(|_| corrupt())?,
            name: row.name,
            created_by: row.created_by.parse().map_err(|_| corrupt())?,
            created_at: Timestamp(row.created_at),
            last_used_at: row.last_used_at.map(Timestamp),
        })
    }
}

/// A hash as it is kept.
fn hex(hash: TokenHash) -> String {
    let digits = hash.0.into_iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

impl Store {
    /// The hooks of a space, the oldest first.
    pub async fn issue_mail_hooks(&self, space_id: SpaceId) -> Result<Vec<IssueMailHook>, StoreError> {
        let statement = format!("SELECT {COLUMNS} FROM issue_mail_hooks WHERE space_id = $1 ORDER BY id");
        let rows: Vec<HookRow> = self.reader().rows(&Sql::new(statement, [space_id.to_string().into()])).await?;
        rows.into_iter().map(IssueMailHook::try_from).collect()
    }

    /// The hook with this id that a token with this hash opens.
    pub async fn issue_mail_hook_by_token(
        &self,
        id: IssueMailHookId,
        token: TokenHash,
    ) -> Result<Option<IssueMailHook>, StoreError> {
        let statement = format!("SELECT {COLUMNS} FROM issue_mail_hooks WHERE id = $1 AND token_hash = $2");
        let sql = Sql::new(statement, [id.to_string().into(), hex(token).into()]);
        self.reader().row::<HookRow>(&sql).await?.map(IssueMailHook::try_from).transpose()
    }

    /// Whether a message came in by a hook of the space before.
    pub async fn issue_mail_is_seen(&self, space_id: SpaceId, message: &MessageIdHash) -> Result<bool, StoreError> {
        let statement = "SELECT at FROM issue_mail_seen WHERE space_id = $1 AND message_hash = $2";
        let sql = Sql::new(statement, [space_id.to_string().into(), message.as_str().into()]);
        Ok(self.reader().row::<SeenRow>(&sql).await?.is_some_and(|row| row.at > 0))
    }
}

impl Change {
    /// Adds a hook whose token has this hash.
    pub fn issue_mail_hook_add(&mut self, hook: &IssueMailHook, token: TokenHash) {
        let statement = "INSERT INTO issue_mail_hooks (id, org_id, space_id, name, token_hash, created_by, created_at) \
                         VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let values = [
            hook.id.to_string().into(),
            hook.org_id.to_string().into(),
            hook.space_id.to_string().into(),
            hook.name.clone().into(),
            hex(token).into(),
            hook.created_by.to_string().into(),
            hook.created_at.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }

    /// Notes that something came in by the hook; stale when it is gone.
    pub fn issue_mail_hook_used(&mut self, id: IssueMailHookId, now: Timestamp) {
        let statement = "UPDATE issue_mail_hooks SET last_used_at = $2 WHERE id = $1";
        self.run_statement(Sql::new(statement, [id.to_string().into(), now.0.into()]), Expect::Rows(1));
    }

    /// Deletes a hook; stale when it is gone.
    pub fn issue_mail_hook_remove(&mut self, id: IssueMailHookId) {
        let statement = "DELETE FROM issue_mail_hooks WHERE id = $1";
        self.run_statement(Sql::new(statement, [id.to_string().into()]), Expect::Rows(1));
    }

    /// Notes that a message came in by a hook of the space; stale where one with its id did.
    pub fn issue_mail_seen_add(
        &mut self,
        (org_id, space_id): (OrgId, SpaceId),
        message: &MessageIdHash,
        at: Timestamp,
    ) {
        let statement = "INSERT INTO issue_mail_seen (space_id, message_hash, org_id, at) VALUES ($1, $2, $3, $4) \
                         ON CONFLICT (space_id, message_hash) DO NOTHING";
        let values = [space_id.to_string().into(), message.as_str().into(), org_id.to_string().into(), at.0.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
}

impl Purge {
    /// What came in by hooks before a moment: nobody sends it again.
    pub fn issue_mail_seen(before: Timestamp) -> Self {
        Self::new("messages of hooks", ["issue_mail_seen", "space_id, message_hash", "at < $1"], before.0)
    }
}
