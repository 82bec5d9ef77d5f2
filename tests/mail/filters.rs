//! Filters: what arrives is filed by them, and what is there can be.

use std::time::Duration;

use domain::{
    Timestamp,
    id::MailFilterId,
    mail::{FilterActions, MailFilter, Placed},
};
use serde_json::{Value, json};
use store::Change;

use super::{
    lent_domain, make_mailbox,
    peer::Peer,
    threads::{Post, message},
};
use crate::{
    accounts::join,
    harness::{Answer, Server, Socket},
};

impl Post {
    async fn make_filter(&self, body: Value) -> Answer {
        self.ada.client.post(&self.at("filters")).json(&body).send().await
    }

    /// Makes a filter; its id.
    pub async fn filter(&self, query: &str, actions: Value) -> String {
        let made = self.make_filter(json!({ "query": query, "actions": actions })).await.expect(201);
        made.str("/filter/filterId").to_owned()
    }

    async fn patch_filter(&self, id: &str, body: Value) -> Answer {
        self.ada.client.patch(&self.at(&format!("filters/{id}"))).json(&body).send().await
    }

    async fn delete_filter(&self, id: &str) -> Answer {
        self.ada.client.delete(&self.at(&format!("filters/{id}"))).send().await
    }

    async fn order_filters(&self, ids: &[&str]) -> Answer {
        self.ada.client.put(&self.at("filters/order")).json(&json!({ "filterIds": ids })).send().await
    }

    async fn preview(&self, body: Value) -> Answer {
        self.ada.client.post(&self.at("filters/preview")).json(&body).send().await
    }

    /// Applies a filter; how it ended.
    async fn applied(&self, id: &str, body: Value) -> Value {
        let path = self.at(&format!("filters/{id}/apply"));
        self.ada.client.post(&path).json(&body).send().await.expect(202);
        let through = async || {
            self.server.clock.advance(Duration::from_millis(10));
            let job = self.ada.client.get(&path).send().await.expect(200).json["job"].clone();
            (job["state"] != "running").then_some(job)
        };
        self.server.eventually("an end of the application", through).await
    }

    /// The only message of the only conversation of a list, whole.
    pub async fn whole(&self, query: &str) -> Value {
        let thread = self.get(&format!("threads/{}?bodies=none", self.only(query).await)).await.expect(200);
        let [it] = thread.list("/messages") else { panic!("{}", thread.json) };
        let path = format!("messages/{}", it["messageId"].as_str().expect("an id"));
        self.get(&path).await.expect(200).json["message"].clone()
    }
}

#[tokio::test]
async fn a_filter_is_made_listed_changed_ordered_and_deleted() {
    let post = Post::new().await;
    let body = json!({"name": " Bills ", "query": " from:billing ", "actions": {"box": "archive", "read": true}});
    let made = post.make_filter(body).await.expect(201);
    let id = made.str("/filter/filterId").to_owned();
    let expected = json!({
        "filterId": id, "name": "Bills", "query": "from:billing", "actions": {"box": "archive", "read": true},
        "createdAt": made.json["filter"]["createdAt"]
    });
    assert_eq!(made.json, json!({ "filter": expected }));
    let other = post.filter("list:news", json!({"star": true})).await;
    let ids = async || -> Vec<String> {
        let list = post.get("filters").await.expect(200);
        list.list("/filters").iter().map(|it| it["filterId"].as_str().expect("an id").to_owned()).collect()
    };
    assert_eq!(ids().await, [id.clone(), other.clone()]);
    let changed =
        post.patch_filter(&id, json!({"query": "from:shop", "actions": {"neverSpam": true}})).await.expect(200);
    assert_eq!(changed.str("/filter/query"), "from:shop");
    assert_eq!(changed.json["filter"]["actions"], json!({"neverSpam": true}));
    assert_eq!(changed.str("/filter/name"), "Bills");
    let ordered = post.order_filters(&[&other, &id]).await.expect(200);
    assert_eq!(ordered.str("/filters/0/filterId"), other);
    assert_eq!(ids().await, [other.clone(), id.clone()]);
    let (one, two) = (other.as_str(), id.as_str());
    for wrong in [vec![], vec![one], vec![one, one], vec![one, two, two]] {
        post.order_filters(&wrong).await.expect_problems(&["filterIds"]);
    }
    post.delete_filter(&id).await.expect(204);
    for gone in [post.delete_filter(&id).await, post.patch_filter(&id, json!({"name": "New"})).await] {
        gone.expect_error(404, "not_found", "Filter not found");
    }
    post.get(&format!("filters/{id}/apply")).await.expect_error(404, "not_found", "Filter not found");
    let never = post.get(&format!("filters/{other}/apply")).await;
    never.expect_error(404, "not_found", "This filter was never applied.");
    assert_eq!(ids().await, [other]);
}

#[tokio::test]
async fn what_a_filter_asks_and_does_is_checked() {
    let post = Post::new().await;
    let make =
        async |query: &str, actions: Value| post.make_filter(json!({ "query": query, "actions": actions })).await;
    for query in ["", "  ", "***", "before:never", "is:nothing", &"a".repeat(501)] {
        make(query, json!({"star": true})).await.expect_problems(&["query"]);
    }
    make(&"a".repeat(500), json!({"star": true})).await.expect(201);
    make("a", json!({})).await.expect_problems(&["actions"]);
    make("a", json!({"box": "sent"})).await.expect_problems(&["actions.box"]);
    make("a", json!({"box": "nowhere"})).await.expect_problems(&["actions.box"]);
    make("a", json!({"category": "social"})).await.expect_problems(&["actions.category"]);
    make("a", json!({"box": "spam", "neverSpam": true})).await.expect_problems(&["actions.neverSpam"]);
    make("a", json!({"forward": "bob@example.org"})).await.expect(400);
    for label in ["nothing", "lbl_01jd7rt4m5e9fv2w8x3c6k0hqz"] {
        make("a", json!({ "label": label })).await.expect_error(404, "not_found", "Label not found");
    }
    let named = |length: usize| json!({"name": "a".repeat(length), "query": "a", "actions": {"star": true}});
    post.make_filter(named(100)).await.expect(201);
    post.make_filter(named(101)).await.expect_problems(&["name"]);
}

#[tokio::test]
async fn a_mailbox_has_two_hundred_filters_at_most() {
    let post = Post::new().await;
    let mut change = Change::new();
    for number in 0..199 {
        let filter = MailFilter {
            id: MailFilterId::new(Timestamp(number)),
            name: String::new(),
            query: "a".to_owned(),
            zone: "UTC".to_owned(),
            actions: FilterActions { star: true, ..FilterActions::default() },
            created_at: Timestamp(number),
        };
        change.mail_filter_add(post.mailbox.parse().expect("a mailbox"), &filter);
    }
    post.store.commit(change).await.expect("a commit");
    let last = post.filter("b", json!({"star": true})).await;
    let refused = post.make_filter(json!({"query": "c", "actions": {"star": true}})).await;
    refused.expect_error(400, "limit_reached", "A mailbox has at most 200 filters.");
    post.delete_filter(&last).await.expect(204);
    post.filter("c", json!({"star": true})).await;
}

#[tokio::test]
async fn what_arrives_is_filed_by_all_filters_that_find_it_in_their_order() {
    let post = Post::new().await;
    let label = post.label("Bills").await;
    let actions = json!({"label": label, "box": "archive", "read": true, "category": "transactions"});
    post.make_filter(json!({"name": "Bills", "query": "from:billing", "actions": actions})).await.expect(201);
    // The second one sees what the first one did.
    post.filter("label:Bills subject:urgent", json!({"box": "inbox", "star": true})).await;
    post.filter("from:nobody", json!({"box": "trash"})).await;
    post.deliver(&message("1", "billing@shop.example", "Invoice", "")).await;
    post.deliver(&message("2", "billing@shop.example", "Urgent invoice", "")).await;
    post.deliver(&message("3", "bob@example.com", "Lunch", "")).await;
    assert_eq!(post.subjects("view=inbox").await, ["Lunch", "Urgent invoice"]);
    assert_eq!(post.subjects("view=archive").await, ["Invoice"]);
    assert_eq!(post.subjects("view=starred").await, ["Urgent invoice"]);
    assert_eq!(post.subjects(&format!("view=label&label={label}")).await, ["Urgent invoice", "Invoice"]);
    assert_eq!(post.subjects("q=is:unread").await, ["Lunch"]);
    let filed = post.whole("view=archive").await;
    assert_eq!(filed["why"]["filters"][0]["name"], "Bills");
    assert_eq!(filed["why"]["filters"].as_array().map(Vec::len), Some(1));
    let urgent = post.whole("view=starred").await;
    assert_eq!(urgent["why"]["filters"][1]["name"], "label:Bills subject:urgent");
    let counts = post.get("counts").await.expect(200);
    assert_eq!(counts.json["counts"], json!({"primary": 1, "transactions": 0, "updates": 0, "promotions": 0}));
}

#[tokio::test]
async fn spam_is_only_brought_back_by_a_filter_that_keeps_it_out_of_spam() {
    let post = Post::new().await;
    post.filter("from:bob", json!({"box": "inbox", "star": true})).await;
    post.filter("from:carol", json!({"neverSpam": true})).await;
    post.deliver_as(&message("1", "bob@example.com", "From Bob", ""), Placed::Spam).await;
    post.deliver_as(&message("2", "carol@example.com", "From Carol", ""), Placed::Spam).await;
    assert_eq!(post.subjects("view=spam").await, ["From Bob"]);
    assert_eq!(post.subjects("view=inbox").await, ["From Carol"]);
    assert_eq!(post.whole("view=inbox").await["why"]["placed"], "inbox");
}

#[tokio::test]
async fn a_label_that_is_gone_is_given_to_nothing() {
    let post = Post::new().await;
    let label = post.label("Bills").await;
    post.filter("from:bob", json!({"label": label, "star": true})).await;
    post.ada.client.delete(&post.at(&format!("labels/{label}"))).send().await.expect(204);
    post.deliver(&message("1", "bob@example.com", "Lunch", "")).await;
    let thread = post.get(&format!("threads/{}", post.only("view=starred").await)).await.expect(200);
    assert_eq!(thread.json["thread"]["labels"], json!([]));
}

#[tokio::test]
async fn filters_find_what_a_search_finds() {
    let post = Post::new().await;
    let queries = [
        "lunch",
        "lun",
        "from:bob",
        "-from:bob",
        "to:ada",
        "subject:\"lunch on friday\"",
        "\"hello from 3\"",
        "from:carol OR subject:report",
        "(from:bob lunch) OR has:attachment",
        "is:unread",
        "larger:300",
        "smaller:300",
        "category:updates",
        "after:2020-01-01",
        "before:2020-01-01",
        "newer_than:2d",
        "-(lunch OR dinner)",
        "rfc822msgid:2@example.com",
        "list:team",
    ];
    let mut labels = Vec::new();
    for (number, query) in queries.into_iter().enumerate() {
        let label = post.label(&format!("Label {number}")).await;
        post.filter(query, json!({ "label": label })).await;
        labels.push((query, label));
    }
    for (id, from, subject, more) in [
        ("1", "bob@example.com", "Lunch on Friday", ""),
        ("2", "carol@example.com", "Lunch", ""),
        ("3", "bob@example.com", "Dinner", ""),
        ("4", "eve@example.com", "Report", "List-Id: Team <team.example.com>\n"),
        (
            "5",
            "noreply@example.com",
            "Something that is long enough to be larger than others are",
            "Auto-Submitted: auto-generated\n",
        ),
        (
            "6",
            "eve@example.com",
            "Lunchbox, Friday",
            "Content-Type: application/pdf\nContent-Disposition: attachment; filename=menu.pdf\n",
        ),
    ] {
        post.deliver(&message(id, from, subject, more)).await;
    }
    for (query, label) in labels {
        let found = post.ids(&format!("q={}", query.replace(' ', "%20").replace('"', "%22"))).await;
        assert_eq!(post.ids(&format!("view=label&label={label}")).await, found, "{query}");
    }
}

#[tokio::test]
async fn a_preview_says_what_an_application_then_does() {
    let post = Post::new().await;
    let label = post.label("Bob").await;
    post.deliver(&message("old", "bob@example.com", "Long ago", "")).await;
    post.server.clock.advance(Duration::from_hours(60 * 24));
    for number in 0..5 {
        post.deliver(&message(&number.to_string(), "bob@example.com", &format!("Number {number}"), "")).await;
    }
    post.deliver(&message("9", "carol@example.com", "Other", "")).await;
    let first = post.ids("q=subject:%22number%200%22").await;
    post.act(json!({"threadIds": first, "action": "trash"})).await.expect(200);
    let second = post.ids("q=subject:%22number%201%22").await;
    post.labels(&second, "label", &label).await;
    post.act(json!({"threadIds": second, "action": "archive"})).await.expect(200);
    let actions = json!({"label": label, "box": "archive"});
    let body = |days: u32| json!({"query": "from:bob", "actions": actions, "days": days});
    let preview = post.preview(body(30)).await.expect(200);
    assert_eq!((preview.int("/matched"), preview.int("/changes")), (4, 3), "{}", preview.json);
    let sample: Vec<_> =
        preview.list("/sample").iter().map(|it| (it["subject"].as_str(), it["changes"].as_bool())).collect();
    let expected = [("Number 4", true), ("Number 3", true), ("Number 2", true), ("Number 1", false)];
    assert_eq!(sample, expected.map(|(subject, changes)| (Some(subject), Some(changes))));
    let long = post.preview(body(90)).await.expect(200);
    assert_eq!((long.int("/matched"), long.int("/changes")), (5, 4));
    assert_eq!(post.subjects("view=inbox").await, ["Other", "Number 4", "Number 3", "Number 2", "Long ago"]);
    let id = post.filter("from:bob", actions.clone()).await;
    let job = post.applied(&id, json!({"days": 30})).await;
    assert_eq!((&job["state"], &job["matched"], &job["changed"]), (&json!("done"), &json!(4), &json!(3)));
    assert_eq!(post.subjects("view=inbox").await, ["Other", "Long ago"]);
    assert_eq!(post.subjects("view=trash").await, ["Number 0"]);
    assert_eq!(post.subjects(&format!("view=label&label={label}")).await.len(), 4);
    let job = post.applied(&id, json!({})).await;
    assert_eq!((&job["matched"], &job["changed"]), (&json!(5), &json!(1)));
    assert_eq!(post.preview(body(90)).await.expect(200).int("/changes"), 0);
    for days in [0, 91] {
        post.preview(body(days)).await.expect_problems(&["days"]);
        let refused = post.ada.client.post(&post.at(&format!("filters/{id}/apply"))).json(&json!({"days": days}));
        refused.send().await.expect_problems(&["days"]);
    }
}

#[tokio::test]
async fn an_application_goes_over_more_than_one_commit_and_names_the_filter() {
    let post = Post::new().await;
    for number in 0..430 {
        let text = message(&number.to_string(), "bob@example.com", &format!("Plan {number}"), "");
        post.bring(&post.mailbox, &text, Placed::Inbox).await;
    }
    post.filed().await;
    let made = post.make_filter(json!({"name": "Plans", "query": "subject:plan", "actions": {"read": true}})).await;
    let id = made.expect(201).str("/filter/filterId").to_owned();
    let job = post.applied(&id, json!({})).await;
    assert_eq!((&job["state"], &job["matched"], &job["changed"]), (&json!("done"), &json!(430), &json!(430)));
    assert_eq!(post.subjects("q=is:unread").await, Vec::<String>::new());
    assert_eq!(post.get("counts").await.expect(200).json["counts"]["primary"], 0);
    let one = post.whole("q=subject:%22plan%20429%22").await;
    assert_eq!(one["why"]["filters"][0]["name"], "Plans");
}

#[tokio::test]
async fn what_arrives_is_passed_on_within_the_organization_and_only_once() {
    let peer = Peer::start().await;
    let post = Post::on(Server::with(&[&format!("mail_server.smarthost={}", peer.address)]).await).await;
    let domain = lent_domain(&post.ada, &post.org).await;
    let (ada, bob) = (format!("ada@{domain}"), format!("bob@{domain}"));
    let made = make_mailbox(&post.ada, &post.org, "bob", &[&post.ada.user_id]).await;
    let bobs = format!("{}/mail/mailboxes/{}", post.org, made.str("/mailbox/mailboxId"));
    let kim = post.server.person("kim").await;
    let to = |address: &str| json!({"query": "subject:lunch", "actions": {"forward": address, "box": "archive"}});
    let within = "Forward to a mailbox or a member of the organization.";
    for address in ["nobody@example.org", &format!("nobody@{domain}"), &kim.email] {
        post.make_filter(to(address)).await.expect_error(400, "forward_unconfirmed", within);
    }
    post.make_filter(to("nothing")).await.expect_problems(&["actions.forward"]);
    join(&post.ada, &post.org, &kim, "viewer").await;
    for address in [&bob, &kim.email] {
        post.make_filter(to(address)).await.expect(201);
    }
    let back = json!({"query": "in:anywhere", "actions": {"forward": ada}});
    post.ada.client.post(&format!("{bobs}/filters")).json(&back).send().await.expect(201);
    post.deliver(&message("1", "carol@shop.example", "Lunch", "")).await;
    let came = async || {
        post.server.clock.advance(Duration::from_millis(10));
        let list = post.ada.client.get(&format!("{bobs}/threads")).send().await.expect(200);
        let id = list.json["threads"][0]["threadId"].as_str().map(str::to_owned)?;
        peer.taken().into_iter().next().map(|taken| (id, taken))
    };
    let (thread, taken) = post.server.eventually("a message that is passed on", came).await;
    assert_eq!((taken.from.as_str(), taken.to.as_slice()), (ada.as_str(), [kim.email.clone()].as_slice()));
    assert!(taken.message.contains("From: carol@shop.example\r\n"), "{}", taken.message);
    let there = post.ada.client.get(&format!("{bobs}/threads/{thread}")).send().await.expect(200);
    let [it] = there.list("/messages") else { panic!("{}", there.json) };
    assert_eq!((&it["from"]["email"], &it["authentication"]["dmarc"]), (&json!("carol@shop.example"), &json!("none")));
    post.filed().await;
    let mut forwarded = vec![bob, kim.email.clone()];
    forwarded.sort();
    assert_eq!(post.whole("view=archive").await["why"]["forwarded"], json!(forwarded));
    assert_eq!(post.subjects("view=inbox").await, Vec::<String>::new());
    // Who left the organization gets nothing more.
    let member = format!("{}/members/{}", post.org, kim.user_id);
    post.ada.client.delete(&member).send().await.expect_success();
    post.deliver(&message("2", "dave@shop.example", "Lunch again", "")).await;
    let second = post.ids("q=again").await;
    let read = post.get(&format!("threads/{}?bodies=none", second[0])).await.expect(200);
    let why = post.get(&format!("messages/{}", read.str("/messages/0/messageId"))).await.expect(200);
    assert_eq!(why.json["message"]["why"]["forwarded"], json!([format!("bob@{domain}")]));
}

#[tokio::test]
async fn members_hear_of_filters_and_the_audit_trail_has_them() {
    let post = Post::new().await;
    let id = post.filter("from:bob", json!({"star": true})).await;
    let mut socket = Socket::live(&post.ada.client, 0).await;
    let message = socket.message_of("mail.changed").await;
    assert_eq!((&message["settings"], &message["mailboxId"]), (&json!(true), &json!(post.mailbox)));
    post.delete_filter(&id).await.expect(204);
    let trail = post.ada.client.get(&format!("{}/audit", post.org)).send().await.expect(200).json.to_string();
    for action in ["mail.filter_added", "mail.filter_removed"] {
        assert!(trail.contains(action), "{trail}");
    }
}

#[tokio::test]
async fn filters_are_of_the_mailboxs_members() {
    let post = Post::new().await;
    let bob = post.server.person("bob").await;
    join(&post.ada, &post.org, &bob, "admin").await;
    let id = post.filter("from:bob", json!({"star": true})).await;
    let at = |path: &str| post.at(path);
    let body = json!({"query": "a", "actions": {"star": true}});
    for answer in [
        bob.client.get(&at("filters")).send().await,
        bob.client.post(&at("filters")).json(&body).send().await,
        bob.client.post(&at("filters/preview")).json(&body).send().await,
        bob.client.patch(&at(&format!("filters/{id}"))).json(&json!({"name": "b"})).send().await,
        bob.client.delete(&at(&format!("filters/{id}"))).send().await,
        bob.client.put(&at("filters/order")).json(&json!({"filterIds": [id]})).send().await,
        bob.client.post(&at(&format!("filters/{id}/apply"))).json(&json!({})).send().await,
        bob.client.get(&at("vacation")).send().await,
        bob.client.get(&at("senders")).send().await,
        bob.client.get(&at("suggest")).send().await,
    ] {
        answer.expect_error(404, "not_found", "Mailbox not found");
    }
}
