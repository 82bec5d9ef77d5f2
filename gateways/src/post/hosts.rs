//! Who takes the mail of a domain (RFC 5321 5.1, RFC 7505).

use std::net::IpAddr;

use domain::mail::Said;

use super::PostOptions;
use crate::dns::Dns;

/// A server to which mail is brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Host {
    /// Its name, or its address.
    pub name: String,
    /// The port on which it takes mail.
    pub port: u16,
}

/// The servers of a domain, the preferred ones first; why there is none, where there is none.
pub(super) async fn hosts(dns: &Dns, options: &PostOptions, domain: &str) -> Result<Vec<Host>, Said> {
    if let Some((name, port)) = &options.smarthost {
        return Ok(vec![Host { name: name.clone(), port: *port }]);
    }
    let found = dns.mail_exchangers(domain).await.map_err(|error| Said::later(error.to_string()))?;
    let names = chosen(found, domain, &options.name)?;
    Ok(names.into_iter().map(|name| Host { name, port: options.port }).collect())
}

/// Which of the hosts that a domain names its mail is brought to: its own name where it names none.
fn chosen(mut found: Vec<(u16, String)>, domain: &str, own: &str) -> Result<Vec<String>, Said> {
    if found.is_empty() {
        found.push((0, domain.to_owned()));
    }
    if found.iter().all(|(_, host)| host.is_empty()) {
        return Err(Said::refused("556 5.1.10 This domain takes no mail"));
    }
    found.retain(|(_, host)| !host.is_empty());
    found.sort();
    // Where this server is one of them, only those before it are asked: the others would bring the mail back.
    let before = found.iter().find(|(_, host)| host.eq_ignore_ascii_case(own)).map(|(preference, _)| *preference);
    if let Some(before) = before {
        found.retain(|(preference, _)| *preference < before);
        if found.is_empty() {
            return Err(Said::refused("554 5.4.6 The mail of this domain goes round in circles"));
        }
    }
    Ok(found.into_iter().map(|(_, host)| host).collect())
}

/// The addresses of a host, those of IPv4 first.
pub(super) async fn addresses(dns: &Dns, host: &str) -> Result<Vec<IpAddr>, Said> {
    if let Ok(address) = host.parse() {
        return Ok(vec![address]);
    }
    let found = dns.addresses(host).await.map_err(|error| Said::later(error.to_string()))?;
    if found.is_empty() { Err(Said::refused(format!("550 5.1.2 There is no host {host}"))) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use domain::mail::Heard;

    use super::*;

    fn of(found: &[(u16, &str)]) -> Result<Vec<String>, Said> {
        let found = found.iter().map(|(preference, host)| (*preference, (*host).to_owned())).collect();
        chosen(found, "example.com", "mx.example.org")
    }

    #[test]
    fn hosts_are_asked_in_their_order_and_the_domain_itself_where_it_names_none() {
        assert_eq!(
            of(&[(20, "b.example.com"), (10, "a.example.com")]).expect("hosts"),
            ["a.example.com", "b.example.com"]
        );
        assert_eq!(of(&[]).expect("hosts"), ["example.com"]);
    }

    #[test]
    fn a_domain_that_takes_no_mail_is_not_asked() {
        let said = of(&[(0, "")]).expect_err("a refusal");
        assert_eq!((said.heard, said.reply.contains("5.1.10")), (Heard::Refused, true));
    }

    #[test]
    fn mail_is_not_brought_in_circles() {
        let found = of(&[(10, "a.example.com"), (20, "MX.example.org"), (20, "b.example.com"), (30, "c.example.com")]);
        assert_eq!(found.expect("hosts"), ["a.example.com"]);
        let said = of(&[(10, "mx.example.org"), (20, "b.example.com")]).expect_err("a refusal");
        assert_eq!((said.heard, said.reply.contains("5.4.6")), (Heard::Refused, true));
    }
}
