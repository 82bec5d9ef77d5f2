//! The tree's live socket: what happens to pages, and who is on which (contract B 4.6, `GET /live`).

use serde_json::{Value, json};

use crate::{
    harness::{Client, Server, Socket, Ticket},
    nodes::Pair,
};

/// Asks for a ticket as this tab.
async fn ticket(client: &Client, org_id: &str, tab: &str) -> Ticket {
    let answer = client.get(&format!("/v1/orgs/{org_id}/pages/live?tab={tab}&device=Laptop")).send().await.expect(200);
    Ticket { url: answer.str("/socket/url").to_owned(), ticket: answer.str("/socket/ticket").to_owned() }
}

/// Opens the socket as this tab; what it says first.
async fn open(client: &Client, org_id: &str, tab: &str) -> (Socket, Value) {
    let mut socket = ticket(client, org_id, tab).await.open().await.expect("a socket");
    let ready = socket.raw_message().await;
    assert_eq!(ready["type"], "ready", "{ready}");
    let own = socket.message_of("here").await;
    assert_eq!((&own["tab"], &own["pageId"]), (&tab.into(), &Value::Null), "{own}");
    (socket, ready)
}

/// A server, an organization, its owner, and somebody else in it.
async fn company() -> (Server, String, Client, Client) {
    let server = Server::start().await;
    let (ada, bob) = (server.person("ada").await, server.person("bob").await);
    let org_id = ada.client.org("Acme").await;
    let body = json!({ "userId": bob.user_id, "role": "viewer" });
    ada.client.post(&format!("/v1/orgs/{org_id}/members")).json(&body).send().await.expect(201);
    (server, org_id, ada.client, bob.client)
}

async fn page(client: &Client, org_id: &str, title: &str) -> String {
    let body = json!({ "title": title });
    let answer = client.post(&format!("/v1/orgs/{org_id}/pages")).json(&body).send().await.expect(201);
    answer.str("/page/pageId").to_owned()
}

#[tokio::test]
async fn everybody_hears_of_a_new_page() {
    let (_server, org_id, ada, bob) = company().await;
    let (mut hers, ready) = open(&ada, &org_id, "tab-ada1").await;
    let (mut his, _) = open(&bob, &org_id, "tab-bob1").await;
    assert_eq!(ready["revision"], 0, "{ready}");
    let page_id = page(&ada, &org_id, "Plans").await;
    for socket in [&mut hers, &mut his] {
        let message = socket.message_of("page.created").await;
        assert_eq!((&message["revision"], &message["page"]["pageId"]), (&1.into(), &page_id.as_str().into()));
        assert_eq!((&message["page"]["title"], &message["page"]["parentId"]), (&"Plans".into(), &"root".into()));
    }
    let (_again, ready) = open(&bob, &org_id, "tab-bob2").await;
    assert_eq!(ready["revision"], 1, "{ready}");
}

#[tokio::test]
async fn revisions_have_no_gaps() {
    let (_server, org_id, ada, _) = company().await;
    let (mut socket, _) = open(&ada, &org_id, "tab-ada1").await;
    for revision in 1..=20 {
        page(&ada, &org_id, &format!("Page {revision}")).await;
        assert_eq!(socket.message_of("page.created").await["revision"], revision);
    }
}

#[tokio::test]
async fn others_see_which_page_a_tab_shows_and_when_it_is_gone() {
    let (_server, org_id, ada, bob) = company().await;
    let page_id = page(&ada, &org_id, "Plans").await;
    let (mut hers, _) = open(&ada, &org_id, "tab-ada1").await;
    let (mut his, ready) = open(&bob, &org_id, "tab-bob1").await;
    let present = ready["present"].as_array().unwrap();
    assert!(present.iter().any(|one| one["name"] == "ada" && one["tab"] == "tab-ada1"), "{ready}");
    hers.message_of("here").await;
    his.send(&json!({ "type": "here", "pageId": page_id })).await;
    let looking = hers.message_of("here").await;
    assert_eq!(
        looking,
        json!({ "type": "here", "userId": looking["userId"], "name": "bob", "tab": "tab-bob1", "device": "Laptop", "pageId": page_id })
    );
    his.send(&json!({ "type": "here", "pageId": null })).await;
    assert_eq!(hers.message_of("here").await["pageId"], Value::Null);
    drop(his);
    let gone = hers.message_of("gone").await;
    assert_eq!(gone, json!({ "type": "gone", "userId": looking["userId"], "tab": "tab-bob1" }));
}

#[tokio::test]
async fn a_tab_that_turns_many_pages_ends_on_its_last() {
    let (_server, org_id, ada, bob) = company().await;
    let (first, last) = (page(&ada, &org_id, "One").await, page(&ada, &org_id, "Two").await);
    let (mut hers, _) = open(&ada, &org_id, "tab-ada1").await;
    let (mut his, _) = open(&bob, &org_id, "tab-bob1").await;
    let begun = std::time::Instant::now();
    for _ in 0..50 {
        his.send(&json!({ "type": "here", "pageId": first })).await;
    }
    his.send(&json!({ "type": "here", "pageId": last })).await;
    let mut told = 0;
    while hers.message_of("here").await["pageId"] != last.as_str() {
        told += 1;
    }
    // Ten times a second at most.
    let most = begun.elapsed().as_millis() / 100 + 2;
    assert!(told <= most, "others were told {told} times, where {most} are the most");
}

#[tokio::test]
async fn a_tab_that_connects_again_is_one_tab() {
    let (_server, org_id, ada, bob) = company().await;
    let (old, _) = open(&bob, &org_id, "tab-bob1").await;
    let new = ticket(&bob, &org_id, "tab-bob1").await.open().await.expect("a socket");
    let (mut hers, ready) = open(&ada, &org_id, "tab-ada1").await;
    let his = |ready: &Value| ready["present"].as_array().unwrap().iter().filter(|one| one["name"] == "bob").count();
    assert_eq!(his(&ready), 1, "{ready}");
    drop(old);
    // The end of the old socket says nothing of the tab; a message that comes after it shows that it was heard.
    let page_id = page(&ada, &org_id, "Plans").await;
    assert_eq!(hers.message().await["page"]["pageId"], page_id.as_str());
    let (_third, ready) = open(&ada, &org_id, "tab-ada2").await;
    assert_eq!(his(&ready), 1, "{ready}");
    drop(new);
    assert_eq!(hers.message_of("gone").await["tab"], "tab-bob1");
}

#[tokio::test]
async fn a_page_of_another_organization_is_not_looked_at() {
    let (_server, org_id, ada, _) = company().await;
    let elsewhere = page(&ada, &ada.org("Elsewhere").await, "Theirs").await;
    let (mut socket, _) = open(&ada, &org_id, "tab-ada1").await;
    for page_id in [elsewhere.as_str(), "doc_01jd7rt4m5e9fv2w8x3c6k0hqz", "nonsense", ""] {
        socket.send(&json!({ "type": "here", "pageId": page_id })).await;
        let error = socket.message_of("error").await;
        assert_eq!(error, json!({ "type": "error", "error": "Page not found", "code": "not_found" }));
    }
}

#[tokio::test]
async fn what_is_no_message_closes_the_socket_and_what_is_of_later_clients_does_not() {
    let (_server, org_id, ada, _) = company().await;
    let (mut socket, _) = open(&ada, &org_id, "tab-ada1").await;
    socket.send(&json!({ "type": "typing" })).await;
    socket.send(&json!({ "type": "here" })).await;
    page(&ada, &org_id, "Plans").await;
    socket.message_of("page.created").await;
    for message in [json!("here"), json!({}), json!([]), json!({ "type": "here", "pageId": 7 })] {
        let (mut socket, _) = open(&ada, &org_id, "tab-ada2").await;
        socket.send(&message).await;
        assert_eq!(socket.closed().await, Some(4400), "{message}");
    }
}

#[tokio::test]
async fn a_tab_has_8_to_64_word_characters_and_a_device_up_to_60() {
    let (_server, org_id, ada, _) = company().await;
    let ask = async |query: &str| ada.get(&format!("/v1/orgs/{org_id}/pages/live{query}")).send().await;
    for len in [8, 9, 63, 64] {
        ask(&format!("?tab={}", "a".repeat(len))).await.expect(200);
    }
    for tab in ["a".repeat(7), "a".repeat(65), "tab%201234".into(), "t%C3%A4b12345".into(), String::new()] {
        let answer = ask(&format!("?tab={tab}")).await.expect(400);
        assert_eq!(answer.str("/problems/0/path"), "tab");
    }
    assert_eq!(ask("").await.expect(400).str("/problems/0/path"), "tab");
    for (len, status) in [(0, 200), (59, 200), (60, 200), (61, 400)] {
        ask(&format!("?tab=tab-ada1&device={}", "%C3%A4".repeat(len))).await.expect(status);
    }
}

#[tokio::test]
async fn a_key_is_told_that_there_is_no_socket_for_it() {
    let (_server, org_id, ada, _) = company().await;
    let body = json!({ "name": "A program", "kind": "api", "scopes": ["knowledge:read"] });
    let key = ada.post(&format!("/v1/orgs/{org_id}/keys")).json(&body).send().await.expect(201);
    let program = ada.with_token(key.str("/secret"));
    let answer = program.get(&format!("/v1/orgs/{org_id}/pages/live?tab=tab-0001")).send().await.expect(200);
    assert_eq!(answer.json, json!({ "socket": null }));
}

#[tokio::test]
async fn a_ticket_opens_the_socket_of_its_organization_once() {
    let (_server, org_id, ada, _) = company().await;
    let other = ada.org("Elsewhere").await;
    let mut wrong = ticket(&ada, &org_id, "tab-ada1").await;
    wrong.url = wrong.url.replace(&org_id, &other);
    assert_eq!(wrong.open().await.err(), Some(401));
    let right = ticket(&ada, &org_id, "tab-ada1").await;
    assert!(right.open().await.is_ok());
    assert_eq!(right.open().await.err(), Some(401));
    let live = Ticket::issue(&ada).await;
    let path = format!("/v1/sockets/pages-of/{org_id}");
    let of_another_kind = Ticket { url: live.url.replace("/v1/sockets/live", &path), ..live };
    assert_eq!(of_another_kind.open().await.err(), Some(401));
}

#[tokio::test]
async fn who_leaves_the_organization_loses_the_socket() {
    let (_server, org_id, ada, bob) = company().await;
    let late = ticket(&bob, &org_id, "tab-bob2").await;
    let (mut his, _) = open(&bob, &org_id, "tab-bob1").await;
    let user_id = bob.get("/v1/me").send().await.expect(200).str("/user/userId").to_owned();
    ada.delete(&format!("/v1/orgs/{org_id}/members/{user_id}")).send().await.expect_success();
    assert_eq!(his.closed().await, Some(4403));
    assert_eq!(late.open().await.err(), Some(403));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_of_two_nodes_tells_of_what_happens_on_the_other() {
    let Some(pair) = Pair::start(&[]).await else { return };
    let [left, right] = pair.clients();
    let email = left.register("ada").await;
    let left = left.sign_in(&email, "account", "web").await;
    let right = left.at(right.base());
    let org_id = left.org("Acme").await;
    let mut lefts = ticket(&left, &org_id, "tab-left1").await.open().await.expect("a socket");
    let mut rights = ticket(&right, &org_id, "tab-right").await.open().await.expect("a socket");
    for (node, socket, revision) in [(&left, &mut rights, 1), (&right, &mut lefts, 2)] {
        let page_id = page(node, &org_id, "Plans").await;
        loop {
            let message = socket.message_of("page.created").await;
            if message["revision"] == revision {
                assert_eq!(message["page"]["pageId"], page_id);
                break;
            }
        }
    }
    let page_id = page(&left, &org_id, "Shown").await;
    rights.send(&json!({ "type": "here", "pageId": page_id })).await;
    loop {
        let here = lefts.message_of("here").await;
        if here["tab"] == "tab-right" && here["pageId"] == page_id {
            break;
        }
    }
    drop(rights);
    assert_eq!(lefts.message_of("gone").await["tab"], "tab-right");
}
