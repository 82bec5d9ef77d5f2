//! Leaving lists over HTTP (RFC 8058). The address was chosen by who sent a message: only what stands in the public internet is asked,
//! without a redirect, a cookie or a credential.

use std::{sync::Arc, time::Duration};

use reqwest::{Client, Url, header::CONTENT_TYPE};

use crate::{
    outgoing,
    public_address::{PublicOnly, is_public},
};

/// How long a list's server may take.
const TIMEOUT: Duration = Duration::from_secs(10);
/// What is said (RFC 8058 3.2).
const SAID: &str = "List-Unsubscribe=One-Click";

/// Leaves a list; an error is for the log.
pub(super) async fn leave(address: &str) -> Result<(), String> {
    let url = may_be_asked(address)?;
    let client = outgoing::client(TIMEOUT).no_proxy().https_only(true).dns_resolver(Arc::new(PublicOnly));
    say(&client.build().map_err(|error| error.to_string())?, url).await
}

/// An address in the URL itself is never resolved, so it is looked at here; names are when they are resolved.
fn may_be_asked(address: &str) -> Result<Url, &'static str> {
    let url = Url::parse(address).map_err(|_| "the address can't be read")?;
    let host = url.host_str().unwrap_or_default();
    let is_bare = url.username().is_empty() && url.password().is_none();
    let literal = host.trim_start_matches('[').trim_end_matches(']').parse();
    let is_there = !host.is_empty() && literal.map_or(true, is_public);
    if url.scheme() == "https" && is_bare && is_there { Ok(url) } else { Err("the address is not one that is asked") }
}

async fn say(client: &Client, url: Url) -> Result<(), String> {
    let request = client.post(url).header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(SAID);
    let answer = outgoing::ask(request).await?;
    if answer.status.is_success() { Ok(()) } else { Err(answer.refusal("the list's server", "")) }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
    };

    use super::*;

    #[test]
    fn only_https_of_the_public_internet_is_asked() {
        for asked in ["https://example.org/u?a=b", "https://example.org:8443/", "https://93.184.215.14/"] {
            assert!(may_be_asked(asked).is_ok(), "{asked}");
        }
        for refused in [
            "http://example.org/",
            "https://127.0.0.1/",
            "https://[::1]/",
            "https://10.0.0.1/",
            "https://169.254.169.254/latest",
            "https://2130706433/",
            "https://a:b@example.org/",
            "ftp://example.org/",
            "nothing",
        ] {
            assert!(may_be_asked(refused).is_err(), "{refused}");
        }
    }

    /// A server that answers once with this status; what it was asked.
    async fn asked(status: &str) -> (Result<(), String>, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a socket");
        let url = format!("http://{}/leave?who=ada", listener.local_addr().expect("an address"));
        let answer = format!("HTTP/1.1 {status}\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n");
        let server = async {
            let (mut stream, _) = listener.accept().await.expect("a client");
            let mut said = Vec::new();
            while !said.ends_with(SAID.as_bytes()) {
                let mut bytes = [0; 1024];
                let count = stream.read(&mut bytes).await.expect("a request");
                assert!(count > 0, "{}", String::from_utf8_lossy(&said));
                said.extend_from_slice(&bytes[..count]);
            }
            stream.write_all(answer.as_bytes()).await.expect("an answer");
            String::from_utf8_lossy(&said).into_owned()
        };
        let client = outgoing::client(TIMEOUT).no_proxy().build().expect("a client");
        tokio::join!(say(&client, Url::parse(&url).expect("an address")), server)
    }

    #[tokio::test]
    async fn a_list_is_left_by_one_request_and_nothing_else() {
        let (left, said) = asked("202 Accepted").await;
        assert_eq!(left, Ok(()));
        let said = said.to_ascii_lowercase();
        assert!(said.starts_with("post /leave?who=ada http/1.1\r\n"), "{said}");
        assert!(said.contains("content-type: application/x-www-form-urlencoded"), "{said}");
        assert!(!said.contains("cookie") && !said.contains("authorization"), "{said}");
        for status in ["302 Found", "404 Not Found", "500 Oops"] {
            assert!(asked(status).await.0.is_err(), "{status}");
        }
    }
}
