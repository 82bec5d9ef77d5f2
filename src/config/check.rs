//! Settings that are each fine and together make no sense.

use std::net::SocketAddr;

use domain::{mail::DomainName, storage::url_host};

use super::{BlobKind, Config, ConfigError};
use crate::{secret, wiring::host_and_port};

/// Characters of a configured secret, at least.
const SECRET_LEN_MIN: usize = 32;

impl Config {
    /// Reports every contradiction at once.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let found: Vec<String> = self
            .contradictions()
            .chain(self.contradictions_of_secrets())
            .chain(self.contradictions_of_s3())
            .chain(self.contradictions_of_mail())
            .chain(self.contradictions_of_mail_listeners())
            .chain(self.contradictions_of_ways_out())
            .chain(self.contradictions_of_pipelines())
            .chain(self.contradictions_of_traces())
            .map(str::to_owned)
            .collect();
        if found.is_empty() { Ok(()) } else { Err(ConfigError::Contradictions(found)) }
    }

    fn contradictions(&self) -> impl Iterator<Item = &'static str> {
        let operators = &self.operators.listen;
        let s3 = self.blobs.kind == BlobKind::S3;
        let sqlite = self.database.url.is_empty() || self.database.url.starts_with("sqlite:");
        let postgres = self.database.url.starts_with("postgres://") || self.database.url.starts_with("postgresql://");
        let origin_is_bare = |origin: &String| {
            origin.split_once("://").is_some_and(|(scheme, host)| {
                matches!(scheme, "http" | "https") && !host.is_empty() && !host.contains('/')
            })
        };
        [
            (
                !operators.is_empty() && self.operators_listen().is_none(),
                "`operators.listen` is neither empty nor an address such as 127.0.0.1:9464.",
            ),
            (
                self.server.listen.port() != 0 && self.operators_listen() == Some(self.server.listen),
                "`server.listen` and `operators.listen` are the same address.",
            ),
            (!sqlite && !postgres, "`database.url` starts with neither sqlite://, postgres:// nor postgresql://."),
            (s3 && self.blobs.bucket.is_empty(), "`blobs.kind` is \"s3\" but `blobs.bucket` is empty."),
            (!s3 && !self.blobs.bucket.is_empty(), "`blobs.bucket` is set but `blobs.kind` is \"local\"."),
            (
                self.mail.host.is_empty() && !self.mail.username.is_empty(),
                "`mail.username` is set but `mail.host` is empty.",
            ),
            (
                !self.mail.username.is_empty() && self.mail.tls == super::MailTls::None,
                "`mail.username` is set but `mail.tls` is \"none\": the password would travel in the clear.",
            ),
            (
                !self.redis.url.is_empty()
                    && !self.redis.url.starts_with("redis://")
                    && !self.redis.url.starts_with("rediss://"),
                "`redis.url` starts with neither redis:// nor rediss://.",
            ),
            (
                !self.server.cors_origins.iter().all(origin_is_bare),
                "`server.cors_origins` has an entry that is no origin (http(s)://host, with no path).",
            ),
            (
                !self.server.public_url.is_empty() && !self.server.public_url.starts_with("http"),
                "`server.public_url` is no http(s) address.",
            ),
            (self.database.read_connections == 0, "`database.read_connections` is 0; nothing could be read."),
            (self.database.write_lanes == 0, "`database.write_lanes` is 0; nothing could be written."),
            (
                self.server.requests_per_minute == 0,
                "`server.requests_per_minute` is 0; every request would be refused.",
            ),
            (
                self.server.anonymous_requests_per_minute == 0,
                "`server.anonymous_requests_per_minute` is 0; nobody could sign in.",
            ),
            (self.server.request_timeout.is_zero(), "`server.request_timeout` is zero; every request would be late."),
            (!self.setup.owner_email.contains('@'), "`setup.owner_email` is no e-mail address."),
            (
                self.accounts.argon2_memory_kib < 8 * self.accounts.argon2_lanes.max(1)
                    || self.accounts.argon2_passes == 0
                    || self.accounts.argon2_lanes == 0,
                "argon2 needs at least one pass, one lane, and 8 KiB of memory a lane.",
            ),
        ]
        .into_iter()
        .filter_map(|(contradicts, sentence)| contradicts.then_some(sentence))
    }

    /// Those about what the server keeps secret.
    fn contradictions_of_secrets(&self) -> impl Iterator<Item = &'static str> {
        [
            (
                !self.server.secret.is_empty() && self.server.secret.chars().count() < SECRET_LEN_MIN,
                "`server.secret` has fewer than 32 characters.",
            ),
            (
                !self.secrets.keys.is_empty()
                    && secret::parse_keys(self.secrets.keys.iter().map(String::as_str)).is_none(),
                "`secrets.keys` has an entry that is not 32 bytes in base64 (`openssl rand -base64 32`).",
            ),
        ]
        .into_iter()
        .filter_map(|(contradicts, sentence)| contradicts.then_some(sentence))
    }

    /// Those about the listener of S3's protocol.
    fn contradictions_of_s3(&self) -> impl Iterator<Item = &'static str> {
        let (s3, listen) = (&self.s3, self.s3_listen());
        let others = [Some(self.server.listen), self.operators_listen()];
        [
            (
                !s3.listen.is_empty() && listen.is_none(),
                "`s3.listen` is neither empty nor an address such as 127.0.0.1:9465.",
            ),
            (
                listen.is_some_and(|address| address.port() != 0) && others.contains(&listen),
                "`s3.listen` is the same address as `server.listen` or `operators.listen`.",
            ),
            (
                !s3.domain.bytes().all(stands_in_host) || s3.domain.starts_with('.') || s3.domain.ends_with('.'),
                "`s3.domain` is no host name in small letters, without a port.",
            ),
            (!s3.public_url.is_empty() && url_host(&s3.public_url).is_none(), "`s3.public_url` is no http(s) address."),
        ]
        .into_iter()
        .filter_map(|(contradicts, sentence)| contradicts.then_some(sentence))
    }

    /// Those about mail that comes in, and the domains of mailboxes.
    fn contradictions_of_mail(&self) -> impl Iterator<Item = &'static str> {
        let mail = &self.mail_server;
        let (hostname, resolver, platform) = (&mail.hostname, &mail.resolver, &mail.platform_domain);
        let is_network = |text: &String| text.parse::<http_post::Network>().is_ok();
        [
            (
                !platform.bytes().all(stands_in_host) || platform.starts_with('.') || platform.ends_with('.'),
                "`mail_server.platform_domain` is no host name in small letters.",
            ),
            (
                !hostname.is_empty() && DomainName::parse("hostname", hostname).is_err(),
                "`mail_server.hostname` is no whole host name in small letters.",
            ),
            (
                !resolver.is_empty() && self.resolver().is_none(),
                "`mail_server.resolver` is neither empty nor an address such as 192.0.2.53:53.",
            ),
            (
                mail.tls_cert.is_empty() != mail.tls_key.is_empty(),
                "`mail_server.tls_cert` and `mail_server.tls_key` belong together: one of them is empty.",
            ),
            (
                !mail.trusted_networks.iter().all(is_network),
                "`mail_server.trusted_networks` has an entry that is no network such as 192.0.2.0/24.",
            ),
            (
                !mail.smarthost.is_empty() && host_and_port(&mail.smarthost).is_none(),
                "`mail_server.smarthost` is neither empty nor a host and a port such as relay.example.org:25.",
            ),
            (mail.outbound_port == 0, "`mail_server.outbound_port` is 0: no server takes mail there."),
            (mail.outbound_timeout.is_zero(), "`mail_server.outbound_timeout` is 0s: no server answers so soon."),
        ]
        .into_iter()
        .filter_map(|(contradicts, sentence)| contradicts.then_some(sentence))
    }

    /// Those about the listeners for mail.
    fn contradictions_of_mail_listeners(&self) -> impl Iterator<Item = &'static str> {
        let mail = &self.mail_server;
        let (submissions, submission) = (self.submissions_listen(), self.submission_listen());
        let listening = [
            Some(self.server.listen),
            self.operators_listen(),
            self.s3_listen(),
            self.smtp_listen(),
            submissions,
            submission,
        ];
        let is_anothers = |address: Option<SocketAddr>| {
            let named = address.filter(|address| address.port() != 0);
            named.is_some() && listening.iter().filter(|it| **it == named).count() > 1
        };
        [
            (
                !mail.smtp_listen.is_empty() && self.smtp_listen().is_none(),
                "`mail_server.smtp_listen` is neither empty nor an address such as 0.0.0.0:25.",
            ),
            (
                is_anothers(self.smtp_listen()),
                "`mail_server.smtp_listen` is the address of another listener.",
            ),
            (
                (!mail.submissions_listen.is_empty() && submissions.is_none())
                    || (!mail.submission_listen.is_empty() && submission.is_none()),
                "`mail_server.submissions_listen` or `mail_server.submission_listen` is neither empty nor an address such as \
                 0.0.0.0:465.",
            ),
            (
                is_anothers(submissions) || is_anothers(submission),
                "`mail_server.submissions_listen` or `mail_server.submission_listen` is the address of another listener.",
            ),
            (
                submissions.is_some() && mail.tls_cert.is_empty(),
                "`mail_server.submissions_listen` is set but `mail_server.tls_cert` is empty: clients speak TLS there.",
            ),
        ]
        .into_iter()
        .filter_map(|(contradicts, sentence)| contradicts.then_some(sentence))
    }

    /// Those about texts, calls and push messages.
    fn contradictions_of_ways_out(&self) -> impl Iterator<Item = &'static str> {
        let (texts, apns, web) = (&self.texts, &self.apns, &self.web_push);
        let sends_texts = !texts.account_sid.is_empty();
        [
            (
                sends_texts && (texts.auth_token.is_empty() || texts.from.is_empty()),
                "`texts.account_sid` is set but `texts.auth_token` or `texts.from` is empty.",
            ),
            (
                !sends_texts && !texts.auth_token.is_empty(),
                "`texts.auth_token` is set but `texts.account_sid` is empty.",
            ),
            (
                !apns.key_file.is_empty() && [&apns.key_id, &apns.team_id, &apns.topic].iter().any(|it| it.is_empty()),
                "`apns.key_file` is set but `apns.key_id`, `apns.team_id` or `apns.topic` is empty.",
            ),
            (
                !web.key_file.is_empty() && web.contact.is_empty(),
                "`web_push.key_file` is set but `web_push.contact` is empty.",
            ),
        ]
        .into_iter()
        .filter_map(|(contradicts, sentence)| contradicts.then_some(sentence))
    }

    /// Those about what jobs make.
    fn contradictions_of_pipelines(&self) -> impl Iterator<Item = &'static str> {
        let never_fits = self.pipelines.cache_max > self.pipelines.cache_quota;
        never_fits
            .then_some("`pipelines.cache_max` is more than `pipelines.cache_quota`: there is no room for such a cache.")
            .into_iter()
    }

    /// Those about traces.
    fn contradictions_of_traces(&self) -> impl Iterator<Item = &'static str> {
        let tracing = &self.tracing;
        let has_headers = !tracing.headers.is_empty() || !tracing.headers_file.is_empty();
        [
            (
                !tracing.otlp.is_empty()
                    && !["http://", "https://"].iter().any(|start| tracing.otlp.starts_with(start)),
                "`tracing.otlp` starts with neither http:// nor https://.",
            ),
            (
                tracing.otlp.contains(['@', '?', '#']),
                "`tracing.otlp` is more than an address; what opens the collector belongs into `tracing.headers`.",
            ),
            (
                tracing.otlp.is_empty() && has_headers,
                "`tracing.headers` or `tracing.headers_file` is set but `tracing.otlp` is empty.",
            ),
            (!(0.0..=1.0).contains(&tracing.sample_ratio), "`tracing.sample_ratio` is not between 0 and 1."),
            (tracing.service_name.is_empty(), "`tracing.service_name` is empty."),
            (tracing.timeout.is_zero(), "`tracing.timeout` is zero; every export would be late."),
        ]
        .into_iter()
        .filter_map(|(contradicts, sentence)| contradicts.then_some(sentence))
    }
}

/// Whether a byte stands in the name of a host, as settings write it.
const fn stands_in_host(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.')
}
