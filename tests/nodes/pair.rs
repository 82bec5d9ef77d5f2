//! Two nodes that belong together.

use std::path::PathBuf;

use store::testing::{DATABASE_URL_VARIABLE, SECRET_KEY_TEXT, Scratch};

use crate::harness::{Client, Launch, Process, Proxy};

/// Names the Redis that tests may use, each with a prefix of its own.
const REDIS_URL_VARIABLE: &str = "TROUPE_TEST_REDIS_URL";

/// Two programs on one database, and on one Redis unless they do without.
pub struct Pair {
    pub nodes: [Process; 2],
    /// What goes wrong in each, as files that their programs follow.
    faults: [PathBuf; 2],
    // Dropped after the programs that use it.
    _scratch: Scratch,
}

impl Pair {
    /// Two nodes on `PostgreSQL` and Redis; none where the environment names no such.
    pub async fn start(settings: &[&str]) -> Option<Self> {
        let redis = variable(REDIS_URL_VARIABLE)?;
        Self::start_with(&format!("redis.url={redis}"), settings).await
    }

    /// Two nodes on `PostgreSQL` that can't hear each other but through it.
    pub async fn without_redis(settings: &[&str]) -> Option<Self> {
        Self::start_with("redis.url=", settings).await
    }

    /// Two nodes on `PostgreSQL`, and on Redis by a way that can be cut.
    pub async fn with_way_to_redis(settings: &[&str]) -> Option<(Self, Proxy)> {
        let proxy = Proxy::start(&variable(REDIS_URL_VARIABLE)?).await;
        let pair = Self::start_with(&format!("redis.url={}", proxy.url()), settings).await?;
        Some((pair, proxy))
    }

    async fn start_with(redis: &str, settings: &[&str]) -> Option<Self> {
        let scratch = Scratch::postgres(&variable(DATABASE_URL_VARIABLE)?).await.unwrap();
        let prefix = scratch.folder().file_name().unwrap().to_string_lossy().into_owned();
        let faults = ["a", "b"].map(|name| scratch.folder().join(format!("faults-{name}")));
        let launches = ["a", "b"].map(|name| {
            let data = scratch.folder().join(name);
            std::fs::create_dir_all(&data).unwrap();
            let common = [
                format!("database.url={}", scratch.url()),
                format!("secrets.keys={SECRET_KEY_TEXT}"),
                redis.into(),
                format!("redis.prefix={prefix}"),
            ];
            let all = common.into_iter().chain(settings.iter().map(|&setting| setting.into()));
            let file = scratch.folder().join(format!("faults-{name}"));
            all.fold(Launch::in_folder(&data).faults(&file), Launch::set)
        });
        // At once, on an empty database: who comes first prepares it for both.
        let nodes = launches.map(|launch| std::thread::spawn(move || launch.start()));
        let nodes = nodes.map(|node| node.join().expect("a node that starts"));
        Some(Self { nodes, faults, _scratch: scratch })
    }

    /// Has this go wrong in a node from now on, or within the blink of an eye.
    pub fn set_faults(&self, node: usize, rules: &str) {
        std::fs::write(&self.faults[node], rules).expect("a file that can be written");
    }

    pub fn clients(&self) -> [Client; 2] {
        [self.nodes[0].client(), self.nodes[1].client()]
    }
}

fn variable(name: &str) -> Option<String> {
    let value = std::env::var(name).ok().filter(|value| !value.is_empty());
    if value.is_none() {
        eprintln!("skipped: {name} is not set");
    }
    value
}

#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_that_start_at_once_on_an_empty_database_make_one_owner() {
    let Some(pair) = Pair::start(&[]).await else { return };
    let tokens: Vec<_> = pair.nodes.iter().filter_map(|node| node.owner_token.as_deref()).collect();
    let [token] = tokens[..] else { panic!("{} owners were made", tokens.len()) };
    for client in pair.clients() {
        let answer = client.with_token(token).get("/v1/orgs").send().await.expect(200);
        assert_eq!(answer.list("/orgs").len(), 1, "{}", answer.text);
    }
}
