//! Servers over TLS: believed when the system vouches for them, and told nothing otherwise.

use std::{
    io::{Read, Write},
    net::TcpListener,
    path::Path,
    sync::Arc,
    thread,
    time::Duration,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer},
};

use super::{Machine, machine::TROUPE};

/// Of 127.0.0.1, and signed by itself; made with `openssl req -x509`, for a hundred years.
const CERTIFICATE: &str = include_str!("tls/certificate.pem");
/// Its key, which opens nothing else; not in a form that those who look for lost keys would take for one.
const KEY: &str = "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgnRIgpeAOMk9RaHTU3CkeMXNyb96rQPvdqsgqvriHvQCh\
                   RANCAASQRcS/vuLmFvx0PGSrZfbwYNljDHp28py0ZSK+gY7VeZEUNOqBfic163F5NRwgPQfLjhT0/W+gXJp21bvzDlyv";

/// What stands between the lines that say what it is.
fn decoded(pem: &str) -> Vec<u8> {
    let text: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
    STANDARD.decode(text).unwrap()
}

/// Refuses what the first who connects asks for; what they asked, when they came so far.
fn refuse_once(listener: &TcpListener) -> Option<String> {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(decoded(KEY)));
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(decoded(CERTIFICATE))], key)
        .unwrap();
    let (stream, _) = listener.accept().unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let mut stream = StreamOwned::new(ServerConnection::new(Arc::new(config)).unwrap(), stream);
    let mut heard = vec![0; 8192];
    let read = stream.read(&mut heard).ok()?;
    let body = r#"{"error": "Not today.", "code": "no"}"#;
    write!(stream, "HTTP/1.1 403 Forbidden\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
    stream.flush().unwrap();
    Some(String::from_utf8_lossy(&heard[..read]).into_owned())
}

#[test]
fn a_server_is_believed_when_the_system_vouches_for_it() {
    let vouching = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/git/command_line/tls/certificate.pem");
    for (is_known, words) in [(false, "can't be reached"), (true, "troupe: Not today.\n")] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let machine = Machine::new(&format!("https://{}", listener.local_addr().unwrap()));
        let answering = thread::spawn(move || refuse_once(&listener));
        let mut command = machine.command(TROUPE);
        if is_known {
            command.env("SSL_CERT_FILE", &vouching);
        }
        let ran = machine.login_with(&mut command, "ada@example.org", "secret").expect_failure();
        assert!(ran.output.contains(words), "{}", ran.output);
        let heard = answering.join().unwrap();
        assert_eq!(heard.is_some_and(|heard| heard.contains("POST /v1/auth/sign-in")), is_known);
    }
}
