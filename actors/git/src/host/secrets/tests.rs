use std::process::Command;

use domain::git::{RefName, SecretRule, SecretScanner};

use super::*;

const KEY: &str = "AKIA2345672ABCDEFGHI";
const OTHER: &str = "ASIA2345672ABCDEFGHI";

/// A repository that somebody commits to.
struct Work(tempfile::TempDir);

impl Work {
    fn new() -> Self {
        let work = Self(tempfile::tempdir().unwrap());
        work.git(&["init", "--quiet", "--initial-branch=main"]);
        work
    }

    fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command.current_dir(self.0.path()).args(["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]);
        let output = command.env("GIT_CONFIG_GLOBAL", "/dev/null").args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn commit(&self, file: &str, text: impl AsRef<[u8]>) -> ObjectId {
        let place = self.0.path().join(file);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(place, text).unwrap();
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "-m", file]);
        self.oid("HEAD")
    }

    fn oid(&self, name: &str) -> ObjectId {
        self.git(&["rev-parse", name]).parse().unwrap()
    }

    async fn secrets(&self, tips: &[ObjectId], known: &[ObjectId], allowed: &[Fingerprint]) -> SecretsFound {
        let name = RefName::parse(b"refs/heads/main").unwrap();
        let listed = |oid: &ObjectId| Listing { name: name.clone(), oid: *oid, peeled: None };
        let (folder, known) = (self.0.path().join(".git"), known.iter().map(listed).collect::<Vec<_>>());
        let repository = "res_01h455vb4pex5vsknk084sn02q".parse().unwrap();
        let scanner = SecretScanner::new(b"the server's").unwrap();
        let secrets = SecretSearch::new(scanner, repository, allowed.iter().copied().collect());
        let search = Search { secrets, large: LargeFiles::default() };
        NewObjects { folder: &folder, tips, known: &known }.secrets(&Git::default(), None, search).await.unwrap().0
    }
}

fn places(found: &SecretsFound) -> Vec<(String, Option<ObjectId>)> {
    found.open.iter().map(|finding| (finding.place(), finding.commit)).collect()
}

#[tokio::test]
async fn a_secret_is_found_in_a_commit_in_the_middle_and_not_in_what_is_there() {
    let work = Work::new();
    let first = work.commit("a", "nothing\n");
    let planted = work.commit("dir/b c", format!("\n{KEY}\n"));
    work.commit("d", "nothing\n");
    let last = work.commit("dir/b c", "taken out\n");
    let found = work.secrets(&[last], &[first], &[]).await;
    assert_eq!(places(&found), [("dir/b c:2".to_owned(), Some(planted))]);
    assert_eq!(work.secrets(&[last], &[planted], &[]).await, SecretsFound::default());
    assert_eq!(work.secrets(&[last], &[last], &[]).await, SecretsFound::default());
    let secret = &found.open[0].secret;
    assert_eq!(secret.rule, SecretRule::AwsAccessKey);
    let allowed = work.secrets(&[last], &[first], &[secret.fingerprint]).await;
    assert_eq!((allowed.open.len(), allowed.allowed.len()), (0, 1));
}

#[tokio::test]
async fn a_secret_is_found_in_a_merge_and_behind_a_tag() {
    let work = Work::new();
    let first = work.commit("a", "one\n");
    work.git(&["checkout", "--quiet", "-b", "side"]);
    let side = work.commit("b", "side\n");
    work.git(&["checkout", "--quiet", "main"]);
    let main = work.commit("c", "main\n");
    work.git(&["merge", "--quiet", "--no-commit", "--no-ff", "side"]);
    let merge = work.commit("merged", format!("{KEY}\n"));
    assert_eq!(places(&work.secrets(&[merge], &[side, main], &[]).await), [("merged:1".to_owned(), Some(merge))]);
    std::fs::write(work.0.path().join("loose"), OTHER).unwrap();
    let blob = work.git(&["hash-object", "-w", "loose"]);
    work.git(&["tag", "-a", "-m", "a tag", "v1", &blob]);
    let tagged = work.secrets(&[work.oid("v1")], &[first], &[]).await;
    assert_eq!(tagged.open.len(), 1);
    let bare = work.secrets(&[blob.parse().unwrap()], &[first], &[]).await;
    assert_eq!(places(&bare), [(format!("{blob}:1"), None)]);
}

#[tokio::test]
async fn many_files_and_large_ones_are_looked_through() {
    let work = Work::new();
    let large = usize::try_from(SCANNED_MAX).unwrap();
    for (name, len) in [("large", large), ("larger", large + 1), ("also", large)] {
        let mut text = format!("{KEY}\n").into_bytes();
        text.resize(len, if name == "also" { b'x' } else { b' ' });
        std::fs::write(work.0.path().join(name), text).unwrap();
    }
    std::fs::write(work.0.path().join("binary"), format!("\0{OTHER}")).unwrap();
    for number in 0..2 * ASKED_AT_ONCE {
        std::fs::write(work.0.path().join(format!("z{number:04}")), format!("{number}\n")).unwrap();
    }
    let last = work.commit("zz", OTHER);
    let found = work.secrets(&[last], &[], &[]).await;
    let expected = ["also:1", "zz:1"].map(|place| (place.to_owned(), Some(last)));
    assert_eq!((places(&found), found.unscanned), (expected.to_vec(), 2));
}
