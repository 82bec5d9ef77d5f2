//! Configuration: `config/default.toml` (compiled in), a file, environment variables, flags, in that order.
//!
//! All layers are merged as TOML and read once, so that a bad value is reported the same way wherever it came from:
//! by the key's path and the place that set it. Unknown keys stop the start.

mod check;
mod layers;

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use domain::{account::Registration, mail::DmarcMode};
use serde::Deserialize;
use store::Faults;

pub use layers::{ConfigError, Sources};

/// A configuration, for fuzzing.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn fuzzing(text: &str) {
    layers::fuzzing(text);
}

/// All settings. Their meaning, units and defaults stand in `config/default.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config/default.toml, which is compiled in, documents each key")]
pub struct Config {
    pub server: Server,
    pub operators: Operators,
    pub data: DataFolder,
    pub secrets: Secrets,
    pub database: Database,
    pub redis: Redis,
    pub blobs: Blobs,
    pub accounts: Accounts,
    pub vault: Vault,
    pub aws: Aws,
    pub storage: Storage,
    pub s3: S3,
    pub databases: Databases,
    pub git: Git,
    pub pipelines: Pipelines,
    pub audit: Audit,
    pub notify: Notify,
    pub mail: Mail,
    pub mail_server: MailServer,
    pub texts: Texts,
    pub places: Places,
    pub apns: Apns,
    pub fcm: Fcm,
    pub web_push: WebPush,
    pub actors: Actors,
    pub log: Log,
    pub tracing: Tracing,
    pub shutdown: Shutdown,
    pub setup: Setup,
    /// What a test has go wrong: `TROUPE_FAULTS`, in programs that are built for tests.
    #[serde(skip)]
    pub faults: Faults,
}

macro_rules! sections {
    ($($name:ident { $($(#[$meta:meta])* $field:ident: $kind:ty,)* })*) => {$(
        #[doc = concat!("The section of `config/default.toml` that `", stringify!($name), "` reads.")]
        #[derive(Clone, Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        #[expect(missing_docs, reason = "config/default.toml, which is compiled in, documents each key")]
        pub struct $name { $($(#[$meta])* pub $field: $kind,)* }
    )*};
}

sections! {
    Server {
        listen: SocketAddr,
        public_url: String,
        cors_origins: Vec<String>,
        secret: String,
        location: String,
        workers: usize,
        #[serde(with = "humantime_serde")]
        request_timeout: Duration,
        requests_per_minute: u32,
        anonymous_requests_per_minute: u32,
        trusted_proxies: Vec<std::net::IpAddr>,
    }
    Operators { listen: String, }
    Secrets { keys: Vec<String>, }
    DataFolder { dir: PathBuf, }
    Database { url: String, read_connections: u32, write_lanes: u32, migrate_at_start: bool, }
    Redis { url: String, prefix: String, }
    Blobs {
        kind: BlobKind,
        path: String,
        bucket: String,
        region: String,
        endpoint: String,
        access_key_id: String,
        secret_access_key: String,
    }
    Accounts {
        registration: Registration,
        #[serde(with = "humantime_serde")]
        session_lifetime: Duration,
        argon2_memory_kib: u32,
        argon2_passes: u32,
        argon2_lanes: u32,
        #[serde(with = "humantime_serde")]
        invite_lifetime: Duration,
    }
    Vault { max_items: u32, }
    Aws { region: String, }
    Storage { max_buckets: u32, }
    S3 { listen: String, domain: String, public_url: String, }
    Databases { max_tables: u32, }
    Git { pack_cache_max: u64, view_max: u64, memory_max: u64, blob_max: u64, }
    Pipelines {
        #[serde(with = "humantime_serde")]
        keep: Duration,
        log_max: u64,
        artifact_max: u64,
        cache_max: u64,
        cache_quota: u64,
    }
    Audit {
        #[serde(with = "humantime_serde")]
        retention: Duration,
    }
    Notify { calls: bool, texts_per_day: u32, calls_per_day: u32, }
    Mail {
        host: String,
        port: u16,
        tls: MailTls,
        username: String,
        password: String,
        from: String,
        #[serde(with = "humantime_serde")]
        timeout: Duration,
    }
    MailServer {
        platform_domain: String,
        hostname: String,
        outbound_addresses: Vec<std::net::IpAddr>,
        resolver: String,
        smtp_listen: String,
        submissions_listen: String,
        submission_listen: String,
        tls_cert: String,
        tls_key: String,
        dmarc: DmarcMode,
        trusted_networks: Vec<String>,
        trusted_sealers: Vec<String>,
        smarthost: String,
        outbound_port: u16,
        #[serde(with = "humantime_serde")]
        outbound_timeout: Duration,
        outbound_roots: String,
    }
    Texts {
        account_sid: String,
        auth_token: String,
        base_url: String,
        from: String,
        call_from: String,
        #[serde(with = "humantime_serde")]
        timeout: Duration,
    }
    Places {
        kind: PlacesKind,
        base_url: String,
        #[serde(with = "humantime_serde")]
        timeout: Duration,
    }
    Apns {
        key_file: String,
        key_id: String,
        team_id: String,
        topic: String,
        base_url: String,
        #[serde(with = "humantime_serde")]
        timeout: Duration,
    }
    Fcm {
        service_account_file: String,
        base_url: String,
        #[serde(with = "humantime_serde")]
        timeout: Duration,
    }
    WebPush {
        key_file: String,
        contact: String,
        allow_private_addresses: bool,
        #[serde(with = "humantime_serde")]
        timeout: Duration,
    }
    Actors { threads: usize, }
    Log { format: LogFormat, level: String, }
    Tracing {
        otlp: String,
        sample_ratio: f64,
        headers: Vec<String>,
        headers_file: String,
        service_name: String,
        #[serde(with = "humantime_serde")]
        timeout: Duration,
    }
    Shutdown {
        #[serde(with = "humantime_serde")]
        grace: Duration,
    }
    Setup { owner_email: String, owner_name: String, organization_name: String, }
}

/// Where blobs are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BlobKind {
    /// A folder.
    Local,
    /// S3-compatible storage.
    S3,
}

/// How the connection to the SMTP server is secured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MailTls {
    /// Plain at first, TLS before anything is said.
    Starttls,
    /// TLS from the first byte.
    Tls,
    /// None: for a relay on the same machine.
    None,
}

/// The interface of the geocoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlacesKind {
    /// Photon's.
    Photon,
    /// Nominatim's.
    Nominatim,
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

impl Config {
    /// The address of the database: the configured one, or the embedded one in the data folder.
    pub fn database_url(&self) -> String {
        if self.database.url.is_empty() {
            format!("sqlite://{}?mode=rwc", self.data.dir.join("troupe.sqlite").display())
        } else {
            self.database.url.clone()
        }
    }

    /// The folder of local blobs.
    pub fn blob_folder(&self) -> PathBuf {
        if self.blobs.path.is_empty() { self.data.dir.join("blobs") } else { PathBuf::from(&self.blobs.path) }
    }

    /// Where operators connect, if anywhere.
    pub fn operators_listen(&self) -> Option<SocketAddr> {
        self.operators.listen.parse().ok()
    }

    /// Who is asked for names, where that isn't who the system asks.
    pub fn resolver(&self) -> Option<SocketAddr> {
        self.mail_server.resolver.parse().ok()
    }

    /// Where clients of S3's protocol connect, if anywhere.
    pub fn s3_listen(&self) -> Option<SocketAddr> {
        self.s3.listen.parse().ok()
    }

    /// Where other servers bring mail, if anywhere.
    pub fn smtp_listen(&self) -> Option<SocketAddr> {
        self.mail_server.smtp_listen.parse().ok()
    }

    /// Where mail clients send over TLS, if anywhere.
    pub fn submissions_listen(&self) -> Option<SocketAddr> {
        self.mail_server.submissions_listen.parse().ok()
    }

    /// Where mail clients send that turn to TLS first, if anywhere.
    pub fn submission_listen(&self) -> Option<SocketAddr> {
        self.mail_server.submission_listen.parse().ok()
    }

    /// The address that clients see, without a slash at its end, when the server listens on `listening`.
    pub fn public_url(&self, listening: SocketAddr) -> String {
        if self.server.public_url.is_empty() {
            format!("http://{listening}")
        } else {
            self.server.public_url.trim_end_matches('/').to_owned()
        }
    }
}
