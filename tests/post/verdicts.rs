//! Who vouches for a message, and where it goes by that.

use domain::mail::{Outcome, Placed, Verdict};

use super::{HOST, Post, message, signing::Signature};
use crate::mail::dns::Mood;

const REFUSED: &str = "550 5.7.1";
const TAKEN: &str = "250 2.6.0";
const LETS_US: &str = "v=spf1 ip4:127.0.0.1 -all";
const LETS_NOBODY: &str = "v=spf1 -all";

/// Has a domain say of mail in its name what these records say.
fn says(post: &Post, spf: &str, dmarc: &str) {
    post.dns.zone("example.com", &[]);
    post.dns.text("example.com", spf);
    post.dns.text("_dmarc.example.com", dmarc);
}

async fn verdict(post: &Post) -> Verdict {
    post.arrivals().await.pop().expect("an arrival").verdict
}

fn rules(verdict: &Verdict) -> Vec<&str> {
    verdict.points.iter().map(|point| point.rule.as_str()).collect()
}

#[tokio::test]
async fn mail_from_where_its_domain_sends_is_vouched_for() {
    let post = Post::new().await;
    says(&post, LETS_US, "v=DMARC1; p=reject");
    assert!(post.bring("bob@example.com", &message("spf")).await.starts_with(TAKEN));
    let verdict = verdict(&post).await;
    assert_eq!((verdict.spf, verdict.dkim, verdict.dmarc), (Outcome::Pass, Outcome::None, Outcome::Pass));
    assert_eq!(verdict.placed, Placed::Inbox);
    assert_eq!(rules(&verdict), ["dmarc_pass"]);
    let head = post.arrivals().await.remove(0).head;
    assert!(head.contains("\tspf=pass") && head.contains("\tdmarc=pass header.from=example.com"), "{head}");
}

#[tokio::test]
async fn mail_in_a_name_that_is_not_the_senders_is_refused_where_its_owner_asks() {
    let post = Post::new().await;
    says(&post, LETS_NOBODY, "v=DMARC1; p=reject");
    let reply = post.bring("bob@example.com", &message("forged")).await;
    assert!(reply.starts_with(REFUSED), "{reply}");
    // A sender whose own domain lets it send is not that of `From`.
    post.dns.text("example.net", LETS_US);
    let reply = post.bring("eve@example.net", &message("forged")).await;
    assert!(reply.starts_with(REFUSED), "{reply}");
    assert_eq!(post.arrivals().await, []);
}

#[tokio::test]
async fn operators_may_have_it_marked_instead() {
    let post = Post::with(&["mail_server.dmarc=mark"]).await;
    says(&post, LETS_NOBODY, "v=DMARC1; p=reject");
    assert!(post.bring("bob@example.com", &message("forged")).await.starts_with(TAKEN));
    let verdict = verdict(&post).await;
    assert_eq!((verdict.spf, verdict.dmarc, verdict.placed), (Outcome::Fail, Outcome::Fail, Placed::Spam));
    assert!(rules(&verdict).contains(&"dmarc_policy"), "{verdict:?}");
}

#[tokio::test]
async fn what_an_owner_wants_put_aside_is_spam_and_what_they_let_be_is_not() {
    for (policy, placed) in [("quarantine", Placed::Spam), ("none", Placed::Inbox)] {
        let post = Post::new().await;
        says(&post, "v=spf1 ~all", &format!("v=DMARC1; p={policy}"));
        assert!(post.bring("bob@example.com", &message(policy)).await.starts_with(TAKEN));
        let verdict = verdict(&post).await;
        assert_eq!((verdict.spf, verdict.dmarc), (Outcome::SoftFail, Outcome::Fail), "{policy}");
        assert_eq!(verdict.placed, placed, "{policy}: {verdict:?}");
    }
}

#[tokio::test]
async fn a_signature_vouches_for_what_came_another_way() {
    let post = Post::new().await;
    says(&post, LETS_NOBODY, "v=DMARC1; p=reject");
    let signature = Signature::of("example.com");
    let (name, text) = signature.record();
    post.dns.text(&name, &text);
    let signed = signature.sign(&message("signed"));
    let reply = post.bring("list@example.net", &signed).await;
    assert!(reply.starts_with(TAKEN), "{reply}");
    let verdict = verdict(&post).await;
    assert_eq!((verdict.dkim, verdict.dmarc), (Outcome::Pass, Outcome::Pass));
    for changed in [signed.replace("Hello", "Hallo"), signed.replace("From: Bob", "From: Eve")] {
        let reply = post.bring("list@example.net", &changed).await;
        assert!(reply.starts_with(REFUSED), "{reply}");
    }
    assert_eq!(post.arrivals().await.len(), 1);
}

#[tokio::test]
async fn who_can_not_be_asked_keeps_no_mail_away() {
    let post = Post::new().await;
    says(&post, LETS_NOBODY, "v=DMARC1; p=reject");
    post.dns.is(Mood::Fails);
    let reply = post.bring("bob@example.com", &message("unknown")).await;
    assert!(reply.starts_with(TAKEN), "{reply}");
    let verdict = verdict(&post).await;
    assert_eq!((verdict.spf, verdict.dmarc), (Outcome::TempError, Outcome::TempError));
    assert_eq!(verdict.placed, Placed::Inbox, "{verdict:?}");
}

#[tokio::test]
async fn only_this_server_says_what_it_found() {
    let post = Post::new().await;
    let forged = format!("Authentication-Results: {HOST}; dkim=pass header.d=bank.example\r\n");
    let theirs = "Authentication-Results: mx.example.com; spf=pass\r\n";
    let sent = format!("{forged}{theirs}{}", message("forged"));
    assert!(post.bring("bob@example.com", &sent).await.starts_with(TAKEN));
    let arrival = post.arrivals().await.remove(0);
    let whole = post.whole(&arrival).await;
    assert!(!whole.contains("bank.example"), "{whole}");
    assert!(whole.contains(theirs), "{whole}");
    assert_eq!(whole, format!("{}{theirs}{}", arrival.head, message("forged")));
}

#[tokio::test]
async fn a_message_of_two_domains_is_spam() {
    let post = Post::new().await;
    let sent = format!("From: eve@example.net\r\n{}", message("two"));
    assert!(post.bring("eve@example.net", &sent).await.starts_with(TAKEN));
    let verdict = verdict(&post).await;
    assert!(rules(&verdict).contains(&"several_from"), "{verdict:?}");
    assert_eq!(verdict.placed, Placed::Spam);
}

#[tokio::test]
async fn what_is_no_message_is_taken_as_it_is() {
    let post = Post::new().await;
    for sent in
        ["\r\n", "hello\r\n", "\r\n\r\n", ": \r\n:\r\n", "\u{0}\u{0}\r\n", "From:\r\n\r\n", &"A:\r\n ".repeat(10_000)]
    {
        let sent = sent.trim_end_matches(' ');
        let reply = post.bring("bob@example.com", sent).await;
        assert!(reply.starts_with(TAKEN), "{sent:.20}: {reply}");
    }
    assert_eq!(post.arrivals().await.len(), 7);
}
