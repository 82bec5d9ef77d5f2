//! What the configuration says about what actors decide.
//!
//! The program reads it (`config/default.toml`); tests start from [`Settings::default`], which says the same.

use std::{path::PathBuf, time::Duration};

use domain::{
    account::Registration,
    mail::MailHost,
    notify::Channel,
    pipelines::{caches::CacheQuota, job::JobLimits},
    storage::PublicHost,
};

/// The settings of this layer.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The address that clients see, without a slash at its end (`server.public_url`).
    pub public_url: String,
    /// Who may register (`accounts.registration`).
    pub registration: Registration,
    /// How long a sign-in lasts without being used (`accounts.session_lifetime`).
    pub sign_in_lasts: Duration,
    /// How long an invitation can be accepted (`accounts.invite_lifetime`).
    pub invite_lasts: Duration,
    /// How much work a password's hash takes (`accounts.argon2_*`).
    pub password_cost: PasswordCost,
    /// Live items of one passwords vault (`vault.max_items`).
    pub vault_items_max: u64,
    /// Whether people can be texted and called (`notify.calls`). The console counts, which keeps what it would have sent.
    pub calls_available: bool,
    /// How long entries of the audit trail are kept; for ever where nothing is said (`audit.retention`).
    pub audit_kept: Option<Duration>,
    /// How long runs of pipelines are kept; for ever where nothing is said (`pipelines.keep`).
    pub runs_kept: Option<Duration>,
    /// How much a job may make (`pipelines.log_max`, `pipelines.artifact_max`, `pipelines.cache_max`).
    pub job_limits: JobLimits,
    /// Bytes of all caches of a repository (`pipelines.cache_quota`).
    pub cache_quota: CacheQuota,
    /// Texts that an organization may send a day (`notify.texts_per_day`).
    pub texts_per_day: u64,
    /// Calls that an organization may make a day (`notify.calls_per_day`).
    pub calls_per_day: u64,
    /// Where resources are kept, as their records say (`server.location`).
    pub location: String,
    /// The region that resources say they are in (`aws.region`).
    pub region: String,
    /// Buckets of one organization (`storage.max_buckets`).
    pub buckets_max: u64,
    /// Where files of public buckets are served from (`s3.domain`, `s3.public_url`).
    pub public_files: PublicHost,
    /// Tables of one organization (`databases.max_tables`).
    pub tables_max: u64,
    /// The domain below which each organization has one of its own for mailboxes; empty where there is none
    /// (`mail_server.platform_domain`).
    pub platform_domain: String,
    /// How the server is called where mail is concerned (`mail_server.hostname`, `mail_server.outbound_addresses`).
    pub mail_host: MailHost,
    /// Where archives are kept while they are read: a folder on a disk of the machine.
    pub spool: PathBuf,
    /// Where git works on the objects of repositories: a folder on a disk of the machine.
    pub git_folder: PathBuf,
    /// Bytes of packs that are kept once they were sent (`git.pack_cache_max`).
    pub git_pack_cache_max: u64,
    /// Bytes of the folders that git works in (`git.view_max`).
    pub git_view_max: u64,
    /// Bytes of memory for a run of git that takes in what people send; any where nothing is said (`git.memory_max`).
    pub git_memory_max: Option<u64>,
    /// Bytes of one file in a push; any where nothing is said (`git.blob_max`).
    pub git_blob_max: Option<u64>,
}

/// How much work a password's hash takes (`accounts.argon2_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PasswordCost {
    /// Memory, in KiB; at least eight for each lane.
    pub memory_kib: u32,
    /// Passes over the memory.
    pub passes: u32,
    /// Lanes.
    pub lanes: u32,
}

impl Default for PasswordCost {
    /// What OWASP recommends, and `config/default.toml` says.
    fn default() -> Self {
        Self { memory_kib: 19_456, passes: 2, lanes: 1 }
    }
}

impl Settings {
    /// How much an organization may send over `channel` a day.
    pub const fn most_a_day(&self, channel: Channel) -> u64 {
        match channel {
            Channel::Sms => self.texts_per_day,
            Channel::Voice => self.calls_per_day,
            Channel::Email | Channel::Push | Channel::Inapp => u64::MAX,
        }
    }
}

impl Default for Settings {
    /// What `config/default.toml` says.
    fn default() -> Self {
        const DAY: Duration = Duration::from_hours(24);
        Self {
            public_url: "http://127.0.0.1:8080".to_owned(),
            registration: Registration::Invite,
            sign_in_lasts: DAY * 90,
            invite_lasts: DAY * 7,
            password_cost: PasswordCost::default(),
            vault_items_max: 10_000,
            calls_available: true,
            audit_kept: Some(DAY * 400),
            runs_kept: Some(DAY * 400),
            job_limits: JobLimits::default(),
            cache_quota: CacheQuota::default(),
            texts_per_day: 500,
            calls_per_day: 200,
            location: "main".to_owned(),
            region: "us-east-1".to_owned(),
            buckets_max: 100,
            public_files: PublicHost::Shared,
            tables_max: 500,
            platform_domain: "localhost.localdomain".to_owned(),
            mail_host: MailHost { name: "localhost".to_owned(), addresses: Vec::new() },
            spool: std::env::temp_dir(),
            git_folder: std::env::temp_dir().join("troupe-git"),
            git_pack_cache_max: 4 << 30,
            git_view_max: 20_000_000_000,
            git_memory_max: Some(512 << 20),
            git_blob_max: Some(100 << 20),
        }
    }
}
