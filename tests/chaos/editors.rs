//! People who write on one page together, and one who watches the tree's revision.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use serde_json::json;
use yrs::{
    Map, StateVector, Text, Transact,
    sync::{Message as Said, SyncMessage},
};

use super::stage::eventually;
use crate::harness::{Client, Coeditor, Dice};

const EDITORS: usize = 3;
/// A shared map that holds a key for every insertion that was made.
const MARKS: &str = "marks";
/// How long documents may take to become equal once everybody is online.
const SETTLED_WITHIN: Duration = Duration::from_mins(2);

/// Who writes, and what must be there in the end.
pub struct Editors {
    client: Client,
    org_id: String,
    pub page: String,
    all: Vec<Coeditor>,
    marks: BTreeSet<String>,
    revision: i64,
}

impl Editors {
    pub async fn enrol(client: &Client, org_id: &str) -> Self {
        let path = format!("/v1/orgs/{org_id}/pages");
        let answer = client.post(&path).json(&json!({ "title": "Written together" })).send().await.expect(201);
        let page = answer.str("/page/pageId").to_owned();
        let all = (0..EDITORS).map(|_| Coeditor::new(client, org_id, &page)).collect();
        let (client, org_id) = (client.clone(), org_id.to_owned());
        Self { client, org_id, page, all, marks: BTreeSet::new(), revision: 0 }
    }

    /// Somebody who only looks asks for the whole page again and again, and reads on now and then.
    pub fn flood(&self, questions: u64) -> impl Future<Output = ()> + use<> {
        let (client, mut looker) = (self.client.clone(), Coeditor::new(&self.client, &self.org_id, &self.page));
        async move {
            if questions == 0 || !looker.try_connect(&client).await {
                return;
            }
            for question in 0..questions {
                looker.say(&Said::Sync(SyncMessage::SyncStep1(StateVector::default()))).await;
                if question % 100 == 0 {
                    looker.drain().await;
                }
            }
        }
    }

    pub async fn work(&mut self, times: u64, mut dice: Dice) {
        for _ in 0..times * 2 {
            let number = usize::try_from(dice.below(EDITORS as u64)).unwrap();
            let (mark, at) = (format!("{number}.{}", self.marks.len()), dice.below(1_000));
            let (editor, client) = (&mut self.all[number], self.client.clone());
            editor.drain().await;
            if !editor.is_online() || dice.percent(10) {
                editor.disconnect();
                editor.try_connect(&client).await;
            }
            let (text, marks) = (editor.text(), editor.doc.get_or_insert_map(MARKS));
            let at = u32::try_from(at % (editor.written().encode_utf16().count() as u64 + 1)).unwrap();
            let made = mark.clone();
            editor
                .edit(|tx| {
                    text.insert(tx, at, "word ");
                    marks.insert(tx, made, true);
                })
                .await;
            self.marks.insert(mark);
            if dice.percent(20) {
                self.all[number].confirm().await;
            }
        }
        self.look().await;
    }

    /// The tree's revision never goes back.
    async fn look(&mut self) {
        let path = format!("/v1/orgs/{}/pages/live?tab=tab-watch", self.org_id);
        let answer = self.client.get(&path).send().await;
        if answer.status != 200 {
            return;
        }
        let ticket = crate::harness::Ticket {
            url: answer.str("/socket/url").to_owned(),
            ticket: answer.str("/socket/ticket").to_owned(),
        };
        let Ok(mut socket) = ticket.open().await else { return };
        if let crate::harness::Heard::Message(ready) = socket.next().await {
            let revision = ready["revision"].as_i64().unwrap_or_else(|| panic!("a revision first: {ready}"));
            assert!(revision >= self.revision, "the tree went back from {} to {revision}", self.revision);
            self.revision = revision;
        }
    }

    /// Everybody comes online, and all documents become equal, with every edit in them, a fresh one's too.
    pub async fn settle(&mut self) {
        let client = self.client.clone();
        self.all.push(Coeditor::new(&client, &self.org_id, &self.page));
        for editor in &mut self.all {
            editor.drain().await;
            eventually("everybody's edits", async || {
                (editor.is_online() || editor.try_connect(&client).await) && editor.confirm().await
            })
            .await;
        }
        let started = Instant::now();
        while !self.are_equal() {
            assert!(started.elapsed() < SETTLED_WITHIN, "documents did not become equal");
            tokio::time::sleep(Duration::from_millis(5)).await;
            for editor in &mut self.all {
                editor.drain().await;
                if !editor.is_online() {
                    editor.try_connect(&client).await;
                }
            }
        }
        let fresh = self.all.last().expect("a fresh editor");
        let marks = fresh.doc.get_or_insert_map(MARKS);
        let found: BTreeSet<_> = marks.keys(&fresh.doc.transact()).map(ToString::to_string).collect();
        assert_eq!(found, self.marks, "edits are lost, or come from nowhere");
        let written = fresh.written();
        assert_eq!(written.len(), self.marks.len() * "word ".len(), "each edit is there once: {written}");
        self.all.clear();
        let path = format!("/v1/orgs/{}/pages/{}", self.org_id, self.page);
        eventually("the page's content", async || {
            client.get(&path).send().await.expect(200).str("/content/markdown") == written
        })
        .await;
    }

    fn are_equal(&self) -> bool {
        let looks: BTreeSet<_> = self.all.iter().map(|editor| editor.look(MARKS)).collect();
        looks.len() == 1
    }
}
