//! What git is refused, and what it shows of that.

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{Workshop, key};

#[tokio::test]
async fn git_shows_why_it_may_not() {
    let shop = Workshop::new().await;
    shop.begin("ada", 1).await;
    let reads = key(&shop.repos, &shop.repos.ada.client, &["git:read"]).await;
    let reader = shop.url("web", &reads);
    shop.git("ada", &["ls-remote", &reader]).await;
    let ran = shop.try_git("ada", &["push", &reader, "main"]).await;
    assert!(!ran.is_ok && ran.err.contains("This needs the git:write permission."), "{}", ran.err);
    let ran = shop.try_git("ada", &["ls-remote", &shop.url("other", &shop.key)]).await;
    assert!(!ran.is_ok && ran.err.contains("Repository not found"), "{}", ran.err);
    let ran = shop.try_git("ada", &["ls-remote", &shop.url("web", "trp_k_made_up")]).await;
    assert!(!ran.is_ok && ran.err.contains("Authentication failed"), "{}", ran.err);
    let restricted = shop.repos.member("bob", "developer").await;
    shop.repos.make("secret", "restricted").await;
    let bobs = key_of(&shop, &restricted).await;
    let ran = shop.try_git("ada", &["ls-remote", &shop.url("secret", &bobs)]).await;
    assert!(!ran.is_ok && ran.err.contains("Repository not found"), "{}", ran.err);
    let grant = format!("{}/access/{}", shop.repos.at("secret"), restricted.user_id);
    shop.repos.ada.client.put(&grant).json(&json!({ "level": "read" })).send().await.expect(200);
    shop.git("ada", &["ls-remote", &shop.url("secret", &bobs)]).await;
    let ran = shop.try_git("ada", &["push", &shop.url("secret", &bobs), "main"]).await;
    assert!(!ran.is_ok && ran.err.contains("This needs write access to the repository."), "{}", ran.err);
}

/// The token of somebody who is signed in on the command line.
pub(super) async fn key_of(shop: &Workshop, person: &crate::harness::Person) -> String {
    let body = json!({
        "email": person.email, "password": person.password, "app": "account", "platform": "cli", "installId": "laptop"
    });
    let answer = shop.repos.server.client().post("/v1/auth/sign-in").json(&body).send().await.expect(200);
    answer.str("/token").to_owned()
}

#[tokio::test]
async fn a_ref_that_cannot_be_moved_says_why_and_the_others_are() {
    let shop = Workshop::new().await;
    shop.begin("ada", 2).await;
    shop.git("ada", &["push", "--quiet", "origin", "main", "main:refs/heads/a", "main:refs/heads/b"]).await;
    for (refspec, reason) in [
        (":main", "The default branch can't be deleted."),
        ("main:refs/heads/a/below", "refs/heads/a is in the way."),
        ("main:refs/pull/1/head", "Only branches, tags and notes can be pushed."),
        ("main^{tree}:refs/heads/tree", "A branch names a commit."),
    ] {
        let ran = shop.try_git("ada", &["push", "origin", refspec, "main:refs/tags/also"]).await;
        assert!(!ran.is_ok && ran.err.contains(reason), "{refspec}: {}", ran.err);
        assert!(shop.git("ada", &["ls-remote", "origin"]).await.contains("refs/tags/also"), "{refspec}");
        shop.git("ada", &["push", "--quiet", "origin", ":refs/tags/also"]).await;
    }
    // What somebody else has moved meanwhile.
    shop.git(".", &["clone", "--quiet", &shop.web(), "bob"]).await;
    shop.commit("bob", "bobs", "bob's\n").await;
    shop.commit("ada", "adas", "ada's\n").await;
    shop.git("bob", &["push", "--quiet", "origin", "main"]).await;
    let ran = shop.try_git("ada", &["push", "origin", "main"]).await;
    assert!(!ran.is_ok && ran.err.contains("fetch first"), "{}", ran.err);
    let ran = shop.try_git("ada", &["push", "--force-with-lease=main:main~1", "origin", "main"]).await;
    assert!(!ran.is_ok && ran.err.contains("stale info"), "{}", ran.err);
}

#[tokio::test]
async fn of_two_who_push_one_branch_at_once_one_is_refused() {
    let shop = Workshop::new().await;
    shop.begin("ada", 1).await;
    shop.git("ada", &["push", "--quiet", "origin", "main"]).await;
    for folder in ["bob", "eve"] {
        shop.git(".", &["clone", "--quiet", &shop.web(), folder]).await;
        shop.commit(folder, folder, "mine\n").await;
    }
    let push = ["push", "origin", "main"];
    let (bob, eve) = tokio::join!(shop.try_git("bob", &push), shop.try_git("eve", &push));
    assert!(bob.is_ok != eve.is_ok, "{bob:?} {eve:?}");
    let (winner, loser) = if bob.is_ok { ("bob", eve) } else { ("eve", bob) };
    assert!(loser.err.contains("stale info") || loser.err.contains("fetch first"), "{}", loser.err);
    let there = shop.git("ada", &["ls-remote", "origin", "refs/heads/main"]).await;
    assert!(there.starts_with(&shop.git(winner, &["rev-parse", "main"]).await), "{there}");
}

/// A push, as git writes it: of `pack` as the branch `main`.
fn pushing(oid: &str, pack: &[u8]) -> Vec<u8> {
    let line = format!("{} {oid} refs/heads/main\0report-status side-band-64k", "0".repeat(40));
    let mut body = format!("{:04x}{line}0000", line.len() + 4).into_bytes();
    body.extend_from_slice(pack);
    body
}

#[tokio::test]
async fn a_pack_that_is_broken_or_lacks_objects_changes_nothing() {
    let shop = Workshop::new().await;
    shop.begin("ada", 3).await;
    let head = shop.git("ada", &["rev-parse", "main"]).await;
    let shell = |script: String| {
        let output =
            std::process::Command::new("sh").args(["-c", &script]).current_dir(shop.at("ada")).output().unwrap();
        assert!(output.status.success());
        output.stdout
    };
    let whole = shell("git rev-list --objects main | cut -c1-40 | git pack-objects --stdout -q".to_owned());
    let lacking =
        shell("git rev-list --objects main | cut -c1-40 | head -n -2 | git pack-objects --stdout -q".to_owned());
    let mut flipped = whole.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    let client = shop.repos.server.client().with_token(&shop.key);
    let path = format!("/git/{}/web.git/git-receive-pack", shop.repos.org.rsplit('/').next().unwrap());
    let push = async |body: Vec<u8>| {
        client.post(&path).body("application/x-git-receive-pack-request", body).send().await.expect(200).text
    };
    for bad in [&whole[..whole.len() - 30], &flipped, b"PACK", b"not a pack at all", b""] {
        let text = push(pushing(&head, bad)).await;
        assert!(
            text.contains("unpack ") && !text.contains("unpack ok") && text.contains("ng refs/heads/main"),
            "{text}"
        );
    }
    let text = push(pushing(&head, &lacking)).await;
    assert!(text.contains("ng refs/heads/main") && !text.contains("ok refs"), "{text}");
    assert_eq!(shop.git("ada", &["ls-remote", "origin"]).await, "");
    let text = push(pushing(&head, &whole)).await;
    assert!(text.contains("unpack ok") && text.contains("ok refs/heads/main"), "{text}");
    assert_eq!(shop.mirrored("mirror").await, format!("refs/heads/main {head}"));
    for bad in ["", "zzzz", "0004", "0006a", "0001", "0000"] {
        let answer = client.post(&path).body("application/x-git-receive-pack-request", bad).send().await;
        assert_eq!(answer.status, if bad == "0000" { 200 } else { 400 }, "{bad}: {}", answer.text);
    }
}

#[tokio::test]
async fn a_shallow_client_pushes_what_it_made() {
    let shop = Workshop::pushed(4).await;
    shop.git(".", &["clone", "--quiet", "--depth=1", &shop.web(), "shallow"]).await;
    shop.commit("shallow", "more", "more\n").await;
    shop.git("shallow", &["push", "--quiet", "origin", "main"]).await;
    let tip = shop.git("shallow", &["rev-parse", "main"]).await;
    assert_eq!(shop.mirrored("mirror").await, format!("refs/heads/main {tip}"));
    assert_eq!(shop.git("mirror", &["rev-list", "--count", "main"]).await, "5");
    // To another repository, it lacks what it never had.
    shop.repos.make("other", "organization").await;
    let ran = shop.try_git("shallow", &["push", &shop.url("other", &shop.key), "main"]).await;
    assert!(!ran.is_ok, "{ran:?}");
    assert_eq!(shop.git(".", &["ls-remote", &shop.url("other", &shop.key)]).await, "");
}

#[tokio::test]
async fn submodules_with_dangerous_names_are_not_taken() {
    let shop = Workshop::pushed(1).await;
    let before = shop.mirrored("before").await;
    for (text, reason) in [
        ("[submodule \"../../x\"]\n\tpath = x\n\turl = https://example.com/x\n", "gitmodulesName"),
        ("[submodule \"x\"]\n\tpath = x\n\turl = --upload-pack=touch\n", "gitmodulesUrl"),
        ("[submodule \"x\"]\n\tpath = --exec\n\turl = https://example.com/x\n", "gitmodulesPath"),
    ] {
        shop.git("ada", &["checkout", "--quiet", "-B", "hostile", "main"]).await;
        shop.commit("ada", ".gitmodules", text).await;
        let ran = shop.try_git("ada", &["push", "origin", "hostile"]).await;
        assert!(!ran.is_ok && ran.err.contains(reason), "{reason}: {}", ran.err);
    }
    assert_eq!(shop.mirrored("after").await, before);
}

#[tokio::test]
async fn a_client_that_waits_to_be_told_to_go_on_is_told() {
    let shop = Workshop::new().await;
    shop.begin("ada", 1).await;
    let head = shop.tip("main").await;
    let pack = "git rev-list --objects main | cut -c1-40 | git pack-objects --stdout -q";
    let packed = std::process::Command::new("sh").args(["-c", pack]).current_dir(shop.at("ada")).output().unwrap();
    let body = pushing(&head, &packed.stdout);
    let address = shop.repos.server.url.trim_start_matches("http://").to_owned();
    let head = format!(
        "POST /git/{}/web.git/git-receive-pack HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/x-git-receive-pack-request\r\nContent-Length: {}\r\nExpect: 100-continue\r\n\
         Connection: close\r\n\r\n",
        shop.repos.org.rsplit('/').next().unwrap(),
        shop.key,
        body.len()
    );
    let mut wire = tokio::net::TcpStream::connect(&address).await.unwrap();
    wire.write_all(head.as_bytes()).await.unwrap();
    let mut told = [0; 25];
    wire.read_exact(&mut told).await.unwrap();
    assert_eq!(&told, b"HTTP/1.1 100 Continue\r\n\r\n");
    wire.write_all(&body).await.unwrap();
    let mut answer = Vec::new();
    wire.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains("ok refs/heads/main"), "{answer}");
}

#[tokio::test]
async fn nothing_comes_along_that_no_ref_needs() {
    let shop = Workshop::pushed(2).await;
    shop.commit("ada", "next", "next\n").await;
    let shell = |script: &str| {
        let output =
            std::process::Command::new("sh").args(["-c", script]).current_dir(shop.at("ada")).output().unwrap();
        assert!(output.status.success());
        output.stdout
    };
    let (old, new) = (shop.tip("main~1").await, shop.tip("main").await);
    let line = format!("{old} {new} refs/heads/main\0report-status side-band-64k");
    let client = shop.repos.server.client().with_token(&shop.key);
    let path = format!("/git/{}/web.git/git-receive-pack", shop.repos.org.rsplit('/').next().unwrap());
    let push = async |pack: Vec<u8>| {
        let mut body = format!("{:04x}{line}0000", line.len() + 4).into_bytes();
        body.extend_from_slice(&pack);
        client.post(&path).body("application/x-git-receive-pack-request", body).send().await.expect(200).text
    };
    let objects = "git rev-list --objects main~1..main | cut -c1-40";
    let stray = "echo stray | git hash-object -w --stdin";
    let text = push(shell(&format!("({objects}; {stray}) | git pack-objects --stdout -q"))).await;
    assert!(text.contains("ng refs/heads/main The pack has objects that nothing you push needs."), "{text}");
    assert!(shop.git("ada", &["ls-remote", "origin", "main"]).await.starts_with(&old));
    // Nor in the place of as many objects that the repository still has of a branch that is gone.
    shop.git("ada", &["push", "--quiet", "origin", "main:gone"]).await;
    shop.git("ada", &["push", "--quiet", "origin", ":gone"]).await;
    let text = push(shell(&format!("{stray} | git pack-objects --stdout -q"))).await;
    assert!(text.contains("ng refs/heads/main The pack has objects that nothing you push needs."), "{text}");
    // What the repository has already may come once more.
    let known = "git rev-list --objects main~1 | cut -c1-40";
    let text = push(shell(&format!("({objects}; {known}) | git pack-objects --stdout -q"))).await;
    assert!(text.contains("ok refs/heads/main"), "{text}");
    assert_eq!(shop.mirrored("mirror").await.split(' ').next_back().unwrap(), new);
}
