//! The numbers that IMAP will show follow whatever is done with messages, and bytes are named as often as they are counted.

use std::time::Duration;

use domain::mail::Placed;
use serde_json::{Value, json};
use store::testing::recount;

use super::threads::{Post, message};
use crate::harness::Dice;

/// What is done with conversations.
const ACTIONS: [&str; 12] =
    ["archive", "inbox", "trash", "spam", "not_spam", "delete", "read", "unread", "star", "unstar", "label", "unlabel"];

impl Post {
    /// All is as it has to be, once what is under way is done.
    async fn recount(&self) {
        let mut wrong = Vec::new();
        for _ in 0..100 {
            wrong = recount::mail(&self.store).await.expect("a recount");
            if wrong.is_empty() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("{wrong:?}");
    }

    /// The ids of some conversations.
    async fn some(&self, dice: &mut Dice) -> Vec<Value> {
        let list = self.get("threads?q=in:anywhere").await.expect(200);
        let ids: Vec<Value> = list.list("/threads").iter().map(|row| row["threadId"].clone()).collect();
        let count = usize::try_from(1 + dice.below(3)).expect("a number");
        dice.pick_some(&ids, count)
    }

    async fn acts(&self, dice: &mut Dice, labels: &[String]) {
        let (action, label) = (*dice.pick(&ACTIONS), dice.pick(labels).clone());
        let threads = self.some(dice).await;
        if threads.is_empty() {
            return;
        }
        let answer = if dice.percent(50) {
            self.act(json!({"threadIds": threads, "action": action, "labelId": label})).await
        } else {
            let path = format!("threads/{}?bodies=none", threads[0].as_str().expect("an id"));
            let thread = self.get(&path).await.expect(200);
            let ids: Vec<Value> = thread.list("/messages").iter().map(|it| it["messageId"].clone()).collect();
            let body = json!({"messageIds": dice.pick_some(&ids, 1), "action": action, "labelId": label});
            self.ada.client.post(&self.at("messages/actions")).json(&body).send().await
        };
        assert!(answer.status == 200 || action == "delete", "{action}: {}", answer.text);
    }

    /// Writes a draft with a file, changes it, and keeps, deletes or sends it, and may take it back.
    async fn writes(&self, dice: &mut Dice) {
        let to = json!([{"email": "bob@example.com"}]);
        let draft = self.write(json!({"to": to, "subject": "Plan", "text": "See"})).await.expect(201);
        let id = draft.str("/draft/draftId").to_owned();
        let version = self.attach(&id, "a.png", b"bytes").await.expect(201).json["draft"]["version"].clone();
        let changed = self.change(&id, json!({"version": version, "text": "See you"})).await.expect(200);
        let version = &changed.json["draft"]["version"];
        match dice.below(4) {
            0 => drop(self.ada.client.delete(&self.at(&format!("drafts/{id}"))).send().await.expect(204)),
            1 | 2 => {
                self.send_draft(&id, json!({"version": version, "undoSeconds": 120})).await.expect(202);
                if dice.percent(50) {
                    let path = self.at(&format!("messages/{id}/unsend"));
                    self.ada.client.post(&path).send().await.expect(200);
                }
            }
            _ => {}
        }
    }
}

#[tokio::test]
async fn whatever_is_done_numbers_follow_and_bytes_are_counted() {
    let post = Post::new().await;
    let mut dice = Dice::from_environment("TROUPE_MAIL_FOLDERS_SEED");
    let labels = [post.label("Food").await, post.label("Work").await, post.label("Work/Bills").await];
    for number in 0..60 {
        match dice.below(10) {
            0..3 => {
                let answered = dice.below(8);
                let head =
                    format!("In-Reply-To: <{answered}@example.com>\nReferences: <{}@example.com>\n", answered / 2);
                let text = message(&number.to_string(), "bob@example.com", "Re: Plan", &head);
                post.server.clock.advance(Duration::from_secs(1));
                for _ in 0..=dice.below(2) {
                    let placed = if dice.percent(20) { Placed::Spam } else { Placed::Inbox };
                    post.bring(&post.mailbox, &text, placed).await;
                }
                post.filed().await;
            }
            3 => post.writes(&mut dice).await,
            _ => post.acts(&mut dice, &labels).await,
        }
        if number % 10 == 9 {
            post.recount().await;
        }
    }
    let path = post.at(&format!("labels/{}", labels[1]));
    post.ada.client.delete(&path).send().await.expect(204);
    post.recount().await;
}
