//! Mail to a desk becomes requests and comments, and its people are told by mail.

use std::time::Duration;

use bytes::Bytes;
use domain::{
    Email,
    id::{MailArrivalId, MailboxId, OrgId},
    mail::{Arrival, Outcome, Verdict},
};
use store::{Change, Store, mail::Recipient};

use super::*;
use crate::mail::{
    lent_domain,
    peer::{Peer, Taken},
};

/// A line above which answers are written.
const MARKER: &str = "-- Please write above this line --";
const EVE: &str = "eve@example.org";

/// What a message says.
pub(super) struct Mail<'m> {
    pub(super) from: &'m str,
    pub(super) subject: &'m str,
    pub(super) more: &'m str,
    pub(super) text: &'m str,
    pub(super) verdict: Verdict,
    /// To whom by the envelope, where not to the desk's own address.
    pub(super) to: Option<&'m str>,
    pub(super) envelope_from: Option<&'m str>,
    /// Its Message-ID, where not one of its own.
    pub(super) id: Option<&'m str>,
}

impl Default for Mail<'_> {
    fn default() -> Self {
        let verdict = Verdict { dmarc: Outcome::Pass, spf: Outcome::Pass, ..Verdict::default() };
        Self {
            from: EVE,
            subject: "Fire",
            more: "",
            text: "It burns.",
            verdict,
            to: None,
            envelope_from: None,
            id: None,
        }
    }
}

/// A desk that takes mail, on a server whose mail goes to a peer.
pub(super) struct MailDesk {
    pub(super) desk: Desk,
    pub(super) peer: Peer,
    pub(super) store: Store,
    pub(super) address: String,
    written: std::cell::Cell<u32>,
}

impl MailDesk {
    pub(super) async fn new(from: &str) -> Self {
        let peer = Peer::start().await;
        let smarthost = format!("mail_server.smarthost={}", peer.address);
        let desk = Desk::on(Server::with(&[&smarthost]).await).await;
        let address = format!("help@{}", lent_domain(&desk.ada, &desk.org).await);
        let email = json!({ "address": address, "requestTypeId": "get_help", "from": from });
        desk.configure(|config| config["email"] = email).await;
        let store = desk.server.store().await;
        Self { desk, peer, store, address, written: std::cell::Cell::new(0) }
    }

    pub(super) async fn letterbox(&self, address: &str) -> (OrgId, MailboxId) {
        let address: Email = address.parse().expect("an address");
        match self.store.mail_recipient(&address, "localhost.localdomain").await.expect("a read") {
            Recipient::Mailbox { org_id, mailbox_id } => (org_id, mailbox_id),
            other => panic!("{address}: {other:?}"),
        }
    }

    /// Has a message come; its Message-ID, without brackets.
    pub(super) async fn bring(&self, mail: Mail<'_>) -> String {
        self.written.set(self.written.get() + 1);
        let id = mail.id.map_or_else(|| format!("{}@example.com", self.written.get()), str::to_owned);
        let to = mail.to.unwrap_or(&self.address);
        let Mail { from, subject, more, text, verdict, envelope_from, .. } = mail;
        let message = format!("From: {from}\nTo: {to}\nSubject: {subject}\nMessage-ID: <{id}>\n{more}\n{text}\n");
        let (org_id, mailbox_id) = self.letterbox(to).await;
        let now = self.desk.server.clock.now();
        let raw = self.store.mail_raw_write(org_id, Bytes::from(message.replace('\n', "\r\n"))).await.expect("bytes");
        let arrival = Arrival {
            id: MailArrivalId::new(now),
            org_id,
            mailbox_id,
            raw_id: raw.id(),
            envelope_from: envelope_from.unwrap_or(EVE).to_owned(),
            envelope_to: to.to_owned(),
            received_at: now,
            head: String::new(),
            verdict,
            tries: 0,
        };
        let mut change = Change::new();
        change.mail_arrive(now, &raw, &[arrival]);
        self.store.commit(change).await.expect("a commit");
        self.filed().await;
        // Comments are in the order of their instants.
        self.desk.server.clock.advance(Duration::from_millis(1));
        id
    }

    /// Waits until everything that came is worked on.
    pub(super) async fn filed(&self) {
        let empty = async || (self.store.mail_arrivals_waiting(1).await.expect("a count") == 0).then_some(());
        self.desk.server.eventually("an empty letterbox", empty).await;
    }

    /// What left for an address, once there are so many.
    pub(super) async fn sent(&self, to: &str, count: usize) -> Vec<Taken> {
        let of = |taken: &Taken| taken.to.iter().any(|it| it == to);
        let found = async || {
            let all: Vec<Taken> = self.peer.taken().into_iter().filter(of).collect();
            (all.len() >= count).then_some(all)
        };
        self.desk.server.eventually("mails to an address", found).await
    }

    pub(super) async fn issue(&self, key: &str) -> Value {
        self.desk.ada.client.get(&format!("{}/issues/{key}", self.desk.org)).send().await.expect(200).json
    }

    pub(super) async fn has_issue(&self, key: &str) -> bool {
        self.desk.ada.client.get(&format!("{}/issues/{key}", self.desk.org)).send().await.status == 200
    }

    pub(super) async fn comments(&self, key: &str) -> Vec<Value> {
        let path = format!("{}/issues/{key}/comments", self.desk.org);
        self.desk.ada.client.get(&path).send().await.expect(200).list("/comments").to_vec()
    }

    /// What of the desk's mail came to nothing: reasons and counts.
    pub(super) async fn refused(&self) -> Vec<(String, i64)> {
        let path = format!("{}/issues/spaces/HELP/mail-hooks", self.desk.org);
        let answer = self.desk.ada.client.get(&path).send().await.expect(200);
        let one =
            |it: &Value| (it["reason"].as_str().expect("a reason").to_owned(), it["count"].as_i64().expect("one"));
        answer.list("/refused").iter().map(one).collect()
    }
}

/// A header of a message, its lines joined.
pub(super) fn header(message: &str, name: &str) -> String {
    let head = message.split("\r\n\r\n").next().unwrap_or_default().replace("\r\n\t", " ").replace("\r\n ", " ");
    let start = format!("{}:", name.to_lowercase());
    let line = head.split("\r\n").find(|line| line.to_lowercase().starts_with(&start));
    line.map_or_else(String::new, |line| line[start.len()..].trim().to_owned())
}

#[tokio::test]
async fn a_message_to_a_desk_is_a_request_and_its_sender_is_told() {
    let it = MailDesk::new("anyone").await;
    let id = it.bring(Mail::default()).await;
    let read = it.issue("HELP-1").await;
    let issue = &read["issue"];
    assert_eq!((&issue["summary"], &read["description"]), (&json!("Fire"), &json!("It burns.")));
    assert_eq!((&issue["channel"], &issue["requestTypeId"]), (&json!("email"), &json!("get_help")));
    assert_eq!((&issue["requesterEmail"], issue.get("reporterId")), (&json!(EVE), None));
    assert_eq!(issue.get("requesterUnverified"), None);
    let [receipt] = &it.sent(EVE, 1).await[..] else { panic!("one receipt") };
    let message = &receipt.message;
    assert_eq!(
        (header(message, "Auto-Submitted"), receipt.from.clone()),
        ("auto-generated".into(), it.address.clone())
    );
    assert!(header(message, "From").contains(&format!("<{}>", it.address)), "{message}");
    assert!(header(message, "Reply-To").contains("help+1-"), "{message}");
    assert!(header(message, "Subject").starts_with("[HELP-1] Fire"), "{message}");
    assert!(header(message, "Message-ID").starts_with("<iss_"), "{message}");
    assert_eq!(header(message, "In-Reply-To"), format!("<{id}>"));
    assert!(!header(message, "X-Troupe-Loop").is_empty() && message.contains(MARKER), "{message}");
    assert_eq!(it.refused().await, []);
}

#[tokio::test]
async fn answers_find_their_request_by_reference_by_tag_and_by_key() {
    let it = MailDesk::new("anyone").await;
    let first = it.bring(Mail::default()).await;
    let receipt = it.sent(EVE, 1).await.remove(0).message;
    let (ours, tagged) = (header(&receipt, "Message-ID"), header(&receipt, "Reply-To").replace(['<', '>'], ""));
    let more = format!("In-Reply-To: {ours}\n");
    it.bring(Mail { subject: "Other", more: &more, text: "By our id", ..Mail::default() }).await;
    let more = format!("References: <unknown@example.com> <{first}>\n");
    it.bring(Mail { subject: "Other", more: &more, text: "By their own id", ..Mail::default() }).await;
    it.bring(Mail { subject: "Other", to: Some(&tagged), text: "By the tag", ..Mail::default() }).await;
    it.bring(Mail { subject: "AW: [help-1] Fire", text: "By the key", ..Mail::default() }).await;
    let said: Vec<_> = it.comments("HELP-1").await;
    let bodies: Vec<_> = said.iter().map(|comment| comment["body"].as_str().expect("a body")).collect();
    assert_eq!(bodies, ["By our id", "By their own id", "By the tag", "By the key"]);
    assert!(said.iter().all(|it| it["public"] == true && it["authorEmail"] == EVE && it.get("authorId").is_none()));
    assert!(!it.has_issue("HELP-2").await);
    // A key alone is known to anybody, and another's seal is none.
    it.bring(Mail { from: "bob@example.org", subject: "[HELP-1] Fire", ..Mail::default() }).await;
    assert!(it.has_issue("HELP-2").await);
    let forged = tagged.replace("+1-", "+2-");
    it.bring(Mail { subject: "Forged", to: Some(&forged), ..Mail::default() }).await;
    assert!(it.has_issue("HELP-3").await);
    assert_eq!(it.comments("HELP-1").await.len(), 4);
}

#[tokio::test]
async fn what_agents_say_in_public_goes_out_in_the_thread_and_nothing_else_does() {
    let it = MailDesk::new("anyone").await;
    let first = it.bring(Mail::default()).await;
    let receipt = it.sent(EVE, 1).await.remove(0).message;
    it.desk.say("x/HELP-1", "SECRET", false).await;
    it.desk.server.clock.advance(Duration::from_millis(1));
    it.desk.say("x/HELP-1", "We are on our way.", true).await;
    it.desk.server.clock.advance(Duration::from_millis(1));
    let answer = it.sent(EVE, 2).await.remove(1).message;
    assert!(answer.contains("We are on our way."), "{answer}");
    let (before, chain) = (header(&receipt, "Message-ID"), header(&answer, "References"));
    assert_eq!(header(&answer, "In-Reply-To"), before);
    assert!(chain.contains(&format!("<{first}>")) && chain.contains(&before), "{chain}");
    // An answer that quotes ours comes back without the quote among its words.
    let text = format!("Thanks\n\nOn Friday, Help <{}> wrote:\n> {MARKER}\n> We are on our way.", it.address);
    let more = format!("In-Reply-To: {}\n", header(&answer, "Message-ID"));
    it.bring(Mail { more: &more, text: &text, ..Mail::default() }).await;
    let said = it.comments("HELP-1").await;
    assert_eq!((&said[2]["body"], &said[2]["public"]), (&json!("Thanks"), &json!(true)));
    assert!(said[2]["quoted"].as_str().is_some_and(|quoted| quoted.contains("> We are on our way.")), "{said:?}");
    it.desk.transition("x/HELP-1", "resolve").await;
    let resolved = it.sent(EVE, 3).await.remove(2).message;
    assert!(resolved.contains("is resolved"), "{resolved}");
    assert!(it.peer.taken().iter().all(|taken| !taken.message.contains("SECRET") && taken.to == [EVE]));
}

#[tokio::test]
async fn only_mail_that_is_vouched_for_acts_in_the_name_of_an_account_whose_address_is_known() {
    let it = MailDesk::new("anyone").await;
    let ada = it.desk.ada.email.clone();
    it.bring(Mail { from: &ada, ..Mail::default() }).await;
    let issue = it.issue("HELP-1").await["issue"].clone();
    assert_eq!((&issue["reporterId"], issue.get("requesterEmail")), (&json!(it.desk.ada.user_id), None));
    it.bring(Mail { from: &ada, verdict: Verdict::default(), ..Mail::default() }).await;
    let issue = it.issue("HELP-2").await["issue"].clone();
    assert_eq!((issue.get("reporterId"), &issue["requesterEmail"]), (None, &json!(ada)));
    assert_eq!(issue["requesterUnverified"], true);
    // A forged answer is a comment that says so, in nobody's name.
    let forged = Mail { from: &ada, subject: "[HELP-1]", verdict: Verdict::default(), ..Mail::default() };
    it.bring(forged).await;
    let said = it.comments("HELP-1").await;
    assert_eq!((&said[0]["unverified"], said[0].get("authorId")), (&json!(true), None));
    // Eve registered with this address, and hasn't shown yet that it is hers.
    it.bring(Mail { from: &it.desk.eve.email, ..Mail::default() }).await;
    assert_eq!(it.issue("HELP-3").await["issue"].get("reporterId"), None);
}

#[tokio::test]
async fn a_desk_of_customers_takes_mail_of_those_whom_it_knows() {
    let it = MailDesk::new("customers").await;
    it.desk
        .configure(|config| {
            config["portal"]["access"] = json!("listed");
            config["portal"]["customers"] = json!(["Carol@example.org"]);
        })
        .await;
    it.bring(Mail { from: "stranger@example.net", ..Mail::default() }).await;
    assert_eq!(it.refused().await, [("stranger".to_owned(), 1)]);
    assert!(!it.has_issue("HELP-1").await);
    it.bring(Mail { from: "carol@example.org", more: "Cc: dan@example.net, ada@example.org\n", ..Mail::default() })
        .await;
    let issue = it.issue("HELP-1").await["issue"].clone();
    assert_eq!((&issue["requesterEmail"], &issue["emailParticipants"]), (&json!("carol@example.org"), &json!([])));
    assert_eq!(issue["participants"], json!([it.desk.ada.user_id]));
    it.sent("carol@example.org", 1).await;
    assert!(it.peer.taken().iter().all(|taken| taken.to == ["carol@example.org"]), "nobody else is answered");
}

#[tokio::test]
async fn who_gets_a_copy_takes_part_and_is_told() {
    let it = MailDesk::new("anyone").await;
    let more = format!("Cc: Dan <dan@example.net>, {}\n", it.address);
    it.bring(Mail { more: &more, ..Mail::default() }).await;
    let issue = it.issue("HELP-1").await["issue"].clone();
    assert_eq!(issue["emailParticipants"], json!(["dan@example.net"]));
    it.desk.say("x/HELP-1", "Soon.", true).await;
    assert!(it.sent("dan@example.net", 1).await[0].message.contains("Soon."));
    it.bring(Mail { from: "dan@example.net", subject: "Re: [HELP-1] Fire", text: "Me too", ..Mail::default() }).await;
    assert_eq!(it.comments("HELP-1").await[1]["public"], true);
    // The others hear what Dan said, and he doesn't.
    let heard = it.sent(EVE, 3).await;
    assert!(heard.iter().any(|taken| taken.message.contains("Me too")));
    assert_eq!(it.sent("dan@example.net", 1).await.len(), 1);
    // A copy of what anybody could have written brings nobody in.
    let more = "Cc: spy@example.net\n";
    let forged = Mail { subject: "[HELP-1]", more, verdict: Verdict::default(), ..Mail::default() };
    it.bring(forged).await;
    assert_eq!(it.issue("HELP-1").await["issue"]["emailParticipants"], json!(["dan@example.net"]));
}

#[tokio::test]
async fn who_takes_no_part_writes_for_members_only() {
    let it = MailDesk::new("anyone").await;
    let first = it.bring(Mail::default()).await;
    let more = format!("In-Reply-To: <{first}>\n");
    it.bring(Mail { from: "mallory@example.net", more: &more, text: "Pay here", ..Mail::default() }).await;
    let said = it.comments("HELP-1").await;
    assert_eq!((&said[0]["public"], &said[0]["authorEmail"]), (&json!(false), &json!("mallory@example.net")));
    it.sent(EVE, 1).await;
    it.desk.say("x/HELP-1", "Hello", true).await;
    assert!(it.sent(EVE, 2).await.iter().all(|taken| !taken.message.contains("Pay here")));
}

#[tokio::test]
async fn files_of_a_message_are_files_of_its_request() {
    let it = MailDesk::new("anyone").await;
    let more = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n";
    let text = "--x\nContent-Type: text/html\n\n<p>See <b>there</b>.</p>\n--x\nContent-Type: image/png; name=\"../dot.png\"\n\
                Content-Disposition: attachment\nContent-Transfer-Encoding: base64\n\nAAEC\n--x--";
    it.bring(Mail { more, text, ..Mail::default() }).await;
    let read = it.issue("HELP-1").await;
    assert_eq!((&read["description"], &read["issue"]["attachmentCount"]), (&json!("See there."), &json!(1)));
    let path = format!("{}/issues/HELP-1/attachments", it.desk.org);
    let files = it.desk.ada.client.get(&path).send().await.expect(200);
    let file = &files.list("/attachments")[0];
    assert_eq!((&file["name"], &file["size"], &file["public"]), (&json!("dot.png"), &json!(3), &json!(true)));
    assert_eq!((&file["contentType"], file.get("addedBy")), (&json!("image/png"), None));
}

#[tokio::test]
async fn an_answer_to_what_is_over_for_too_long_begins_a_new_request() {
    let it = MailDesk::new("anyone").await;
    it.desk.configure(|config| config["reopenDays"] = json!(1)).await;
    it.bring(Mail::default()).await;
    it.desk.transition("x/HELP-1", "resolve").await;
    it.desk.server.clock.advance(Duration::from_hours(24));
    it.bring(Mail { subject: "[HELP-1] Fire", text: "Again!", ..Mail::default() }).await;
    assert_eq!(it.issue("HELP-1").await["issue"]["statusId"], "waiting_for_support", "it is open again");
    it.desk.transition("x/HELP-1", "resolve").await;
    it.desk.server.clock.advance(Duration::from_hours(24) + Duration::from_millis(1));
    it.bring(Mail { subject: "[HELP-1] Fire", text: "And again!", ..Mail::default() }).await;
    let next = it.issue("HELP-2").await;
    assert_eq!(next["description"], "And again!\n\n[This follows HELP-1.]");
}

#[tokio::test]
async fn addresses_of_desks_are_of_their_organization_and_nobodys_twice() {
    let it = MailDesk::new("anyone").await;
    let domain = it.address.split('@').nth(1).expect("a domain").to_owned();
    let mailbox = json!({ "localPart": "help", "domain": domain });
    let mailboxes = format!("{}/mail/admin/mailboxes", it.desk.org);
    let taken = it.desk.ada.client.post(&mailboxes).json(&mailbox).send().await;
    taken.expect_error(409, "address_in_use", "This address is already in use.");
    let mailbox = json!({ "localPart": "team", "domain": domain });
    it.desk.ada.client.post(&mailboxes).json(&mailbox).send().await.expect(201);
    let path = format!("{}/issues/spaces/HELP", it.desk.org);
    let config = it.desk.ada.client.get(&path).send().await.expect(200).json["space"]["config"].clone();
    let put = async |email: Value| {
        let mut config = config.clone();
        config["servicedesk"]["email"] = email;
        it.desk.ada.client.patch(&path).json(&json!({ "config": config })).send().await
    };
    let email = |address: &str| json!({ "address": address, "requestTypeId": "get_help", "from": "anyone" });
    let taken = put(email(&format!("team@{domain}"))).await;
    taken.expect_error(409, "address_in_use", "This address is already in use.");
    for address in ["help@example.org", "help@other.localhost.localdomain", "help", ""] {
        put(email(address)).await.expect_problems(&["config.servicedesk.email.address"]);
    }
    let wrong = json!({ "requestTypeId": "nothing", "from": "anyone" });
    put(wrong).await.expect_problems(&["config.servicedesk.email.requestTypeId"]);
    put(email(&format!("desk@{domain}"))).await.expect(200);
    let mailbox = json!({ "localPart": "help", "domain": domain });
    it.desk.ada.client.post(&mailboxes).json(&mailbox).send().await.expect(201);
    it.bring(Mail { to: Some(&format!("desk@{domain}")), ..Mail::default() }).await;
    assert!(it.has_issue("HELP-1").await);
}

#[tokio::test]
async fn the_people_of_a_request_may_be_known_by_their_address_only() {
    let it = MailDesk::new("anyone").await;
    let path = it.desk.request(&it.desk.eve.client, "Fire").await;
    let add = async |email: &str| {
        let body = json!({ "email": email });
        it.desk.eve.client.post(&format!("{path}/participants")).json(&body).send().await
    };
    add("Dan@example.net").await.expect(201);
    add("dan@example.net").await.expect(201);
    add("nonsense").await.expect_problems(&["email"]);
    let read = it.desk.eve.client.get(&path).send().await.expect(200);
    let dan = json!([{ "id": "dan@example.net", "name": "dan@example.net" }]);
    assert_eq!(read.json["request"]["participants"], dan);
    it.bring(Mail { from: "dan@example.net", subject: "[HELP-1]", text: "Me too", ..Mail::default() }).await;
    let read = it.desk.eve.client.get(&path).send().await.expect(200);
    assert_eq!((read.str("/comments/0/author"), read.str("/comments/0/body")), ("dan@example.net", "Me too"));
    it.desk.eve.client.delete(&format!("{path}/participants/dan@example.net")).send().await.expect(200);
    let gone = it.desk.eve.client.delete(&format!("{path}/participants/dan@example.net")).send().await;
    gone.expect_error(404, "not_found", "That person isn't a participant.");
}
