//! Faults in a server of this process.

use serde_json::json;

use crate::harness::{Answer, Client, Server};

/// A server, and the owner of an organization with their path to its pages.
struct Scene {
    server: Server,
    ada: Client,
    org_id: String,
}

impl Scene {
    async fn open() -> Self {
        let server = Server::start().await;
        let ada = server.person("ada").await.client;
        let org_id = ada.org("Acme").await;
        Self { server, ada, org_id }
    }

    fn faults(&self, rules: &str) {
        self.server.faults.set(rules).expect("rules");
    }

    async fn create(&self, title: &str) -> Answer {
        let body = json!({ "parentId": "root", "title": title, "kind": "doc" });
        let path = format!("/v1/orgs/{}/pages", self.org_id);
        let answer = self.ada.post(&path).json(&body).send().await;
        // So that no pause after a crash is waited for.
        self.server.clock.advance(std::time::Duration::from_secs(20));
        answer
    }

    async fn titles(&self) -> Vec<String> {
        let answer = self.ada.get(&format!("/v1/orgs/{}/pages", self.org_id)).send().await.expect(200);
        answer.list("/pages").iter().map(|page| page["title"].as_str().unwrap().to_owned()).collect()
    }
}

#[tokio::test]
async fn a_handler_that_panics_hurts_one_command_and_no_other_server() {
    let (scene, other) = (Scene::open().await, Scene::open().await);
    scene.faults("handler:page_tree/create_page=panic;times=1");
    other.create("Elsewhere").await.expect(201);
    scene.create("Lost").await.expect_error(500, "internal", "Something went wrong on the server.");
    scene.create("Made").await.expect(201);
    assert_eq!(scene.titles().await, ["Made"]);
    assert_eq!((scene.server.faults.happened(), other.server.faults.happened()), (1, 0));
}

#[tokio::test]
async fn a_fault_of_one_key_leaves_the_others_alone() {
    let scene = Scene::open().await;
    let elsewhere = scene.ada.org("Elsewhere").await;
    scene.faults(&format!("handler:page_tree@{}=panic", scene.org_id));
    scene.create("Lost").await.expect(500);
    let body = json!({ "parentId": "root", "title": "Made", "kind": "doc" });
    scene.ada.post(&format!("/v1/orgs/{elsewhere}/pages")).json(&body).send().await.expect(201);
}

#[tokio::test]
async fn a_load_that_fails_hurts_one_command() {
    let scene = Scene::open().await;
    scene.faults("load:page_tree=fail;times=1");
    scene.create("Lost").await.expect(500);
    scene.faults("load:page_tree=away;times=1");
    let answer = scene.create("Lost too").await.expect(503);
    assert!(answer.header("retry-after").is_some());
    scene.faults("load:page_tree=panic;times=1");
    scene.create("Lost as well").await.expect(500);
    scene.create("Made").await.expect(201);
    assert_eq!(scene.titles().await, ["Made"]);
}

#[tokio::test]
async fn a_commit_that_was_not_made_leaves_no_trace() {
    let scene = Scene::open().await;
    scene.create("Made").await.expect(201);
    for (fault, status) in [("fail", 500), ("away", 503)] {
        scene.faults(&format!("commit:page_tree={fault};times=1"));
        scene.create("Lost").await.expect(status);
        assert_eq!(scene.titles().await, ["Made"]);
    }
    scene.create("Made too").await.expect(201);
    assert_eq!(scene.titles().await.len(), 2);
}

#[tokio::test]
async fn a_commit_whose_outcome_nobody_hears_was_made_once() {
    let scene = Scene::open().await;
    for (number, (fault, status)) in [("lose", 503), ("panic", 500)].into_iter().enumerate() {
        scene.faults(&format!("commit:page_tree={fault};times=1"));
        scene.create("Made").await.expect(status);
        assert_eq!(scene.titles().await.len(), number + 1);
    }
    scene.create("Made").await.expect(201);
    assert_eq!(scene.titles().await.len(), 3);
}
