//! Clients that wait while git looks at what they pushed. Git is held up by a signal, so that it takes as long as it has to.

use std::{
    collections::HashSet,
    fs,
    path::Path,
    process::{Command, Stdio},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::Workshop;

/// Bytes of a pack that come before there is an object to look at.
const PACK_HEADER: usize = 12;
/// An empty packet of the band that people read.
const SIGN_OF_LIFE: &[u8] = b"0005\x02";
const IN_BANDS: &str = "report-status side-band-64k";
const PLAIN: &str = "report-status";

/// The runs of git that take in what is pushed to the server which keeps its files here.
fn runs(folder: &Path) -> HashSet<u32> {
    let folder = folder.canonicalize().unwrap();
    let takes_in = |run: &u32| {
        let is_ours = fs::read_link(format!("/proc/{run}/cwd")).is_ok_and(|at| at.starts_with(&folder));
        is_ours && fs::read(format!("/proc/{run}/cmdline")).is_ok_and(|words| has(&words, b"\0index-pack\0"))
    };
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(takes_in).collect()
}

fn has(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

fn signal(run: u32, name: &str) {
    let sent = Command::new("kill").args([format!("-{name}"), run.to_string()]).stderr(Stdio::null()).status();
    assert!(sent.unwrap().success(), "{name}");
}

/// A push all of which was sent, and that git doesn't look at.
struct Waiting {
    wire: TcpStream,
    run: u32,
    said: Vec<u8>,
}

impl Waiting {
    /// Pushes `main` as another branch.
    async fn begin(shop: &Workshop, branch: &str, capabilities: &str) -> Self {
        let pack = "git rev-list --objects main | cut -c1-40 | git pack-objects --stdout -q";
        let pack = Command::new("sh").args(["-c", pack]).current_dir(shop.at("ada")).output().unwrap().stdout;
        let line = format!("{} {} refs/heads/{branch}\0{capabilities}", "0".repeat(40), shop.tip("main").await);
        let commands = format!("{:04x}{line}0000", line.len() + 4);
        let server = &shop.repos.server;
        let address = server.url.trim_start_matches("http://");
        let head = format!(
            "POST /git/{}/web.git/git-receive-pack HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/x-git-receive-pack-request\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            shop.repos.org.rsplit('/').next().unwrap(),
            shop.key,
            commands.len() + pack.len()
        );
        let others = runs(server.folder());
        let mut wire = TcpStream::connect(address).await.unwrap();
        let (beginning, rest) = pack.split_at(PACK_HEADER);
        wire.write_all(&[head.as_bytes(), commands.as_bytes(), beginning].concat()).await.unwrap();
        let begun = async || runs(server.folder()).difference(&others).next().copied();
        let run = server.eventually("a run of git", begun).await;
        signal(run, "STOP");
        wire.write_all(rest).await.unwrap();
        Self { wire, run, said: Vec::new() }
    }

    /// Waits until the server has said that.
    async fn hears(&mut self, part: &[u8]) {
        while !has(&self.said, part) {
            let read = self.wire.read_buf(&mut self.said).await.unwrap();
            assert!(read > 0, "{}", self.said.escape_ascii());
        }
    }

    /// Lets git go on; all that the server has said by the end.
    async fn end(mut self) -> Vec<u8> {
        signal(self.run, "CONT");
        self.wire.read_to_end(&mut self.said).await.unwrap();
        self.said
    }
}

#[tokio::test]
async fn who_takes_an_answer_in_bands_hears_from_the_server_while_git_looks_at_a_pack() {
    let shop = Workshop::new().await;
    shop.begin("ada", 1).await;
    let plain = Waiting::begin(&shop, "plain", PLAIN).await;
    let mut banded = Waiting::begin(&shop, "banded", IN_BANDS).await;
    banded.hears(b"HTTP/1.1 200 OK\r\n").await;
    banded.hears(SIGN_OF_LIFE).await;
    let said = banded.end().await;
    assert!(has(&said, b"unpack ok\n") && has(&said, b"ok refs/heads/banded\n"), "{}", said.escape_ascii());
    // Who doesn't take bands would read it as the report.
    let said = plain.end().await;
    assert!(has(&said, b"000eunpack ok\n") && has(&said, b"ok refs/heads/plain\n"), "{}", said.escape_ascii());
    assert!(!has(&said, SIGN_OF_LIFE), "{}", said.escape_ascii());
    assert_eq!(shop.git("ada", &["ls-remote", "--heads", "origin"]).await.lines().count(), 2);
}

#[tokio::test]
async fn git_ends_with_the_client_that_it_works_for() {
    let shop = Workshop::new().await;
    shop.begin("ada", 1).await;
    let mut gone = Waiting::begin(&shop, "gone", IN_BANDS).await;
    gone.hears(b"HTTP/1.1 200 OK\r\n").await;
    let (run, server) = (gone.run, &shop.repos.server);
    drop(gone);
    let is_over = async || (!runs(server.folder()).contains(&run)).then_some(());
    server.eventually("the end of a run that nobody waits for", is_over).await;
    assert_eq!(shop.git("ada", &["ls-remote", "--heads", "origin"]).await, "");
}
