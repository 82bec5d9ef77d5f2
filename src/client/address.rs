//! The address of a server, as it is kept and compared.

use std::net::IpAddr;

use reqwest::Url;
use serde::{Deserialize, Serialize};

use super::error::{ClientError, Result};

/// A server's scheme, host and port, as browsers write an origin: `https://troupe.example.com`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Address(String);

impl Address {
    /// Reads what somebody typed or copied: without a scheme it is https, and a path is left away.
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        let whole = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
        let is_usual = |url: &Url| {
            let is_web = matches!(url.scheme(), "https" | "http") && url.has_host();
            is_web && url.username().is_empty() && url.password().is_none()
        };
        let url = Url::parse(&whole).ok().filter(is_usual).ok_or(ClientError::Address)?;
        Ok(Self(url.origin().ascii_serialization()))
    }

    /// The address that git names so. No parser that mends what it reads is asked, since git connects to what it said
    /// itself: what isn't written as a kept address is none.
    pub fn of_git(protocol: &str, host: &str) -> Option<Self> {
        let usual_port = match protocol {
            "https" => ":443",
            "http" => ":80",
            _ => return None,
        };
        let host = host.to_ascii_lowercase();
        let host = host.strip_suffix(usual_port).unwrap_or(&host);
        Some(Self(format!("{protocol}://{host}")))
    }

    /// Whether what is sent there goes through a network, and unencrypted.
    pub fn is_cleartext(&self) -> bool {
        self.0.starts_with("http://") && !self.is_loopback()
    }

    /// Whether the server is on this machine.
    pub fn is_loopback(&self) -> bool {
        let Ok(url) = Url::parse(&self.0) else { return false };
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
    }

    /// As text, without a slash at its end.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// An address as it is typed, for fuzzing: what it is read as stays the same when it is read again.
#[cfg(any(test, feature = "fuzzing"))]
pub(super) fn fuzzing(text: &str) {
    let Ok(address) = Address::parse(text) else { return };
    let _ = address.is_cleartext();
    let again = Address::parse(address.as_str());
    assert!(again.is_ok_and(|again| again == address), "{address}");
    let (protocol, host) = address.as_str().split_once("://").unwrap_or_default();
    assert_eq!(Address::of_git(protocol, host), Some(address.clone()), "git names it as it is kept");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_an_origin_however_it_is_written() {
        for (text, address) in [
            ("https://troupe.example.com", "https://troupe.example.com"),
            ("https://Troupe.Example.com:443/", "https://troupe.example.com"),
            (" https://troupe.example.com/docs/?a=b#c\n", "https://troupe.example.com"),
            ("troupe.example.com", "https://troupe.example.com"),
            ("localhost:8443", "https://localhost:8443"),
            ("http://127.0.0.1:8080//", "http://127.0.0.1:8080"),
            ("http://[::1]:8080", "http://[::1]:8080"),
            ("http://intranet:80", "http://intranet"),
            ("https://Bücher.example", "https://xn--bcher-kva.example"),
        ] {
            assert_eq!(Address::parse(text).unwrap().as_str(), address, "{text}");
        }
    }

    #[test]
    fn what_is_no_address_is_not_shown_again() {
        for text in
            ["", "https://", "ftp://a", "file:///etc/passwd", "https://ada:secret@a", "https://ada@a", "a b", "::"]
        {
            let refused = Address::parse(text).unwrap_err().to_string();
            assert!(refused.starts_with("That is no address"), "{text}");
        }
    }

    #[test]
    fn git_is_answered_for_exactly_the_kept_host() {
        let kept = Address::parse("https://troupe.example.com").unwrap();
        for host in ["troupe.example.com", "TROUPE.example.com", "troupe.example.com:443"] {
            assert_eq!(Address::of_git("https", host).unwrap(), kept, "{host}");
        }
        for host in [
            "",
            "troupe.example.com:8443",
            "troupe.example.com.evil.net",
            "troupe.example.com/.evil.net",
            "troupe.example.com\r.evil.net",
            "troupe.example.com\r",
            " troupe.example.com",
            "troupe.example.com:443:443",
            "ada@troupe.example.com",
            "troupe%2eexample.com",
            "ⓣroupe.example.com",
        ] {
            assert_ne!(Address::of_git("https", host).unwrap(), kept, "{host:?}");
        }
        assert_ne!(Address::of_git("http", "troupe.example.com"), Some(kept));
        assert_eq!(Address::of_git("ssh", "troupe.example.com"), None);
        assert_eq!(Address::of_git("HTTPS", "troupe.example.com"), None);
    }

    #[test]
    fn only_this_machine_is_talked_to_unencrypted() {
        for (text, is_cleartext) in [
            ("http://intranet", true),
            ("http://10.0.0.1:8080", true),
            ("http://127.0.0.1.example.com", true),
            ("http://[2001:db8::1]", true),
            ("http://127.0.0.1:8080", false),
            ("http://127.8.9.1", false),
            ("http://localhost:8080", false),
            ("http://[::1]:8080", false),
            ("https://intranet", false),
        ] {
            assert_eq!(Address::parse(text).unwrap().is_cleartext(), is_cleartext, "{text}");
        }
    }
}
