//! Cloning and fetching.

use serde_json::json;

use super::Workshop;
use crate::git::notice;

/// The versions of the protocol, as git is told them.
const PROTOCOLS: [&str; 2] = ["protocol.version=0", "protocol.version=2"];

#[tokio::test]
async fn what_is_pushed_is_cloned_whole_in_both_versions_of_the_protocol() {
    let shop = Workshop::new().await;
    shop.begin("ada", 20).await;
    shop.git("ada", &["tag", "light"]).await;
    shop.git("ada", &["tag", "-a", "v1", "-m", "The first"]).await;
    shop.git("ada", &["branch", "feature/a"]).await;
    shop.git("ada", &["push", "--quiet", "origin", "--all"]).await;
    shop.git("ada", &["push", "--quiet", "origin", "--tags"]).await;
    let refs = shop.refs("ada").await;
    assert_eq!(shop.mirrored("mirror").await, refs);
    for (at, protocol) in PROTOCOLS.iter().enumerate() {
        let folder = format!("clone-{at}");
        shop.git(".", &["-c", protocol, "clone", "--quiet", &shop.web(), &folder]).await;
        shop.git(&folder, &["fsck", "--full", "--strict"]).await;
        assert_eq!(shop.git(&folder, &["rev-parse", "HEAD"]).await, shop.git("ada", &["rev-parse", "main"]).await);
        assert_eq!(shop.git(&folder, &["symbolic-ref", "HEAD"]).await, "refs/heads/main");
        assert_eq!(shop.git(&folder, &["tag"]).await, "light\nv1");
        let listed = shop.git(&folder, &["-c", protocol, "ls-remote", "origin"]).await;
        assert!(listed.contains("refs/tags/v1^{}") && listed.contains("\tHEAD"), "{listed}");
    }
}

#[tokio::test]
async fn a_clone_can_be_shallow_or_partial_and_be_made_whole() {
    let shop = Workshop::new().await;
    shop.begin("ada", 12).await;
    shop.git("ada", &["push", "--quiet", "origin", "main"]).await;
    for (at, protocol) in PROTOCOLS.iter().enumerate() {
        let (shallow, partial) = (format!("shallow-{at}"), format!("partial-{at}"));
        shop.git(".", &["-c", protocol, "clone", "--quiet", "--depth=3", &shop.web(), &shallow]).await;
        assert_eq!(shop.git(&shallow, &["rev-list", "--count", "HEAD"]).await, "3");
        shop.git(&shallow, &["-c", protocol, "fetch", "--quiet", "--deepen=2"]).await;
        assert_eq!(shop.git(&shallow, &["rev-list", "--count", "HEAD"]).await, "5");
        shop.git(&shallow, &["-c", protocol, "fetch", "--quiet", "--unshallow"]).await;
        assert_eq!(shop.git(&shallow, &["rev-list", "--count", "HEAD"]).await, "12");
        shop.git(&shallow, &["fsck", "--full", "--strict"]).await;
        shop.git(
            ".",
            &["-c", protocol, "clone", "--quiet", "--filter=blob:none", "--no-checkout", &shop.web(), &partial],
        )
        .await;
        let missing = shop.git(&partial, &["rev-list", "--objects", "HEAD", "--missing=print"]).await;
        assert_eq!(missing.lines().filter(|line| line.starts_with('?')).count(), 12);
        shop.git(&partial, &["-c", protocol, "checkout", "--quiet", "main"]).await;
        assert_eq!(std::fs::read_to_string(shop.at(&partial).join("file-11")).unwrap(), "text 11\n");
        // What each of them makes is taken, and comes back whole.
        for folder in [&shallow, &partial] {
            shop.commit(folder, &format!("by-{folder}"), "more\n").await;
            shop.git(folder, &["-c", protocol, "push", "--quiet", "origin", &format!("main:by-{folder}")]).await;
            shop.git("ada", &["fetch", "--quiet", "origin", &format!("by-{folder}:by-{folder}")]).await;
        }
        assert_eq!(shop.mirrored(&format!("mirror-{at}")).await, shop.refs("ada").await);
    }
}

#[tokio::test]
async fn a_fetch_brings_what_is_new_with_its_tags() {
    let shop = Workshop::new().await;
    shop.begin("ada", 3).await;
    shop.git("ada", &["push", "--quiet", "origin", "main"]).await;
    for (at, protocol) in PROTOCOLS.iter().enumerate() {
        let folder = format!("bob-{at}");
        shop.git(".", &["clone", "--quiet", &shop.web(), &folder]).await;
        shop.commit("ada", &format!("more-{at}"), "more\n").await;
        let tag = format!("v{at}");
        shop.git("ada", &["tag", "-a", &tag, "-m", "A tag"]).await;
        shop.git("ada", &["push", "--quiet", "--follow-tags", "origin", "main"]).await;
        shop.git(&folder, &["-c", protocol, "pull", "--quiet", "--ff-only"]).await;
        assert_eq!(shop.git(&folder, &["rev-parse", "HEAD"]).await, shop.git("ada", &["rev-parse", "main"]).await);
        assert!(shop.git(&folder, &["tag"]).await.contains(&tag));
        shop.git(&folder, &["fsck", "--full", "--strict"]).await;
        assert_eq!(shop.refs(&folder).await, shop.refs("ada").await);
        assert_eq!(shop.mirrored(&format!("mirror-{at}")).await, shop.refs("ada").await);
    }
}

#[tokio::test]
async fn an_empty_repository_is_cloned_and_says_which_branch_there_will_be() {
    let shop = Workshop::new().await;
    shop.git(".", &["clone", "--quiet", &shop.web(), "empty"]).await;
    assert_eq!(shop.git("empty", &["symbolic-ref", "HEAD"]).await, "refs/heads/main");
    assert_eq!(shop.git("empty", &["-c", "protocol.version=0", "ls-remote", "origin"]).await, "");
}

#[tokio::test]
async fn a_renamed_repository_is_found_under_its_old_name_until_another_has_it() {
    let shop = Workshop::pushed(1).await;
    let (ada, at) = (&shop.repos.ada.client, |rest: &str| shop.repos.at(rest));
    for (from, to) in [("web", "site"), ("site", "home")] {
        ada.patch(&at(from)).json(&json!({ "name": to })).send().await.expect(200);
    }
    for old in ["web", "SITE", "home"] {
        shop.git(".", &["clone", "--quiet", &shop.url(old, &shop.key), old]).await;
    }
    shop.commit("ada", "more", "more\n").await;
    shop.git("ada", &["push", "--quiet", "origin", "main"]).await;
    // Nobody who has no part in it learns that it was there.
    ada.patch(&at("home")).json(&json!({ "visibility": "restricted" })).send().await.expect(200);
    let dev = shop.repos.member("dev", "developer").await;
    let dev = super::refusals::key_of(&shop, &dev).await;
    let ran = shop.try_git(".", &["ls-remote", &shop.url("web", &dev)]).await;
    assert!(!ran.is_ok && ran.err.contains("Repository not found"), "{}", ran.err);
    // Whoever takes the name has it, also once that one is gone.
    shop.repos.make("web", "organization").await;
    assert_eq!(shop.git(".", &["ls-remote", &shop.url("web", &shop.key)]).await, "");
    ada.patch(&at("web")).json(&json!({ "name": "Web2" })).send().await.expect(200);
    ada.patch(&at("home")).json(&json!({ "name": "site" })).send().await.expect(200);
    assert_eq!(shop.git(".", &["ls-remote", &shop.url("web", &shop.key)]).await, "");
    assert!(shop.git(".", &["ls-remote", &shop.url("home", &shop.key)]).await.contains("refs/heads/main"));
}

#[tokio::test]
async fn owners_are_told_of_the_first_clone_that_somebody_makes() {
    let shop = Workshop::pushed(2).await;
    let dev = shop.repos.member("dev", "developer").await;
    let dev_key = super::refusals::key_of(&shop, &dev).await;
    let clone = async |url: &str, protocol: &str, folder: &str| {
        shop.git(".", &["-c", protocol, "clone", "--quiet", url, folder]).await;
    };
    let told = async || {
        let answer = shop.repos.ada.client.get("/v1/me/notifications").send().await.expect(200);
        let notices = answer.list("/notices").iter().filter(|notice| notice["event"] == "security.git_clone");
        notices.map(|notice| notice["body"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    clone(&shop.web(), PROTOCOLS[0], "first").await;
    let first = notice(&shop.repos.server, &shop.repos.ada.client, "security.git_clone").await;
    assert_eq!(first["title"], "Repository web cloned");
    let body = first["body"].as_str().unwrap();
    assert!(body.starts_with("ada cloned web for the first time with the key Git."), "{body}");
    clone(&shop.web(), PROTOCOLS[1], "again").await;
    // Who brings what they have up to date clones nothing.
    let other = super::refusals::key_of(&shop, &dev).await;
    shop.commit("ada", "more", "more\n").await;
    shop.git("ada", &["push", "--quiet", "origin", "main"]).await;
    shop.git("first", &["fetch", "--quiet", &shop.url("web", &other), "main"]).await;
    clone(&shop.url("web", &dev_key), PROTOCOLS[1], "devs").await;
    shop.repos.server.eventually("being told", async || (told().await.len() > 1).then_some(())).await;
    let all = told().await;
    assert_eq!(all.len(), 2, "{all:?}");
    assert!(all.iter().any(|body| body.starts_with("dev cloned web")), "{all:?}");
}
