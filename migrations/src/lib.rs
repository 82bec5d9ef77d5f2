//! The schema of Troupe's database, for SQLite and PostgreSQL.
//!
//! Migrations expand first and contract later: a running older node must be able to work beside a newer schema, so a
//! column or table goes away one release after the last code that used it.

use sea_orm_migration::prelude::*;

pub use sea_orm_migration::MigratorTrait;

mod m0001_core;
mod m0002_accounts;
mod m0003_backup;
mod m0004_vault;
mod m0005_notices;
mod m0006_protocols;
mod m0007_deliveries;
mod m0008_escalations;
mod m0009_alarm_hooks;
mod m0010_pages;
mod m0011_page_search;
mod m0012_nodes;
mod m0013_work;
mod m0014_security;
mod m0015_indexes;
mod m0016_alerts;
mod m0017_device_sign_ins;
mod m0018_page_remains;
mod m0019_page_imports;
mod m0020_resources;
mod m0021_databases;
mod m0022_storage;
mod m0023_contents;
mod m0024_uploads;
mod m0025_access_keys;
mod m0026_bucket_rules;
mod m0027_s3;
mod m0028_uploads_list;
mod m0031_repositories;
mod m0032_refs;
mod m0033_uploads_and_reads;
mod m0034_packs;
mod m0036_rules;
mod m0037_secret_findings;
mod m0038_web_uploads;
mod m0039_pulls;
mod m0040_lfs;
mod m0041_pull_reviews;
mod m0042_pipelines;
mod m0043_job_logs;
mod m0044_former_names;
mod m0045_pipeline_values;
mod m0046_environments;
mod m0049_run_indexes;
mod m0051_git_clones;
mod m0052_calendars;
mod m0053_mailboxes;
mod m0054_issue_spaces;
mod m0055_issues;
mod m0056_issue_texts;
mod m0057_issue_imports;
mod m0059_help_centers;
mod m0060_issue_attachments;
mod m0061_mail_domains;
mod m0062_mail_preferences;
mod m0063_mail_arrivals;
mod m0064_mail_threads;
mod m0066_issue_clocks;
mod m0070_waiting_merges;
mod m0073_run_merges;
mod m0075_mail_labels;
mod m0076_mail_search;
mod m0077_mail_sending;
mod m0079_app_passwords;
mod m0080_issue_plans;
mod m0081_issue_boards;
mod m0082_calendar_alarms;
mod m0083_mail_reports;
mod m0084_calendar_mail;
mod m0085_mail_filters;
mod m0086_mail_transfers;
mod m0087_mail_folders;
mod m0088_issue_mail;
mod m0089_issue_moves;
mod m0090_issue_votes;
mod m0091_failing_branches;
mod m0092_environment_urls;

/// All migrations, oldest first.
pub struct Migrator;

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        let mut all = first();
        all.extend(further());
        all
    }
}

/// Those up to pipelines.
fn first() -> Vec<Box<dyn MigrationTrait>> {
    vec![
        Box::new(m0001_core::Migration),
        Box::new(m0002_accounts::Migration),
        Box::new(m0003_backup::Migration),
        Box::new(m0004_vault::Migration),
        Box::new(m0005_notices::Migration),
        Box::new(m0006_protocols::Migration),
        Box::new(m0007_deliveries::Migration),
        Box::new(m0008_escalations::Migration),
        Box::new(m0009_alarm_hooks::Migration),
        Box::new(m0010_pages::Migration),
        Box::new(m0011_page_search::Migration),
        Box::new(m0012_nodes::Migration),
        Box::new(m0013_work::Migration),
        Box::new(m0014_security::Migration),
        Box::new(m0015_indexes::Migration),
        Box::new(m0016_alerts::Migration),
        Box::new(m0017_device_sign_ins::Migration),
        Box::new(m0018_page_remains::Migration),
        Box::new(m0019_page_imports::Migration),
        Box::new(m0020_resources::Migration),
        Box::new(m0021_databases::Migration),
        Box::new(m0022_storage::Migration),
        Box::new(m0023_contents::Migration),
        Box::new(m0024_uploads::Migration),
        Box::new(m0025_access_keys::Migration),
        Box::new(m0026_bucket_rules::Migration),
        Box::new(m0027_s3::Migration),
        Box::new(m0028_uploads_list::Migration),
        Box::new(m0031_repositories::Migration),
        Box::new(m0032_refs::Migration),
        Box::new(m0033_uploads_and_reads::Migration),
        Box::new(m0034_packs::Migration),
        Box::new(m0036_rules::Migration),
        Box::new(m0037_secret_findings::Migration),
        Box::new(m0038_web_uploads::Migration),
        Box::new(m0039_pulls::Migration),
        Box::new(m0040_lfs::Migration),
        Box::new(m0041_pull_reviews::Migration),
        Box::new(m0042_pipelines::Migration),
        Box::new(m0043_job_logs::Migration),
        Box::new(m0044_former_names::Migration),
    ]
}

/// Those after them.
fn further() -> Vec<Box<dyn MigrationTrait>> {
    vec![
        Box::new(m0045_pipeline_values::Migration),
        Box::new(m0046_environments::Migration),
        Box::new(m0049_run_indexes::Migration),
        Box::new(m0051_git_clones::Migration),
        Box::new(m0052_calendars::Migration),
        Box::new(m0053_mailboxes::Migration),
        Box::new(m0054_issue_spaces::Migration),
        Box::new(m0055_issues::Migration),
        Box::new(m0056_issue_texts::Migration),
        Box::new(m0057_issue_imports::Migration),
        Box::new(m0059_help_centers::Migration),
        Box::new(m0060_issue_attachments::Migration),
        Box::new(m0061_mail_domains::Migration),
        Box::new(m0062_mail_preferences::Migration),
        Box::new(m0063_mail_arrivals::Migration),
        Box::new(m0064_mail_threads::Migration),
        Box::new(m0066_issue_clocks::Migration),
        Box::new(m0070_waiting_merges::Migration),
        Box::new(m0073_run_merges::Migration),
        Box::new(m0075_mail_labels::Migration),
        Box::new(m0076_mail_search::Migration),
        Box::new(m0077_mail_sending::Migration),
        Box::new(m0079_app_passwords::Migration),
        Box::new(m0080_issue_plans::Migration),
        Box::new(m0081_issue_boards::Migration),
        Box::new(m0082_calendar_alarms::Migration),
        Box::new(m0083_mail_reports::Migration),
        Box::new(m0084_calendar_mail::Migration),
        Box::new(m0085_mail_filters::Migration),
        Box::new(m0086_mail_transfers::Migration),
        Box::new(m0087_mail_folders::Migration),
        Box::new(m0088_issue_mail::Migration),
        Box::new(m0089_issue_moves::Migration),
        Box::new(m0090_issue_votes::Migration),
        Box::new(m0091_failing_branches::Migration),
        Box::new(m0092_environment_urls::Migration),
    ]
}
