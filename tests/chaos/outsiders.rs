//! A page that is edited together and written from outside, by somebody who adds a line to what they read.

use std::collections::BTreeSet;

use serde_json::json;

use super::stage::eventually;
use crate::harness::{Client, Coeditor};

/// Who writes, and the lines that must be there in the end.
pub struct Outsiders {
    client: Client,
    org_id: String,
    pub page: String,
    /// One who edits; after a write from outside another takes their place, with a new document.
    editor: Coeditor,
    made: usize,
    kept: BTreeSet<String>,
    /// Lines that the editor was not told of yet.
    unsure: Vec<String>,
}

impl Outsiders {
    pub async fn enrol(client: &Client, org_id: &str) -> Self {
        let path = format!("/v1/orgs/{org_id}/pages");
        let answer = client.post(&path).json(&json!({ "title": "Written from outside" })).send().await.expect(201);
        let page = answer.str("/page/pageId").to_owned();
        let editor = Coeditor::new(client, org_id, &page);
        let (client, org_id) = (client.clone(), org_id.to_owned());
        Self { client, org_id, page, editor, made: 0, kept: BTreeSet::new(), unsure: Vec::new() }
    }

    pub async fn work(&mut self, times: u64) {
        for _ in 0..times {
            self.edit().await;
            self.write().await;
        }
    }

    fn path(&self) -> String {
        format!("/v1/orgs/{}/pages/{}", self.org_id, self.page)
    }

    fn line(&mut self, who: &str) -> String {
        self.made += 1;
        format!("{who} {}", self.made)
    }

    /// Types a line, and has it confirmed.
    async fn edit(&mut self) {
        self.editor.drain().await;
        if !self.editor.is_online() {
            // Nothing says that what was not confirmed is there, and nothing that it isn't.
            self.editor = Coeditor::new(&self.client, &self.org_id, &self.page);
            self.unsure.clear();
            if !self.editor.try_connect(&self.client).await || !self.editor.confirm().await {
                return;
            }
        }
        let line = self.line("inside");
        self.editor.insert(0, &format!("{line}\n")).await;
        self.unsure.push(line);
        if self.editor.confirm().await {
            self.kept.extend(self.unsure.drain(..));
        }
    }

    /// Adds a line to the page as it reads now.
    async fn write(&mut self) {
        let Some(content) = self.client.get(&self.path()).try_send().await.filter(|answer| answer.status == 200) else {
            return;
        };
        let line = self.line("outside");
        let markdown = format!("{}{line}\n", content.str("/content/markdown"));
        let body = json!({ "blocks": null, "markdown": markdown, "baseVersion": content.int("/content/version") });
        let answer = self.client.put(&format!("{}/content", self.path())).json(&body).try_send().await;
        match answer.map_or(0, |answer| answer.status) {
            200 => drop(self.kept.insert(line)),
            // A conflict, or nobody knows.
            0 | 409 | 500 | 503 => {}
            status => panic!("a write from outside is answered {status}"),
        }
    }

    /// All that was answered is there, once.
    pub async fn verify(&mut self) {
        self.editor.disconnect();
        let (client, path) = (self.client.clone(), self.path());
        let kept = &self.kept;
        eventually("all that was written from in- and outside", async || {
            let content = client.get(&path).send().await.expect(200);
            let text = content.str("/content/markdown");
            kept.iter().all(|line| text.lines().filter(|other| other == line).count() == 1)
        })
        .await;
    }
}
