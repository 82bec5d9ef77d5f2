//! Pushing: what is reported as moved is there, and nothing else.

use serde_json::json;

use super::Workshop;

#[tokio::test]
async fn branches_and_tags_are_made_moved_forced_and_deleted() {
    let shop = Workshop::new().await;
    shop.begin("ada", 4).await;
    shop.git("ada", &["push", "--quiet", "origin", "main", "main:refs/heads/a/b", "main:refs/tags/v1"]).await;
    shop.git("ada", &["push", "--quiet", "--force", "origin", "main~2:refs/heads/a/b", "main~1:refs/tags/v1"]).await;
    shop.git("ada", &["push", "--quiet", "origin", "main~1:refs/heads/c", "main:refs/notes/commits"]).await;
    let (main, one, two) = (
        shop.git("ada", &["rev-parse", "main"]).await,
        shop.git("ada", &["rev-parse", "main~1"]).await,
        shop.git("ada", &["rev-parse", "main~2"]).await,
    );
    let refs = format!(
        "refs/heads/a/b {two}\nrefs/heads/c {one}\nrefs/heads/main {main}\nrefs/notes/commits {main}\nrefs/tags/v1 {one}"
    );
    assert_eq!(shop.mirrored("before").await, refs);
    shop.git("ada", &["push", "--quiet", "origin", "--delete", "a/b", "v1"]).await;
    shop.git("ada", &["push", "--quiet", "origin", "main:a", ":refs/notes/commits"]).await;
    let refs = format!("refs/heads/a {main}\nrefs/heads/c {one}\nrefs/heads/main {main}");
    assert_eq!(shop.mirrored("after").await, refs);
    let audited = [shop.repos.audited("branch.").await, shop.repos.audited("tag.").await].concat();
    assert_eq!(audited, ["branch.deleted", "branch.forced", "tag.deleted", "tag.moved"]);
}

#[tokio::test]
async fn a_whole_repository_with_a_thousand_refs_is_mirrored() {
    let shop = Workshop::new().await;
    shop.begin("ada", 2).await;
    let (one, two) = (shop.git("ada", &["rev-parse", "main"]).await, shop.git("ada", &["rev-parse", "main~1"]).await);
    let line = |at: usize| format!("create refs/{}/it-{at} {}\n", ["heads", "tags"][at % 2], [&one, &two][at % 3 % 2]);
    std::fs::write(shop.at("refs"), (0..1_000).map(line).collect::<Vec<_>>().concat()).unwrap();
    let shell = format!("git -C {} update-ref --stdin < {}", shop.at("ada").display(), shop.at("refs").display());
    assert!(std::process::Command::new("sh").args(["-c", &shell]).status().unwrap().success());
    shop.git("ada", &["push", "--quiet", "--mirror", "origin"]).await;
    let refs = shop.refs("ada").await;
    assert_eq!(refs.lines().count(), 1_001);
    assert_eq!(shop.mirrored("mirror").await, refs);
    shop.git("mirror", &["push", "--quiet", "--mirror", &shop.url("web", &shop.key)]).await;
}

#[tokio::test]
async fn the_first_branch_of_an_empty_repository_becomes_its_default() {
    let shop = Workshop::new().await;
    shop.begin("ada", 1).await;
    shop.git("ada", &["push", "--quiet", "origin", "main:trunk"]).await;
    let default = async |shop: &Workshop| {
        let answer = shop.repos.ada.client.get(&shop.repos.at("web")).send().await.expect(200);
        answer.str("/repository/defaultBranch").to_owned()
    };
    assert_eq!(default(&shop).await, "trunk");
    shop.git("ada", &["push", "--quiet", "origin", "main:other"]).await;
    assert_eq!(default(&shop).await, "trunk");
    shop.git(".", &["clone", "--quiet", &shop.web(), "clone"]).await;
    assert_eq!(shop.git("clone", &["symbolic-ref", "HEAD"]).await, "refs/heads/trunk");
}

#[tokio::test]
async fn an_atomic_push_is_done_whole_or_not_at_all() {
    let shop = Workshop::new().await;
    shop.begin("ada", 2).await;
    shop.git("ada", &["push", "--quiet", "origin", "main~1:refs/heads/main"]).await;
    let ran =
        shop.try_git("ada", &["push", "--atomic", "origin", "main:refs/heads/new", "main:refs/pull/1/head"]).await;
    assert!(!ran.is_ok && ran.err.contains("atomic push fail"), "{}", ran.err);
    assert_eq!(shop.mirrored("before").await, format!("refs/heads/main {}", shop.tip("main~1").await));
    shop.git("ada", &["branch", "new"]).await;
    shop.git("ada", &["push", "--quiet", "--atomic", "origin", "new", "main"]).await;
    assert_eq!(shop.mirrored("after").await, shop.refs("ada").await);
}

#[tokio::test]
async fn a_large_push_comes_in_chunks_and_a_small_one_reuses_what_is_there() {
    let shop = Workshop::new().await;
    shop.begin("ada", 1).await;
    let mut noise = 0x9e37_79b9_u64;
    let bytes: Vec<u8> = std::iter::repeat_with(|| {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        u8::try_from(noise >> 56).unwrap()
    })
    .take(3 << 20)
    .collect();
    std::fs::write(shop.at("ada/noise"), &bytes).unwrap();
    shop.git("ada", &["add", "."]).await;
    shop.git("ada", &["commit", "--quiet", "-m", "Noise"]).await;
    shop.git("ada", &["push", "--quiet", "origin", "main"]).await;
    shop.commit("ada", "small", "small\n").await;
    shop.git("ada", &["push", "--quiet", "origin", "main"]).await;
    shop.git("ada", &["push", "--quiet", "origin", "main:same-objects"]).await;
    shop.git(".", &["clone", "--quiet", &shop.web(), "clone"]).await;
    assert_eq!(std::fs::read(shop.at("clone/noise")).unwrap(), bytes);
}

#[tokio::test]
async fn what_was_pushed_is_let_go_of_with_the_repository() {
    let shop = Workshop::new().await;
    shop.begin("ada", 3).await;
    shop.git("ada", &["push", "--quiet", "origin", "main"]).await;
    let ran = shop.try_git("ada", &["push", "origin", "main:refs/heads/x"]).await;
    assert!(ran.is_ok, "{}", ran.err);
    shop.repos.ada.client.delete(&shop.repos.at("web")).send().await.expect(202);
    let ran = shop.try_git("ada", &["ls-remote", "origin"]).await;
    assert!(!ran.is_ok && ran.err.contains("This repository is deleted. Restore it first."), "{}", ran.err);
    shop.repos.ada.client.post(&shop.repos.at("web/restore")).json(&json!({})).send().await.expect(200);
    assert_eq!(shop.git("ada", &["ls-remote", "--heads", "origin"]).await.lines().count(), 2);
}
