//! Pipelines: workflows of a repository, their runs and jobs, runners, groups, environments, secrets and variables.

use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, big_integer_null, blob, blob_null, boolean, integer, text, text_null},
    sea_orm::DbBackend,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, schema: &SchemaManager) -> Result<(), DbErr> {
        let is_sqlite = schema.get_database_backend() == DbBackend::Sqlite;
        let tables = [
            workflow_states(),
            workflow_schedules(),
            runs(),
            run_plans(),
            jobs(),
            job_reports(),
            runners(),
            runner_tokens(),
            concurrency_groups(),
            environments(),
            approvals(),
            secrets(),
            variables(),
        ];
        for mut table in tables {
            if is_sqlite {
                table.extra("WITHOUT ROWID");
            }
            schema.create_table(table).await?;
        }
        for statement in [
            "CREATE UNIQUE INDEX runs_cause ON runs (repo_no, cause) WHERE cause IS NOT NULL",
            "CREATE INDEX runs_newest ON runs (repo_no, id DESC)",
            "CREATE INDEX runs_of_file ON runs (repo_no, file, id DESC)",
            "CREATE INDEX runs_of_branch ON runs (repo_no, branch, id DESC)",
            "CREATE INDEX runs_open ON runs (repo_no, id) WHERE status <> 'completed'",
            "CREATE UNIQUE INDEX jobs_places ON jobs (run_id, attempt, node, place)",
            "CREATE UNIQUE INDEX jobs_tokens ON jobs (token_hash) WHERE token_hash IS NOT NULL",
            "CREATE INDEX jobs_of_repository ON jobs (repo_no, id)",
            "CREATE INDEX jobs_queued ON jobs (org_id, queued_at, id) WHERE stage = 'queued'",
            "CREATE UNIQUE INDEX runners_secrets ON runners (secret_hash)",
            "CREATE INDEX runners_of_org ON runners (org_id, id)",
            "CREATE INDEX approvals_of_run ON approvals (run_id)",
        ] {
            schema.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

/// What is known of a workflow file beside its text. `file` is its name in the folder of workflows.
fn workflow_states() -> TableCreateStatement {
    Table::create()
        .table("workflow_states")
        .col(big_integer("repo_no"))
        .col(text("file"))
        .col(boolean("disabled"))
        .col(big_integer("last_number"))
        .col(big_integer("version"))
        .primary_key(Index::create().col("repo_no").col("file"))
        .take()
}

/// The schedules of the default branch's files, each with the name of its timer.
fn workflow_schedules() -> TableCreateStatement {
    Table::create()
        .table("workflow_schedules")
        .col(big_integer("repo_no"))
        .col(text("file"))
        .col(integer("place"))
        .col(text("cron"))
        .col(text_null("timezone"))
        .col(big_integer("next_at"))
        .primary_key(Index::create().col("repo_no").col("file").col("place"))
        .take()
}

/// `cause` names what a run follows from, so that nothing starts a workflow twice. `sha` has 20 bytes.
fn runs() -> TableCreateStatement {
    Table::create()
        .table("runs")
        .col(text("id").primary_key())
        .col(text("org_id"))
        .col(text("repo_id"))
        .col(big_integer("repo_no"))
        .col(text_null("cause"))
        .col(text("file"))
        .col(text("workflow"))
        .col(big_integer("number"))
        .col(integer("attempt"))
        .col(text("event"))
        .col(text("ref"))
        .col(text_null("branch"))
        .col(blob("sha"))
        .col(text("title"))
        .col(text_null("actor_id"))
        .col(text_null("actor_label"))
        .col(text("status"))
        .col(text_null("conclusion"))
        .col(big_integer_null("pull_number"))
        .col(boolean("cancel_requested"))
        .col(boolean("waits_for_group"))
        .col(text_null("problems"))
        .col(big_integer("version"))
        .col(big_integer("created_at"))
        .col(big_integer_null("started_at"))
        .col(big_integer_null("completed_at"))
        .take()
}

/// What a run's owner decides on: the text of its file, the contexts that stay, how far it is, and how earlier attempts ended; all
/// but the text as JSON.
fn run_plans() -> TableCreateStatement {
    Table::create()
        .table("run_plans")
        .col(text("run_id").primary_key())
        .col(big_integer("repo_no"))
        .col(text("file_text"))
        .col(text("contexts"))
        .col(text("state"))
        .col(text("attempts"))
        .take()
}

/// `node` and `place` say which job of the run it is. `token_hash` is the SHA-256 of the token that the job's runner shows.
fn jobs() -> TableCreateStatement {
    Table::create()
        .table("jobs")
        .col(text("id").primary_key())
        .col(text("org_id"))
        .col(text("repo_id"))
        .col(big_integer("repo_no"))
        .col(text("run_id"))
        .col(integer("attempt"))
        .col(integer("node"))
        .col(integer("place"))
        .col(text("key"))
        .col(text("name"))
        .col(text("labels"))
        .col(text_null("environment"))
        .col(integer("timeout_minutes"))
        .col(text("stage"))
        .col(text_null("conclusion"))
        .col(text_null("fault"))
        .col(blob_null("token_hash"))
        .col(text("marker"))
        .col(text_null("runner_id"))
        .col(text_null("runner_name"))
        .col(big_integer("version"))
        .col(big_integer("created_at"))
        .col(big_integer_null("queued_at"))
        .col(big_integer_null("reserved_until"))
        .col(big_integer_null("started_at"))
        .col(big_integer_null("seen_at"))
        .col(big_integer_null("completed_at"))
        .take()
}

/// What a job's runner said: the steps as of its last report, and at the end the rest, as JSON. `body_hash` is the SHA-256 of the
/// report that ended the job.
fn job_reports() -> TableCreateStatement {
    Table::create()
        .table("job_reports")
        .col(text("job_id").primary_key())
        .col(big_integer("repo_no"))
        .col(text("steps"))
        .col(text("annotations").default("[]"))
        .col(text("summary").default(""))
        .col(text("error").default(""))
        .col(blob_null("body_hash"))
        .take()
}

fn runners() -> TableCreateStatement {
    Table::create()
        .table("runners")
        .col(text("id").primary_key())
        .col(text("org_id"))
        .col(text("name"))
        .col(text("labels"))
        .col(text("os"))
        .col(text("arch"))
        .col(text("program"))
        .col(boolean("ephemeral"))
        .col(boolean("paused"))
        .col(blob("secret_hash"))
        .col(text("made_by"))
        .col(big_integer("version"))
        .col(big_integer("created_at"))
        .col(big_integer_null("seen_at"))
        .take()
}

/// What registers one runner.
fn runner_tokens() -> TableCreateStatement {
    Table::create()
        .table("runner_tokens")
        .col(blob("token_hash").primary_key())
        .col(text("org_id"))
        .col(text("labels"))
        .col(boolean("ephemeral"))
        .col(text("made_by"))
        .col(big_integer("expires_at"))
        .take()
}

/// `members` says who runs and who waits, as JSON.
fn concurrency_groups() -> TableCreateStatement {
    Table::create()
        .table("concurrency_groups")
        .col(big_integer("repo_no"))
        .col(text("name"))
        .col(text("members"))
        .col(big_integer("version"))
        .primary_key(Index::create().col("repo_no").col("name"))
        .take()
}

/// `name_key` is the name in small letters.
fn environments() -> TableCreateStatement {
    Table::create()
        .table("environments")
        .col(big_integer("repo_no"))
        .col(text("name_key"))
        .col(text("name"))
        .col(text("reviewers"))
        .col(boolean("prevents_self_review"))
        .col(integer("wait_minutes"))
        .col(text("branches"))
        .col(big_integer("version"))
        .col(big_integer("created_at"))
        .primary_key(Index::create().col("repo_no").col("name_key"))
        .take()
}

/// A job that waits for its environment, and what was decided.
fn approvals() -> TableCreateStatement {
    Table::create()
        .table("approvals")
        .col(text("job_id").primary_key())
        .col(big_integer("repo_no"))
        .col(text("run_id"))
        .col(text("environment"))
        .col(big_integer("asked_at"))
        .col(big_integer_null("waits_until"))
        .col(text_null("decision"))
        .col(text_null("decided_by"))
        .col(text_null("comment"))
        .col(big_integer_null("decided_at"))
        .take()
}

/// `scope` is `org`, `repo` or `env`; `scope_id` the id of the organization or repository, with the environment's name behind it.
fn secrets() -> TableCreateStatement {
    Table::create()
        .table("pipeline_secrets")
        .col(text("scope"))
        .col(text("scope_id"))
        .col(text("name"))
        .col(text("org_id"))
        .col(blob("value"))
        .col(big_integer("updated_at"))
        .col(text("updated_by"))
        .primary_key(Index::create().col("scope").col("scope_id").col("name"))
        .take()
}

fn variables() -> TableCreateStatement {
    Table::create()
        .table("pipeline_variables")
        .col(text("scope"))
        .col(text("scope_id"))
        .col(text("name"))
        .col(text("org_id"))
        .col(text("value"))
        .col(big_integer("updated_at"))
        .col(text("updated_by"))
        .primary_key(Index::create().col("scope").col("scope_id").col("name"))
        .take()
}
