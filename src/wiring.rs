//! From settings to the options of each layer.

use std::path::Path;

use actors::{Settings, passwords::PasswordCost};
use gateways::{
    HubOptions, MailOptions,
    mail::{SmtpCredentials, SmtpOptions, SmtpSecurity},
};
use store::{
    StoreOptions,
    blobs::{BlobOptions, BlobPlace, S3Credentials, S3Options},
};

use crate::config::{BlobKind, Config, MailTls};

/// E-mails handed to the SMTP server at once.
const MAIL_CONNECTIONS_MAX: u32 = 4;

impl Config {
    /// What the store is opened with.
    pub fn store_options(&self, secret: Vec<u8>) -> StoreOptions {
        let blobs = BlobOptions { place: self.blob_place(), signing_secret: secret };
        StoreOptions {
            read_connections: self.database.read_connections,
            write_lanes: self.database.write_lanes,
            ..StoreOptions::new(self.database_url(), blobs)
        }
    }

    fn blob_place(&self) -> BlobPlace {
        let blobs = &self.blobs;
        match blobs.kind {
            BlobKind::Local => BlobPlace::Folder(self.blob_folder()),
            BlobKind::S3 => BlobPlace::S3(S3Options {
                bucket: blobs.bucket.clone(),
                region: blobs.region.clone(),
                endpoint: given(&blobs.endpoint),
                credentials: given(&blobs.access_key_id).map(|access_key_id| S3Credentials {
                    access_key_id,
                    secret_access_key: blobs.secret_access_key.clone(),
                }),
            }),
        }
    }

    /// Where the hub lives.
    pub fn hub_options(&self) -> HubOptions {
        match given(&self.redis.url) {
            None => HubOptions::InProcess,
            Some(url) => HubOptions::Redis { url, prefix: self.redis.prefix.clone() },
        }
    }

    /// How e-mail leaves.
    pub fn mail_options(&self) -> MailOptions {
        let mail = &self.mail;
        let Some(host) = given(&mail.host) else { return MailOptions::Console };
        MailOptions::Smtp(SmtpOptions {
            host,
            port: mail.port,
            security: match mail.tls {
                MailTls::Starttls => SmtpSecurity::StartTls,
                MailTls::Tls => SmtpSecurity::Tls,
                MailTls::None => SmtpSecurity::None,
            },
            credentials: given(&mail.username).map(|user| SmtpCredentials { user, password: mail.password.clone() }),
            from: mail.from.clone(),
            timeout: mail.timeout,
            connections_max: MAIL_CONNECTIONS_MAX,
        })
    }

    /// What actors decide by, when clients see the server at `public_url`.
    pub fn settings(&self, public_url: String) -> Settings {
        let accounts = &self.accounts;
        Settings {
            public_url,
            registration: accounts.registration,
            sign_in_lasts: accounts.session_lifetime,
            invite_lasts: accounts.invite_lifetime,
            password_cost: PasswordCost {
                memory_kib: accounts.argon2_memory_kib,
                passes: accounts.argon2_passes,
                lanes: accounts.argon2_lanes,
            },
            vault_items_max: self.vault.max_items.into(),
        }
    }

    /// How requests are served, when clients see the server at `public_url`.
    pub fn http_options(&self, public_url: String) -> http::options::Options {
        let server = &self.server;
        http::options::Options {
            public_url,
            cors_origins: server.cors_origins.clone(),
            request_timeout: server.request_timeout,
            requests_per_minute: server.requests_per_minute,
            anonymous_requests_per_minute: server.anonymous_requests_per_minute,
            trusted_proxies: server.trusted_proxies.clone(),
            workers: server.workers,
            shutdown_grace: self.shutdown.grace,
        }
    }

    /// How the database is called in what people read.
    pub fn database_name(&self) -> &'static str {
        if self.database_url().starts_with("sqlite:") { "SQLite" } else { "PostgreSQL" }
    }

    /// The folder that must exist before anything is opened.
    pub fn data_folder(&self) -> &Path {
        &self.data.dir
    }
}

fn given(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}
