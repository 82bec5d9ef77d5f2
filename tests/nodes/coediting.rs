//! One page, edited together on one node and written from outside on the other.

use std::collections::BTreeSet;

use serde_json::json;

use super::Pair;
use crate::harness::{Client, Coeditor};

const ROUNDS: usize = 12;
/// How often the page's content is looked for in the end, and how long between.
const LOOKS: u32 = 3_000;
const BETWEEN_LOOKS: std::time::Duration = std::time::Duration::from_millis(20);

/// The page, as its outsider on the left node and its editor on the right one know it.
struct Scene {
    outsider: Client,
    editor: Client,
    org: String,
    page: String,
    /// Lines that somebody was told are kept.
    kept: BTreeSet<String>,
}

impl Scene {
    async fn open(pair: &Pair) -> Self {
        let [left, right] = pair.clients();
        let email = left.register("ada").await;
        let outsider = left.sign_in(&email, "account", "web").await;
        let org = outsider.org("Acme").await;
        let path = format!("/v1/orgs/{org}/pages");
        let made = outsider.post(&path).json(&json!({ "title": "Plans" })).send().await.expect(201);
        let page = made.str("/page/pageId").to_owned();
        let editor = outsider.at(right.base());
        Self { outsider, editor, org, page, kept: BTreeSet::new() }
    }

    fn path(&self) -> String {
        format!("/v1/orgs/{}/pages/{}", self.org, self.page)
    }

    /// Reads the page and writes it back with a line more; the line, if that was taken.
    async fn write_from_outside(&self, round: usize) -> Option<String> {
        let content = self.outsider.get(&self.path()).send().await.expect(200);
        let line = format!("outside {round}\n");
        let markdown = format!("{}{line}", content.str("/content/markdown"));
        let body = json!({ "blocks": null, "markdown": markdown, "baseVersion": content.int("/content/version") });
        let answer = self.outsider.put(&format!("{}/content", self.path())).json(&body).send().await;
        match answer.status {
            200 => Some(line),
            409 | 503 => None,
            _ => panic!("{}", answer.text),
        }
    }

    /// Types lines, on a document anew where a write from outside ended the history; those that are kept.
    async fn type_lines(&self, round: usize) -> Vec<String> {
        let mut kept = Vec::new();
        let mut coeditor = Coeditor::new(&self.editor, &self.org, &self.page);
        coeditor.try_connect(&self.editor).await;
        for number in 0..4 {
            let line = format!("inside {round}.{number}\n");
            coeditor.insert(0, &line).await;
            if coeditor.confirm().await {
                kept.push(line);
            }
        }
        kept
    }

    async fn lines(&self) -> BTreeSet<String> {
        let content = self.outsider.get(&self.path()).send().await.expect(200);
        content.str("/content/markdown").lines().map(|line| format!("{line}\n")).collect()
    }

    /// Everybody works at once, and in the end all that was answered is there.
    async fn play(mut self) {
        let mut taken = 0;
        for round in 0..ROUNDS {
            let (written, typed) = tokio::join!(self.write_from_outside(round), self.type_lines(round));
            taken += usize::from(written.is_some());
            self.kept.extend(written.into_iter().chain(typed));
        }
        assert!(self.kept.len() > ROUNDS, "somebody was answered: {taken} writes, {:?}", self.kept);
        let mut missing = BTreeSet::new();
        for _ in 0..LOOKS {
            let lines = self.lines().await;
            missing = self.kept.difference(&lines).cloned().collect();
            if missing.is_empty() {
                return;
            }
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
        panic!("kept, and lost: {missing:?}");
    }
}

/// Holds up the write's commit on the left node, so that lines are kept on the right one behind the fold before it.
const SLOW_WRITES: &str = "commit:page_session=stall(400ms)";

#[tokio::test(flavor = "multi_thread")]
async fn what_one_node_keeps_while_the_other_writes_from_outside_is_not_lost() {
    let Some(pair) = Pair::start(&[]).await else { return };
    pair.set_faults(0, SLOW_WRITES);
    Scene::open(&pair).await.play().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_node_keeps_that_the_other_cannot_hear_is_not_lost_to_a_write_from_outside() {
    let Some(pair) = Pair::without_redis(&[]).await else { return };
    pair.set_faults(0, SLOW_WRITES);
    Scene::open(&pair).await.play().await;
}
