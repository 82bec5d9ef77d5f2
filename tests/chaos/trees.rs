//! People who make, move and throw away pages, all in one tree.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::{
    harness::{Answer, Client, Dice},
    outages::worker::Progress,
};

/// Somebody at work in a tree.
pub struct Gardener {
    client: Client,
    path: String,
    number: usize,
    /// Pages that were made, by their titles.
    made: BTreeMap<String, String>,
    /// Titles of pages that were made, of which no answer told the id.
    nameless: BTreeSet<String>,
}

impl Gardener {
    pub fn new(client: &Client, org_id: &str, number: usize) -> Self {
        let path = format!("/v1/orgs/{org_id}/pages");
        Self { client: client.clone(), path, number, made: BTreeMap::new(), nameless: BTreeSet::new() }
    }

    pub async fn work(&mut self, times: u64, mut dice: Dice, progress: &Progress) {
        for _ in 0..times {
            self.create(progress, &mut dice).await;
            self.tend(progress, &mut dice).await;
        }
    }

    /// Makes a page, under a key that has it made once however often it takes.
    async fn create(&mut self, progress: &Progress, dice: &mut Dice) {
        let title = format!("Page {} of {}", self.made.len() + self.nameless.len(), self.number);
        let (key, body) = (format!("{title} {:x}", dice.next()), json!({ "title": title }));
        loop {
            let request = self.client.post(&self.path).header("Idempotency-Key", &key).json(&body);
            let Some(answer) = progress.judge(request.try_send().await).await else { continue };
            match (answer.status, answer.json["code"].as_str()) {
                (201, _) => drop(self.made.insert(title, answer.str("/page/pageId").to_owned())),
                (409, Some("idempotency_answer_lost")) => drop(self.nameless.insert(title)),
                (409, Some("idempotency_in_progress")) => {
                    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
                    continue;
                }
                _ => panic!("{title}: {} {}", answer.status, answer.text),
            }
            return;
        }
    }

    /// Moves a page, or throws it away, or takes it back.
    async fn tend(&self, progress: &Progress, dice: &mut Dice) {
        let ids: Vec<_> = self.made.values().collect();
        if ids.is_empty() {
            return;
        }
        let page = dice.pick(&ids).as_str();
        let body = match dice.below(10) {
            0 => json!({ "archived": true }),
            1 | 2 => json!({ "archived": false }),
            3 => json!({ "parentId": "root" }),
            4 => json!({ "position": f64::from(u8::try_from(dice.below(12)).unwrap()) }),
            _ => json!({ "parentId": dice.pick(&ids) }),
        };
        let request = self.client.patch(&format!("{}/{page}", self.path)).json(&body);
        // Whether it is done or not, the tree stays one.
        if let Some(Answer { status, text, .. }) = progress.judge(request.try_send().await).await {
            // Into itself, below itself, into the trash, in the trash, or others were faster time and again.
            assert!(matches!(status, 200 | 400 | 409), "{body} answered {status} {text}");
        }
    }

    /// Every page that was made is there once, none beside them and the page that is edited, and all ways up lead to the root.
    pub async fn verify(gardeners: &[Self], edited: &[&String]) {
        let Self { client, path, .. } = &gardeners[0];
        let mut pages: BTreeMap<String, Value> = BTreeMap::new();
        for query in ["", "?archived=1"] {
            let listed = client.get(&format!("{path}{query}")).send().await.expect(200);
            for page in listed.list("/pages") {
                let before = pages.insert(page["pageId"].as_str().unwrap().to_owned(), page.clone());
                assert!(before.is_none(), "{page} is there twice");
            }
        }
        for page in edited {
            assert!(pages.remove(*page).is_some(), "a page that is edited is gone");
        }
        let mut titles: Vec<_> = pages.values().map(|page| page["title"].as_str().unwrap().to_owned()).collect();
        titles.sort_unstable();
        let made = gardeners.iter().flat_map(|gardener| gardener.made.keys().chain(&gardener.nameless)).cloned();
        let mut made: Vec<_> = made.collect();
        made.sort_unstable();
        assert_eq!(titles, made);
        for (title, id) in gardeners.iter().flat_map(|gardener| &gardener.made) {
            assert_eq!(pages[id]["title"], *title);
        }
        for page in pages.values() {
            let (mut at, mut steps) = (page, 1);
            while at["parentId"] != "root" {
                at = &pages[at["parentId"].as_str().unwrap()];
                steps += 1;
                assert!(steps <= pages.len(), "{page} lies in a circle");
            }
        }
    }
}
