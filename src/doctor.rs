//! `troupe doctor`: looks at everything that the server needs, and says what is wrong and how to mend it.

mod ways_out;

use std::{fmt, fs, net::IpAddr, time::Duration};

use gateways::{Git, Hub, git::VERSION_MIN};
use store::{Clock, Store};

use crate::{
    config::{BlobKind, Config},
    program, secret,
    traces::Collector,
};

/// How long Redis may take to answer.
const REDIS_PATIENCE: Duration = Duration::from_secs(3);
/// How often it is looked whether Redis has answered.
const REDIS_LOOK_EVERY: Duration = Duration::from_millis(50);

/// How one thing is.
#[derive(Debug)]
pub enum Verdict {
    /// As it should be; with what was found.
    Good(String),
    /// It works, and deserves a thought.
    Doubtful(String),
    /// It doesn't work.
    Bad {
        /// What is wrong.
        problem: String,
        /// How to mend it.
        mend: String,
    },
}

/// What was found, part by part.
#[derive(Debug, Default)]
pub struct Findings(Vec<(&'static str, Verdict)>);

impl Findings {
    /// Whether the server would work.
    pub fn is_healthy(&self) -> bool {
        !self.0.iter().any(|(_, verdict)| matches!(verdict, Verdict::Bad { .. }))
    }

    fn note(&mut self, part: &'static str, verdict: Verdict) {
        self.0.push((part, verdict));
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (part, verdict) in &self.0 {
            match verdict {
                Verdict::Good(found) => writeln!(f, "  ok       {part}: {found}")?,
                Verdict::Doubtful(thought) => writeln!(f, "  warning  {part}: {thought}")?,
                Verdict::Bad { problem, mend } => writeln!(f, "  WRONG    {part}: {problem}\n           {mend}")?,
            }
        }
        Ok(())
    }
}

fn good(found: impl Into<String>) -> Verdict {
    Verdict::Good(found.into())
}

fn bad(problem: impl fmt::Display, mend: impl Into<String>) -> Verdict {
    Verdict::Bad { problem: problem.to_string(), mend: mend.into() }
}

/// Looks at everything.
pub async fn examine(config: &Config) -> Findings {
    let mut findings = Findings::default();
    findings.note("configuration", good("read, and without contradictions"));
    findings.note("addresses", addresses(config));
    let folder = data_folder(config);
    let usable = matches!(folder, Verdict::Good(_));
    findings.note("data folder", folder);
    if usable {
        storage(config, &mut findings).await;
    }
    findings.note("git", git().await);
    findings.note("redis", redis(config).await);
    ways_out::examine(config, &mut findings).await;
    findings.note("traces", traces(config).await);
    findings
}

fn addresses(config: &Config) -> Verdict {
    let is_private = |ip: IpAddr| match ip {
        IpAddr::V4(ip) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
    };
    match config.operators_listen() {
        Some(address) if !is_private(address.ip()) => Verdict::Doubtful(format!(
            "operators' pages have no sign-in and listen on {address}; set `operators.listen` to a private address"
        )),
        _ if !config.server.listen.ip().is_loopback() && !config.server.public_url.starts_with("https://") => {
            Verdict::Doubtful(
                "clients can come from other machines, and `server.public_url` is no https address: put a proxy that \
                 ends TLS before the server, and name its address there"
                    .into(),
            )
        }
        _ => good(format!("clients at {}", config.public_url(config.server.listen))),
    }
}

fn data_folder(config: &Config) -> Verdict {
    let folder = config.data_folder();
    let probe = folder.join(".doctor");
    let tried = program::make_folder(folder)
        .and_then(|()| fs::write(&probe, b"can be written"))
        .and_then(|()| fs::remove_file(&probe));
    match tried {
        Ok(()) => good(format!("{} can be written", folder.display())),
        Err(error) => bad(
            format!("{} can't be written: {error}", folder.display()),
            "Name a folder of the server's own user in `data.dir`, or give it the rights.",
        ),
    }
}

async fn storage(config: &Config, findings: &mut Findings) {
    let secrets = match secret::read_or_make(config) {
        Ok(secrets) => secrets,
        Err(error) => {
            let mend = "Put the file back from a back-up, or set `server.secret` and `secrets.keys`.";
            findings.note("secrets", bad(error, mend));
            return;
        }
    };
    if let Err(error) = blob_folder_ready(config) {
        let problem = format!("{} can't be a folder of blobs: {error}", config.blob_folder().display());
        findings.note(
            "blobs",
            bad(problem, "Name a folder of the server's own user in `blobs.path`, or give it the rights."),
        );
        return;
    }
    match Store::connect(&config.store_options(secrets), Clock::system()).await {
        Err(error) => findings.note(
            "database",
            bad(
                format!("{} does not answer: {error}", config.database_name()),
                "Check that it runs, and `database.url`: host, port, user, password, name.",
            ),
        ),
        Ok(store) => {
            findings.note("database", database(config, &store).await);
            if store.pending_migrations().await.is_ok_and(|pending| pending.is_empty()) {
                findings.note("secrets", secrets_readable(&store).await);
                findings.note("access keys", access_keys(&store).await);
            }
            findings.note("blobs", blobs(&store).await);
            store.close().await;
        }
    }
}

/// Whether local blobs have their folder; the store doesn't open without.
fn blob_folder_ready(config: &Config) -> std::io::Result<()> {
    if config.blobs.kind == BlobKind::Local { fs::create_dir_all(config.blob_folder()) } else { Ok(()) }
}

async fn database(config: &Config, store: &Store) -> Verdict {
    match store.pending_migrations().await {
        Ok(pending) if pending.is_empty() => {
            good(format!("{} answers, and its schema is current", config.database_name()))
        }
        Ok(pending) if config.database.migrate_at_start => {
            good(format!("{} answers; {} migrations will run at the next start", config.database_name(), pending.len()))
        }
        Ok(pending) => bad(format!("migrations are outstanding: {}", pending.join(", ")), "Run `troupe migrate`."),
        Err(error) => bad(error, "Check the rights of the database's user: it must be able to read the schema."),
    }
}

async fn secrets_readable(store: &Store) -> Verdict {
    match store.secrets_check().await {
        Ok(()) => good("every key is there that secrets of the database are sealed under"),
        Err(error) => {
            bad(error, "Keys are found in the data folder's secrets.keys, or in `secrets.keys`, of other nodes.")
        }
    }
}

async fn access_keys(store: &Store) -> Verdict {
    match store.access_keys_lost().await {
        Ok(0) => good("all were made under this server's secret"),
        Ok(lost) => bad(
            format!("{lost} were made under another secret of the server, and nobody can sign with them any more"),
            "Set `server.secret`, or the data folder's `secret`, to what it was; or delete these keys and make others.",
        ),
        Err(error) => bad(error, "Check the rights of the database's user: it must be able to read the schema."),
    }
}

async fn blobs(store: &Store) -> Verdict {
    match store.blobs().check().await {
        Ok(()) => good("can be written, read and deleted"),
        Err(error) => bad(error, "Check `blobs.*`: the folder's rights, or the bucket, region, endpoint and keys."),
    }
}

async fn traces(config: &Config) -> Verdict {
    let collector = match Collector::new(&config.tracing, &tokio::runtime::Handle::current()) {
        Ok(None) => return good("no collector is set; requests are not traced"),
        Ok(Some(collector)) => collector,
        Err(error) => return bad(error, "Correct `tracing.*`."),
    };
    match collector.check().await {
        Ok(()) => good(format!("the collector takes them at {}", collector.url())),
        Err(error) => bad(
            format!("the collector does not take them at {}: {error}", collector.url()),
            "Check that it runs and takes OTLP over HTTP, and `tracing.otlp` and `tracing.headers`. Without it the server \
             runs, and its traces are lost.",
        ),
    }
}

/// Git, which repositories need; all else works without it.
async fn git() -> Verdict {
    let (major, minor) = VERSION_MIN;
    match Git::default().version().await {
        Ok(version) if is_at_least(&version, VERSION_MIN) => good(format!("git {version}")),
        Ok(version) => {
            Verdict::Doubtful(format!("git {version} is older than {major}.{minor}, with which repositories work"))
        }
        Err(error) => Verdict::Doubtful(format!("{error}; repositories need git {major}.{minor} or later in the path")),
    }
}

/// Whether a version, as git says it, is this one or a later one.
fn is_at_least(version: &str, wanted: (u32, u32)) -> bool {
    let mut numbers = version.split(|it: char| !it.is_ascii_digit()).map_while(|number| number.parse().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= wanted
}

async fn redis(config: &Config) -> Verdict {
    if config.redis.url.is_empty() {
        return good("none; the hub is in process, for one node");
    }
    let hub = match Hub::new(&config.hub_options()) {
        Ok(hub) => hub,
        Err(error) => return bad(error, "Write `redis.url` as redis://HOST:PORT."),
    };
    let connected = async {
        while !hub.health().connected {
            tokio::time::sleep(REDIS_LOOK_EVERY).await;
        }
    };
    match tokio::time::timeout(REDIS_PATIENCE, connected).await {
        Ok(()) => good("answers"),
        Err(_) => bad(
            "Redis does not answer",
            "Check that it runs, and `redis.url`. Without it the server runs, but sockets can't be opened and other \
             nodes' live messages come late.",
        ),
    }
}
