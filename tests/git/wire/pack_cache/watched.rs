//! What operators see of git beside the packs that are kept: runs that wait, pushes that are taken in, and how long they take.

use std::{fs, process::Command, time::Duration};

use tokio::{io::AsyncWriteExt, net::TcpStream};

use super::Bench;
use crate::harness::{Client, Launch};

/// Bytes of a pack that come of a push that stays where it is.
const BEGINNING: usize = 10_000;
/// How long it may take until something is seen.
const PATIENCE: Duration = Duration::from_secs(60);

/// What there is of runs and pushes: runs that are under way, those that wait, bytes of pushes.
type UnderWay = (usize, usize, usize);

impl Bench {
    /// A whole number of the metrics; none where it isn't there.
    async fn metric(&self, name: &str) -> Option<usize> {
        let text = Client::new(&self.process.operators_url).get("/metrics").send().await.expect(200).text;
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.map(|value| value.parse().expect("a whole number"))
    }

    async fn under_way(&self) -> UnderWay {
        let of = async |name: &str| self.metric(name).await.expect("it is there from the start");
        let (running, waiting) = (of("troupe_git_running").await, of("troupe_git_waiting").await);
        (running, waiting, of("troupe_git_quarantine_bytes").await)
    }

    async fn see(&self, wanted: UnderWay) {
        let seeing = async {
            while self.under_way().await != wanted {
                tokio::task::yield_now().await;
            }
        };
        let seen = tokio::time::timeout(PATIENCE, seeing).await;
        assert!(seen.is_ok(), "{:?} is not {wanted:?}", self.under_way().await);
    }

    /// How often each was timed: pushes, and searches for secrets.
    async fn timed(&self) -> [Option<usize>; 2] {
        [self.metric("troupe_git_push_seconds_count").await, self.metric("troupe_git_scan_seconds_count").await]
    }

    /// Pushes `main` as another branch, and sends only the beginning of the pack.
    async fn begin_push(&self, branch: &str) -> TcpStream {
        let pack = "git rev-list --objects main | cut -c1-40 | git pack-objects --stdout -q";
        let pack = Command::new("sh").args(["-c", pack]).current_dir(self.at("ada")).output().unwrap().stdout;
        let line = format!(
            "{} {} refs/heads/{branch}\0report-status",
            "0".repeat(40),
            self.git("ada", &["rev-parse", "main"]).await
        );
        let commands = format!("{:04x}{line}0000", line.len() + 4);
        let address = self.process.url.trim_start_matches("http://");
        let head = format!(
            "POST /git/{}/web.git/git-receive-pack HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/x-git-receive-pack-request\r\nContent-Length: {}\r\n\r\n",
            self.org.rsplit('/').next().unwrap(),
            self.key,
            commands.len() + pack.len()
        );
        let mut wire = TcpStream::connect(address).await.unwrap();
        let beginning = &pack[..BEGINNING];
        wire.write_all(&[head.as_bytes(), commands.as_bytes(), beginning].concat()).await.unwrap();
        wire
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pushes_are_timed_and_runs_that_wait_are_counted() {
    let bench = Bench::with(&[]).await;
    assert_eq!(bench.timed().await, [Some(1); 2]);
    bench.commit("more").await;
    bench.push(&["main"]).await;
    assert_eq!(bench.timed().await, [Some(2); 2]);
    bench.see((0, 0, 0)).await;
    // As many as run at the same time, and one more.
    let most = 2 * std::thread::available_parallelism().unwrap().get();
    let mut pushes = Vec::new();
    for at in 0..most {
        pushes.push(bench.begin_push(&format!("branch-{at}")).await);
    }
    bench.see((most, 0, most * BEGINNING)).await;
    pushes.push(bench.begin_push("one-more").await);
    bench.see((most, 1, most * BEGINNING)).await;
    drop(pushes);
    bench.see((0, 0, 0)).await;
    assert_eq!(bench.timed().await, [Some(2); 2], "what broke off took no time here");
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_of_views_are_those_that_blobs_have_not() {
    let mut bench = Bench::with(&[]).await;
    bench.clone("before", &[]).await;
    // What is small is no blob, and is there a second time.
    let own = bench.metric("troupe_git_views_bytes").await.expect("it is there from the start");
    assert!((1..100_000).contains(&own), "{own}");
    // What an earlier process left, and nobody asked for since.
    let left = bench.at("git/views/left/objects/pack");
    fs::create_dir_all(&left).unwrap();
    fs::write(left.join("pack-1.pack"), vec![0; 1_000_000]).unwrap();
    for (view_max, bytes) in [(2_000_000, 1_000_000), (500_000, 0)] {
        let launch = Launch::in_folder(bench.scratch.folder()).set(format!("database.url={}", bench.scratch.url()));
        bench.process = launch.set(format!("git.view_max={view_max}")).start();
        bench.clone(&format!("at-most-{view_max}"), &[]).await;
        assert_eq!(bench.metric("troupe_git_views_bytes").await, Some(bytes + own));
        assert_eq!(left.exists(), bytes > 0);
    }
}
