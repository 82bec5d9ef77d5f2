//! From settings to the options of each layer.

use std::{fs, io, net::IpAddr, path::Path};

use actors::{PasswordCost, Settings};
use domain::{
    mail::MailHost,
    pipelines::{caches::CacheQuota, job::JobLimits},
    storage::{PublicHost, url_host},
};
use gateways::{
    DnsOptions, HubOptions, MailOptions, PlacesOptions, PostOptions, PushOptions, TexterOptions,
    mail::{SmtpCredentials, SmtpOptions, SmtpSecurity},
    places::Geocoder,
    push::{ApnsOptions, FcmOptions, Reachable, WebPushOptions},
    texts::TwilioOptions,
};
use store::{
    StoreOptions,
    blobs::{BlobOptions, BlobPlace, S3Credentials, S3Options},
};

use crate::{
    config::{BlobKind, Config, MailTls, PlacesKind},
    secret::Secrets,
    traces,
};

/// E-mails handed to the SMTP server at once.
const MAIL_CONNECTIONS_MAX: u32 = 4;

/// A file that a setting names can't be read.
#[derive(Debug, thiserror::Error)]
#[error("the file {path} of `{setting}` can't be read: {source}")]
pub struct UnreadableFile {
    setting: &'static str,
    path: String,
    source: io::Error,
}

impl Config {
    /// What the store is opened with.
    pub fn store_options(&self, secrets: Secrets) -> StoreOptions {
        let blobs = BlobOptions { place: self.blob_place(), signing_secret: secrets.signing };
        let usual = StoreOptions::new(self.database_url(), blobs, secrets.keys);
        StoreOptions {
            read_timeout: usual.read_timeout.max(self.server.request_timeout),
            read_connections: self.database.read_connections,
            write_lanes: self.database.write_lanes,
            faults: self.faults.clone(),
            ..usual
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

    /// Who is asked for names.
    pub fn dns_options(&self) -> DnsOptions {
        DnsOptions { server: self.resolver() }
    }

    /// How mail leaves from mailboxes of a server that is called so.
    pub fn post_options(&self, host: &MailHost) -> Result<PostOptions, UnreadableFile> {
        let settings = &self.mail_server;
        let setting = "mail_server.outbound_roots";
        let pem = file(setting, &settings.outbound_roots)?.unwrap_or_default();
        let roots = gateways::post::roots(&pem).map_err(|error| UnreadableFile {
            setting,
            path: settings.outbound_roots.clone(),
            source: io::Error::other(error),
        })?;
        Ok(PostOptions {
            name: host.name.clone(),
            smarthost: host_and_port(&settings.smarthost),
            port: settings.outbound_port,
            timeout: settings.outbound_timeout,
            roots,
        })
    }

    /// How the server is called where mail is concerned, when clients see it at `public_url`.
    fn mail_host(&self, public_url: &str) -> MailHost {
        let is_name = |host: &&str| host.parse::<IpAddr>().is_err();
        let public = || url_host(public_url).filter(is_name).unwrap_or("localhost").to_owned();
        MailHost {
            name: given(&self.mail_server.hostname).unwrap_or_else(public),
            addresses: self.mail_server.outbound_addresses.clone(),
        }
    }

    /// How texts and calls leave.
    pub fn texter_options(&self) -> TexterOptions {
        let texts = &self.texts;
        let Some(account_sid) = given(&texts.account_sid) else { return TexterOptions::Console };
        TexterOptions::Twilio(TwilioOptions {
            base_url: texts.base_url.clone(),
            account_sid,
            auth_token: texts.auth_token.clone(),
            from: texts.from.clone(),
            call_from: given(&texts.call_from),
            timeout: texts.timeout,
        })
    }

    /// Where places are looked up, if anywhere.
    pub fn places_options(&self) -> Option<PlacesOptions> {
        let places = &self.places;
        Some(PlacesOptions {
            kind: match places.kind {
                PlacesKind::Photon => Geocoder::Photon,
                PlacesKind::Nominatim => Geocoder::Nominatim,
            },
            base_url: given(&places.base_url)?,
            timeout: places.timeout,
        })
    }

    /// How push messages leave.
    ///
    /// # Errors
    /// A key's file can't be read.
    pub fn push_options(&self) -> Result<PushOptions, UnreadableFile> {
        let (apns, fcm, web) = (&self.apns, &self.fcm, &self.web_push);
        let reachable = if web.allow_private_addresses { Reachable::Anything } else { Reachable::Public };
        Ok(PushOptions {
            apns: file("apns.key_file", &apns.key_file)?.map(|key| ApnsOptions {
                base_url: apns.base_url.clone(),
                team_id: apns.team_id.clone(),
                key_id: apns.key_id.clone(),
                key,
                topic: apns.topic.clone(),
                timeout: apns.timeout,
            }),
            fcm: file("fcm.service_account_file", &fcm.service_account_file)?.map(|service_account| FcmOptions {
                base_url: fcm.base_url.clone(),
                service_account,
                timeout: fcm.timeout,
            }),
            web: file("web_push.key_file", &web.key_file)?.map(|key| WebPushOptions {
                key,
                contact: web.contact.clone(),
                reachable,
                timeout: web.timeout,
            }),
        })
    }

    /// What actors decide by, when clients see the server at `public_url`.
    pub fn settings(&self, public_url: String) -> Settings {
        let accounts = &self.accounts;
        Settings {
            public_files: PublicHost::of(&public_url, &self.s3.domain, &self.s3.public_url),
            mail_host: self.mail_host(&public_url),
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
            calls_available: self.notify.calls,
            audit_kept: Some(self.audit.retention).filter(|kept| !kept.is_zero()),
            runs_kept: Some(self.pipelines.keep).filter(|kept| !kept.is_zero()),
            job_limits: self.job_limits(),
            cache_quota: CacheQuota(self.pipelines.cache_quota),
            texts_per_day: self.notify.texts_per_day.into(),
            calls_per_day: self.notify.calls_per_day.into(),
            location: self.server.location.clone(),
            region: self.aws.region.clone(),
            buckets_max: self.storage.max_buckets.into(),
            tables_max: self.databases.max_tables.into(),
            platform_domain: self.mail_server.platform_domain.clone(),
            spool: self.data.dir.join("spool"),
            git_folder: self.data.dir.join("git"),
            git_pack_cache_max: self.git.pack_cache_max,
            git_view_max: self.git.view_max,
            git_memory_max: Some(self.git.memory_max).filter(|bytes| *bytes > 0),
            git_blob_max: Some(self.git.blob_max).filter(|bytes| *bytes > 0),
        }
    }

    /// How much a job may make. A summary's bytes are the contract's.
    fn job_limits(&self) -> JobLimits {
        let limits = &self.pipelines;
        JobLimits {
            log_bytes: limits.log_max,
            artifact_bytes: limits.artifact_max,
            cache_bytes: limits.cache_max,
            ..JobLimits::default()
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
            spool: self.data.dir.join("spool"),
            workers: server.workers,
            shutdown_grace: self.shutdown.grace,
            tracing: given(&self.tracing.otlp)
                .map(|_| http::options::Tracing { sample_ratio: self.tracing.sample_ratio, join: traces::join }),
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

/// The host and the port of `relay.example.org:25`.
pub(crate) fn host_and_port(text: &str) -> Option<(String, u16)> {
    let (host, port) = text.rsplit_once(':')?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let port = port.parse().ok().filter(|port| *port != 0)?;
    (!host.is_empty()).then(|| (host.to_owned(), port))
}

fn given(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// What stands in the file that a setting names, if it names one.
fn file(setting: &'static str, path: &str) -> Result<Option<String>, UnreadableFile> {
    let unreadable = |source| UnreadableFile { setting, path: path.to_owned(), source };
    given(path).map(fs::read_to_string).transpose().map_err(unreadable)
}
