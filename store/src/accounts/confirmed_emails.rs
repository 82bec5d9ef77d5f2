//! Which accounts' addresses were shown to be theirs, by a code that was mailed there.

use domain::{Email, Timestamp, id::UserId};

use crate::{Change, Expect, Store, StoreError, json, reader::row, sql::Sql};

/// What is known of a person's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmailConfirmation {
    /// The person.
    pub user_id: UserId,
    /// The address that is meant.
    pub email: Email,
    /// Since when it is known to be theirs.
    pub confirmed_at: Option<Timestamp>,
    /// The hash of the code that was mailed, and until when it counts.
    pub code: Option<(String, Timestamp)>,
    /// Wrong codes since.
    pub tries: i64,
    /// When codes were mailed.
    pub codes_sent: Vec<Timestamp>,
    /// Counts its changes; 0 before there is a row.
    pub version: i64,
}

row! {
    struct ConfirmationRow {
        email: String,
        confirmed_at: Option<i64>,
        code_hash: Option<String>,
        code_until: Option<i64>,
        code_tries: i64,
        codes_sent: String,
        version: i64,
    }
}

impl Store {
    /// What is known of a person's address; nothing where no code was ever mailed.
    pub async fn email_confirmation(&self, user_id: UserId) -> Result<Option<EmailConfirmation>, StoreError> {
        let statement = "SELECT email, confirmed_at, code_hash, code_until, code_tries, codes_sent, version \
                         FROM confirmed_emails WHERE user_id = $1";
        let row: Option<ConfirmationRow> =
            self.reader().row(&Sql::new(statement, [user_id.to_string().into()])).await?;
        row.map(|row| {
            Ok(EmailConfirmation {
                user_id,
                email: row.email.parse().map_err(|_| StoreError::corrupt("confirmed_emails.email"))?,
                confirmed_at: row.confirmed_at.map(Timestamp),
                code: row.code_hash.zip(row.code_until.map(Timestamp)),
                tries: row.code_tries,
                codes_sent: json::read("confirmed_emails.codes_sent", &row.codes_sent)?,
                version: row.version,
            })
        })
        .transpose()
    }

    /// The person's address, where it was shown to be theirs.
    pub async fn confirmed_email(&self, user_id: UserId) -> Result<Option<Email>, StoreError> {
        let known = self.email_confirmation(user_id).await?;
        Ok(known.filter(|known| known.confirmed_at.is_some()).map(|known| known.email))
    }
}

impl Change {
    /// Writes what is known of a person's address, whose version was counted; stale where it isn't in the version before.
    pub fn email_confirmation_set(&mut self, known: &EmailConfirmation) {
        let statement = "INSERT INTO confirmed_emails (user_id, email, confirmed_at, code_hash, code_until, code_tries, \
             codes_sent, version) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (user_id) DO UPDATE SET \
             email = excluded.email, confirmed_at = excluded.confirmed_at, code_hash = excluded.code_hash, \
             code_until = excluded.code_until, code_tries = excluded.code_tries, codes_sent = excluded.codes_sent, \
             version = excluded.version WHERE confirmed_emails.version + 1 = excluded.version";
        let (hash, until) = known.code.clone().unzip();
        let values = [
            known.user_id.to_string().into(),
            known.email.as_str().into(),
            known.confirmed_at.map(|at| at.0).into(),
            hash.into(),
            until.map(|at| at.0).into(),
            known.tries.into(),
            json::text(&known.codes_sent).into(),
            known.version.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
}
