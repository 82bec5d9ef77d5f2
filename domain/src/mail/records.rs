//! The records that a domain needs for mail (contract B 2.7): what they say, and whether an answer says so.

use super::{
    domains::{DkimKey, DkimKind, DkimPlace, MailDomain, MailHost},
    name::DomainName,
};

/// The key of the record of the RSA key that signs.
pub const DKIM: &str = "dkim-1";
/// The key of the record of the Ed25519 key that signs.
pub const DKIM_ED: &str = "dkim-ed";
/// The key of the record of the RSA key that is to sign next.
pub const DKIM_NEXT: &str = "dkim-1-next";
/// The key of the record of the Ed25519 key that is to sign next.
pub const DKIM_ED_NEXT: &str = "dkim-ed-next";
/// The key of the record that has mail come here.
pub const MX: &str = "mx";
/// The key of the record that says where mail comes from.
pub const SPF: &str = "spf";
/// The key of the record that says what becomes of others' mail in the domain's name.
pub const DMARC: &str = "dmarc";
/// The key of the record that has what bounces come here.
pub const MAIL_FROM_MX: &str = "mailfrom-mx";
/// The key of the record that says where what may bounce comes from.
pub const MAIL_FROM_SPF: &str = "mailfrom-spf";

/// The keys without whose records a domain isn't active.
pub const REQUIRED: [&str; 3] = [DKIM, MX, SPF];

/// Services whose clients find the server by the domain: the record's key, the service, the port.
const SERVICES: [(&str, &str, u16); 3] =
    [("imaps", "_imaps._tcp", 993), ("submissions", "_submissions._tcp", 465), ("caldavs", "_caldavs._tcp", 443)];
/// The preference of the record that has mail come here.
const MX_PREFERENCE: u16 = 10;
/// Bytes of one string of a TXT record (RFC 1035 3.3).
const TXT_STRING_MAX: usize = 255;
/// Seconds for which a record may be remembered.
const TTL_SECS: u32 = 3_600;

/// What a record is for (contract B 2.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Clients find the server by it.
    Discovery,
    /// Signatures are verified with it.
    Dkim,
    /// Mail comes here by it.
    Receiving,
    /// Receivers know by it where mail comes from.
    Spf,
    /// Receivers know by it what to do with others' mail in the domain's name.
    Dmarc,
    /// What bounces comes back by it.
    MailFrom,
}

impl Purpose {
    /// The contract's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Discovery => "discovery",
            Self::Dkim => "dkim",
            Self::Receiving => "receiving",
            Self::Spf => "spf",
            Self::Dmarc => "dmarc",
            Self::MailFrom => "mailfrom",
        }
    }
}

/// The type of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordType {
    /// Text.
    Txt,
    /// Who takes mail.
    Mx,
    /// Who serves something.
    Srv,
}

impl RecordType {
    /// The field's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Txt => "TXT",
            Self::Mx => "MX",
            Self::Srv => "SRV",
        }
    }
}

/// A record that a domain shall have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainRecord {
    /// What the check of it is known by.
    pub key: String,
    /// What it is for.
    pub purpose: Purpose,
    /// Its type.
    pub kind: RecordType,
    /// Where it stands, whole.
    pub fqdn: String,
    /// Where it stands in the zone; `@` for the zone itself.
    pub name: String,
    /// What it says.
    pub value: String,
    /// MX and SRV have one.
    pub priority: Option<u16>,
    /// Whether the domain does without it.
    pub optional: bool,
}

impl DomainRecord {
    /// The record as a line of a zone's file.
    pub fn zone_line(&self) -> String {
        let Self { fqdn, kind, value, priority, .. } = self;
        let said = match kind {
            RecordType::Txt => txt_strings(value),
            RecordType::Mx | RecordType::Srv => format!("{} {value}.", priority.unwrap_or_default()),
        };
        format!("{fqdn}. {TTL_SECS} IN {} {said}\n", kind.as_str())
    }
}

/// A text in the strings that a TXT record has it in.
fn txt_strings(value: &str) -> String {
    let mut strings = Vec::new();
    let mut rest = value;
    while !rest.is_empty() {
        let end =
            rest.char_indices().map(|(at, it)| at + it.len_utf8()).take_while(|end| *end <= TXT_STRING_MAX).last();
        let (string, left) = rest.split_at(end.unwrap_or(rest.len()));
        strings.push(format!("\"{}\"", string.replace('\\', "\\\\").replace('"', "\\\"")));
        rest = left;
    }
    strings.join(" ")
}

impl MailDomain {
    /// The name that what bounces comes back to.
    pub fn bounces(&self) -> String {
        format!("bounces.{}", self.name)
    }

    /// The records that it shall have, those that it needs first.
    pub fn records(&self, host: &MailHost) -> Vec<DomainRecord> {
        let domain = self.name.as_str();
        let spf = |before: Option<&str>| spf_value(before, host);
        let mut records = vec![
            self.record(MX, Purpose::Receiving, RecordType::Mx, domain, host.name.clone()),
            self.record(SPF, Purpose::Spf, RecordType::Txt, domain, spf(self.spf_before.as_deref())),
            self.record(DMARC, Purpose::Dmarc, RecordType::Txt, &format!("_dmarc.{domain}"), dmarc_value(&self.name)),
            self.record(MAIL_FROM_MX, Purpose::MailFrom, RecordType::Mx, &self.bounces(), host.name.clone()),
            self.record(MAIL_FROM_SPF, Purpose::MailFrom, RecordType::Txt, &self.bounces(), spf(None)),
        ];
        for (key, service, port) in SERVICES {
            let fqdn = format!("{service}.{domain}");
            let value = format!("1 {port} {}", host.name);
            records.push(self.record(key, Purpose::Discovery, RecordType::Srv, &fqdn, value));
        }
        let mut all: Vec<DomainRecord> = self.keys.iter().map(|key| self.dkim_record(key)).collect();
        all.append(&mut records);
        all.sort_by_key(|record| record.optional);
        all
    }

    fn dkim_record(&self, key: &DkimKey) -> DomainRecord {
        let fqdn = format!("{}._domainkey.{}", key.selector, self.name);
        let value = format!("v=DKIM1; k={}; p={}", key.kind.as_str(), key.public);
        let record = self.record(&dkim_record_key(key), Purpose::Dkim, RecordType::Txt, &fqdn, value);
        // What a former key signed may be under way still, so that its record is none that can be done without.
        DomainRecord { optional: key.kind == DkimKind::Ed25519, ..record }
    }

    fn record(&self, key: &str, purpose: Purpose, kind: RecordType, fqdn: &str, value: String) -> DomainRecord {
        let priority = match kind {
            RecordType::Txt => None,
            RecordType::Mx => Some(MX_PREFERENCE),
            RecordType::Srv => Some(0),
        };
        let zone = self.zone.as_deref().unwrap_or(self.name.as_str());
        let name = match fqdn.strip_suffix(zone) {
            Some("") => "@",
            Some(rest) => rest.strip_suffix('.').unwrap_or(fqdn),
            None => fqdn,
        };
        DomainRecord {
            key: key.to_owned(),
            purpose,
            kind,
            name: name.to_owned(),
            fqdn: fqdn.to_owned(),
            value,
            priority,
            optional: !REQUIRED.contains(&key),
        }
    }
}

/// What the check of a key's record is known by.
pub fn dkim_record_key(key: &DkimKey) -> String {
    match (key.place, key.kind) {
        (DkimPlace::Current, DkimKind::Rsa) => DKIM.to_owned(),
        (DkimPlace::Current, DkimKind::Ed25519) => DKIM_ED.to_owned(),
        (DkimPlace::Next, DkimKind::Rsa) => DKIM_NEXT.to_owned(),
        (DkimPlace::Next, DkimKind::Ed25519) => DKIM_ED_NEXT.to_owned(),
        (DkimPlace::Former, _) => format!("dkim-old-{}", key.selector),
    }
}

/// What an SPF record says, so that mail from here passes: the one that is there with this server put in, because two are none.
fn spf_value(before: Option<&str>, host: &MailHost) -> String {
    let ours = std::iter::once(format!("a:{}", host.name)).chain(host.addresses.iter().map(|address| match address {
        std::net::IpAddr::V4(address) => format!("ip4:{address}"),
        std::net::IpAddr::V6(address) => format!("ip6:{address}"),
    }));
    let Some(before) = before else {
        let ours: Vec<String> = ours.collect();
        return format!("v=spf1 {} ~all", ours.join(" "));
    };
    let mut terms: Vec<String> = before.split_ascii_whitespace().map(str::to_owned).collect();
    let new: Vec<String> = ours.filter(|ours| !terms.iter().any(|term| term.eq_ignore_ascii_case(ours))).collect();
    terms.splice(1..1, new);
    terms.join(" ")
}

fn dmarc_value(domain: &DomainName) -> String {
    format!("v=DMARC1; p=quarantine; rua=mailto:postmaster@{domain}")
}

/// Whether a text is an SPF record (RFC 7208 4.5).
pub fn is_spf(text: &str) -> bool {
    let version = text.split(' ').next().unwrap_or_default();
    version.eq_ignore_ascii_case("v=spf1")
}

/// The value of a tag of a record such as those of DKIM and DMARC (RFC 6376 3.2).
fn tag<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let pairs = text.split(';').filter_map(|pair| pair.split_once('='));
    pairs.map(|(tag, value)| (tag.trim(), value.trim())).find_map(|(tag, value)| (tag == name).then_some(value))
}

/// Whether a text is the record of the key (RFC 6376 3.6.1).
pub fn is_dkim_record(text: &str, key: &DkimKey) -> bool {
    let public: String = tag(text, "p").unwrap_or_default().split_ascii_whitespace().collect();
    let is_version = tag(text, "v").is_none_or(|version| version == "DKIM1");
    is_version && tag(text, "k").unwrap_or("rsa") == key.kind.as_str() && public == key.public
}

/// Whether a text is a DMARC record that receivers heed (RFC 9989).
pub fn is_dmarc_record(text: &str) -> bool {
    let first = text.split(';').next().unwrap_or_default();
    let is_version = first.split_once('=').is_some_and(|(tag, value)| tag.trim() == "v" && value.trim() == "DMARC1");
    is_version && tag(text, "p").is_some_and(|policy| ["none", "quarantine", "reject"].contains(&policy))
}

/// Who serves a zone, guessed from what its name servers are called; for texts that help only.
pub fn dns_provider(name_servers: &[String]) -> Option<&'static str> {
    const KNOWN: [(&str, &str); 14] = [
        ("awsdns-", "Amazon Route 53"),
        ("azure-dns.", "Azure DNS"),
        ("cloudflare.com", "Cloudflare"),
        ("desec.", "deSEC"),
        ("digitalocean.com", "DigitalOcean"),
        ("dnsimple", "DNSimple"),
        ("domaincontrol.com", "GoDaddy"),
        ("gandi.net", "Gandi"),
        ("googledomains.com", "Google Cloud DNS"),
        ("hetzner.", "Hetzner"),
        ("ovh.net", "OVHcloud"),
        ("registrar-servers.com", "Namecheap"),
        ("ui-dns.", "IONOS"),
        ("vercel-dns.com", "Vercel"),
    ];
    let serves = |part: &str| name_servers.iter().any(|server| server.to_ascii_lowercase().contains(part));
    KNOWN.iter().find_map(|(part, name)| serves(part).then_some(*name))
}
