//! Notices, and what people chose about being told things (contract A 2.3): settings, devices for push messages, live
//! activities, confirmed telephone numbers.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, big_integer_null, boolean, integer, text, text_null},
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        for table in [notices(), prefs(), devices(), live_activities(), confirmed_phones(), phone_codes()] {
            schema.create_table(table).await?;
        }
        for index in indexes() {
            schema.create_index(index).await?;
        }
        Ok(())
    }
}

/// `seq` orders them; AUTOINCREMENT, because cursors name it. `source` names what a notice came from: the same doesn't come
/// twice to one person.
fn notices() -> TableCreateStatement {
    Table::create()
        .table("notices")
        .col(big_integer("seq").primary_key().auto_increment())
        .col(text("id"))
        .col(text("user_id"))
        .col(text_null("org_id"))
        .col(text("event"))
        .col(text("app"))
        .col(text("title"))
        .col(text_null("body"))
        .col(text_null("url"))
        .col(boolean("is_read"))
        .col(boolean("require_ack"))
        .col(big_integer_null("acked_at"))
        .col(text_null("escalation_id"))
        .col(text("source"))
        .col(big_integer("created_at"))
        .take()
}

fn prefs() -> TableCreateStatement {
    Table::create()
        .table("notify_prefs")
        .col(text("user_id").primary_key())
        .col(text_null("quiet_hours"))
        .col(text_null("time_zone"))
        .col(text("vip_senders"))
        .col(integer("meeting_lead_minutes"))
        .col(boolean("calendar_reminders"))
        .col(text("choices"))
        .col(big_integer("version"))
        .col(big_integer("updated_at"))
        .take()
}

/// `attrs` is what a device says of itself, as JSON. `token_hash` is what a token is found by: it belongs to one app on one
/// device, whoever is signed in there.
fn devices() -> TableCreateStatement {
    Table::create()
        .table("push_devices")
        .col(text("user_id"))
        .col(text("device_id"))
        .col(text("app"))
        .col(text("sign_in_id"))
        .col(text("platform"))
        .col(text("token"))
        .col(text("token_hash"))
        .col(text("attrs"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .primary_key(Index::create().col("user_id").col("device_id").col("app"))
        .take()
}

/// `activity_id` is empty for a registration that starts activities.
fn live_activities() -> TableCreateStatement {
    Table::create()
        .table("live_activities")
        .col(text("user_id"))
        .col(text("install_id"))
        .col(text("app"))
        .col(text("activity_id"))
        .col(text("sign_in_id"))
        .col(text("environment"))
        .col(text("bundle_id"))
        .col(text("token"))
        .col(text("attrs"))
        .col(big_integer("created_at"))
        .col(big_integer("updated_at"))
        .primary_key(Index::create().col("user_id").col("install_id").col("app").col("activity_id"))
        .take()
}

fn confirmed_phones() -> TableCreateStatement {
    Table::create()
        .table("confirmed_phones")
        .col(text("user_id").primary_key())
        .col(text("phone"))
        .col(big_integer("confirmed_at"))
        .take()
}

/// A code that was texted, and when codes were: the row outlives the code, because what was sent counts for an hour.
fn phone_codes() -> TableCreateStatement {
    Table::create()
        .table("phone_codes")
        .col(text("user_id").primary_key())
        .col(text("phone"))
        .col(text_null("code_hash"))
        .col(big_integer("expires_at"))
        .col(integer("tries"))
        .col(text("sent_at"))
        .col(big_integer("version"))
        .take()
}

fn indexes() -> Vec<IndexCreateStatement> {
    vec![
        index("notices_id", "notices", &["id"]).unique().take(),
        index("notices_source", "notices", &["user_id", "source"]).unique().take(),
        index("notices_person", "notices", &["user_id", "seq"]),
        index("notices_person_app", "notices", &["user_id", "app", "seq"]),
        index("notices_unread", "notices", &["user_id", "is_read", "app"]),
        index("notices_escalation", "notices", &["escalation_id"]),
        index("push_devices_sign_in", "push_devices", &["sign_in_id"]),
        index("push_devices_token", "push_devices", &["token_hash"]),
        index("live_activities_sign_in", "live_activities", &["sign_in_id"]),
    ]
}

fn index(name: &'static str, table: &'static str, columns: &[&'static str]) -> IndexCreateStatement {
    let mut index = Index::create().name(name).table(table).take();
    for column in columns {
        index.col(*column);
    }
    index
}
