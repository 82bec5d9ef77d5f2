//! Mail over TLS.

use std::{path::Path, sync::Arc};

use tokio::net::TcpStream;
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{
        ClientConfig, RootCertStore,
        pki_types::{CertificateDer, ServerName, pem::PemObject},
    },
};

use super::{HOST, Post, Smtp, message};

pub const CERTIFICATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/post/mx.pem");
pub const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/post/mx.key.pem");

async fn post() -> Post {
    let (certificate, key) = (format!("mail_server.tls_cert={CERTIFICATE}"), format!("mail_server.tls_key={KEY}"));
    Post::with(&[&certificate, &key]).await
}

/// Goes on over TLS, with a peer whose certificate is that of the file.
pub async fn secured(smtp: Smtp, certificate: &Path) -> Smtp<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(certificate).expect("a certificate")).expect("a root");
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let name = ServerName::try_from(HOST).expect("a name");
    let connecting = TlsConnector::from(Arc::new(config)).connect(name, smtp.into_inner());
    Smtp::over(connecting.await.expect("a handshake"))
}

#[tokio::test]
async fn mail_comes_over_tls() {
    let post = post().await;
    let mut smtp = post.connect().await;
    assert!(smtp.hello().await.contains("250-STARTTLS"));
    smtp.told("STARTTLS", "220 2.0.0").await;
    let mut smtp = secured(smtp, Path::new(CERTIFICATE)).await;
    smtp.told("MAIL FROM:<bob@example.com>", "503 5.5.1").await;
    assert!(!smtp.hello().await.contains("STARTTLS"));
    smtp.told("STARTTLS", "503 5.5.1").await;
    smtp.envelope("bob@example.com", &[&post.address]).await;
    let reply = smtp.data(&message("secure")).await;
    assert!(reply.starts_with("250 2.6.0"), "{reply}");
    let arrivals = post.arrivals().await;
    assert!(arrivals[0].verdict.tls);
    assert!(arrivals[0].head.contains(&format!("by {HOST} with ESMTPS id ")), "{}", arrivals[0].head);
}

#[tokio::test]
async fn what_was_said_in_the_clear_counts_for_nothing_afterwards() {
    let post = post().await;
    let mut smtp = post.client().await;
    smtp.told("MAIL FROM:<eve@example.com>", "250 2.1.0").await;
    // Whoever sits in between adds commands behind the last one in the clear.
    smtp.send(format!("STARTTLS\r\nRSET\r\nMAIL FROM:<eve@example.com>\r\nRCPT TO:<{}>\r\n", post.address)).await;
    smtp.expect(220, "2.0.0").await;
    let mut smtp = secured(smtp, Path::new(CERTIFICATE)).await;
    smtp.told("NOOP", "250 2.0.0 OK").await;
    smtp.told(&format!("RCPT TO:<{}>", post.address), "503 5.5.1").await;
    assert!(smtp.hello().await.starts_with("250-"));
    smtp.told(&format!("RCPT TO:<{}>", post.address), "503 5.5.1").await;
}

#[tokio::test]
async fn what_is_no_handshake_ends_the_connection() {
    let post = post().await;
    let mut smtp = post.client().await;
    smtp.told("STARTTLS", "220 2.0.0").await;
    smtp.send("EHLO client.example.com\r\n").await;
    while smtp.heard().await.is_some() {}
    assert!(post.client().await.say("NOOP").await.starts_with("250"), "others are served");
}
