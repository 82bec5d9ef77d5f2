//! A server in this process, with a store of its own and a clock that the test moves.

use std::{
    net::SocketAddr,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use domain::Timestamp;
use serde_json::json;
use store::{
    Clock, Faults, Signals, Store,
    testing::{SECRET_KEY_TEXT, SIGNING_SECRET, Scratch},
};
use tokio::sync::oneshot;
use troupe::{
    config::{Config, Sources},
    program,
};

use super::{Client, wait_until_ready};

/// When the clock of a test's server starts: a Wednesday noon.
pub const START: Timestamp = Timestamp(1_800_014_400_000);
/// Names the Redis that tests share; without it the hub is in process.
const REDIS_URL_VARIABLE: &str = "TROUPE_TEST_REDIS_URL";

/// A running server; it stops when this is dropped.
#[derive(Debug)]
pub struct Server {
    pub url: String,
    pub operators_url: String,
    /// Where clients of S3's protocol connect.
    pub s3_url: String,
    /// Where other servers bring mail, where a test has it so (`mail_server.smtp_listen`).
    pub smtp: Option<SocketAddr>,
    /// Where mail clients send over TLS, and where they turn to it, where a test has it so.
    pub submissions: Option<SocketAddr>,
    pub submission: Option<SocketAddr>,
    pub clock: Clock,
    /// What goes wrong in it.
    pub faults: Faults,
    /// What the first start made.
    pub owner_email: String,
    pub owner_password: String,
    pub owner_token: String,
    scratch: Option<Scratch>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
    signals: Arc<Signals>,
}

/// Somebody with an account.
#[derive(Clone, Debug)]
pub struct Person {
    pub email: String,
    pub password: String,
    pub user_id: String,
    /// Signed in with the app `account` on the web.
    pub client: Client,
}

impl Server {
    /// With the usual settings.
    pub async fn start() -> Self {
        Self::with(&[]).await
    }

    /// With these settings beside the usual ones, as `section.key=value`.
    pub async fn with(settings: &[&str]) -> Self {
        let scratch = Scratch::new().await.expect("an empty database");
        Self::on(scratch, settings).await
    }

    /// On this database, with these settings beside the usual ones.
    pub async fn on(scratch: Scratch, settings: &[&str]) -> Self {
        let config = configuration(&scratch, settings);
        let (clock, faults) = (Clock::manual(START), config.faults.clone());
        let is_on_redis = !config.redis.url.is_empty();
        let (started, start) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let thread_clock = clock.clone();
        let thread = thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let mut running = program::start(&config, thread_clock).await.expect("the server starts");
                let s3 = running.s3.as_ref().expect("an address for S3").address();
                let operators = running.operators.expect("an operators' address");
                let post = &running.post;
                let post = [&post.smtp, &post.submissions, &post.submission]
                    .map(|listener| listener.as_ref().map(http_post::Listener::address));
                let signals = Arc::clone(running.parts().store.signals());
                let addresses = (running.address, operators, s3, post, running.first_start.take(), signals);
                started.send(addresses).expect("a waiting test");
                // An error means that the test is over without having said so.
                drop(stopped.await);
                running.stop().await;
            });
        });
        let starting = tokio::task::spawn_blocking(move || {
            let started = start.recv().expect("the server starts");
            if is_on_redis {
                wait_until_ready(&format!("http://{}", started.1));
            }
            started
        });
        let (address, operators, s3, [smtp, submissions, submission], first_start, signals) =
            starting.await.expect("a started server");
        let first_start = first_start.expect("a first start");
        Self {
            url: format!("http://{address}"),
            operators_url: format!("http://{operators}"),
            s3_url: format!("http://{s3}"),
            smtp,
            submissions,
            submission,
            clock,
            faults,
            owner_email: first_start.email.as_str().to_owned(),
            owner_password: first_start.password.reveal().to_owned(),
            owner_token: first_start.token.reveal().to_owned(),
            scratch: Some(scratch),
            stop: Some(stop),
            thread: Some(thread),
            signals,
        }
    }

    /// Stops the server in order and waits until it has.
    pub async fn stop(mut self) {
        self.halt().await;
    }

    async fn halt(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            tokio::task::spawn_blocking(move || thread.join().expect("a server that stops in order"))
                .await
                .expect("a stopped server");
        }
    }

    /// Somebody who isn't signed in.
    pub fn client(&self) -> Client {
        Client::new(&self.url)
    }

    /// Somebody who asks the operators' listener.
    pub fn operator(&self) -> Client {
        Client::new(&self.operators_url)
    }

    /// The owner of the platform organization.
    pub fn owner(&self) -> Client {
        self.client().with_token(&self.owner_token)
    }

    /// The store once more; what is committed there wakes the server as its own commits do.
    pub async fn store(&self) -> Store {
        let scratch = self.scratch.as_ref().expect("a database");
        scratch.store_beside(&self.signals, self.clock.clone()).await.expect("a store")
    }

    /// Where the server keeps what isn't in its database.
    pub fn folder(&self) -> &std::path::Path {
        self.scratch.as_ref().expect("a database").folder()
    }

    /// Registers somebody and signs them in.
    pub async fn person(&self, name: &str) -> Person {
        let (email, password) = (format!("{name}@example.org"), format!("correct horse {name}"));
        let body = json!({ "email": email, "password": password, "name": name });
        let answer = self.client().post("/v1/auth/register").json(&body).send().await.expect(201);
        let user_id = answer.str("/user/userId").to_owned();
        let mut person = Person { email, password, user_id, client: self.client() };
        person.client = person.sign_in("account", "web").await;
        person
    }

    /// Waits until `found` answers something, for what follows a moment after an answer.
    pub async fn eventually<T>(&self, what: &str, mut found: impl AsyncFnMut() -> Option<T>) -> T {
        for _ in 0..6_000 {
            if let Some(it) = found().await {
                return it;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{what} did not happen within a minute")
    }

    /// The same while time passes, a second a look: what was at work as the clock leapt has lost its claim, and is tried again
    /// only later.
    pub async fn in_time<T>(&self, what: &str, mut found: impl AsyncFnMut() -> Option<T>) -> T {
        let passing = async || {
            let it = found().await;
            if it.is_none() {
                self.clock.advance(Duration::from_secs(1));
            }
            it
        };
        self.eventually(what, passing).await
    }
}

impl Person {
    /// Signs in with an app on a platform.
    pub async fn sign_in(&self, app: &str, platform: &str) -> Client {
        let body = json!({ "email": self.email, "password": self.password, "app": app, "platform": platform, "installId": format!("{app}-{platform}") });
        let answer = self.client.nobody().post("/v1/auth/sign-in").json(&body).send().await.expect(200);
        self.client.with_token(answer.str("/token"))
    }

    /// The authenticator app's own sign-in.
    pub async fn authenticator(&self) -> Client {
        self.sign_in("authenticator", "ios").await
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the server's thread is worth a word, and the test has its own verdict.
            if thread.join().is_err() {
                eprintln!("the server's thread panicked");
            }
        }
        // The database goes after the server that uses it.
        drop(self.scratch.take());
    }
}

fn configuration(scratch: &Scratch, settings: &[&str]) -> Config {
    let mut flags = vec![
        format!("data.dir={}", scratch.folder().display()),
        format!("database.url={}", scratch.url()),
        format!("secrets.keys={SECRET_KEY_TEXT}"),
        format!("server.secret={SIGNING_SECRET}"),
        format!("redis.prefix={}", scratch.folder().file_name().expect("a name").to_string_lossy()),
    ];
    if let Ok(redis) = std::env::var(REDIS_URL_VARIABLE) {
        flags.push(format!("redis.url={redis}"));
    }
    let usual = [
        "server.listen=127.0.0.1:0",
        "operators.listen=127.0.0.1:0",
        "s3.listen=127.0.0.1:0",
        "server.workers=1",
        "actors.threads=1",
        "database.read_connections=2",
        "database.write_lanes=2",
        "accounts.registration=open",
        "accounts.argon2_memory_kib=8",
        "accounts.argon2_passes=1",
        "server.requests_per_minute=1000000",
        "server.anonymous_requests_per_minute=1000000",
        "server.request_timeout=2m",
        "shutdown.grace=5s",
    ];
    flags.extend(usual.iter().chain(settings).map(|setting| (*setting).to_owned()));
    Config::load(&Sources { flags, ..Sources::default() }).expect("a configuration")
}
