//! What people do with conversations, senders and settings.

use std::time::Duration;

use domain::mail::Placed;
use serde_json::{Value, json};

use super::threads::{Post, message};

const DAY: Duration = Duration::from_hours(24);

impl Post {
    async fn does(&self, id: &str, action: &str) -> i64 {
        let acted = self.act(json!({"threadIds": [id], "action": action})).await.expect(200);
        acted.json["changed"].as_i64().expect("a number")
    }

    async fn row(&self, id: &str) -> Value {
        self.get(&format!("threads/{id}?bodies=none")).await.expect(200).json["thread"].clone()
    }
}

#[tokio::test]
async fn each_action_moves_or_marks_a_conversation() {
    let post = Post::new().await;
    post.deliver(&message("1", "bob@example.com", "Lunch", "")).await;
    let id = post.only("view=inbox").await;
    for (action, changed, place, unread, starred) in [
        ("read", 1, "inbox", 0, false),
        ("read", 0, "inbox", 0, false),
        ("star", 1, "inbox", 0, true),
        ("archive", 1, "archive", 0, true),
        ("archive", 0, "archive", 0, true),
        ("unread", 1, "archive", 1, true),
        ("unstar", 1, "archive", 1, false),
        ("inbox", 1, "inbox", 1, false),
        ("spam", 1, "spam", 1, false),
        ("not_spam", 1, "inbox", 1, false),
        ("unsnooze", 0, "inbox", 1, false),
        ("trash", 1, "trash", 1, false),
    ] {
        assert_eq!(post.does(&id, action).await, changed, "{action}");
        let row = post.row(&id).await;
        let is = (row["box"].as_str(), row["unreadCount"].as_i64(), row["starred"].as_bool());
        assert_eq!(is, (Some(place), Some(unread), Some(starred)), "{action}");
        let counted = i64::from(place == "inbox") * unread;
        assert_eq!(post.get("counts").await.expect(200).json["counts"]["primary"], counted, "{action}");
        assert_eq!(post.subjects(&format!("view={place}")).await, ["Lunch"], "{action}");
    }
    assert_eq!(post.does(&id, "delete").await, 1);
    post.get(&format!("threads/{id}")).await.expect_error(404, "not_found", "Thread not found");
    assert_eq!(post.does(&id, "delete").await, 0);
}

#[tokio::test]
async fn an_action_that_cannot_be_is_refused_whole() {
    let post = Post::new().await;
    post.deliver(&message("1", "bob@example.com", "Lunch", "")).await;
    post.deliver(&message("2", "bob@example.com", "Dinner", "")).await;
    let list = post.get("threads").await.expect(200);
    let ids: Vec<_> = list.list("/threads").iter().map(|it| it["threadId"].as_str().expect("an id")).collect();
    post.does(ids[0], "trash").await;
    let deleted = post.act(json!({"threadIds": ids, "action": "delete"})).await;
    deleted.expect_error(400, "not_in_trash", "Move the conversation to trash first.");
    assert_eq!(post.subjects("view=trash").await.len(), 1);
    for action in ["label", "unlabel"] {
        let without = post.act(json!({"threadIds": ids, "action": action})).await;
        without.expect_error(400, "label_required", "Choose a label.");
        let unknown = post.act(json!({"threadIds": ids, "action": action, "labelId": "lbl_1"})).await;
        unknown.expect_error(404, "not_found", "Label not found");
    }
    let soon = post.server.clock.now().0 + 30_000;
    for until in [Value::Null, json!(soon)] {
        let refused = post.act(json!({"threadIds": ids, "action": "snooze", "until": until})).await;
        refused.expect_error(400, "until_required", "Choose when the conversation comes back.");
    }
    post.act(json!({"threadIds": [], "action": "read"})).await.expect_problems(&["threadIds"]);
    post.act(json!({"threadIds": vec![ids[0]; 101], "action": "read"})).await.expect_problems(&["threadIds"]);
    post.act(json!({"threadIds": ids, "action": "shred"})).await.expect_problems(&["action"]);
    let many = post.act(json!({"threadIds": vec![ids[0]; 100], "action": "read"})).await.expect(200);
    assert_eq!(many.json, json!({"changed": 1}));
}

#[tokio::test]
async fn what_is_snoozed_comes_back_by_itself_or_with_an_answer() {
    let post = Post::new().await;
    post.deliver(&message("1", "bob@example.com", "Lunch", "")).await;
    let id = post.only("view=inbox").await;
    let until = post.server.clock.now().after(DAY).0;
    post.act(json!({"threadIds": [id], "action": "snooze", "until": until})).await.expect(200);
    let row = post.row(&id).await;
    assert_eq!((&row["box"], &row["snoozedUntil"]), (&json!("archive"), &json!(until)));
    assert_eq!(post.subjects("view=snoozed").await, ["Lunch"]);
    post.deliver(&message("2", "bob@example.com", "Dinner", "")).await;
    post.server.clock.advance(DAY);
    let back = async {
        while post.subjects("").await != ["Lunch", "Dinner"] {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), back).await.expect("it comes back");
    assert_eq!(post.row(&id).await.get("snoozedUntil"), None);
    let until = post.server.clock.now().after(DAY).0;
    post.act(json!({"threadIds": [id], "action": "snooze", "until": until})).await.expect(200);
    post.deliver(&message("3", "bob@example.com", "Re: Lunch", "In-Reply-To: <1@example.com>\n")).await;
    let row = post.row(&id).await;
    assert_eq!((&row["box"], row.get("snoozedUntil"), &row["messageCount"]), (&json!("inbox"), None, &json!(2)));
}

#[tokio::test]
async fn the_category_of_a_sender_is_chosen_for_what_is_there_and_what_comes() {
    let post = Post::new().await;
    post.deliver(&message("1", "news@example.com", "First news", "List-Id: <news.example.com>\n")).await;
    post.deliver(&message("2", "bob@example.com", "Lunch", "")).await;
    assert_eq!(post.subjects("category=updates").await, ["First news"]);
    let put = async |sender: &str, body: Value| {
        let path = post.at(&format!("senders/{sender}/category"));
        post.ada.client.put(&path).json(&body).send().await
    };
    assert_eq!(put("News@example.com", json!({"category": "promotions"})).await.expect(200).json, json!({"moved": 1}));
    assert_eq!(put("news@example.com", json!({"category": "promotions"})).await.expect(200).json, json!({"moved": 0}));
    post.deliver(&message("3", "news@example.com", "Second news", "List-Id: <news.example.com>\n")).await;
    assert_eq!(post.subjects("category=promotions").await, ["Second news", "First news"]);
    assert_eq!(post.subjects("category=updates").await, Vec::<String>::new());
    let lunch = post.only("category=primary").await;
    let moved = put("news@example.com", json!({"category": "updates", "threadId": lunch})).await.expect(200);
    assert_eq!(moved.json, json!({"moved": 3}));
    let counts = json!({"primary": 0, "transactions": 0, "updates": 3, "promotions": 0});
    assert_eq!(post.get("counts").await.expect(200).json["counts"], counts);
    let refused = put("nobody", json!({"category": "updates"})).await;
    refused.expect_error(400, "sender_invalid", "Enter a valid email address.");
    put("a@example.com", json!({"category": "other"})).await.expect(400);
    let unknown = put("a@example.com", json!({"category": "updates", "threadId": "thr_1"})).await;
    unknown.expect_error(404, "not_found", "Thread not found");
}

#[tokio::test]
async fn settings_are_kept_and_a_signature_is_cleaned() {
    let post = Post::new().await;
    let path = post.at("settings");
    let set = async |body: Value| post.ada.client.patch(&path).json(&body).send().await;
    let signed = set(json!({"signature": "<b>Ada</b><script>x()</script>"})).await.expect(200);
    assert_eq!(
        (signed.str("/mailbox/signature"), &signed.json["mailbox"]["reminderMail"]),
        ("<b>Ada</b>", &json!(false))
    );
    let changed = set(json!({"reminderMail": true})).await.expect(200);
    assert_eq!(changed.str("/mailbox/signature"), "<b>Ada</b>");
    let list = post.ada.client.get(&format!("{}/mail/mailboxes", post.org)).send().await.expect(200);
    assert_eq!(list.json["mailboxes"][0], changed.json["mailbox"]);
    for len in [19_999, 20_000] {
        set(json!({"signature": "a".repeat(len)})).await.expect(200);
    }
    set(json!({"signature": "a".repeat(20_001)})).await.expect_problems(&["signature"]);
}

#[tokio::test]
async fn counts_equal_a_recount_after_random_actions() {
    let post = Post::new().await;
    let mut ids = Vec::new();
    for number in 0..6 {
        let placed = if number == 5 { Placed::Spam } else { Placed::Inbox };
        post.deliver_as(&message(&number.to_string(), "bob@example.com", &format!("Plan {number}"), ""), placed).await;
        let view = if number == 5 { "view=spam" } else { "view=inbox" };
        let list = post.get(&format!("threads?{view}")).await.expect(200);
        ids.push(list.str("/threads/0/threadId").to_owned());
    }
    let actions = ["archive", "inbox", "trash", "spam", "not_spam", "read", "unread", "star", "unstar", "unsnooze"];
    let mut seed = 7_usize;
    for _ in 0..80 {
        seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
        let (action, id) = (actions[seed / 7 % actions.len()], &ids[seed / 101 % ids.len()]);
        post.does(id, action).await;
        let list = post.get("threads?view=inbox").await.expect(200);
        let unread = list.list("/threads").iter().filter(|it| it["unreadCount"] != 0).count();
        assert_eq!(post.get("counts").await.expect(200).json["counts"]["primary"], unread, "{action}");
    }
}
