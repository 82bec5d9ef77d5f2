//! Policies are fetched from a host of the test's, over TLS on loopback.

use std::sync::Arc;

use reqwest::Certificate;
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};
use tokio_rustls::TlsAcceptor;

use super::*;

const CERTIFICATE: &[u8] = include_bytes!("host.pem");
const KEY: &[u8] = include_bytes!("host.key.pem");
const POLICY: &str = "version: STSv1\r\nmode: enforce\r\nmx: mx.example.com\r\nmax_age: 604800\r\n";
const NOW: Timestamp = Timestamp(1_800_000_000_000);

/// Who fetches from a host of `mta-sts.example.com` that answers so.
async fn policies(answer: String, is_believed: bool) -> Policies {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a socket");
    let address = listener.local_addr().expect("an address");
    let client = outgoing::client(Duration::from_secs(10)).no_proxy().https_only(true);
    let client = client.resolve("mta-sts.example.com", address);
    let own = Certificate::from_pem(CERTIFICATE).expect("a certificate");
    let client = if is_believed { client.tls_certs_only([own]) } else { client };
    let certificate = CertificateDer::from_pem_slice(CERTIFICATE).expect("a certificate");
    let key = PrivateKeyDer::from_pem_slice(KEY).expect("a key");
    let config = ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate], key);
    let acceptor = TlsAcceptor::from(Arc::new(config.expect("a key of the certificate")));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let mut asked = Vec::new();
            while !asked.ends_with(b"\r\n\r\n") && stream.read_buf(&mut asked).await.is_ok_and(|read| read > 0) {}
            // Whoever has enough goes away.
            let _ = stream.write_all(answer.as_bytes()).await;
            let _ = stream.shutdown().await;
        }
    });
    Policies { dns: Dns::nobody(), client: client.build().ok(), port: address.port() }
}

fn answer(status: &str, kind: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

#[tokio::test]
async fn a_policy_is_fetched_from_the_domains_own_host() {
    let policies = policies(answer("200 OK", "text/plain; charset=utf-8", POLICY), true).await;
    let policy = policies.fetch("example.com").await.expect("a policy");
    assert!(policy.is_enforced() && policy.names("mx.example.com"));
}

#[tokio::test]
async fn what_is_answered_otherwise_is_no_policy() {
    let elsewhere =
        "HTTP/1.1 302 Found\r\nLocation: https://mta-sts.example.com/\r\nContent-Length: 0\r\n\r\n".to_owned();
    let long = format!("{POLICY}{}", "x: y\r\n".repeat(POLICY_BYTES_MAX));
    for answer in [
        elsewhere,
        answer("404 Not Found", "text/plain", POLICY),
        answer("200 OK", "text/html", POLICY),
        answer("200 OK", "text/plain", "version: STSv1\r\nmode: enforce\r\nmax_age: 604800\r\n"),
        answer("200 OK", "text/plain", &long),
        String::new(),
    ] {
        let start: String = answer.chars().take(40).collect();
        assert!(policies(answer, true).await.fetch("example.com").await.is_err(), "{start}");
    }
}

#[tokio::test]
async fn a_host_that_does_not_prove_who_it_is_has_no_policy() {
    let policies = policies(answer("200 OK", "text/plain", POLICY), false).await;
    policies.fetch("example.com").await.expect_err("a host that nobody vouches for");
}

#[tokio::test]
async fn a_policy_holds_while_nobody_can_be_asked() {
    let policies = policies(String::new(), true).await;
    let policy = MailPolicy::read(POLICY).expect("a policy");
    let known = KnownPolicy { record: "1".to_owned(), policy, fetched_at: NOW };
    assert_eq!(policies.of("example.com", Some(known.clone()), NOW).await, Some(known.clone()));
    assert_eq!(policies.of("example.com", Some(known.clone()), known.expires_at()).await, None);
    assert_eq!(policies.of("example.com", None, NOW).await, None);
}

#[test]
fn hosts_beside_this_server_are_not_asked() {
    for (address, is_asked) in [("127.0.0.1:0", false), ("10.0.0.1:0", false), ("[::1]:0", false), ("1.1.1.1:0", true)]
    {
        assert_eq!(is_public_address(&address.parse().expect("an address")), is_asked, "{address}");
    }
}
