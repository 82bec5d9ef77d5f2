//! What the owner of a domain asks of who brings mail there (MTA-STS, RFC 8461): which hosts take it, and that they prove who they are.

use std::time::Duration;

use crate::Timestamp;

/// Bytes of a policy (RFC 8461 3.2 leaves it open; a policy is a few lines).
pub const POLICY_BYTES_MAX: usize = 64 * 1024;
/// The longest time for which a policy may hold (RFC 8461 3.2).
const POLICY_AGE_MAX: Duration = Duration::from_secs(31_557_600);
/// Hosts of a policy that are read.
const POLICY_HOSTS_MAX: usize = 100;
/// Characters of what a record calls its policy (RFC 8461 3.1).
const RECORD_CHARS_MAX: usize = 32;
/// How old a policy may be before it is fetched again though its record says that it is the same.
const FRESH_FOR: Duration = Duration::from_hours(24);

/// What is done with a host that doesn't fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyMode {
    /// Mail is not brought there.
    Enforce,
    /// Mail is brought there all the same.
    Testing,
    /// There is no policy any more.
    None,
}

impl PolicyMode {
    const ALL: [Self; 3] = [Self::Enforce, Self::Testing, Self::None];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Enforce => "enforce",
            Self::Testing => "testing",
            Self::None => "none",
        }
    }

    /// The one with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == name)
    }
}

/// A policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailPolicy {
    /// What is done with a host that doesn't fit.
    pub mode: PolicyMode,
    /// Hosts that take the domain's mail, in small letters; `*.` stands for one label.
    pub hosts: Vec<String>,
    /// How long it holds.
    pub max_age: Duration,
}

/// A policy that was fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownPolicy {
    /// What its record called it.
    pub record: String,
    /// What it says.
    pub policy: MailPolicy,
    /// When it was fetched.
    pub fetched_at: Timestamp,
}

impl KnownPolicy {
    /// Until when it holds.
    pub fn expires_at(&self) -> Timestamp {
        self.fetched_at.after(self.policy.max_age)
    }

    /// Whether it holds, whatever became of its record.
    pub fn holds(&self, now: Timestamp) -> bool {
        now < self.expires_at()
    }

    /// Whether it need not be fetched again while its record is this one.
    pub fn is_fresh(&self, record: &str, now: Timestamp) -> bool {
        self.record == record && self.holds(now) && now < self.fetched_at.after(FRESH_FOR)
    }
}

impl MailPolicy {
    /// Reads a policy (RFC 8461 3.2); none of what is none.
    pub fn read(text: &str) -> Option<Self> {
        let fields =
            text.lines().filter_map(|line| line.split_once(':')).map(|(name, value)| (name.trim(), value.trim()));
        let fields: Vec<(&str, &str)> = fields.collect();
        let value = |wanted: &str| fields.iter().find(|(name, _)| *name == wanted).map(|(_, value)| *value);
        if value("version")? != "STSv1" {
            return None;
        }
        let mode = PolicyMode::from_name(value("mode")?)?;
        let seconds = value("max_age").filter(|it| it.bytes().all(|byte| byte.is_ascii_digit()))?;
        let max_age = Duration::from_secs(seconds.parse().ok()?).min(POLICY_AGE_MAX);
        let hosts = fields.iter().filter(|(name, _)| *name == "mx").map(|(_, host)| host.to_ascii_lowercase());
        let hosts: Vec<String> = hosts.filter(|host| is_pattern(host)).take(POLICY_HOSTS_MAX).collect();
        let is_whole = mode == PolicyMode::None || !hosts.is_empty();
        is_whole.then_some(Self { mode, hosts, max_age })
    }

    /// Whether mail may not be brought to others than its hosts.
    pub const fn is_enforced(&self) -> bool {
        matches!(self.mode, PolicyMode::Enforce)
    }

    /// Whether the host is one of those (RFC 8461 4.1).
    pub fn names(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        self.hosts.iter().any(|pattern| match pattern.strip_prefix("*.") {
            Some(parent) => host.split_once('.').is_some_and(|(label, rest)| !label.is_empty() && rest == parent),
            None => *pattern == host,
        })
    }
}

fn is_pattern(host: &str) -> bool {
    let name = host.strip_prefix("*.").unwrap_or(host);
    !name.is_empty()
        && name.len() <= 253
        && name.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'.' | b'-'))
}

/// What the record of a domain calls its policy (RFC 8461 3.1); none where there is no record, or several.
pub fn policy_record(texts: &[String]) -> Option<String> {
    let mut records = texts.iter().filter(|text| text.split(';').next().is_some_and(|it| it.trim() == "v=STSv1"));
    let (record, None) = (records.next()?, records.next()) else { return None };
    let id = record.split(';').filter_map(|field| field.split_once('=')).find(|(name, _)| name.trim() == "id");
    let id = id.map(|(_, id)| id.trim())?;
    let is_id = (1..=RECORD_CHARS_MAX).contains(&id.len()) && id.bytes().all(|it| it.is_ascii_alphanumeric());
    is_id.then(|| id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "version: STSv1\r\nmode: enforce\r\nmx: MX1.example.com\r\nmx: *.mail.example.com\r\nmax_age: 86400\r\n";

    #[test]
    fn a_policy_names_hosts_and_a_star_is_one_label() {
        let policy = MailPolicy::read(TEXT).expect("a policy");
        assert!(policy.is_enforced());
        assert_eq!(policy.max_age, Duration::from_secs(86_400));
        for (host, is_named) in [
            ("mx1.example.com", true),
            ("Mx1.Example.COM", true),
            ("a.mail.example.com", true),
            ("mail.example.com", false),
            ("a.b.mail.example.com", false),
            (".mail.example.com", false),
            ("mx2.example.com", false),
            ("mx1.example.com.evil.example", false),
            ("", false),
        ] {
            assert_eq!(policy.names(host), is_named, "{host}");
        }
    }

    #[test]
    fn what_is_no_policy_is_none() {
        for (from, to) in [
            ("STSv1", "STSv2"),
            ("mode: enforce", "mode: always"),
            ("mode: enforce\r\n", ""),
            ("max_age: 86400", "max_age: soon"),
            ("max_age: 86400", "max_age: -1"),
            ("max_age: 86400\r\n", ""),
            ("mx: MX1.example.com\r\nmx: *.mail.example.com\r\n", ""),
            ("mx: MX1.example.com\r\nmx: *.mail.example.com\r\n", "mx: <script>\r\n"),
        ] {
            assert_eq!(MailPolicy::read(&TEXT.replace(from, to)), None, "{from} {to}");
        }
        let none = MailPolicy::read("version: STSv1\nmode: none\nmax_age: 1").expect("a policy");
        assert_eq!((none.mode, none.hosts.len()), (PolicyMode::None, 0));
        let long = MailPolicy::read(&TEXT.replace("86400", "999999999999")).expect("a policy");
        assert_eq!(long.max_age, POLICY_AGE_MAX);
    }

    #[test]
    fn a_domain_has_one_record_or_none() {
        let records = |texts: &[&str]| policy_record(&texts.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(records(&["v=spf1 -all", "v=STSv1; id=20260101T000000;"]).as_deref(), Some("20260101T000000"));
        for texts in [
            &[][..],
            &["v=STSv1; id=1", "v=STSv1; id=2"],
            &["v=STSv1"],
            &["v=STSv1; id="],
            &["v=STSv1; id=a b"],
            &["v=STSv10; id=1"],
            &["v=STSv1; id=123456789012345678901234567890123"],
        ] {
            assert_eq!(records(texts), None, "{texts:?}");
        }
    }

    #[test]
    fn a_policy_holds_as_long_as_it_says_and_is_fetched_anew_after_a_day() {
        let now = Timestamp(1_800_000_000_000);
        let policy = MailPolicy::read(&TEXT.replace("86400", "172800")).expect("a policy");
        let known = KnownPolicy { record: "1".to_owned(), policy, fetched_at: now };
        let day = Duration::from_hours(24);
        assert!(known.is_fresh("1", now) && !known.is_fresh("2", now));
        assert!(!known.is_fresh("1", now.after(day)) && known.holds(now.after(day)));
        assert!(!known.holds(now.after(2 * day)));
    }
}
