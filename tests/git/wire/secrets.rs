//! Secrets in what is pushed: they are found, refused and noted, and pass where somebody allowed them.
//!
//! None stands here: each is made when the tests run.

mod leaks;
mod without_git;

use std::{collections::BTreeSet, ops::Range, path::Path, time::Duration};

use domain::{
    git::{
        ALLOWED_SECRETS_MAX, AllowanceDraft, Fingerprint, FoundSecret, OPEN_SECRETS_MAX, ObjectId, RepositoryName,
        SecretAllowance, SecretFinding, SecretRule,
    },
    token::{Token, TokenKind},
};
use serde_json::{Value, json};
use store::{Change, git::StoredRepository};

use super::{Ran, Workshop, key};
use crate::harness::{Answer, Dice, number};

const RULES: [&str; 6] =
    ["aws_access_key", "aws_secret_key", "stripe_key", "private_key", "service_token", "github_token"];
/// Secrets of each rule that are planted; `.ci/long git` plants more.
const PLANTED: usize = 3;
/// Lines of a file before one with a secret, in the files of one rule.
const LINES: usize = 4;

const CAPITALS: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
/// The digits of base 62.
const LETTERS: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

fn random(dice: &mut Dice, from: &[u8], len: usize) -> String {
    (0..len).map(|_| char::from(*dice.pick(from))).collect()
}

/// The check-sum of GitHub's tokens.
fn crc32(text: &str) -> u32 {
    let step = |sum: u32| (sum >> 1) ^ if sum & 1 == 1 { 0xedb8_8320 } else { 0 };
    !text.bytes().fold(!0, |sum, byte| (0..8).fold(sum ^ u32::from(byte), |sum, _| step(sum)))
}

fn github_token(dice: &mut Dice) -> String {
    let body = random(dice, LETTERS, 30);
    let sum = u64::from(crc32(&body));
    let digit = |place| char::from(LETTERS[usize::try_from(sum / 62_u64.pow(place) % 62).unwrap()]);
    ["ghp_", &body].into_iter().map(str::to_owned).chain((0..6).rev().map(|place| digit(place).to_string())).collect()
}

fn secret(dice: &mut Dice, rule: &str) -> String {
    match rule {
        "aws_access_key" => format!("id = {}{}", "AKIA", random(dice, CAPITALS, 16)),
        "aws_secret_key" => format!("aws: {}/{}+aZ7", random(dice, LETTERS, 20), random(dice, LETTERS, 15)),
        "stripe_key" => format!("STRIPE={}_live_{}", "sk", random(dice, LETTERS, 24)),
        "private_key" => {
            let kind = format!("{} KEY-----", "PRIVATE");
            let lines: String = (0..4).map(|_| random(dice, LETTERS, 64) + "\n").collect();
            format!("-----BEGIN {kind}\n{lines}-----END {kind}")
        }
        "service_token" => Token::generate(TokenKind::Key).unwrap().reveal().to_owned(),
        "github_token" => github_token(dice),
        other => panic!("{other}"),
    }
}

/// Where a secret was planted: its rule, and its file with the line.
type Place = (String, String);

/// How many secrets of each rule are planted.
fn planted_of_each() -> usize {
    number("TROUPE_GIT_SECRETS", PLANTED)
}

/// A file with a secret: its path, its text, and where in it the secret is.
fn planted_file(below: &str, rule: &str, number: usize, dice: &mut Dice) -> (String, String, Place) {
    let (path, line) = (format!("{below}/{rule}-{number}.txt"), number % LINES + 1);
    let text = format!("{}{}\n", "\n".repeat(line - 1), secret(dice, rule));
    let place = (rule.to_owned(), format!("{path}:{line}"));
    (path, text, place)
}

/// Plants secrets in files below a folder; where.
fn plant(
    folder: &Path,
    below: &str,
    dice: &mut Dice,
    numbers: &(impl Iterator<Item = usize> + Clone),
) -> BTreeSet<Place> {
    let mut places = BTreeSet::new();
    for rule in RULES {
        for number in numbers.clone() {
            let (path, text, place) = planted_file(below, rule, number, dice);
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
            places.insert(place);
        }
    }
    places
}

/// Where a secret was found.
fn place(finding: &Value) -> Place {
    let text = |field: &str| finding[field].as_str().unwrap();
    (text("rule").to_owned(), format!("{}:{}", text("path"), finding["line"]))
}

/// All files below a folder, where there is one.
fn files(folder: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let count = |path: &Path| if path.is_dir() { files(path) } else { 1 };
    entries.map(|entry| count(&entry.unwrap().path())).sum()
}

impl Workshop {
    /// A shop with one commit on `main`, which `web` has, too.
    async fn begun() -> Self {
        let shop = Self::new().await;
        shop.begin("ada", 1).await;
        shop.git("ada", &["push", "--quiet", "origin", "main"]).await;
        shop
    }

    async fn commit_all(&self, message: &str) -> String {
        self.git("ada", &["add", "--all"]).await;
        self.git("ada", &["commit", "--quiet", "-m", message]).await;
        self.git("ada", &["rev-parse", "HEAD"]).await
    }

    /// Commits a key of Stripe's in a file.
    async fn leak(&self, file: &str, dice: &mut Dice) -> String {
        std::fs::write(self.at("ada").join(file), secret(dice, "stripe_key")).unwrap();
        self.commit_all(file).await
    }

    async fn push_with(&self, arguments: &[&str]) -> Ran {
        self.try_git("ada", &[&["push"], arguments, &["origin", "main"]].concat()).await
    }

    /// Pushes `main`, which is refused for secrets; what git says of it.
    async fn leaks(&self, arguments: &[&str]) -> String {
        let ran = self.push_with(arguments).await;
        assert!(!ran.is_ok && ran.err.contains("(secret found: "), "{}", ran.err);
        ran.err
    }

    async fn findings(&self, query: &str) -> Vec<Value> {
        let path = self.repos.at(&format!("web/secret-findings{query}"));
        self.repos.ada.client.get(&path).send().await.expect(200).list("/findings").to_vec()
    }

    /// The fingerprint of the only secret that is open.
    async fn fingerprint(&self) -> String {
        let found = self.findings("").await;
        assert_eq!(found.len(), 1, "{found:?}");
        found[0]["fingerprint"].as_str().unwrap().to_owned()
    }

    /// What the store has of `web`.
    pub(super) async fn stored(&self) -> StoredRepository {
        let (store, org_id) = (self.repos.server.store().await, self.repos.org.rsplit('/').next().unwrap());
        let name = RepositoryName::parse("name", "web").unwrap();
        store.repository_named(org_id.parse().unwrap(), &name).await.unwrap().unwrap()
    }

    async fn allow(&self, fingerprint: &str, body: Value) -> Answer {
        let path = self.repos.at(&format!("web/secret-findings/{fingerprint}/allow"));
        self.repos.ada.client.post(&path).json(&body).send().await
    }

    async fn withdraw(&self, fingerprint: &str) -> Answer {
        self.repos.ada.client.delete(&self.repos.at(&format!("web/secret-findings/{fingerprint}/allow"))).send().await
    }
}

#[tokio::test]
async fn secrets_of_every_rule_are_refused_in_commits_in_the_middle_renamed_files_and_merges() {
    let count = planted_of_each();
    let (shop, mut dice) = (Workshop::begun().await, Dice::from_environment("TROUPE_SECRETS_SEED"));
    let folder = shop.at("ada");
    let mut planted = plant(&folder, "middle", &mut dice, &(0..count).step_by(3));
    let middle = shop.commit_all("Plant").await;
    shop.git("ada", &["rm", "-r", "--quiet", "middle"]).await;
    shop.commit_all("Take out").await;
    let renamed = plant(&folder, "renamed", &mut dice, &(1..count).step_by(3));
    planted.extend(renamed);
    std::fs::rename(folder.join("renamed"), folder.join("before")).unwrap();
    shop.commit_all("Plant under another name").await;
    shop.git("ada", &["mv", "before", "renamed"]).await;
    shop.commit_all("Rename").await;
    shop.git("ada", &["checkout", "--quiet", "-b", "side", "main~1"]).await;
    shop.commit("ada", "beside", "nothing\n").await;
    shop.git("ada", &["checkout", "--quiet", "main"]).await;
    shop.git("ada", &["merge", "--quiet", "--no-commit", "--no-ff", "side"]).await;
    planted.extend(plant(&folder, "merged", &mut dice, &(2..count).step_by(3)));
    let merge = shop.commit_all("Merge").await;
    shop.commit("ada", "behind", "nothing\n").await;

    let said = shop.leaks(&[]).await;
    let found = shop.findings("?limit=100").await;
    let text = |finding: &Value, field: &str| finding[field].as_str().unwrap().to_owned();
    assert_eq!(found.iter().map(place).collect::<BTreeSet<_>>(), planted);
    let shown = found.iter().filter(|finding| {
        let (rule, place) = place(finding);
        let fingerprint = text(finding, "fingerprint");
        said.contains(&format!("{place} {} (", text(finding, "label")))
            && said.contains(&format!("{rule} {fingerprint}"))
    });
    assert_eq!(shown.count(), planted.len().min(50), "{said}");
    for finding in &found {
        assert_eq!((&finding["state"], &finding["pushedBy"]), (&json!("open"), &json!(shop.repos.ada.user_id)));
        let commit = &finding["commit"];
        match text(finding, "path").split_once('/').unwrap().0 {
            "middle" => assert_eq!(*commit, middle),
            "merged" => assert_eq!(*commit, merge),
            _ => assert!(commit.is_string()),
        }
    }
}

#[tokio::test]
async fn a_secret_of_each_rule_refuses_a_push_by_itself() {
    let (shop, mut dice) = (Workshop::begun().await, Dice::from_environment("TROUPE_SECRETS_SEED"));
    for rule in RULES {
        shop.git("ada", &["checkout", "--quiet", "-B", "leak", "main"]).await;
        let planted = plant(&shop.at("ada"), "a folder", &mut dice, &(2..3));
        for (other, _) in planted.iter().filter(|(planted, _)| planted != rule) {
            std::fs::remove_file(shop.at("ada").join(format!("a folder/{other}-2.txt"))).unwrap();
        }
        shop.commit_all(rule).await;
        let ran = shop.try_git("ada", &["push", "origin", "leak"]).await;
        assert!(!ran.is_ok && ran.err.contains(&format!("a folder/{rule}-2.txt:3")), "{rule}: {}", ran.err);
    }
    assert_eq!(shop.git("ada", &["ls-remote", "--heads", "origin"]).await.lines().count(), 1);
}

#[tokio::test]
async fn of_a_refused_push_nothing_is_kept_but_what_was_found() {
    let (shop, mut dice) = (Workshop::new().await, Dice::from_environment("TROUPE_SECRETS_SEED"));
    shop.begin("ada", 1).await;
    // What is larger than this is a file of its own.
    shop.commit("ada", "noise", &random(&mut dice, LETTERS, 200_000)).await;
    let leak = shop.leak("leak", &mut dice).await;
    let ran = shop.try_git("ada", &["push", "origin", "main~1:refs/tags/harmless", "main"]).await;
    assert!(!ran.is_ok && ran.err.matches("(secret found: Stripe live key in leak:1)").count() == 2, "{}", ran.err);

    let (store, stored) = (shop.repos.server.store().await, shop.stored().await);
    assert_eq!((store.repository_packs(stored.no).await.unwrap().len(), stored.size, stored.refs_version), (0, 0, 0));
    let folder = shop.repos.server.folder();
    let quarantine = folder.join("git/quarantine");
    shop.repos.server.eventually("the end of a quarantine", async || (files(&quarantine) == 0).then_some(())).await;
    assert_eq!(files(&folder.join("blobs/contents")), 0);
    shop.git(".", &["init", "--quiet", "bob"]).await;
    let ran = shop.try_git("bob", &["fetch", &shop.web(), &leak]).await;
    assert!(!ran.is_ok, "{ran:?}");

    let pushes = shop.repos.ada.client.get(&shop.repos.at("web/pushes?verdict=refused")).send().await.expect(200);
    let refs = pushes.list("/pushes/0/refs");
    assert_eq!(refs.len(), 2);
    assert!(refs.iter().all(|it| it["reason"] == "secret found: Stripe live key in leak:1"), "{refs:?}");
    // With what is kept, the files are there that were missing before.
    shop.git("ada", &["push", "--quiet", "origin", "main~1:refs/heads/main"]).await;
    assert_ne!(files(&folder.join("blobs/contents")), 0);
}

#[tokio::test]
async fn an_option_of_the_push_allows_a_secret_for_the_repository() {
    let (shop, mut dice) = (Workshop::begun().await, Dice::from_environment("TROUPE_SECRETS_SEED"));
    shop.leak("one", &mut dice).await;
    shop.leak("two", &mut dice).await;
    let said = shop.leaks(&[]).await;
    let found = shop.findings("").await;
    // All of them stand in one command.
    let printed = said.lines().find_map(|line| line.strip_prefix("remote:   git push ")).expect("a command");
    let fingerprints = |it: &Value| it["fingerprint"].as_str().unwrap().to_owned();
    let (option, named) = printed.split_once(" secret.allow=").expect("an option");
    let named: BTreeSet<_> = named.trim_end().split(',').map(str::to_owned).collect();
    assert_eq!(option, "-o");
    assert_eq!(named, found.iter().map(fingerprints).collect::<BTreeSet<_>>());
    let [one, two] = ["one", "two"].map(|path| {
        let finding = found.iter().find(|finding| finding["path"] == path).unwrap();
        format!("secret.allow={}", finding["fingerprint"].as_str().unwrap())
    });
    // One of them isn't enough, and what isn't understood allows nothing.
    let said = shop.leaks(&["-o", &one, "-o", "secret.allow=all", "-o", "ci.skip"]).await;
    assert!(!said.contains("one:1") && said.contains("two:1"), "{said}");
    assert_eq!((shop.findings("").await.len(), shop.findings("?state=allowed").await.len()), (2, 0));
    let ran = shop.push_with(&["-o", &one, "-o", &two]).await;
    assert!(ran.is_ok, "{}", ran.err);
    let allowed = shop.findings("?state=allowed").await;
    assert_eq!((shop.findings("").await.len(), allowed.len()), (0, 2));
    assert_eq!((&allowed[0]["reason"], &allowed[0]["allowedBy"]), (&json!("accepted"), &json!(shop.repos.ada.user_id)));
    assert_eq!(shop.repos.audited("secret_finding.").await, ["secret_finding.allowed"; 2]);
    // The same file elsewhere, in another history.
    shop.git("ada", &["checkout", "--quiet", "--orphan", "other"]).await;
    shop.git("ada", &["mv", "one", "elsewhere"]).await;
    shop.commit_all("Elsewhere").await;
    shop.git("ada", &["push", "--quiet", "origin", "other"]).await;
    assert_eq!(shop.repos.audited("secret_finding.").await.len(), 2);
}

#[tokio::test]
async fn what_is_allowed_passes_until_that_is_withdrawn() {
    let (shop, mut dice) = (Workshop::begun().await, Dice::from_environment("TROUPE_SECRETS_SEED"));
    let leak = shop.leak("leak", &mut dice).await;
    shop.leaks(&[]).await;
    let fingerprint = shop.fingerprint().await;
    let answer = shop.withdraw(&fingerprint).await;
    answer.expect_error(409, "secret_not_allowed", "This secret isn't allowed.");
    let allowed = shop.allow(&fingerprint, json!({ "reason": "test", "note": " The sandbox's " })).await.expect(200);
    let finding = &allowed.json["finding"];
    assert_eq!((&finding["state"], &finding["reason"]), (&json!("allowed"), &json!("test")));
    assert_eq!((&finding["note"], &finding["commit"]), (&json!("The sandbox's"), &json!(leak)));
    assert_eq!(shop.findings("?state=allowed").await, std::slice::from_ref(finding));
    // Allowing it once more for the same reason is nothing new.
    let again = shop.allow(&fingerprint, json!({ "reason": "test", "note": "The sandbox's" })).await.expect(200);
    assert_eq!(again.json, allowed.json);
    shop.allow(&fingerprint, json!({ "reason": "false_positive" })).await.expect(200);
    shop.git("ada", &["push", "--quiet", "origin", "main"]).await;

    shop.withdraw(&fingerprint).await.expect(204);
    assert_eq!(shop.fingerprint().await, fingerprint);
    let audited = ["secret_finding.allowed", "secret_finding.allowed", "secret_finding.withdrawn"];
    assert_eq!(shop.repos.audited("secret_finding.").await, audited);
    // What the repository has stops nothing, wherever it is pushed to, and nothing that is deleted is scanned.
    shop.commit("ada", "harmless", "nothing\n").await;
    shop.git("ada", &["push", "--quiet", "origin", "main", "main~1:refs/heads/side", "main~1:refs/tags/v1"]).await;
    shop.git("ada", &["push", "--quiet", "origin", "--delete", "side", "v1"]).await;
    // Where it comes anew it is refused.
    let text = std::fs::read_to_string(shop.at("ada").join("leak")).unwrap();
    shop.commit("ada", "copy", &format!("\n{text}")).await;
    let said = shop.leaks(&["-o", "secret.allow"]).await;
    assert!(said.contains("copy:2") && said.contains(&fingerprint), "{said}");
    assert_eq!(shop.findings("").await[0]["path"], "copy");
}

#[tokio::test]
async fn where_the_repository_says_so_only_its_administrators_allow_secrets() {
    let (shop, mut dice) = (Workshop::begun().await, Dice::from_environment("TROUPE_SECRETS_SEED"));
    let client = &shop.repos.ada.client;
    let changed = async |by: &str| {
        client.patch(&shop.repos.at("web")).json(&json!({ "secretScan": { "allowBy": by } })).send().await
    };
    assert_eq!(client.get(&shop.repos.at("web")).send().await.str("/repository/secretScan/allowBy"), "write");
    changed("read").await.expect_problems(&["secretScan.allowBy"]);
    assert_eq!(changed("admin").await.expect(200).str("/repository/secretScan/allowBy"), "admin");

    shop.leak("leak", &mut dice).await;
    let said = shop.leaks(&[]).await;
    assert!(said.contains("this needs admin access to the repository"), "{said}");
    let fingerprint = shop.fingerprint().await;
    let option = format!("secret.allow={fingerprint}");
    // The key of the shop writes, whoever made it.
    shop.leaks(&["-o", &option]).await;
    let path = shop.repos.at(&format!("web/secret-findings/{fingerprint}/allow"));
    let writer = client.with_token(&shop.key);
    let refusal = "This needs admin access to the repository.";
    let answer = writer.post(&path).json(&json!({ "reason": "test" })).send().await;
    answer.expect_error(403, "repository_access", refusal);
    assert!(shop.findings("?state=allowed").await.is_empty());
    let admin = key(&shop.repos, client, &["git:read", "git:write", "git:admin"]).await;
    let ran = shop.try_git("ada", &["push", "-o", &option, &shop.url("web", &admin), "main"]).await;
    assert!(ran.is_ok, "{}", ran.err);
    writer.delete(&path).send().await.expect_error(403, "repository_access", refusal);
    changed("write").await.expect(200);
    writer.delete(&path).send().await.expect(204);
}

#[tokio::test]
async fn allowing_is_checked_and_what_nobody_found_is_not_allowed() {
    let (shop, mut dice) = (Workshop::begun().await, Dice::from_environment("TROUPE_SECRETS_SEED"));
    let unknown = "5f2b8c1d9e0a4b7c8d6e3f1a2b4c5d6e";
    let not_found = "Secret finding not found";
    shop.allow(unknown, json!({ "reason": "test" })).await.expect_error(404, "not_found", not_found);
    shop.withdraw(unknown).await.expect_error(404, "not_found", not_found);
    shop.allow("not-a-fingerprint", json!({ "reason": "test" })).await.expect_error(404, "not_found", not_found);
    shop.leak("leak", &mut dice).await;
    shop.leaks(&[]).await;
    let fingerprint = shop.fingerprint().await;
    shop.allow(&fingerprint, json!({ "reason": "why not" })).await.expect_problems(&["reason"]);
    let long = json!({ "reason": "", "note": "a".repeat(501) });
    shop.allow(&fingerprint, long).await.expect_problems(&["note", "reason"]);
    shop.allow(&fingerprint, json!({ "reason": "accepted", "note": "a".repeat(500) })).await.expect(200);
    // Another repository's secret is another one.
    shop.repos.make("other", "organization").await;
    let other = shop.repos.at(&format!("other/secret-findings/{fingerprint}/allow"));
    let answer = shop.repos.ada.client.post(&other).json(&json!({ "reason": "test" })).send().await;
    answer.expect_error(404, "not_found", not_found);
    shop.repos.ada.client.delete(&shop.repos.at("web")).send().await.expect(202);
    let deleted = "This repository is deleted. Restore it first.";
    shop.withdraw(&fingerprint).await.expect_error(409, "repository_deleted", deleted);
}

#[tokio::test]
async fn secrets_are_listed_by_state_in_pages() {
    let (shop, mut dice) = (Workshop::begun().await, Dice::from_environment("TROUPE_SECRETS_SEED"));
    for file in ["one", "two", "three"] {
        shop.leak(file, &mut dice).await;
        shop.leaks(&[]).await;
        shop.repos.server.clock.advance(Duration::from_millis(1));
    }
    let (client, path) = (&shop.repos.ada.client, shop.repos.at("web/secret-findings"));
    let mut listed = Vec::new();
    let mut query = "?limit=1".to_owned();
    loop {
        let page = client.get(&format!("{path}{query}")).send().await.expect(200);
        listed.extend(page.list("/findings").iter().map(|finding| finding["path"].as_str().unwrap().to_owned()));
        let Some(cursor) = page.json["cursor"].as_str() else { break };
        query = format!("?limit=1&cursor={cursor}");
    }
    assert_eq!(listed, ["three", "two", "one"]);
    let found = shop.findings("").await;
    let times = |finding: &Value| (finding["firstSeenAt"].as_i64().unwrap(), finding["lastSeenAt"].as_i64().unwrap());
    assert_eq!(times(&found[2]).1 - times(&found[2]).0, 2);
    client.get(&format!("{path}?state=gone")).send().await.expect_problems(&["state"]);
    let elsewhere = query.replace("limit=1", "state=allowed");
    client.get(&format!("{path}{elsewhere}")).send().await.expect_error(400, "invalid_cursor", "Invalid cursor");
}

/// A secret that was found, apart from all others.
fn numbered(number: usize) -> SecretFinding {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&number.to_be_bytes());
    let (rule, preview) = (SecretRule::StripeKey, "…".to_owned());
    let secret = FoundSecret { rule, line: 1, fingerprint: Fingerprint::of_bytes(bytes), preview };
    SecretFinding { secret, path: None, blob: ObjectId::of_bytes([1; 20]), commit: None }
}

#[tokio::test]
async fn a_repository_knows_of_so_many_secrets() {
    let shop = Workshop::new().await;
    let (store, stored, by) =
        (shop.repos.server.store().await, shop.stored().await, shop.repos.ada.user_id.parse().unwrap());
    let most = usize::try_from(OPEN_SECRETS_MAX).unwrap();
    let half = most / 2;
    let found = async |numbers: Range<usize>| {
        let findings: Vec<_> = numbers.map(numbered).collect();
        let mut change = Change::new();
        change.secrets_found(stored.no, by, store.now(), &findings);
        store.commit(change).await.unwrap();
        shop.repos.server.clock.advance(Duration::from_millis(1));
    };
    let is_known = async |number: usize| {
        let fingerprint = numbered(number).secret.fingerprint;
        store.secret_finding(stored.no, fingerprint).await.unwrap().is_some()
    };
    found(0..half).await;
    found(half..most).await;
    assert!(is_known(0).await);
    // Those that were found at once go at once.
    found(most..most + half).await;
    assert!(!is_known(0).await && !is_known(half - 1).await && is_known(half).await);

    let allowance = SecretAllowance { draft: AllowanceDraft::by_push(), by, at: store.now() };
    let last = half + ALLOWED_SECRETS_MAX - 1;
    let mut change = Change::new();
    for number in half..last {
        change.secret_allow(stored.no, numbered(number).secret.fingerprint, &allowance);
    }
    store.commit(change).await.unwrap();
    let fingerprint = |number| numbered(number).secret.fingerprint.to_string();
    found(last + 1..last + 2).await;
    shop.allow(&fingerprint(last), json!({ "reason": "test" })).await.expect(200);
    let refused = shop.allow(&fingerprint(last + 1), json!({ "reason": "test" })).await;
    refused.expect_error(400, "limit_reached", "A repository has at most 10000 allowed secrets.");
    // What is allowed can still be given another reason.
    shop.allow(&fingerprint(last), json!({ "reason": "accepted" })).await.expect(200);
    shop.withdraw(&fingerprint(half)).await.expect(204);
    shop.allow(&fingerprint(last + 1), json!({ "reason": "test" })).await.expect(200);
}
