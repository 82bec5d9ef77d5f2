//! Hooks by which other servers bring mail to a desk.

use super::*;
use crate::accounts::letter;

const MESSAGE: &str = "From: Eve <eve@example.net>\r\nTo: help@example.com\r\nSubject: Fire\r\nMessage-ID: <1@example.net>\r\n\r\nIt burns.\r\n";

/// A desk without an address, and a hook of it: its address, without the server's.
async fn hooked() -> (Desk, String) {
    let desk = Desk::new().await;
    desk.configure(|config| config["email"] = json!({ "requestTypeId": "get_help", "from": "anyone" })).await;
    let made = make(&desk, "A server").await.expect(201);
    let url = made.str("/url");
    let path = url[url.find("/v1/").expect("a path")..].to_owned();
    (desk, path)
}

async fn make(desk: &Desk, name: &str) -> Answer {
    let hooks = format!("{}/issues/spaces/HELP/mail-hooks", desk.org);
    desk.ada.client.post(&hooks).json(&json!({ "name": name })).send().await
}

async fn post(desk: &Desk, path: &str, message: &str) -> Answer {
    desk.server.client().post(path).body("message/rfc822", message.to_owned()).send().await
}

#[tokio::test]
async fn a_message_that_a_hook_brings_is_a_request_and_once_only() {
    let (desk, path) = hooked().await;
    post(&desk, &path, MESSAGE).await.expect(202);
    post(&desk, &path, MESSAGE).await.expect(200);
    let read = desk
        .server
        .eventually("a request", async || {
            let found = desk.ada.client.get(&format!("{}/issues/HELP-1", desk.org)).send().await;
            (found.status == 200).then_some(found)
        })
        .await;
    assert_eq!((read.str("/issue/summary"), read.str("/issue/requesterEmail")), ("Fire", "eve@example.net"));
    assert_eq!(read.json["issue"]["requesterUnverified"], true, "nothing vouches for it");
    // Without an address of its own the desk writes from the operators'.
    let receipt = letter(&desk.server, "eve@example.net", "[HELP-1] Fire").await;
    assert!(receipt.starts_with("-- Please write above this line --") && receipt.contains("HELP-1"), "{receipt}");
    let other = MESSAGE.replace("<1@", "<2@").replace("Fire", "Water");
    post(&desk, &path, &other).await.expect(202);
    let hooks = desk.ada.client.get(&format!("{}/issues/spaces/HELP/mail-hooks", desk.org)).send().await.expect(200);
    assert!(hooks.int("/hooks/0/lastUsedAt") > 0 && !hooks.text.contains("trp_h_"), "{}", hooks.text);
}

#[tokio::test]
async fn a_hook_takes_what_its_token_brings_and_no_more_than_25_mb() {
    let (desk, path) = hooked().await;
    let (hook, token) = path.rsplit_once('/').expect("a token");
    let other = if token.ends_with('a') { 'b' } else { 'a' };
    let forged = format!("{hook}/{}{other}", &token[..token.len() - 1]);
    for wrong in [forged, format!("{hook}/trp_h_x"), path.replace("imh_", "ahk_")] {
        post(&desk, &wrong, MESSAGE).await.expect_error(404, "not_found", "Hook not found.");
    }
    post(&desk, &path, "").await.expect_error(400, "malformed", "Send a message.");
    let most = 25 * 1024 * 1024;
    let of = |size: usize| format!("{MESSAGE}{}", "x".repeat(size - MESSAGE.len()));
    post(&desk, &path, &of(most + 1)).await.expect_error(413, "too_large", "Messages can be up to 25 MB.");
    post(&desk, &path, &of(most)).await.expect(202);
}

#[tokio::test]
async fn hooks_are_made_and_deleted_by_admins_of_a_space_that_takes_mail() {
    let (desk, path) = hooked().await;
    let hooks = format!("{}/issues/spaces/HELP/mail-hooks", desk.org);
    let bob = desk.member("bob", "developer").await;
    let admins = |answer: Answer| answer.expect_error(403, "space_admin", "Only admins of the space can do this.");
    admins(bob.client.get(&hooks).send().await);
    admins(bob.client.post(&hooks).json(&json!({ "name": "x" })).send().await);
    let listed = desk.ada.client.get(&hooks).send().await.expect(200);
    let one = format!("{hooks}/{}", listed.str("/hooks/0/hookId"));
    admins(bob.client.delete(&one).send().await);
    for (length, status) in [(0, 400), (1, 201), (80, 201), (81, 400)] {
        make(&desk, &"x".repeat(length)).await.expect(status);
    }
    for _ in 3..20 {
        make(&desk, "x").await.expect(201);
    }
    make(&desk, "x").await.expect_error(400, "limit_reached", "A space has at most 20 mail hooks.");
    desk.ada.client.delete(&one).send().await.expect(204);
    desk.ada.client.delete(&one).send().await.expect_error(404, "not_found", "Hook not found.");
    post(&desk, &path, MESSAGE).await.expect(404);
    desk.configure(|config| config["email"] = Value::Null).await;
    make(&desk, "x").await.expect_error(409, "takes_no_mail", "The desk of this space takes no mail.");
}
