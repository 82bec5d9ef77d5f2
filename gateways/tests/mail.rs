//! E-mail against a mail server on loopback that follows a script.
#![expect(clippy::unwrap_used, reason = "what a test can't do without stops it")]

mod smtp_server;

use std::time::Duration;

use gateways::{
    CalendarPart, Delivered, Email, MailOptions, Mailer, SendError,
    mail::{MailOptionsError, SmtpCredentials, SmtpOptions, SmtpSecurity},
};
use smtp_server::{Script, SmtpServer};

fn options(port: u16) -> SmtpOptions {
    SmtpOptions {
        host: "127.0.0.1".into(),
        port,
        security: SmtpSecurity::None,
        credentials: None,
        from: "Troupe <troupe@example.org>".into(),
        timeout: Duration::from_secs(60),
        connections_max: 2,
    }
}

fn mailer(options: SmtpOptions) -> Mailer {
    Mailer::new(&MailOptions::Smtp(options)).unwrap()
}

fn email() -> Email {
    Email {
        to: "ada@example.org".into(),
        subject: "Your vault's key set was changed — Zürich".into(),
        text: "Hello Ada,\n\nyour vault's key set was changed.\n.\nThat dot stood alone.\n".into(),
        calendar: None,
        idempotency_key: "obx_01h455vb4pex5vsknk084sn02q".into(),
    }
}

#[tokio::test]
async fn an_email_arrives_as_it_was_written() {
    let server = SmtpServer::start(Script::default()).await;
    let sent = mailer(options(server.port())).send(&email()).await.unwrap();
    assert_eq!(sent, Delivered::Sent { response: "2.0.0 Ok: queued as 1".into() });
    let [received] = &server.received()[..] else { panic!("one e-mail") };
    assert_eq!(received.from, "MAIL FROM:<troupe@example.org>");
    assert_eq!(received.to, ["RCPT TO:<ada@example.org>"]);
    assert_eq!(received.header("From").unwrap(), "Troupe <troupe@example.org>");
    assert_eq!(received.header("To").unwrap(), "ada@example.org");
    assert_eq!(received.header("Message-ID").unwrap(), "<obx_01h455vb4pex5vsknk084sn02q@example.org>");
    assert!(received.header("Subject").unwrap().contains("=?utf-8?"), "encoded, as it is not ASCII");
    assert!(received.header("Date").is_some());
    assert!(received.body().contains("key set was changed.\r\n.\r\nThat dot stood alone."), "{}", received.body());
}

#[tokio::test]
async fn an_invitation_is_read_by_people_and_by_calendars() {
    let server = SmtpServer::start(Script::default()).await;
    let part = |method: &str, reply_to: &str| {
        let file = "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n".to_owned();
        Some(CalendarPart { method: method.to_owned(), file, reply_to: reply_to.to_owned() })
    };
    let mailer = mailer(options(server.port()));
    mailer.send(&Email { calendar: part("REQUEST", "ada@acme.example"), ..email() }).await.unwrap();
    let [received] = &server.received()[..] else { panic!("one e-mail") };
    assert_eq!(received.header("Reply-To").unwrap(), "ada@acme.example");
    assert!(received.header("Content-Type").unwrap().starts_with("multipart/alternative"));
    let body = received.body();
    assert!(body.contains("text/calendar; method=REQUEST; charset=utf-8"), "{body}");
    assert!(body.contains("BEGIN:VCALENDAR"), "{body}");
    let to_nobody = Email { calendar: part("REQUEST", "a@b>\r\nBcc: eve@example.org"), ..email() };
    assert!(matches!(mailer.send(&to_nobody).await, Err(SendError::Permanent(_))));
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn two_tries_of_one_email_have_one_message_id() {
    let server = SmtpServer::start(Script::default()).await;
    let mailer = mailer(options(server.port()));
    mailer.send(&email()).await.unwrap();
    mailer.send(&email()).await.unwrap();
    let received = server.received();
    assert_eq!(received[0].header("Message-ID"), received[1].header("Message-ID"));
}

#[tokio::test]
async fn emails_share_a_bounded_number_of_connections() {
    let server = SmtpServer::start(Script::default()).await;
    let mailer = mailer(SmtpOptions { connections_max: 2, ..options(server.port()) });
    let sent = futures::future::join_all((0..20).map(|_| async { mailer.send(&email()).await })).await;
    assert!(sent.iter().all(Result::is_ok), "{sent:?}");
    assert_eq!(server.received().len(), 20);
    assert_eq!(server.at_once_max(), 2);
    assert!(server.connections() < 20, "{}", server.connections());
}

#[tokio::test]
async fn a_pooled_connection_that_the_server_closed_is_replaced() {
    let server = SmtpServer::start(Script { closes_after_each: true, ..Script::default() }).await;
    let mailer = mailer(options(server.port()));
    for _ in 0..3 {
        mailer.send(&email()).await.unwrap();
    }
    assert_eq!(server.received().len(), 3);
}

#[tokio::test]
async fn nothing_in_an_email_becomes_a_header_or_a_second_recipient() {
    let server = SmtpServer::start(Script::default()).await;
    let mailer = mailer(options(server.port()));
    let subject = "Hello\r\nBcc: eve@example.org\r\n\r\nOther body".to_owned();
    mailer.send(&Email { subject, ..email() }).await.unwrap();
    let received = server.received();
    assert_eq!(received[0].header("Bcc"), None);
    assert_eq!(received[0].to.len(), 1);
    let to = "ada@example.org>\r\nRCPT TO:<eve@example.org".to_owned();
    let refused = mailer.send(&Email { to, ..email() }).await;
    assert!(matches!(refused, Err(SendError::Permanent(_))));
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn credentials_are_shown_to_the_server() {
    let server = SmtpServer::start(Script { wants_sign_in: true, ..Script::default() }).await;
    let credentials = Some(SmtpCredentials { user: "troupe".into(), password: "hunter2".into() });
    let mailer = mailer(SmtpOptions { credentials, ..options(server.port()) });
    mailer.check().await.unwrap();
    mailer.send(&email()).await.unwrap();
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn a_refused_sign_in_is_tried_again_for_an_operator_can_mend_it() {
    let server = SmtpServer::start(Script { wants_sign_in: true, ..Script::default() }).await;
    let credentials = Some(SmtpCredentials { user: "troupe".into(), password: "wrong".into() });
    let mailer = mailer(SmtpOptions { credentials, ..options(server.port()) });
    let Err(SendError::Temporary(text)) = mailer.send(&email()).await else { panic!("a temporary error") };
    assert!(text.contains("535"), "{text}");
}

#[tokio::test]
async fn a_refused_recipient_is_refused_for_good() {
    let server = SmtpServer::start(Script { recipient: "550 5.1.1 No such user here", ..Script::default() }).await;
    let Err(SendError::Permanent(text)) = mailer(options(server.port())).send(&email()).await else {
        panic!("a permanent error")
    };
    assert!(text.contains("No such user here"), "{text}");
    assert!(server.received().is_empty());
}

#[tokio::test]
async fn a_server_that_is_busy_is_tried_again() {
    let server = SmtpServer::start(Script { recipient: "451 4.3.0 Try again later", ..Script::default() }).await;
    let Err(SendError::Temporary(text)) = mailer(options(server.port())).send(&email()).await else {
        panic!("a temporary error")
    };
    assert!(text.contains("Try again later"), "{text}");
}

#[tokio::test]
async fn a_message_refused_after_its_text_was_not_sent() {
    let server = SmtpServer::start(Script { message: "554 5.7.1 Looks like spam", ..Script::default() }).await;
    let refused = mailer(options(server.port())).send(&email()).await;
    assert!(matches!(refused, Err(SendError::Permanent(text)) if text.contains("spam")));
}

#[tokio::test]
async fn a_server_that_goes_silent_is_given_up() {
    let server = SmtpServer::start(Script { silent_at: Some("RCPT"), ..Script::default() }).await;
    let timeout = Duration::from_millis(200);
    let given_up = mailer(SmtpOptions { timeout, ..options(server.port()) }).send(&email()).await;
    assert!(matches!(given_up, Err(SendError::Temporary(_))), "{given_up:?}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_tried_again() {
    // Taken, so that nobody else gets the port, and nobody listens.
    let taken = tokio::net::TcpSocket::new_v4().unwrap();
    taken.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let mailer = mailer(options(taken.local_addr().unwrap().port()));
    assert!(matches!(mailer.send(&email()).await, Err(SendError::Temporary(_))));
    assert!(mailer.check().await.is_err());
}

#[tokio::test]
async fn with_starttls_nothing_is_sent_to_a_server_that_does_not_offer_it() {
    let server = SmtpServer::start(Script::default()).await;
    let options = SmtpOptions { security: SmtpSecurity::StartTls, ..options(server.port()) };
    let refused = mailer(options).send(&email()).await;
    assert!(matches!(refused, Err(SendError::Temporary(_))), "{refused:?}");
    assert!(server.received().is_empty());
}

#[tokio::test]
async fn a_sender_that_is_no_address_is_refused_at_once() {
    let options = SmtpOptions { from: "nobody".into(), ..options(25) };
    assert!(matches!(Mailer::new(&MailOptions::Smtp(options)), Err(MailOptionsError::From(_))));
}
