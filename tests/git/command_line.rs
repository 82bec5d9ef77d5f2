//! The program on somebody's own machine: `troupe login`, `troupe git setup`, and what git is told
//! (`docs/decisions/git.md`).

mod machine;
mod sign_in;
mod terminal;
mod tls;

use std::time::Duration;

use serde_json::json;

use self::machine::Machine;
use super::Repos;
use crate::{accounts::App, harness::Person};

/// Ada's account with a second factor, her sign-in on a machine, and a repository.
struct AtHome {
    repos: Repos,
    app: App,
    machine: Machine,
    /// The organization's slug.
    slug: String,
}

impl AtHome {
    async fn new() -> Self {
        let repos = Repos::new().await;
        repos.make("web", "organization").await;
        let app = App::enrol(&repos.server, &repos.ada).await;
        let machine = Machine::new(&repos.server.url);
        let org = repos.ada.client.get(&repos.org).send().await.expect(200);
        let home = Self { slug: org.str("/org/slug").to_owned(), app, machine, repos };
        home.login();
        home
    }

    /// Signs in, with the next code.
    fn login(&self) {
        self.repos.server.clock.advance(Duration::from_secs(30));
        let code = self.app.code(&self.repos.server);
        self.machine.login(&self.repos.ada, Some(&code)).expect_success();
    }

    fn org_id(&self) -> &str {
        self.repos.org.rsplit('/').next().unwrap()
    }

    /// What git is told of the repository.
    fn filled(&self) -> Option<String> {
        self.machine.fill(&format!("git/{}/web.git", self.slug))
    }

    /// The status with which a key reads the repository.
    async fn status(&self, key: &str) -> u16 {
        self.repos.ada.client.with_token(key).get(&self.repos.at("web")).send().await.status
    }
}

#[tokio::test]
async fn git_is_given_a_key_that_opens_the_repositories() {
    let home = AtHome::new().await;
    let set_up = home.machine.troupe(&["git", "setup"], "").expect_success();
    assert!(set_up.output.contains("for 90 days"), "{}", set_up.output);
    let key = home.filled().unwrap();
    assert_eq!(home.status(&key).await, 200);
    assert!(!set_up.output.contains(&key), "{}", set_up.output);
    for path in [format!("git/{}/web", home.org_id()), format!("git/{}/web.git/info/lfs", home.slug)] {
        assert_eq!(home.machine.fill(&path).unwrap(), key, "{path}");
    }
    for path in ["git/another/web.git", "v1/orgs", ""] {
        assert_eq!(home.machine.fill(path), None, "{path}");
    }
    let keys = home.repos.ada.client.get(&format!("{}/keys", home.repos.org)).send().await.expect(200);
    assert_eq!(keys.list("/keys").len(), 1, "{}", keys.text);
}

#[tokio::test]
async fn setting_up_again_replaces_the_key_and_doubles_no_line() {
    let home = AtHome::new().await;
    home.machine.troupe(&["git", "setup", &format!("{}/docs/", home.machine.url)], "").expect_success();
    let (first, lines) = (home.filled().unwrap(), home.machine.git_lines());
    assert_eq!(lines.iter().filter(|line| line.contains("helper=")).count(), 2, "{lines:?}");
    assert_eq!(lines.iter().filter(|line| line.contains("usehttppath=true")).count(), 1, "{lines:?}");
    let (one, other) = (home.machine.begin(&["git", "setup"]), home.machine.begin(&["git", "setup"]));
    one.finish("").expect_success();
    other.finish("").expect_success();
    let second = home.filled().unwrap();
    assert_ne!(first, second);
    assert_eq!((home.status(&first).await, home.status(&second).await), (401, 200));
    assert_eq!(home.machine.git_lines(), lines);
}

#[tokio::test]
async fn other_helpers_are_neither_asked_nor_told_for_this_server_and_serve_others() {
    let home = AtHome::new().await;
    let kept = home.machine.folder().join("others");
    let helper = format!("store --file={}", kept.display());
    home.machine.git(&["config", "--global", "credential.helper", &helper], "").expect_success();
    home.machine.troupe(&["git", "setup"], "").expect_success();
    let key = home.filled().unwrap();
    let approved = home.machine.question(&format!("git/{}/web.git", home.slug));
    home.machine
        .git(&["credential", "approve"], &format!("{approved}username=troupe\npassword={key}\n"))
        .expect_success();
    assert!(!kept.exists());
    let elsewhere = "protocol=https\nhost=git.example.com\nusername=ada\npassword=1234\n";
    home.machine.git(&["credential", "approve"], elsewhere).expect_success();
    assert!(kept.exists());
}

#[tokio::test]
async fn the_second_factor_is_asked_for_when_it_is_not_fresh() {
    let home = AtHome::new().await;
    home.repos.server.clock.advance(Duration::from_mins(10));
    let nobody = home.machine.alone(&["git", "setup"], "").expect_failure();
    assert!(nobody.output.contains("--otp-stdin"), "{}", nobody.output);
    let wrong = format!("{}\n", home.app.wrong_code(&home.repos.server));
    let refused = home.machine.troupe(&["git", "setup", "--otp-stdin"], &wrong).expect_failure();
    assert_eq!(refused.output, "troupe: That code is wrong.\n");
    assert_eq!(home.filled(), None);
    let code = format!(" {}\r\n", home.app.code(&home.repos.server));
    home.machine.troupe(&["git", "setup", "--otp-stdin"], &code).expect_success();
    assert!(home.filled().is_some());
}

#[tokio::test]
async fn whoever_has_no_second_factor_is_told_how_to_get_one() {
    let repos = Repos::new().await;
    let machine = Machine::new(&repos.server.url);
    machine.login(&repos.ada, None).expect_success();
    let told = machine.troupe(&["git", "setup"], "").expect_failure();
    for words in ["POST /v1/me/otp", &format!("{}/docs", machine.url)] {
        assert!(told.output.contains(words), "{}", told.output);
    }
    assert_eq!(machine.git_lines(), [""; 0]);
}

#[tokio::test]
async fn keys_are_made_for_the_organizations_that_were_asked_for() {
    let home = AtHome::new().await;
    let umbrella = json!({ "name": "Umbrella", "slug": "umbrella" });
    home.repos.ada.client.post("/v1/orgs").json(&umbrella).send().await.expect(201);
    let refused = home.machine.troupe(&["git", "setup", "--org", "umbrella", "--org", "initech"], "").expect_failure();
    assert!(
        refused.output.starts_with("troupe: You have no part in initech. Your organizations: "),
        "{}",
        refused.output
    );
    home.machine.troupe(&["git", "setup", "--org", "umbrella"], "").expect_success();
    assert_eq!((home.filled(), home.machine.fill("git/umbrella/web").is_some()), (None, true));
    home.machine.troupe(&["git", "setup", "--org", home.org_id()], "").expect_success();
    assert!(home.filled().is_some() && home.machine.fill("git/umbrella/web").is_some());
    let renamed = json!({ "slug": "parasol" });
    home.repos.ada.client.patch(&home.repos.org).json(&renamed).send().await.expect(200);
    home.machine.troupe(&["git", "setup", "--org", "umbrella"], "").expect_success();
    assert!(home.machine.fill("git/parasol/web").is_some());
    assert_eq!(home.filled(), None, "the organization goes by another slug");
}

#[tokio::test]
async fn an_organization_that_makes_no_key_is_named_and_the_others_are_set_up() {
    let home = AtHome::new().await;
    let full = json!({ "name": "Full", "slug": "full" });
    let made = home.repos.ada.client.post("/v1/orgs").json(&full).send().await.expect(201);
    let cli = home.repos.ada.client.with_token(home.machine.token().as_str().unwrap());
    let keys = format!("/v1/orgs/{}/git-credentials", made.str("/org/orgId"));
    for number in 0..20 {
        let body = json!({ "machineId": format!("machine-number-{number:02}"), "machine": "m" });
        cli.post(&keys).json(&body).send().await.expect(201);
    }
    let set_up = home.machine.troupe(&["git", "setup"], "").expect_failure();
    let refusal = "troupe: No key was made for full: One person has keys for at most 20 machines.\n";
    assert!(set_up.output.ends_with(refusal), "{}", set_up.output);
    assert!(home.filled().is_some());
    assert_eq!(home.machine.fill("git/full/web"), None);
}

#[tokio::test]
async fn a_key_that_the_server_refused_is_forgotten_and_no_other() {
    let home = AtHome::new().await;
    home.machine.troupe(&["git", "setup"], "").expect_success();
    let key = home.filled().unwrap();
    let question = home.machine.question(&format!("git/{}/web.git", home.slug));
    let reject = |password: &str| {
        let refused = format!("{question}username=troupe\n{password}");
        home.machine.git(&["credential", "reject"], &refused).expect_success()
    };
    for other in ["", "password=\n", "password=trp_k_another\n", &format!("password={key}x\n")] {
        reject(other);
        assert_eq!(home.filled().as_ref(), Some(&key), "{other:?}");
    }
    let told = reject(&format!("password={key}\n"));
    assert!(told.output.contains("Run `troupe git setup http://"), "{}", told.output);
    assert!(!told.output.contains(&key), "{}", told.output);
    assert_eq!(home.filled(), None);
    assert!(!home.machine.kept().to_string().contains(&key));
}

#[tokio::test]
async fn signing_out_ends_the_sign_in_and_the_keys() {
    let home = AtHome::new().await;
    home.machine.troupe(&["git", "setup"], "").expect_success();
    let (key, token) = (home.filled().unwrap(), home.machine.token());
    home.machine.troupe(&["logout"], "").expect_success();
    assert_eq!(home.status(&key).await, 401);
    let cli = home.repos.ada.client.with_token(token.as_str().unwrap());
    cli.get("/v1/me").send().await.expect(401);
    assert_eq!(home.filled(), None);
    assert_eq!(home.machine.kept()["servers"], json!({}));
    let again = home.machine.troupe(&["logout"], "").expect_failure();
    assert!(again.output.starts_with("troupe: You are not signed in anywhere."), "{}", again.output);
    home.machine.troupe(&["git", "setup", &home.machine.url], "").expect_failure();
}

#[tokio::test]
async fn signing_in_again_keeps_the_keys_and_somebody_else_does_not_get_them() {
    let home = AtHome::new().await;
    home.machine.troupe(&["git", "setup"], "").expect_success();
    let (key, first) = (home.filled().unwrap(), home.machine.token());
    home.login();
    assert_eq!((home.filled().as_ref(), home.status(&key).await), (Some(&key), 200));
    let earlier = home.repos.ada.client.with_token(first.as_str().unwrap());
    earlier.get("/v1/me").send().await.expect(401);
    let eve: Person = home.repos.server.person("eve").await;
    home.machine.login(&eve, None).expect_success();
    assert_eq!(home.filled(), None);
    assert_eq!(home.status(&key).await, 401);
}
