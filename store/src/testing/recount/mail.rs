//! How often bytes of messages are named, and the numbers that messages have in folders.

use std::collections::BTreeMap;

use domain::mail::DraftContent;

use super::{LINES_MAX, check};
use crate::{Store, StoreError, json, reader::row, sql::Sql};

row! {
    struct NamedRow {
        raw_id: String,
        refs: i64,
    }
}

row! {
    struct DraftRow {
        content: String,
    }
}

/// What is wrong with mail: bytes that are counted otherwise than they are named, and messages that aren't in the folders that they
/// should be in.
pub async fn mail(store: &Store) -> Result<Vec<String>, StoreError> {
    let mut wrong = check(store, &of_folders()).await?;
    let mut counted: BTreeMap<String, i64> = BTreeMap::new();
    let named = "SELECT raw_id, COUNT(*) AS refs FROM (SELECT raw_id FROM mail_arrivals UNION ALL \
                 SELECT raw_id FROM mail_messages) AS named GROUP BY raw_id";
    for row in store.reader().rows_of_many::<NamedRow>(&Sql::new(named, [])).await? {
        *counted.entry(row.raw_id).or_default() += row.refs;
    }
    for row in store.reader().rows_of_many::<DraftRow>(&Sql::new("SELECT content FROM mail_drafts", [])).await? {
        let content: DraftContent = json::read("mail_drafts.content", &row.content)?;
        for file in content.files {
            *counted.entry(file.raw_id.to_string()).or_default() += 1;
        }
    }
    let kept = store.reader().rows_of_many::<NamedRow>(&Sql::new("SELECT raw_id, refs FROM mail_raw", [])).await?;
    let kept: BTreeMap<String, i64> = kept.into_iter().map(|row| (row.raw_id, row.refs)).collect();
    let lost =
        counted.keys().filter(|id| !kept.contains_key(*id)).map(|id| format!("bytes are named and not there: {id}"));
    let other = kept.iter().filter_map(|(id, refs)| {
        let named = counted.get(id).copied().unwrap_or_default();
        (named != *refs).then(|| format!("bytes are counted {refs} times and named {named} times: {id}"))
    });
    wrong.extend(lost.chain(other).take(LINES_MAX));
    Ok(wrong)
}

fn of_folders() -> Vec<(&'static str, String)> {
    // What a message is in: its box, and the labels of its conversation.
    let wanted = "SELECT m.mailbox_id, m.message_id, m.box AS folder_id FROM mail_messages AS m UNION ALL \
                  SELECT m.mailbox_id, m.message_id, p.place FROM mail_places AS p JOIN mail_messages AS m \
                  ON m.mailbox_id = p.mailbox_id AND m.thread_id = p.thread_id \
                  WHERE p.place LIKE 'l:%' AND m.box NOT IN ('spam', 'trash')";
    let entry = "e.mailbox_id = w.mailbox_id AND e.message_id = w.message_id AND e.folder_id = w.folder_id";
    let folder = "mail_folders AS f WHERE f.mailbox_id = e.mailbox_id AND f.folder_id = e.folder_id";
    vec![
        (
            "a message has no number in a folder",
            format!(
                "SELECT w.message_id || ' ' || w.folder_id AS line FROM ({wanted}) AS w WHERE NOT EXISTS \
                 (SELECT 1 FROM mail_folder_entries AS e WHERE {entry})"
            ),
        ),
        (
            "a number is of no message in the folder",
            format!(
                "SELECT e.message_id || ' ' || e.folder_id AS line FROM mail_folder_entries AS e WHERE NOT EXISTS \
                 (SELECT 1 FROM ({wanted}) AS w WHERE {entry})"
            ),
        ),
        (
            "a number is higher than those that were given",
            format!(
                "SELECT e.folder_id AS line FROM mail_folder_entries AS e WHERE e.uid < 1 \
                 OR NOT EXISTS (SELECT 1 FROM {folder} AND f.uid_next > e.uid)"
            ),
        ),
        (
            "a number is gone and there",
            "SELECT e.folder_id AS line FROM mail_folder_entries AS e JOIN mail_folder_gone AS g \
             ON g.mailbox_id = e.mailbox_id AND g.folder_id = e.folder_id AND g.uid = e.uid"
                .to_owned(),
        ),
        (
            "a message changed and its number doesn't say so",
            "SELECT e.message_id AS line FROM mail_folder_entries AS e JOIN mail_messages AS m \
             ON m.mailbox_id = e.mailbox_id AND m.message_id = e.message_id WHERE e.modseq < m.modseq"
                .to_owned(),
        ),
        (
            "a number says more than its mailbox",
            "SELECT e.message_id AS line FROM mail_folder_entries AS e JOIN mail_states AS s \
             ON s.mailbox_id = e.mailbox_id WHERE e.modseq > s.revision"
                .to_owned(),
        ),
    ]
}
