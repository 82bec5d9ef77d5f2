//! What is said before and between messages.

use std::time::Duration;

use super::{HOST, Post, message};

#[tokio::test]
async fn the_server_says_what_it_offers() {
    let post = Post::new().await;
    let mut smtp = post.connect().await;
    let offered = smtp.hello().await;
    let lines: Vec<&str> = offered.lines().collect();
    assert_eq!(
        lines,
        [
            &*format!("250-{HOST}"),
            "250-PIPELINING",
            "250-SIZE 36700160",
            "250-8BITMIME",
            "250-SMTPUTF8",
            "250-CHUNKING",
            "250-ENHANCEDSTATUSCODES",
            "250 HELP"
        ]
    );
    smtp.told("HELO client.example.com", &format!("250 {HOST}")).await;
    for (line, reply) in [
        ("NOOP", "250 2.0.0"),
        ("noop whatever", "250 2.0.0"),
        ("VRFY ada", "252 2.1.5"),
        ("HELP", "214 2.0.0"),
        ("RSET", "250 2.0.0"),
        ("STARTTLS", "502 5.5.1"),
        ("AUTH PLAIN AGEAYg==", "502 5.5.1"),
        ("EXPN all", "502 5.5.1"),
        ("ETRN example.com", "502 5.5.1"),
        ("GET / HTTP/1.1", "500 5.5.1"),
        ("QUIT", "221 2.0.0"),
    ] {
        smtp.told(line, reply).await;
    }
    smtp.gone().await;
}

#[tokio::test]
async fn commands_have_their_order() {
    let post = Post::new().await;
    let mut smtp = post.connect().await;
    smtp.told("MAIL FROM:<bob@example.com>", "503 5.5.1").await;
    smtp.told("DATA", "503 5.5.1").await;
    smtp.hello().await;
    smtp.told("RCPT TO:<ada@example.org>", "503 5.5.1").await;
    smtp.told("DATA", "503 5.5.1").await;
    smtp.told("MAIL FROM:<bob@example.com>", "250 2.1.0").await;
    smtp.told("MAIL FROM:<bob@example.com>", "503 5.5.1").await;
    smtp.told("DATA", "554 5.5.1").await;
    smtp.told("RSET", "250 2.0.0").await;
    smtp.told("DATA", "503 5.5.1").await;
    smtp.envelope("bob@example.com", &[&post.address]).await;
    smtp.hello().await;
    smtp.told("DATA", "503 5.5.1").await;
    // Not the tenth error, which ends the session.
    smtp.told("NOOP", "250 2.0.0").await;
}

#[tokio::test]
async fn senders_are_read_with_what_is_offered() {
    let post = Post::new().await;
    for (parameters, reply) in [
        ("<bob@example.com> SIZE=36700159", "250 2.1.0"),
        ("<bob@example.com> SIZE=36700160", "250 2.1.0"),
        ("<bob@example.com> SIZE=36700161", "552 5.3.4"),
        ("<bob@example.com> BODY=8BITMIME", "250 2.1.0"),
        ("<bob@example.com> BODY=BINARYMIME", "555 5.5.4"),
        ("<bob@example.com> RET=FULL", "555 5.5.4"),
        ("<bob@example.com> AUTH=<>", "555 5.5.4"),
        ("<bob@example.com> WHATEVER=1", "555 5.5.4"),
        ("<b\u{f6}b@example.com>", "553 5.6.7"),
        ("<b\u{f6}b@example.com> SMTPUTF8", "250 2.1.0"),
        ("<>", "250 2.1.0"),
        ("bob@example.com", "501 5.5.4"),
        ("<bob@@example.com>", "501 5.1.7"),
    ] {
        let mut smtp = post.client().await;
        smtp.told(&format!("MAIL FROM:{parameters}"), reply).await;
    }
}

#[tokio::test]
async fn a_line_has_four_kilobytes() {
    let post = Post::new().await;
    for (size, reply) in [(4_095, "250 2.0.0"), (4_096, "250 2.0.0"), (4_097, "500 5.5.2")] {
        let mut smtp = post.client().await;
        let line = format!("NOOP {}", "x".repeat(size - "NOOP \r\n".len()));
        smtp.told(&line, reply).await;
        if size > 4_096 {
            smtp.gone().await;
        }
    }
    let mut endless = post.client().await;
    endless.send(vec![b'x'; 4_096]).await;
    endless.expect(500, "5.5.2").await;
    endless.gone().await;
}

#[tokio::test]
async fn ten_errors_end_a_session() {
    let post = Post::new().await;
    let mut smtp = post.client().await;
    for _ in 0..9 {
        smtp.told("NONSENSE", "500 5.5.1").await;
    }
    smtp.told("NOOP", "250 2.0.0").await;
    smtp.told("NONSENSE", "500 5.5.1").await;
    smtp.expect(421, "4.7.0").await;
    smtp.gone().await;
}

#[tokio::test]
async fn an_address_has_twenty_connections() {
    let post = Post::with(&["mail_server.trusted_networks=192.0.2.0/24"]).await;
    let mut clients = Vec::new();
    for _ in 0..20 {
        clients.push(post.connect().await);
    }
    let mut beyond = super::Smtp::connect(post.server.smtp.expect("a listener")).await;
    beyond.expect(421, "4.7.0").await;
    beyond.gone().await;
    clients.pop().expect("a client").told("QUIT", "221 2.0.0").await;
    let again = async || {
        let mut smtp = super::Smtp::connect(post.server.smtp?).await;
        smtp.reply().await.starts_with("220").then_some(())
    };
    post.server.eventually("a place for another connection", again).await;
}

#[tokio::test]
async fn commands_may_come_all_at_once() {
    let post = Post::new().await;
    let mut smtp = post.connect().await;
    let address = &post.address;
    let all = format!(
        "EHLO client.example.com\r\nMAIL FROM:<bob@example.com>\r\nRCPT TO:<{address}>\r\nRCPT TO:<nobody@example.com>\r\n\
         DATA\r\n{}.\r\nMAIL FROM:<bob@example.com>\r\nRCPT TO:<{address}>\r\nDATA\r\n{}.\r\nQUIT\r\n",
        message("one"),
        message("two"),
    );
    smtp.send(all).await;
    for reply in ["250-", "250 2.1.0", "250 2.1.5", "550 5.7.1", "354", "250 2.6.0", "250 2.1.0", "250 2.1.5", "354"] {
        let heard = smtp.reply().await;
        assert!(heard.starts_with(reply), "{reply}, not {heard}");
    }
    smtp.expect(250, "2.6.0").await;
    smtp.expect(221, "2.0.0").await;
    smtp.gone().await;
    assert_eq!(post.arrivals().await.len(), 2);
}

#[tokio::test]
async fn commands_may_come_byte_by_byte() {
    let post = Post::new().await;
    let mut smtp = post.connect().await;
    for byte in b"EHLO client.example.com\r\n" {
        smtp.send([*byte]).await;
        tokio::task::yield_now().await;
    }
    assert!(smtp.reply().await.starts_with("250-"));
}

#[tokio::test]
async fn a_server_that_stops_says_so() {
    let post = Post::new().await;
    let (mut idle, mut sending) = (post.client().await, post.client().await);
    sending.envelope("bob@example.com", &[&post.address]).await;
    sending.told("DATA", "354").await;
    sending.send("From: bob@example.com\r\n").await;
    let Post { server, mailbox, store, dns, .. } = post;
    let listening = async {
        idle.expect(421, "4.3.2").await;
        idle.gone().await;
        // What is under way is taken.
        sending.send("\r\nHello\r\n.\r\n").await;
        sending.expect(250, "2.6.0").await;
        sending.expect(421, "4.3.2").await;
        assert_eq!(store.mail_arrivals(mailbox, 2).await.expect("arrivals").len(), 1);
    };
    tokio::time::timeout(Duration::from_secs(60), async { tokio::join!(server.stop(), listening) })
        .await
        .expect("an end");
    drop(dns);
}
