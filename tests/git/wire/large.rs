//! What is too large to be pushed: files that belong into Git LFS, and objects that take all the memory there is.

use std::{
    io::{Read, Write},
    process::{Command, Stdio},
};

use super::{Workshop, git_in};

/// `git.blob_max` here.
const BLOB_MAX: usize = 4_000;
/// `git.memory_max` here: some 60 MB.
const MEMORY_MAX: usize = 60_000_000;

impl Workshop {
    /// A push of `pack`, in which this object is, as the tag `huge`; what is answered.
    async fn push_pack(&self, oid: &str, pack: Vec<u8>) -> String {
        let line = format!("{} {oid} refs/tags/huge\0report-status side-band-64k", "0".repeat(40));
        let body = [format!("{:04x}{line}0000", line.len() + 4).into_bytes(), pack].concat();
        let path = format!("/git/{}/web.git/git-receive-pack", self.repos.org.rsplit('/').next().unwrap());
        let client = self.repos.server.client().with_token(&self.key);
        client.post(&path).body("application/x-git-receive-pack-request", body).send().await.expect(200).text
    }

    /// Runs git in the folder `ada` with so many blanks as its input; what it writes.
    fn fed(&self, arguments: &[&str], mut blanks: usize) -> Vec<u8> {
        let mut command: Command = git_in(&self.at("ada"), self.folder.path());
        let mut child = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let piece = vec![b' '; 1 << 16];
        while blanks > 0 {
            let len = blanks.min(piece.len());
            stdin.write_all(&piece[..len]).unwrap();
            blanks -= len;
        }
        drop(stdin);
        let mut output = Vec::new();
        child.stdout.take().unwrap().read_to_end(&mut output).unwrap();
        assert!(child.wait().unwrap().success(), "git {arguments:?}");
        output
    }

    /// The name of an object of so many blanks, and a small pack with nothing but it.
    fn bomb(&self, kind: &str, len: usize) -> (String, Vec<u8>) {
        let named = self.fed(&["hash-object", "-w", "--literally", "-t", kind, "--stdin"], len);
        let oid = String::from_utf8(named).unwrap().trim().to_owned();
        let mut command = git_in(&self.at("ada"), self.folder.path());
        command.args(["pack-objects", "--stdout", "-q"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        writeln!(child.stdin.take().unwrap(), "{oid}").unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        (oid, output.stdout)
    }
}

#[tokio::test]
async fn a_file_over_the_limit_is_refused_by_its_name_and_pointed_to_lfs() {
    let shop = Workshop::with(&[&format!("git.blob_max={BLOB_MAX}")]).await;
    shop.begin("ada", 1).await;
    for (file, len) in [("below", BLOB_MAX - 1), ("at", BLOB_MAX)] {
        shop.commit("ada", file, &"x".repeat(len)).await;
        shop.git("ada", &["push", "--quiet", "origin", "main"]).await;
    }
    let before = shop.git("ada", &["ls-remote", "origin"]).await;
    // Where it is no more in the last commit, it is still in the history.
    shop.commit("ada", "models/large.bin", &"y".repeat(BLOB_MAX + 1)).await;
    shop.git("ada", &["rm", "--quiet", "models/large.bin"]).await;
    shop.git("ada", &["commit", "--quiet", "-m", "Take it out"]).await;
    let ran = shop.try_git("ada", &["push", "origin", "main", "main~2:refs/tags/harmless"]).await;
    let reason = "file too large: models/large.bin has 4001 bytes of at most 4000; use Git LFS";
    assert!(!ran.is_ok && ran.err.matches(&format!("({reason})")).count() == 2, "{}", ran.err);
    assert!(ran.err.contains("remote:   models/large.bin has 4001 bytes"), "{}", ran.err);
    let advice = "git lfs migrate import --everything --include=\"models/large.bin\"";
    assert!(ran.err.contains(advice), "{}", ran.err);
    assert_eq!(shop.git("ada", &["ls-remote", "origin"]).await, before);
    let pushes = shop.ask("pushes?verdict=refused").await.expect(200);
    assert_eq!(pushes.list("/pushes").len(), 1);
    assert!(pushes.list("/pushes/0/refs").iter().all(|it| it["reason"] == reason), "{}", pushes.text);
    // A file that is there already, from a time with another limit, hinders nobody; nor does what isn't a file.
    shop.git("ada", &["reset", "--quiet", "--hard", "main~2"]).await;
    for number in 0..200 {
        std::fs::write(shop.at("ada").join(format!("a file of a large folder {number}")), "text\n").unwrap();
    }
    shop.commit("ada", "last", "text\n").await;
    shop.git("ada", &["push", "--quiet", "origin", "main"]).await;
}

#[tokio::test]
async fn without_a_limit_files_have_any_size() {
    let shop = Workshop::with(&["git.blob_max=0", "git.memory_max=0"]).await;
    shop.begin("ada", 1).await;
    shop.commit("ada", "large", &"x".repeat(6_000_000)).await;
    shop.git("ada", &["push", "--quiet", "origin", "main"]).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_small_pack_with_a_huge_object_takes_no_more_memory_than_there_is_for_it() {
    let shop = Workshop::with(&[&format!("git.memory_max={MEMORY_MAX}")]).await;
    shop.begin("ada", 3).await;
    shop.git("ada", &["push", "--quiet", "origin", "main"]).await;
    for kind in ["commit", "tree", "tag"] {
        let (oid, pack) = shop.bomb(kind, 2 * MEMORY_MAX);
        assert!(pack.len() < MEMORY_MAX / 100, "{kind}: {} bytes", pack.len());
        let said = shop.push_pack(&oid, pack).await;
        let reason = "unpack There are objects in it that take more memory than the server allows.";
        assert!(said.contains(reason) && said.contains("ng refs/tags/huge"), "{kind}: {said}");
    }
    // A file isn't read whole, however large.
    let (oid, pack) = shop.bomb("blob", 2 * MEMORY_MAX);
    let said = shop.push_pack(&oid, pack).await;
    assert!(said.contains("unpack ok") && said.contains("file too large"), "{said}");
    assert!(!shop.git("ada", &["ls-remote", "origin"]).await.contains("huge"));
    shop.commit("ada", "after", "text\n").await;
    shop.git("ada", &["push", "--quiet", "origin", "main"]).await;
    assert_eq!(shop.mirrored("mirror").await, shop.refs("ada").await);
}
