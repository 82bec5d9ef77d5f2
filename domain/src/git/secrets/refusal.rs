//! What people are told of secrets that nobody allowed.

use std::fmt::Write as _;

use super::{AllowBy, SecretFinding};
use crate::git::wire::ALLOWED_IN_OPTION;

/// Secrets that are listed for who pushed them.
pub const FINDINGS_SHOWN_MAX: usize = 50;

/// Why a change is refused in which there are secrets.
#[derive(Clone, Copy, Debug)]
pub struct SecretRefusal<'f> {
    /// The secrets.
    pub findings: &'f [SecretFinding],
    /// Whether there may be more.
    pub is_cut: bool,
    /// What access it takes to allow them.
    pub allow_by: AllowBy,
}

impl SecretRefusal<'_> {
    /// In one line, as it stands behind each ref.
    pub fn reason(&self) -> String {
        let Some(first) = self.findings.first() else { return "secrets found".to_owned() };
        let more = match self.findings.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("secret found: {} in {}{more}", first.secret.rule.label(), first.place())
    }

    /// In full, as a client prints it before that: each secret, and what can be done.
    pub fn text(&self) -> String {
        let mut text = "\nThere are secrets in what you push, and nothing of it was taken.\n\n".to_owned();
        for finding in self.findings.iter().take(FINDINGS_SHOWN_MAX) {
            let secret = &finding.secret;
            // Writing to a text doesn't fail.
            let _ = writeln!(text, "  {} {} ({})", finding.place(), secret.rule.label(), secret.preview);
            let _ = write!(text, "    {} {}", secret.rule, secret.fingerprint);
            let _ = match finding.commit {
                Some(commit) => writeln!(text, ", since commit {commit}"),
                None => writeln!(text),
            };
        }
        let hidden = self.findings.len().saturating_sub(FINDINGS_SHOWN_MAX);
        let _ = match (hidden, self.is_cut) {
            (0, false) => Ok(()),
            (0, true) => writeln!(text, "  and perhaps more"),
            (hidden, false) => writeln!(text, "  and {hidden} more"),
            (hidden, true) => writeln!(text, "  and at least {hidden} more"),
        };
        text.push_str(
            "\nTake them out of every commit in which they are, and replace them where they open something.\n",
        );
        let who = match self.allow_by {
            AllowBy::Write => "",
            AllowBy::Admin => " (this needs admin access to the repository)",
        };
        let _ = if self.is_cut {
            writeln!(text, "They are too many to be allowed by a push.\n")
        } else {
            let command = self.options();
            writeln!(text, "To allow all of them, if they are none or open nothing{who}:\n\n  git push{command}\n")
        };
        text
    }

    /// The options of a push that allow all of them, whether they are shown or not: a push that leaves one out is refused again.
    fn options(&self) -> String {
        let option = |findings: &[SecretFinding]| {
            let names: Vec<_> = findings.iter().map(|finding| finding.secret.fingerprint.to_string()).collect();
            format!(" -o secret.allow={}", names.join(","))
        };
        self.findings.chunks(ALLOWED_IN_OPTION).map(option).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::{Fingerprint, FoundSecret, ObjectId, SecretRule};

    fn finding(line: u32) -> SecretFinding {
        let (rule, preview) = (SecretRule::StripeKey, "sk_l…mnop".to_owned());
        let secret = FoundSecret { rule, line, fingerprint: Fingerprint::of_bytes([10; 16]), preview };
        SecretFinding {
            secret,
            path: Some("a.env".to_owned()),
            blob: ObjectId::of_bytes([1; 20]),
            commit: ObjectId::of_bytes([2; 20]).given(),
        }
    }

    #[test]
    fn a_refusal_lists_fifty_secrets_and_says_how_to_allow_them() {
        let findings: Vec<_> = (1..=52).map(finding).collect();
        let of = |findings, is_cut| SecretRefusal { findings, is_cut, allow_by: AllowBy::Write };
        let refusal = of(&findings, false);
        assert_eq!(refusal.reason(), "secret found: Stripe live key in a.env:1 and 51 more");
        let text = refusal.text();
        assert!(text.contains("  a.env:50 Stripe live key (sk_l…mnop)\n    stripe_key 0a0a0a0a"), "{text}");
        assert!(!text.contains("a.env:51") && text.contains("  and 2 more\n"), "{text}");
        let option = |count: usize| format!(" -o secret.allow={}", vec!["0a".repeat(16); count].join(","));
        let command = format!("open nothing:\n\n  git push{}{}\n", option(30), option(22));
        assert!(text.contains(&command), "{text}");
        assert!(of(&findings[..1], true).text().contains("  and perhaps more\n"));
        let cut = of(&findings, true).text();
        assert!(cut.contains("  and at least 2 more\n") && !cut.contains("secret.allow="), "{cut}");
        assert!(cut.contains("They are too many to be allowed by a push.\n"), "{cut}");
        assert_eq!(of(&findings[..1], false).reason(), "secret found: Stripe live key in a.env:1");
        let by_admin = SecretRefusal { allow_by: AllowBy::Admin, ..refusal }.text();
        assert!(by_admin.contains("open nothing (this needs admin access to the repository):\n"), "{by_admin}");
    }
}
