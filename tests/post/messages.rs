//! What becomes of messages: their bytes, their limits, and what is written before 250 is said.

use std::time::Duration;

use store::testing::recount::{Depth, storage, unswept};

use super::{HOST, Post, message};

#[tokio::test]
async fn a_message_is_kept_as_it_came() {
    let post = Post::new().await;
    let sent = format!("{}..\r\n.two\r\n", message("dots"));
    let reply = post.bring("bob@example.com", &sent).await;
    assert!(reply.starts_with("250 2.6.0"), "{reply}");
    let arrivals = post.arrivals().await;
    assert_eq!(arrivals.len(), 1);
    let arrival = &arrivals[0];
    assert_eq!(arrival.envelope_from, "bob@example.com");
    assert_eq!(arrival.envelope_to, post.address);
    assert_eq!(arrival.verdict.client_ip, Some([127, 0, 0, 1].into()));
    assert_eq!(arrival.verdict.helo, "client.example.com");
    assert_eq!(arrival.verdict.from_domain, "example.com");
    assert!(!arrival.verdict.tls);
    let raw = post.store.mail_raw_bytes(arrival.raw_id).await.expect("a read").expect("bytes");
    assert_eq!(raw, sent.as_bytes());
    let head = &arrival.head;
    assert!(head.starts_with(&format!("Return-Path: <bob@example.com>\r\nAuthentication-Results: {HOST};")), "{head}");
    assert!(head.contains("\r\nReceived: from client.example.com ([127.0.0.1])\r\n"), "{head}");
    assert!(head.contains(&format!("by {HOST} with ESMTP id {}", arrival.id)), "{head}");
    assert!(head.contains(&format!("for <{}>; Fri, 15 Jan 2027 12:00:00 +0000\r\n", post.address)), "{head}");
}

#[tokio::test]
async fn a_mailbox_has_a_job_for_what_arrived() {
    let post = Post::new().await;
    assert!(post.bring("bob@example.com", &message("one")).await.starts_with("250"));
    let key = post.mailbox.to_string();
    let work = post.store.work_of_key(store::mail::MAIL_FILING, &key).await.expect("a read").expect("a job");
    assert!(work.payload.contains(&key), "{}", work.payload);
}

#[tokio::test]
async fn messages_of_all_sizes_come_back_as_they_were() {
    let post = Post::new().await;
    for size in [1_000, 131_071, 131_072, 131_073, 3_000_000] {
        let head = message(&size.to_string());
        let line = "x".repeat(98) + "\r\n";
        let mut sent = head + &line.repeat(size / 100 + 1);
        sent.truncate(size - 2);
        // No line end may stand half.
        let end = sent.trim_end_matches(['\r', '\n']).len();
        sent.replace_range(end.., &"y".repeat(size - 2 - end));
        sent.push_str("\r\n");
        let reply = post.bring("bob@example.com", &sent).await;
        assert!(reply.starts_with("250 2.6.0"), "{size}: {reply}");
        // What comes in the same millisecond has no order.
        post.server.clock.advance(Duration::from_millis(1));
        let arrivals = post.arrivals().await;
        let raw_id = arrivals.last().expect("an arrival").raw_id;
        let raw = post.store.mail_raw(raw_id).await.expect("a read").expect("bytes");
        assert_eq!(raw.size, size as u64);
        let raw = post.store.mail_raw_bytes(raw_id).await.expect("a read").expect("bytes");
        assert!(raw == sent.as_bytes(), "{size}");
    }
    let wrong = storage(&post.store, Depth::Bytes).await;
    assert_eq!(wrong.expect("a recount"), Vec::<String>::new());
}

impl Post {
    /// Throws away what is over. The server does so too, whenever it likes.
    async fn sweep(&self) {
        loop {
            let batch = self.store.mail_raw_sweep_next(100).await.expect("a look");
            if batch.rows.is_empty() {
                break;
            }
            // Stale where the server was first.
            drop(self.store.commit(batch.change).await);
        }
        while self.store.contents_sweep_all(100).await.is_err() {}
    }

    async fn sweep_a_day_later(&self) {
        self.server.clock.advance(Duration::from_secs(25 * 3_600));
        self.sweep().await;
    }
}

#[tokio::test]
async fn the_same_bytes_are_kept_once_and_swept_when_nothing_names_them() {
    let post = Post::new().await;
    for size in [500, 200_000] {
        let sent = message("twice") + &("x".repeat(98) + "\r\n").repeat(size / 100);
        for _ in 0..2 {
            assert!(post.bring("bob@example.com", &sent).await.starts_with("250"));
        }
        let arrivals = post.arrivals().await;
        assert_eq!(arrivals.len(), 2);
        let raw_id = arrivals[0].raw_id;
        assert_eq!(raw_id, arrivals[1].raw_id);
        let drop_one = async |id| {
            let mut change = store::Change::new();
            change.mail_arrivals_remove([id]);
            change.mail_raw_release(post.store.now(), [raw_id]);
            post.store.commit(change).await.expect("a commit");
        };
        drop_one(arrivals[0].id).await;
        let is_kept = async || post.store.mail_raw_bytes(raw_id).await.expect("a read").is_some();
        post.sweep_a_day_later().await;
        assert!(is_kept().await, "one names them still");
        drop_one(arrivals[1].id).await;
        post.sweep().await;
        assert!(is_kept().await, "for a day");
        post.sweep_a_day_later().await;
        assert!(!is_kept().await);
    }
    post.sweep_a_day_later().await;
    assert_eq!(unswept(&post.store).await.expect("a count"), 0);
    let wrong = storage(&post.store, Depth::Bytes).await;
    assert_eq!(wrong.expect("a recount"), Vec::<String>::new());
}

#[tokio::test]
async fn a_message_ends_where_both_sides_think_so() {
    let post = Post::new().await;
    let smuggled =
        format!("MAIL FROM:<eve@example.com>\r\nRCPT TO:<{}>\r\nDATA\r\n{}", post.address, message("smuggled"));
    for end in ["\n.\r\n", "\r\n.\n", "\n.\n", "\r.\r\n", "\r\n.\r", "\r\n.\r\r\n"] {
        let mut smtp = post.client().await;
        smtp.envelope("bob@example.com", &[&post.address]).await;
        smtp.told("DATA", "354").await;
        smtp.send(format!("{}more{end}{smuggled}\r\n.\r\n", message("first"))).await;
        smtp.expect(550, "5.6.0").await;
        smtp.gone().await;
    }
    assert_eq!(post.arrivals().await, []);
}

#[tokio::test]
async fn chunks_make_a_message() {
    let post = Post::new().await;
    let mut smtp = post.client().await;
    let sent = message("chunks");
    let (one, two) = sent.split_at(20);
    smtp.envelope("bob@example.com", &[&post.address]).await;
    smtp.send(format!("BDAT {}\r\n{one}BDAT {}\r\n{two}BDAT 0 LAST\r\nNOOP\r\n", one.len(), two.len())).await;
    smtp.expect(250, "2.0.0").await;
    smtp.expect(250, "2.0.0").await;
    smtp.expect(250, "2.6.0").await;
    smtp.expect(250, "2.0.0").await;
    let arrivals = post.arrivals().await;
    let raw = post.store.mail_raw_bytes(arrivals[0].raw_id).await.expect("a read").expect("bytes");
    assert_eq!(raw, sent.as_bytes());
    smtp.envelope("bob@example.com", &[&post.address]).await;
    smtp.send("BDAT 3\r\na\r\n").await;
    smtp.expect(250, "2.0.0").await;
    smtp.told("DATA", "503 5.5.1").await;
    smtp.told(&format!("RCPT TO:<{}>", post.address), "503 5.5.1").await;
    smtp.told("RSET", "250 2.0.0").await;
    assert_eq!(post.arrivals().await.len(), 1);
}

#[tokio::test]
async fn no_chunk_is_taken_for_commands() {
    let post = Post::new().await;
    let mut smtp = post.client().await;
    // Nobody wants it: it is read all the same.
    let chunk = "QUIT\r\nQUIT\r\n";
    smtp.send(format!("BDAT {} LAST\r\n{chunk}NOOP\r\n", chunk.len())).await;
    smtp.expect(503, "5.5.1").await;
    smtp.expect(250, "2.0.0").await;
    for line in
        ["BDAT 36700161", "BDAT 18446744073709551615 LAST", "BDAT 184467440737095516160004 LAST", "BDAT x LAST", "BDAT"]
    {
        let mut smtp = post.client().await;
        smtp.envelope("bob@example.com", &[&post.address]).await;
        smtp.send(format!("{line}\r\n{chunk}")).await;
        let reply = smtp.reply().await;
        assert!(reply.starts_with('5'), "{line}: {reply}");
        smtp.gone().await;
    }
    // A client that goes away in the middle of a chunk sent nothing.
    let mut smtp = post.client().await;
    smtp.envelope("bob@example.com", &[&post.address]).await;
    smtp.send("BDAT 100 LAST\r\nFrom: bob@example.com\r\n").await;
    drop(smtp);
    assert_eq!(post.arrivals().await, []);
}

#[tokio::test]
async fn a_message_that_is_too_large_is_refused_when_it_is_whole() {
    let post = Post::new().await;
    let mut smtp = post.client().await;
    smtp.envelope("bob@example.com", &[&post.address]).await;
    smtp.told("DATA", "354").await;
    smtp.send(message("large")).await;
    let lines = ("x".repeat(998) + "\r\n").repeat(1_000);
    for _ in 0..37 {
        smtp.send(&lines).await;
    }
    smtp.send(".\r\n").await;
    smtp.expect(552, "5.3.4").await;
    let reply = smtp.say("NOOP").await;
    assert!(reply.starts_with("250"), "{reply}");
    assert_eq!(post.arrivals().await, []);
}

#[tokio::test]
async fn a_message_that_goes_round_in_circles_is_refused() {
    let post = Post::new().await;
    for (hops, reply) in [(49, "250 2.6.0"), (50, "250 2.6.0"), (51, "554 5.4.6")] {
        let sent = "Received: from a by b; Fri, 15 Jan 2027 12:00:00 +0000\r\n".repeat(hops) + &message("loop");
        let heard = post.bring("bob@example.com", &sent).await;
        assert!(heard.starts_with(reply), "{hops}: {heard}");
    }
    assert_eq!(post.arrivals().await.len(), 2);
}

#[tokio::test]
async fn nothing_is_acknowledged_that_is_not_kept() {
    let post = Post::new().await;
    let of_lines = |lines| message("lines") + &("x".repeat(98) + "\r\n").repeat(lines);
    // The first one still is in its row, and more than the pages that a full disk has left.
    let (medium, large) = (of_lines(1_200), of_lines(2_000));
    for (fault, sent) in [
        ("commit:mail.gate=away;times=1", message("small")),
        ("commit:mail.gate=fail;times=1", message("small")),
        ("blob=away;times=1", large.clone()),
        ("disk=full", medium),
        ("disk=full", large.clone()),
    ] {
        post.fault(fault);
        let reply = post.bring("bob@example.com", &sent).await;
        assert!(reply.starts_with("451 4.3.0"), "{fault}: {reply}");
        post.server.faults.set(super::UNFILED).expect("a rule");
        assert_eq!(post.arrivals().await, [], "{fault}");
    }
    // The commit was made and nobody heard so: the sender sends again, and both are there to be folded.
    post.fault("commit:mail.gate=lose;times=1");
    assert!(post.bring("bob@example.com", &large).await.starts_with("451 4.3.0"));
    assert!(post.bring("bob@example.com", &large).await.starts_with("250 2.6.0"));
    let arrivals = post.arrivals().await;
    assert_eq!(arrivals.len(), 2);
    assert_eq!(arrivals[0].raw_id, arrivals[1].raw_id);
    assert!(post.store.mail_raw_bytes(arrivals[0].raw_id).await.expect("a read").is_some());
}
