//! Which pages may ask for files from a browser (S3's CORS rules).

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::{app::names, error::Result, problems::Problems};

/// Rules of a bucket (S3).
pub const CORS_RULES_MAX: usize = 100;
/// Entries of one list of a rule. S3 has one limit for all the XML, 64 KB.
const ENTRIES_MAX: usize = 100;
/// Characters of an origin or a header's name.
const ENTRY_LEN: RangeInclusive<usize> = 1..=255;
/// Seconds for which a browser remembers an answer (S3's own limit is that of a number; this is a year).
const MAX_AGE_MAX: u32 = 365 * 24 * 60 * 60;

names! {
    /// A method that a rule allows (S3).
    CorsMethod { Get = "GET", Put = "PUT", Head = "HEAD", Post = "POST", Delete = "DELETE", }
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CorsRule {
    /// Origins, each with at most one `*`.
    pub origins: Vec<String>,
    /// Methods.
    pub methods: Vec<CorsMethod>,
    /// Headers that the request may carry, each with at most one `*`.
    #[serde(default)]
    pub headers: Vec<String>,
    /// Headers of the answer that the page may read.
    #[serde(default)]
    pub expose: Vec<String>,
    /// Seconds for which a browser remembers the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_age: Option<u32>,
}

/// What a browser asks.
#[derive(Clone, Copy, Debug)]
pub struct CorsRequest<'r> {
    /// The page's origin.
    pub origin: &'r str,
    /// The method that the page uses.
    pub method: CorsMethod,
    /// Names of headers that it sends; empty for a request that asks nothing before. More of them than a rule can name fit
    /// no rule.
    pub headers: &'r [&'r str],
}

/// The rules of a bucket, of which the first one that fits counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CorsRules(Vec<CorsRule>);

impl CorsRules {
    /// Checks rules; 400 naming every field at fault.
    pub fn check(rules: Vec<CorsRule>) -> Result<Self> {
        let mut problems = Problems::new();
        problems.require(rules.len() <= CORS_RULES_MAX, "rules", "Send up to 100 rules.");
        for (place, rule) in rules.iter().enumerate().take(CORS_RULES_MAX) {
            rule.check(&format!("rules[{place}]"), &mut problems);
        }
        problems.into_result().map(|()| Self(rules))
    }

    /// The rule that lets a request pass, if one does.
    pub fn find(&self, request: &CorsRequest<'_>) -> Option<&CorsRule> {
        self.0.iter().find(|rule| rule.allows(request))
    }

    /// All of them.
    pub fn as_slice(&self) -> &[CorsRule] {
        &self.0
    }
}

impl CorsRule {
    fn check(&self, path: &str, problems: &mut Problems) {
        let lists = [("origins", &self.origins), ("headers", &self.headers), ("expose", &self.expose)];
        for (name, entries) in lists {
            problems.require(entries.len() <= ENTRIES_MAX, format!("{path}.{name}"), "Send up to 100 entries.");
            for (place, entry) in entries.iter().enumerate().take(ENTRIES_MAX) {
                let wildcards = usize::from(name != "expose");
                problems.require(is_entry(entry, wildcards), format!("{path}.{name}[{place}]"), fault(wildcards));
            }
        }
        problems.require(!self.origins.is_empty(), format!("{path}.origins"), "Name at least one origin.");
        let methods = 1..=CorsMethod::ALL.len();
        problems.require(methods.contains(&self.methods.len()), format!("{path}.methods"), "Name 1 to 5 methods.");
        let is_known = self.max_age.is_none_or(|age| age <= MAX_AGE_MAX);
        problems.require(is_known, format!("{path}.maxAge"), "Must be 0 to 31536000.");
    }

    fn allows(&self, request: &CorsRequest<'_>) -> bool {
        let has_header = |header: &&str| self.headers.iter().any(|it| fits(it, header, <[u8]>::eq_ignore_ascii_case));
        self.methods.contains(&request.method)
            && request.headers.len() <= ENTRIES_MAX
            && self.origins.iter().any(|origin| fits(origin, request.origin, <[u8]>::eq))
            && request.headers.iter().all(has_header)
    }

    /// Whether the answer is the same for every page, and says so.
    pub fn is_for_everybody(&self) -> bool {
        self.origins.iter().any(|origin| origin == "*")
    }
}

fn is_entry(entry: &str, wildcards: usize) -> bool {
    let is_plain = entry.bytes().all(|byte| byte.is_ascii_graphic());
    ENTRY_LEN.contains(&entry.len()) && is_plain && entry.matches('*').count() <= wildcards
}

fn fault(wildcards: usize) -> &'static str {
    if wildcards == 0 {
        "Must have 1 to 255 visible characters, and no *."
    } else {
        "Must have 1 to 255 visible characters, and at most one *."
    }
}

/// Whether a text is what the pattern says, in which one `*` stands for anything.
fn fits(pattern: &str, text: &str, is_equal: fn(&[u8], &[u8]) -> bool) -> bool {
    let text = text.as_bytes();
    let Some((start, end)) = pattern.split_once('*') else { return is_equal(pattern.as_bytes(), text) };
    let Some((first, rest)) = text.split_at_checked(start.len()) else { return false };
    let Some((_, last)) = rest.len().checked_sub(end.len()).and_then(|at| rest.split_at_checked(at)) else {
        return false;
    };
    is_equal(start.as_bytes(), first) && is_equal(end.as_bytes(), last)
}
