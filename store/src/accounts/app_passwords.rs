//! App passwords of people. One that was revoked has no row.

use domain::{
    Timestamp, Token, TokenHash, TokenKind,
    app_password::AppPasswordUse,
    id::{AppPasswordId, OrgId, UserId},
};

use super::{named, parsed};
use crate::{Change, Expect, Store, StoreError, reader::row, sql::Sql};

/// An app password, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppPassword {
    /// Its id.
    pub id: AppPasswordId,
    /// Whose it is.
    pub user_id: UserId,
    /// The organization whose mailboxes it opens, as far as the person is a member of them.
    pub org_id: OrgId,
    /// What it is called.
    pub name: String,
    /// What it is for.
    pub uses: Vec<AppPasswordUse>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last used, give or take an hour.
    pub last_used_at: Option<Timestamp>,
}

row! {
    struct AppPasswordRow {
        id: String,
        user_id: String,
        org_id: String,
        name: String,
        uses: String,
        created_at: i64,
        last_used_at: Option<i64>,
    }
}

/// The columns of an [`AppPasswordRow`], of those whose person has a part in an organization that is there.
const SELECT: &str = "SELECT a.id, a.user_id, a.org_id, a.name, a.uses, a.created_at, a.last_used_at \
                      FROM app_passwords a JOIN organizations o ON o.id = a.org_id \
                      JOIN members m ON m.org_id = a.org_id AND m.user_id = a.user_id";

impl TryFrom<AppPasswordRow> for AppPassword {
    type Error = StoreError;

    fn try_from(row: AppPasswordRow) -> Result<Self, StoreError> {
        let uses = row.uses.split(' ').map(|name| named("app_passwords.uses", AppPasswordUse::from_name(name)));
        Ok(Self {
            id: parsed("app_passwords.id", &row.id)?,
            user_id: parsed("app_passwords.user_id", &row.user_id)?,
            org_id: parsed("app_passwords.org_id", &row.org_id)?,
            uses: uses.collect::<Result<_, _>>()?,
            name: row.name,
            created_at: Timestamp(row.created_at),
            last_used_at: row.last_used_at.map(Timestamp),
        })
    }
}

impl Change {
    /// Adds an app password whose secret has this hash; stale when the person has no part in the organization by then.
    pub fn app_password_add(&mut self, password: &AppPassword, token_hash: TokenHash) {
        // A row that is written anew waits for whoever takes it away, and is found gone then.
        let statement = "UPDATE members SET role = role WHERE org_id = $1 AND user_id = $2";
        let part = [password.org_id.to_string().into(), password.user_id.to_string().into()];
        self.run_statement(Sql::new(statement, part), Expect::Rows(1));
        let uses: Vec<&str> = password.uses.iter().map(|it| it.as_str()).collect();
        self.run_statement(
            Sql::new(
                "INSERT INTO app_passwords (id, user_id, org_id, name, uses, token_hash, created_at) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7)",
                [
                    password.id.to_string().into(),
                    password.user_id.to_string().into(),
                    password.org_id.to_string().into(),
                    password.name.as_str().into(),
                    uses.join(" ").into(),
                    token_hash.0.to_vec().into(),
                    password.created_at.0.into(),
                ],
            ),
            Expect::Rows(1),
        );
    }

    /// Revokes an app password; stale when it is gone.
    pub fn app_password_remove(&mut self, id: AppPasswordId) {
        let sql = Sql::new("DELETE FROM app_passwords WHERE id = $1", [id.to_string().into()]);
        self.run_statement(sql, Expect::Rows(1));
    }

    /// Revokes all app passwords of the person.
    pub fn app_passwords_end(&mut self, user_id: UserId) {
        let sql = Sql::new("DELETE FROM app_passwords WHERE user_id = $1", [user_id.to_string().into()]);
        self.run_statement(sql, Expect::Any);
    }

    /// Revokes the person's app passwords for an organization, which they leave.
    pub(crate) fn app_passwords_forget(&mut self, org_id: OrgId, user_id: UserId) {
        let key = [org_id.to_string().into(), user_id.to_string().into()];
        let sql = Sql::new("DELETE FROM app_passwords WHERE org_id = $1 AND user_id = $2", key);
        self.run_statement(sql, Expect::Any);
    }

    /// Notes that the app password was used; nothing happens when it is gone.
    pub fn app_password_used(&mut self, id: AppPasswordId, now: Timestamp) {
        let key = [id.to_string().into(), now.0.into()];
        self.run_statement(Sql::new("UPDATE app_passwords SET last_used_at = $2 WHERE id = $1", key), Expect::Any);
    }
}

impl Store {
    /// The app password with this secret; nothing when it was never made, was revoked, or its person has no part in the
    /// organization any more. Nothing is remembered, so that whatever ends one ends it at once.
    pub async fn app_password_by_token(&self, token: &Token) -> Result<Option<AppPassword>, StoreError> {
        if token.kind() != TokenKind::AppPassword {
            return Ok(None);
        }
        let sql = Sql::new(format!("{SELECT} WHERE a.token_hash = $1"), [token.hash().0.to_vec().into()]);
        let row: Option<AppPasswordRow> = self.credential_reader().row(&sql).await?;
        row.map(AppPassword::try_from).transpose()
    }

    /// The person's app passwords, the oldest first.
    pub async fn app_passwords(&self, user_id: UserId) -> Result<Vec<AppPassword>, StoreError> {
        let sql = Sql::new(format!("{SELECT} WHERE a.user_id = $1 ORDER BY a.id"), [user_id.to_string().into()]);
        let rows: Vec<AppPasswordRow> = self.reader().rows(&sql).await?;
        rows.into_iter().map(AppPassword::try_from).collect()
    }
}
