//! What merges come to, against what git itself makes of the same branches in a clone.

use serde_json::json;

use super::Workshop;
use crate::harness::{Dice, number};

/// Lines of each file at the beginning.
const LINES: u64 = 12;

impl Workshop {
    /// The commits that lead to `tip` and not to `base`, oldest first: tree, author, subject.
    async fn told(&self, base: &str, tip: &str) -> String {
        let range = format!("{base}..{tip}");
        self.git("ada", &["log", "--reverse", "--topo-order", "--format=%T %an <%ae> %ad %s", &range]).await
    }
}

#[tokio::test]
async fn a_merge_follows_both_and_says_what_was_merged() {
    let shop = Workshop::forked().await;
    shop.open("feature", "main").await.expect(201);
    let (base, head) = (shop.oid("main").await, shop.oid("feature").await);
    let merged = shop.merge(1, "merge").await.expect(200);
    shop.git("ada", &["fetch", "--quiet", "origin"]).await;
    assert_eq!(shop.oid("origin/main").await, merged.str("/commitId"));
    assert_eq!(shop.oid("origin/main^@").await, format!("{base}\n{head}"));
    shop.git("ada", &["merge", "--quiet", "--no-edit", "feature"]).await;
    assert_eq!(shop.oid("main^{tree}").await, shop.oid("origin/main^{tree}").await);
    let said = shop.git("ada", &["log", "-1", "--format=%B", "origin/main"]).await;
    assert_eq!(said, "Merge pull request #1 from feature\n\nAdd feature");
    let pull = shop.pull(1).await;
    assert_eq!((&pull["mergeCommitId"], &pull["baseCommitId"]), (&merged.json["commitId"], &json!(base)));
    let commits = shop.repos.ada.client.get(&shop.repos.at("web/pulls/1/commits")).send().await.expect(200);
    assert_eq!(commits.list("/commits").len(), 2);
    let pushes = shop.repos.ada.client.get(&shop.repos.at("web/pushes")).send().await.expect(200);
    assert!(pushes.text.contains(merged.str("/commitId")));
    shop.mirrored("mirror").await;
}

#[tokio::test]
async fn a_squashed_commit_names_all_who_wrote_it() {
    let shop = Workshop::forked().await;
    shop.git("ada", &["checkout", "--quiet", "feature"]).await;
    let text = "Third\n\nCo-authored-by: Eve <eve@example.com>\nCo-authored-by: Ada <ada@example.com>";
    let bob = "--author=Bob <bob@example.com>";
    shop.git("ada", &["commit", "--quiet", "--allow-empty", "-m", text, bob]).await;
    shop.git("ada", &["push", "--quiet", "origin", "feature"]).await;
    shop.open("feature", "main").await.expect(201);
    let base = shop.oid("main").await;
    let merged = shop.merge(1, "squash").await.expect(200);
    shop.git("ada", &["fetch", "--quiet", "origin"]).await;
    assert_eq!(shop.oid("origin/main^@").await, base);
    assert_eq!(shop.oid("origin/main").await, merged.str("/commitId"));
    let said = shop.git("ada", &["log", "-1", "--format=%an <%ae>%n%B", "origin/main"]).await;
    let expected = "Ada <ada@example.com>\nAdd feature (#1)\n\nCo-authored-by: Bob <bob@example.com>\n\
                    Co-authored-by: Eve <eve@example.com>";
    assert_eq!(said, expected);
    shop.git("ada", &["checkout", "--quiet", "main"]).await;
    shop.git("ada", &["merge", "--quiet", "--squash", "feature"]).await;
    assert_eq!(shop.git("ada", &["write-tree"]).await, shop.oid("origin/main^{tree}").await);

    shop.git("ada", &["reset", "--quiet", "--hard", "origin/main"]).await;
    shop.git("ada", &["checkout", "--quiet", "-b", "next"]).await;
    shop.commit("ada", "next", "next\n").await;
    shop.git("ada", &["push", "--quiet", "origin", "next"]).await;
    shop.open("next", "main").await.expect(201);
    let body = json!({ "method": "squash", "message": " In my words\n\nAnd more\n" });
    shop.act(2, "merge", body).await.expect(200);
    shop.git("ada", &["fetch", "--quiet", "origin"]).await;
    let said = shop.git("ada", &["log", "-1", "--format=%B", "origin/main"]).await;
    assert_eq!(said, "In my words\n\nAnd more");
}

#[tokio::test]
async fn a_rebased_commit_keeps_its_author_and_what_is_in_place_stays() {
    let shop = Workshop::forked().await;
    shop.open("feature", "main").await.expect(201);
    let base = shop.oid("main").await;
    shop.merge(1, "rebase").await.expect(200);
    shop.git("ada", &["fetch", "--quiet", "origin"]).await;
    shop.git("ada", &["rebase", "--quiet", "main", "feature"]).await;
    assert_eq!(shop.told(&base, "origin/main").await, shop.told(&base, "feature").await);
    let committer = shop.git("ada", &["log", "-1", "--format=%ce", "origin/main"]).await;
    assert!(committer.starts_with("ada@"), "{committer}");
    // On top of the base there is nothing to be made anew.
    shop.git("ada", &["checkout", "--quiet", "-b", "next", "origin/main"]).await;
    shop.commit("ada", "next", "next\n").await;
    shop.git("ada", &["push", "--quiet", "origin", "next"]).await;
    shop.open("next", "main").await.expect(201);
    let merged = shop.merge(2, "rebase").await.expect(200);
    assert_eq!(merged.str("/commitId"), shop.oid("next").await);
    shop.mirrored("mirror").await;
}

#[tokio::test]
async fn a_rebase_makes_only_so_many_commits_anew() {
    let shop = Workshop::forked().await;
    shop.git("ada", &["checkout", "--quiet", "-b", "long", "main~1"]).await;
    let many = "for at in $(seq 99); do git commit --quiet --allow-empty -m \"$at\" || exit 1; done";
    let many = format!("!f() {{ {many}; }}; f");
    shop.git("ada", &["-c", &format!("alias.many={many}"), "many"]).await;
    shop.commit("ada", "end", "end\n").await;
    shop.git("ada", &["push", "--quiet", "origin", "long", "long~1:refs/heads/empty"]).await;
    let number = shop.open("long", "main").await.expect(201).int("/pull/number");
    shop.git("ada", &["commit", "--quiet", "--allow-empty", "-m", "One more"]).await;
    shop.git("ada", &["push", "--quiet", "origin", "long:longer"]).await;
    let longer = shop.open("longer", "main").await.expect(201).int("/pull/number");
    let message = "At most 100 commits of 16 MB can be rebased here. Merge or squash them.";
    shop.merge(longer, "rebase").await.expect_error(409, "too_many_commits", message);
    shop.merge(number, "rebase").await.expect(200);
}

/// Changes something in the folder, at random.
fn change(folder: &std::path::Path, dice: &mut Dice) {
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.is_file());
    files.sort();
    let file = dice.pick(&files).clone();
    match dice.below(10) {
        0 => std::fs::write(folder.join(format!("new-{}", dice.below(20))), format!("{}\n", dice.next())).unwrap(),
        1 if files.len() > 2 => std::fs::remove_file(file).unwrap(),
        2 => std::fs::rename(&file, folder.join(format!("moved-{}", dice.below(20)))).unwrap(),
        _ => {
            let text = std::fs::read_to_string(&file).unwrap();
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let at = usize::try_from(dice.below(lines.len() as u64)).unwrap();
            match dice.below(3) {
                0 => lines.insert(at, format!("line {}", dice.below(5))),
                1 if lines.len() > 1 => drop(lines.remove(at)),
                _ => lines[at] = format!("line {}", dice.below(5)),
            }
            std::fs::write(file, lines.join("\n") + "\n").unwrap();
        }
    }
}

impl Workshop {
    /// A branch of random commits from another one.
    async fn grow(&self, branch: &str, from: &str, dice: &mut Dice) {
        self.git("ada", &["checkout", "--quiet", "-B", branch, from]).await;
        for at in 0..=dice.below(4) {
            change(&self.at("ada"), dice);
            self.git("ada", &["add", "--all"]).await;
            let author = format!("--author=Author {0} <a{0}@example.com>", dice.below(3));
            self.git("ada", &["commit", "--quiet", "--allow-empty", &author, "-m", &format!("{branch} {at}")]).await;
        }
    }

    /// What git makes of the branches; nothing where it can't.
    async fn by_git(&self, method: &str, base: &str, head: &str) -> Option<String> {
        self.git("ada", &["checkout", "--quiet", "-B", "tried", if method == "rebase" { head } else { base }]).await;
        let how: &[&str] = match method {
            "merge" => &["merge", "--quiet", "--no-ff", "--no-edit", head],
            "squash" => &["merge", "--quiet", "--squash", head],
            _ => &["rebase", "--quiet", base],
        };
        if self.try_git("ada", how).await.is_ok {
            if method == "squash" {
                self.git("ada", &["commit", "--quiet", "--allow-empty", "-m", "Squashed"]).await;
            }
            return Some(self.oid("tried").await);
        }
        let back: &[&str] = if method == "rebase" { &["rebase", "--abort"] } else { &["reset", "--quiet", "--hard"] };
        self.git("ada", back).await;
        None
    }
}

#[tokio::test]
async fn random_branches_are_merged_as_git_merges_them() {
    let runs = number("TROUPE_GIT_MERGES", 20);
    let mut dice = Dice::from_environment("TROUPE_GIT_SEED");
    let shop = Workshop::new().await;
    shop.begin("ada", 0).await;
    for file in 0..5 {
        let lines: Vec<String> = (0..LINES).map(|line| format!("{file} {line}\n")).collect();
        shop.commit("ada", &format!("file-{file}"), &lines.concat()).await;
    }
    for at in 0..runs {
        let (base, head) = (format!("base-{at}"), format!("head-{at}"));
        shop.grow(&base, "main", &mut dice).await;
        shop.grow(&head, "main", &mut dice).await;
        if dice.percent(20) {
            // A head that has had a part of the base.
            let ran = shop.try_git("ada", &["merge", "--quiet", "--no-edit", &format!("{base}~1")]).await;
            if !ran.is_ok {
                shop.git("ada", &["reset", "--quiet", "--hard"]).await;
            }
        }
    }
    shop.git("ada", &["push", "--quiet", "origin", "--all"]).await;
    let mut landed = 0;
    for at in 0..runs {
        let (base, head) = (format!("base-{at}"), format!("head-{at}"));
        let method = ["merge", "squash", "rebase"][at % 3];
        let number = shop.open(&head, &base).await.expect(201).int("/pull/number");
        let (merged, by_git) = (shop.merge(number, method).await, shop.by_git(method, &base, &head).await);
        let Some(by_git) = by_git else {
            assert_eq!((merged.status, merged.str("/code")), (409, "conflict"), "{at} {method}: {}", merged.text);
            continue;
        };
        if by_git == shop.oid(&base).await {
            assert_eq!(merged.str("/code"), "nothing_to_merge", "{at} {method}: {}", merged.text);
            continue;
        }
        let merged = merged.expect(200).str("/commitId").to_owned();
        shop.git("ada", &["fetch", "--quiet", "origin"]).await;
        let tree = |oid: &str| format!("{oid}^{{tree}}");
        assert_eq!(shop.oid(&tree(&merged)).await, shop.oid(&tree(&by_git)).await, "{at} {method}");
        if method == "rebase" {
            assert_eq!(shop.told(&base, &merged).await, shop.told(&base, &by_git).await, "{at}");
        } else {
            assert_eq!(shop.oid(&format!("{merged}^@")).await, shop.oid(&format!("{by_git}^@")).await, "{at} {method}");
        }
        landed += 1;
    }
    assert!(landed * 3 >= runs, "{landed} of {runs} could be merged");
    shop.mirrored("mirror").await;
}
