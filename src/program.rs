//! The whole server in one call: what is opened, in which order, and how it is closed again.

use std::{
    fmt::Display,
    fs, io,
    net::{SocketAddr, TcpListener},
    num::NonZeroUsize,
    path::Path,
    sync::Arc,
};

use actors::{
    Actors, Services,
    setup::{self, FirstOwner, FirstStart},
};
use domain::account::Email;
use gateways::{Dns, Hub, Mailer, Places, Post, Pusher, Texter, hub::OPERATION_TIMEOUT};
use http::{
    server::{Listeners, Server, serve},
    state::AppState,
};
use http_s3::Listener;
use kernel::KernelOptions;
use store::{Clock, SecretsError, Store};

pub use crate::post::Listeners as PostListeners;
use crate::{config::Config, metrics, post, s3, secret};

/// Why the server didn't start. Prints as a sentence for the operator.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The data folder, or the secret in it.
    #[error("The data folder {folder} can't be used: {source}")]
    DataFolder {
        /// The folder.
        folder: String,
        /// Why not.
        source: std::io::Error,
    },
    /// The keys of secrets.
    #[error("Secrets can't be read: {0}.")]
    Secrets(SecretsError),
    /// The database.
    #[error("The database can't be used: {0}. `troupe doctor` looks closer.")]
    Database(#[from] store::StoreError),
    /// Migrations are outstanding and the configuration says not to run them.
    #[error("The database's schema is behind ({0}). Run `troupe migrate`, or set `database.migrate_at_start`.")]
    Behind(String),
    /// A setting that only its own layer can judge.
    #[error("A setting can't be used: {0}")]
    Setting(String),
    /// No threads.
    #[error("The operating system gives no threads: {0}")]
    Threads(std::io::Error),
    /// An address that can't be listened on.
    #[error("The server can't listen: {0}")]
    Listen(std::io::Error),
    /// Signals can't be waited for.
    #[error("The server can't wait for signals: {0}")]
    Signals(std::io::Error),
    /// The first start's set-up failed.
    #[error("The first start's set-up failed: {0}")]
    Setup(domain::Error),
}

/// A server at work.
pub struct Running {
    /// Where clients connect.
    pub address: SocketAddr,
    /// Where operators connect, if anywhere.
    pub operators: Option<SocketAddr>,
    /// Where clients of S3's protocol connect, if anywhere.
    pub s3: Option<Listener>,
    /// Where mail is brought.
    pub post: PostListeners,
    /// What the first start made; `None` at every later one.
    pub first_start: Option<FirstStart>,
    config: Config,
    server: Server,
    parts: Parts,
}

/// What works below HTTP; `troupe admin` uses it without a server.
pub struct Parts {
    /// What Troupe remembers.
    pub store: Store,
    /// The owners of what is written.
    pub actors: Actors,
    /// What actors work with.
    pub services: Services,
}

/// Makes the data folder, where it is missing, so that only the server's own user reads what is in it.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    let mut making = fs::DirBuilder::new();
    making.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut making, 0o700);
    making.create(folder)
}

/// Opens the database of `config`, its schema brought up to date when the configuration says so.
pub async fn open_store(config: &Config, clock: Clock) -> Result<Store, StartError> {
    let folder = config.data_folder();
    let unusable = |source| StartError::DataFolder { folder: folder.display().to_string(), source };
    make_folder(folder).map_err(unusable)?;
    let secrets = secret::read_or_make(config).map_err(unusable)?;
    let store = Store::connect(&config.store_options(secrets), clock).await?;
    if config.database.migrate_at_start {
        store.migrate().await?;
    } else {
        let pending = store.pending_migrations().await?;
        if !pending.is_empty() {
            return Err(StartError::Behind(pending.join(", ")));
        }
    }
    store.secrets_prepare().await.map_err(|error| match error {
        SecretsError::Store(error) => StartError::Database(error),
        missing @ SecretsError::MissingKey(_) => StartError::Secrets(missing),
    })?;
    Ok(store)
}

impl Parts {
    /// Opens everything below HTTP, for a server that clients see at `public_url`; `start` says what the actors take on.
    pub async fn open(
        config: &Config,
        clock: Clock,
        public_url: String,
        start: fn(&Services, KernelOptions) -> io::Result<Actors>,
    ) -> Result<Self, StartError> {
        // Only an earlier call in this process makes this fail, and then it is the same provider.
        drop(rustls::crypto::ring::default_provider().install_default());
        let store = open_store(config, clock).await?;
        let hub = Hub::new(&config.hub_options()).map_err(setting)?;
        let mailer = Mailer::new(&config.mail_options()).map_err(setting)?;
        let settings = Arc::new(config.settings(public_url));
        let texter = Texter::new(&config.texter_options()).map_err(setting)?;
        let pusher = Pusher::new(&config.push_options().map_err(setting)?).map_err(setting)?;
        let places = config.places_options().map_or_else(|| Ok(Places::none()), |options| Places::new(&options));
        let places = places.map_err(setting)?;
        let dns = Dns::new(&config.dns_options());
        let post = Post::new(config.post_options(&settings.mail_host).map_err(setting)?, dns.clone());
        let services = Services { store: store.clone(), hub, mailer, texter, pusher, places, dns, post, settings };
        let mut options = KernelOptions::new(node_name());
        if let Some(threads) = NonZeroUsize::new(config.actors.threads) {
            options.arbiters = threads;
        }
        let actors = start(&services, options).map_err(StartError::Threads)?;
        Ok(Self { store, actors, services })
    }

    /// Finishes what is in hand and closes the database.
    pub async fn close(self, config: &Config) {
        self.actors.shutdown(config.shutdown.grace).await;
        self.store.close().await;
    }
}

/// Starts the server. Must be called on the tokio runtime that it shall live on.
pub async fn start(config: &Config, clock: Clock) -> Result<Running, StartError> {
    let clients = TcpListener::bind(config.server.listen).map_err(StartError::Listen)?;
    let operators = config.operators_listen().map(TcpListener::bind).transpose().map_err(StartError::Listen)?;
    let s3 = config.s3_listen().map(TcpListener::bind).transpose().map_err(StartError::Listen)?;
    let post = post::Sockets::bind(config).map_err(StartError::Listen)?;
    let address = clients.local_addr().map_err(StartError::Listen)?;
    let public_url = config.public_url(address);
    let parts = Parts::open(config, clock, public_url.clone(), Actors::start).await?;
    // Before anybody is told that it is up: the first who ask for a ticket shall get one.
    if !parts.services.hub.connected_within(OPERATION_TIMEOUT).await {
        tracing::warn!("redis can't be reached yet; sockets can't be opened until it is");
    }
    let first_start = setup::first_start(&parts.services, &parts.actors.kernel, &first_owner(config)?).await;
    let first_start = first_start.map_err(StartError::Setup)?;
    let options = config.http_options(public_url);
    let router = http::router().map_err(|error| StartError::Setting(error.to_string()))?;
    let state = AppState::new(router, options, parts.services.clone(), parts.actors.clone(), metrics::recorder());
    let server = serve(&state, Listeners { clients, operators }).map_err(StartError::Listen)?;
    let s3 = s3.map(|socket| s3::serve(config, socket, &state)).transpose().map_err(StartError::Listen)?;
    let certificate = post::certificate(config).map_err(setting)?;
    let post = post.serve(config, &parts, certificate).map_err(StartError::Listen)?;
    let operators = server.operators_address();
    Ok(Running { address, operators, s3, post, first_start, config: config.clone(), server, parts })
}

fn setting(error: impl Display) -> StartError {
    StartError::Setting(error.to_string())
}

fn first_owner(config: &Config) -> Result<FirstOwner, StartError> {
    let email = Email::parse("setup.owner_email", &config.setup.owner_email)
        .map_err(|_| StartError::Setting("`setup.owner_email` is no e-mail address".into()))?;
    let (name, organization_name) = (config.setup.owner_name.clone(), config.setup.organization_name.clone());
    Ok(FirstOwner { email, name, organization_name })
}

/// What this process is called among the nodes.
pub(crate) fn node_name() -> String {
    let host = fs::read_to_string("/etc/hostname").unwrap_or_default();
    format!("{}-{}", host.trim(), std::process::id())
}

impl Running {
    /// The clock, the database and the actors, for tests and for whoever embeds the server.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Stops accepting, finishes what is in hand, tells sockets, and closes, within `shutdown.grace`.
    pub async fn stop(self) {
        // All at once: each has the whole grace.
        let s3 = async {
            if let Some(s3) = self.s3 {
                s3.stop().await;
            }
        };
        tokio::join!(self.server.stop(), s3, self.post.stop());
        self.parts.close(&self.config).await;
    }
}
