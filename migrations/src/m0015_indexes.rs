//! Indexes for what is looked for by time, for the filters of an organization's audit trail, and for an organization's own
//! words.
//!
//! People's own entries of the trail are found by nobody's filter, and so stand in none of its indexes.
//!
//! Each word of a page is indexed behind letters that stand for its organization, so that a search reads no other
//! organization's words, whatever they have in common. The letters are consonants: no stem is another for them. All pages
//! are indexed anew, which takes about a minute for 100,000 of them; a node of the release before finds none of them
//! meanwhile and afterwards.

use sea_orm_migration::{
    prelude::*,
    sea_orm::{ConnectionTrait, DbBackend},
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        let is_postgres = schema.get_database_backend() == DbBackend::Postgres;
        let area = if is_postgres { AUDIT_AREA_ON_POSTGRES } else { AUDIT_AREA_ON_SQLITE };
        let search = if is_postgres { search_on_postgres() } else { search_on_sqlite() };
        let statements = INDEXES.iter().chain([&area]).map(|statement| (*statement).to_owned());
        for statement in statements.chain(search) {
            schema.get_connection().execute_unprepared(&statement).await?;
        }
        Ok(())
    }
}

const INDEXES: &[&str] = &[
    "CREATE INDEX sign_ins_expiry ON sign_ins (expires_at)",
    "CREATE INDEX phone_codes_expiry ON phone_codes (expires_at)",
    "CREATE INDEX vault_signatures_age ON vault_signatures (signed_at)",
    "CREATE INDEX audit_action ON audit (org_id, action, id) WHERE org_id IS NOT NULL",
    "CREATE INDEX audit_actor ON audit (org_id, actor_id, id) WHERE org_id IS NOT NULL",
    "CREATE INDEX audit_target ON audit (org_id, target_id, id) WHERE org_id IS NOT NULL",
];

/// What stands before the dot of an action.
const AUDIT_AREA_ON_SQLITE: &str = "CREATE INDEX audit_area \
     ON audit (org_id, substr(action, 1, instr(action || '.', '.') - 1), id) WHERE org_id IS NOT NULL";
const AUDIT_AREA_ON_POSTGRES: &str =
    "CREATE INDEX audit_area ON audit (org_id, split_part(action, '.', 1), id) WHERE org_id IS NOT NULL";

/// What the letters of an organization are made of: the last characters of its id, which are random.
const ORG_LETTERS_FROM: usize = 23;
/// What is no consonant in an id, and what stands for each.
const NO_CONSONANTS: &str = "0123456789aey";
const CONSONANTS: &str = "bcdfghjkmnpqr";
/// Bytes of a page's words that are indexed again; the rest is found once the page is written again.
const WORDS_BYTES_MAX: usize = 200_000;

/// What was written lately stands in such an index in the order of writing, everybody's, and each search reads through it: at
/// most 256 KB.
const UNSORTED: &str = "WITH (gin_pending_list_limit = 256)";

/// The letters of the organization `org_id` on SQLite, which replaces one character at a time.
fn org_letters_on_sqlite(org_id: &str) -> String {
    let pairs = NO_CONSONANTS.chars().zip(CONSONANTS.chars());
    let last = format!("substr({org_id}, {ORG_LETTERS_FROM})");
    pairs.fold(last, |letters, (from, to)| format!("replace({letters}, '{from}', '{to}')"))
}

/// `words`, each behind the organization's letters. One space stands between two words, and none around them.
fn of_organization(words: &str, letters: &str) -> String {
    format!("replace(' ' || {words}, ' ', ' ' || {letters})")
}

fn search_on_sqlite() -> Vec<String> {
    let row = |row: &str| {
        let letters = org_letters_on_sqlite(&format!("{row}org_id"));
        let [title, body] = ["title_words", "words"].map(|column| of_organization(&format!("{row}{column}"), &letters));
        format!("{row}seq, {title}, {body}")
    };
    let (new, all) = (row("new."), row(""));
    let add = format!("INSERT INTO page_words(rowid, title, body) VALUES ({new});");
    vec![
        "DROP TRIGGER page_texts_added".to_owned(),
        "DROP TRIGGER page_texts_changed".to_owned(),
        "DROP TABLE page_words".to_owned(),
        // The beginnings of two and of three letters, behind the eight of the organization.
        "CREATE VIRTUAL TABLE page_words USING fts5(title, body, content = '', contentless_delete = 1, \
         tokenize = 'porter unicode61 remove_diacritics 0', prefix = '10 11')"
            .to_owned(),
        format!("INSERT INTO page_words(rowid, title, body) SELECT {all} FROM page_texts"),
        format!("CREATE TRIGGER page_texts_added AFTER INSERT ON page_texts BEGIN {add} END"),
        format!(
            "CREATE TRIGGER page_texts_changed AFTER UPDATE ON page_texts BEGIN \
             DELETE FROM page_words WHERE rowid = old.seq; {add} END"
        ),
    ]
}

fn search_on_postgres() -> Vec<String> {
    let letters = format!("translate(substr(org_id, {ORG_LETTERS_FROM}), '{NO_CONSONANTS}', '{CONSONANTS}')");
    let index = |column| format!("to_tsvector('page_search', {})", of_organization(column, &letters));
    let (title, body) = (index("title_words"), index("words"));
    vec![
        format!(
            "UPDATE page_texts SET words = left(words, {WORDS_BYTES_MAX} / 4) \
                 WHERE octet_length(words) > {WORDS_BYTES_MAX}"
        ),
        "ALTER TABLE page_texts DROP COLUMN title_index, DROP COLUMN text_index".to_owned(),
        format!(
            "ALTER TABLE page_texts ADD COLUMN title_index tsvector GENERATED ALWAYS AS ({title}) STORED, \
             ADD COLUMN text_index tsvector GENERATED ALWAYS AS (setweight({title}, 'A') || {body}) STORED"
        ),
        format!("CREATE INDEX page_texts_title ON page_texts USING gin (title_index) {UNSORTED}"),
        format!("CREATE INDEX page_texts_text ON page_texts USING gin (text_index) {UNSORTED}"),
    ]
}
