//! Whether files of public buckets have a host of their own.

/// Where files of public buckets are served from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublicHost {
    /// A host of their own.
    Separate,
    /// The console's host, from which strangers' pages must never come.
    Shared,
}

impl PublicHost {
    /// What the configuration comes to: the address of the console, and `s3.domain` and `s3.public_url`, of which each may be
    /// empty. Another port is the same host, since cookies don't tell ports apart.
    pub fn of(console: &str, domain: &str, public_url: &str) -> Self {
        let console = url_host(console).unwrap_or_default();
        let domain = Some(domain).filter(|domain| !domain.is_empty());
        let mut hosts = domain.into_iter().chain(url_host(public_url));
        if hosts.any(|host| !host.eq_ignore_ascii_case(console)) { Self::Separate } else { Self::Shared }
    }
}

/// The host that an http(s) address names, without its port; none where the text is no such address.
pub fn url_host(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(address) => address.split(']').next(),
        None => authority.split(':').next(),
    };
    host.filter(|host| !host.is_empty() && !host.contains('@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_host_is_separate_and_another_port_is_not() {
        let console = "https://troupe.example.com";
        for (domain, public_url) in [
            ("", ""),
            ("troupe.example.com", ""),
            ("", "https://Troupe.example.com:9465/"),
            ("troupe.example.com", "http://troupe.example.com"),
        ] {
            assert_eq!(PublicHost::of(console, domain, public_url), PublicHost::Shared, "{domain} {public_url}");
        }
        for (domain, public_url) in [
            ("s3.example.com", ""),
            ("", "https://files.example.com"),
            ("s3.example.com", "https://troupe.example.com:9465"),
        ] {
            assert_eq!(PublicHost::of(console, domain, public_url), PublicHost::Separate, "{domain} {public_url}");
        }
        assert_eq!(PublicHost::of("http://[::1]:8080", "", "http://[::1]:9465"), PublicHost::Shared);
    }

    #[test]
    fn a_host_is_read_from_http_addresses_only() {
        assert_eq!(url_host("http://127.0.0.1:9465/x"), Some("127.0.0.1"));
        assert_eq!(url_host("https://a.example?b"), Some("a.example"));
        for wrong in ["", "a.example", "ftp://a.example", "http://", "http://:80", "http://a@b"] {
            assert_eq!(url_host(wrong), None, "{wrong}");
        }
    }
}
