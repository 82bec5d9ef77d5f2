//! What IMAP will show of mailboxes: a number for each message in its box and in each label of its conversation. And the index by which
//! bytes are kept that recipients wait for.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, text},
    sea_orm::{DbBackend, Statement},
};

#[derive(DeriveMigrationName)]
pub struct Migration;

/// Messages that get their numbers at once.
const AT_ONCE: i64 = 5_000;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        for mut table in [folders(), entries(), gone()] {
            if schema.get_database_backend() == DbBackend::Sqlite {
                table.extra("WITHOUT ROWID");
            }
            schema.create_table(table).await?;
        }
        let connection = schema.get_connection();
        for statement in [
            "CREATE UNIQUE INDEX mail_folder_entries_of_message ON mail_folder_entries (mailbox_id, message_id, folder_id)",
            "CREATE INDEX mail_folder_gone_at ON mail_folder_gone (gone_at)",
            "CREATE INDEX mail_outgoing_of_raw ON mail_outgoing (raw_id) WHERE state IN ('held', 'queued', 'deferred')",
        ] {
            connection.execute_unprepared(statement).await?;
        }
        let backend = connection.get_database_backend();
        let statement = Statement::from_string(backend, "SELECT id, created_at / 1000 AS made FROM mailboxes");
        for row in connection.query_all_raw(statement).await? {
            number(connection, &row.try_get::<String>("", "id")?, row.try_get::<i64>("", "made")?).await?;
        }
        Ok(())
    }
}

/// `folder_id` is a box, or `l:` and a label's id. `uid_next` is the number that the next message gets.
fn folders() -> TableCreateStatement {
    Table::create()
        .table("mail_folders")
        .col(text("mailbox_id"))
        .col(text("folder_id"))
        .col(big_integer("uid_validity"))
        .col(big_integer("uid_next"))
        .primary_key(Index::create().col("mailbox_id").col("folder_id"))
        .take()
}

/// `modseq` is the mailbox's revision that put the message there, or changed its flags last.
fn entries() -> TableCreateStatement {
    Table::create()
        .table("mail_folder_entries")
        .col(text("mailbox_id"))
        .col(text("folder_id"))
        .col(big_integer("uid"))
        .col(text("message_id"))
        .col(big_integer("modseq"))
        .primary_key(Index::create().col("mailbox_id").col("folder_id").col("uid"))
        .take()
}

/// Numbers of messages that are in a folder no more.
fn gone() -> TableCreateStatement {
    Table::create()
        .table("mail_folder_gone")
        .col(text("mailbox_id"))
        .col(text("folder_id"))
        .col(big_integer("uid"))
        .col(big_integer("modseq"))
        .col(big_integer("gone_at"))
        .primary_key(Index::create().col("mailbox_id").col("folder_id").col("uid"))
        .take()
}

/// The messages of a part of a mailbox, with each folder that they are in.
const WANTED: &str = "SELECT m.message_id AS message_id, m.received_at AS received_at, m.modseq AS modseq, m.box AS folder_id \
                      FROM mail_messages AS m WHERE m.mailbox_id = $1 AND (m.received_at, m.message_id) > ($2, $3) \
                      AND (m.received_at, m.message_id) <= ($4, $5) \
                      UNION ALL SELECT m.message_id, m.received_at, m.modseq, p.place FROM mail_messages AS m \
                      JOIN mail_places AS p ON p.mailbox_id = m.mailbox_id AND p.thread_id = m.thread_id \
                      WHERE m.mailbox_id = $1 AND (m.received_at, m.message_id) > ($2, $3) \
                      AND (m.received_at, m.message_id) <= ($4, $5) AND p.place LIKE 'l:%' AND m.box NOT IN ('spam', 'trash')";

/// A statement with the places of its values as the database writes them.
fn placed(backend: DbBackend, text: &str) -> String {
    if backend == DbBackend::Sqlite { text.replace('$', "?") } else { text.to_owned() }
}

/// Gives the messages of a mailbox their numbers, those that came first the lowest.
async fn number(connection: &SchemaManagerConnection<'_>, mailbox: &str, made: i64) -> Result<(), DbErr> {
    let backend = connection.get_database_backend();
    let mut behind = (i64::MIN, String::new());
    loop {
        let text = format!(
            "SELECT received_at, message_id FROM mail_messages WHERE mailbox_id = $1 AND (received_at, message_id) > ($2, $3) \
             ORDER BY received_at, message_id LIMIT {AT_ONCE}"
        );
        let values: [Value; 3] = [mailbox.into(), behind.0.into(), behind.1.clone().into()];
        let rows =
            connection.query_all_raw(Statement::from_sql_and_values(backend, placed(backend, &text), values)).await?;
        let Some(last) = rows.last() else { return Ok(()) };
        let until: (i64, String) = (last.try_get("", "received_at")?, last.try_get("", "message_id")?);
        let range = || -> Vec<Value> {
            vec![mailbox.into(), behind.0.into(), behind.1.clone().into(), until.0.into(), until.1.clone().into()]
        };
        let made = [range(), vec![made.into()]].concat();
        for (text, values) in [
            (
                format!(
                    "INSERT INTO mail_folders (mailbox_id, folder_id, uid_validity, uid_next) \
                     SELECT DISTINCT CAST($1 AS TEXT), w.folder_id, CAST($6 AS BIGINT), 1 FROM ({WANTED}) AS w WHERE true \
                     ON CONFLICT (mailbox_id, folder_id) DO NOTHING"
                ),
                made,
            ),
            (
                format!(
                    "INSERT INTO mail_folder_entries (mailbox_id, folder_id, uid, message_id, modseq) \
                     SELECT f.mailbox_id, w.folder_id, f.uid_next - 1 + ROW_NUMBER() OVER (PARTITION BY w.folder_id \
                     ORDER BY w.received_at, w.message_id), w.message_id, w.modseq FROM ({WANTED}) AS w \
                     JOIN mail_folders AS f ON f.mailbox_id = $1 AND f.folder_id = w.folder_id"
                ),
                range(),
            ),
            (
                "UPDATE mail_folders SET uid_next = COALESCE((SELECT MAX(e.uid) + 1 FROM mail_folder_entries AS e \
                 WHERE e.mailbox_id = mail_folders.mailbox_id AND e.folder_id = mail_folders.folder_id), 1) \
                 WHERE mailbox_id = $1"
                    .to_owned(),
                vec![mailbox.into()],
            ),
        ] {
            connection.execute_raw(Statement::from_sql_and_values(backend, placed(backend, &text), values)).await?;
        }
        behind = until;
    }
}
