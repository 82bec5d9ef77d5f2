//! What the checks of a message came to, and what follows: whether it is refused, and what speaks for or against it.

use serde::{Deserialize, Serialize};

use super::{Outcome, Placed, Point, SPAM_FROM, fields};

/// What the owner of a domain asks for, for mail in its name that nobody vouches for (RFC 7489 6.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DmarcPolicy {
    /// Nothing.
    #[default]
    None,
    /// To be looked at with suspicion.
    Quarantine,
    /// To be refused.
    Reject,
}

/// What this server does for such owners (`mail_server.dmarc`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DmarcMode {
    /// What they ask for.
    #[default]
    Enforce,
    /// What they want refused is spam.
    Mark,
}

/// What the checks of a message came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Whether the client may send for the envelope's sender.
    pub spf: Outcome,
    /// Whether a signature holds.
    pub dkim: Outcome,
    /// Whether either is of the domain in `From`.
    pub dmarc: Outcome,
    /// Whether those who passed it on say so.
    pub arc: Outcome,
    /// What the owner of the domain in `From` asks for.
    pub policy: DmarcPolicy,
    /// Who passed it on last, where what they say holds.
    pub sealer: Option<String>,
    /// The domains in `From`, in small letters, each once.
    pub from_domains: Vec<String>,
    /// `Authentication-Results` without its name and its last line end.
    pub results: String,
}

impl Findings {
    /// Nothing could be checked now; `host` says so.
    pub fn unknown(host: &str) -> Self {
        let (spf, dkim, dmarc, arc) = (Outcome::TempError, Outcome::TempError, Outcome::TempError, Outcome::None);
        let results = format!("{host};\r\n\tspf=temperror;\r\n\tdkim=temperror;\r\n\tdmarc=temperror");
        Self { spf, dkim, dmarc, arc, results, ..Self::default() }
    }

    /// What the owner of the domain gets. One of `trusted` who passed the message on speaks for it: lists and forwarders break
    /// what others check.
    pub fn policy_applied(&self, trusted: &[String]) -> DmarcPolicy {
        let is_vouched_for = self.sealer.as_ref().is_some_and(|sealer| trusted.iter().any(|it| it == sealer));
        if self.dmarc == Outcome::Fail && !is_vouched_for { self.policy } else { DmarcPolicy::None }
    }

    /// Whether the message is refused.
    pub fn is_refused(&self, mode: DmarcMode, trusted: &[String]) -> bool {
        mode == DmarcMode::Enforce && self.policy_applied(trusted) == DmarcPolicy::Reject
    }

    /// What speaks for or against a message, by rules that people can read.
    pub fn points(&self, message: &[u8], trusted: &[String]) -> Vec<Point> {
        let vouched = self.spf == Outcome::Pass || self.dkim == Outcome::Pass;
        let lacks = |name: &str| !fields(message).any(|field| field.is(name));
        let rules = [
            ("dmarc_policy", self.policy_applied(trusted) != DmarcPolicy::None, SPAM_FROM),
            ("several_from", self.from_domains.len() > 1, SPAM_FROM),
            ("no_from", lacks("From"), 30),
            ("dmarc_fail", self.dmarc == Outcome::Fail, 15),
            ("spf_fail", self.spf == Outcome::Fail, 20),
            ("spf_softfail", self.spf == Outcome::SoftFail, 10),
            ("dkim_fail", self.dkim == Outcome::Fail, 5),
            ("nobody_vouches", !vouched && self.spf != Outcome::TempError && self.dkim != Outcome::TempError, 10),
            ("no_date", lacks("Date"), 10),
            ("no_message_id", lacks("Message-ID"), 10),
            ("dmarc_pass", self.dmarc == Outcome::Pass, -10),
        ];
        let holding = rules.into_iter().filter(|(_, holds, _)| *holds);
        holding.map(|(rule, _, tenths)| Point { rule: rule.to_owned(), tenths }).collect()
    }
}

/// Where a message goes by what speaks against it.
pub fn placed(points: &[Point]) -> Placed {
    let sum: i32 = points.iter().map(|point| point.tenths).sum();
    if sum >= SPAM_FROM { Placed::Spam } else { Placed::Inbox }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &[u8] = b"From: ada@example.com\r\nDate: today\r\nMessage-ID: <1@example.com>\r\n\r\n";

    fn found(dmarc: Outcome, policy: DmarcPolicy) -> Findings {
        Findings { dmarc, policy, from_domains: vec!["example.com".to_owned()], ..Findings::default() }
    }

    #[test]
    fn a_message_is_refused_only_when_its_owner_asks_and_nobody_vouches() {
        for (dmarc, policy, mode, is_refused) in [
            (Outcome::Fail, DmarcPolicy::Reject, DmarcMode::Enforce, true),
            (Outcome::Fail, DmarcPolicy::Reject, DmarcMode::Mark, false),
            (Outcome::Fail, DmarcPolicy::Quarantine, DmarcMode::Enforce, false),
            (Outcome::Pass, DmarcPolicy::Reject, DmarcMode::Enforce, false),
            (Outcome::TempError, DmarcPolicy::Reject, DmarcMode::Enforce, false),
            (Outcome::None, DmarcPolicy::None, DmarcMode::Enforce, false),
        ] {
            assert_eq!(found(dmarc, policy).is_refused(mode, &[]), is_refused, "{dmarc:?} {policy:?} {mode:?}");
        }
    }

    #[test]
    fn who_passed_a_message_on_speaks_for_it_where_they_are_trusted() {
        let passed_on =
            Findings { sealer: Some("lists.example".to_owned()), ..found(Outcome::Fail, DmarcPolicy::Reject) };
        assert!(passed_on.is_refused(DmarcMode::Enforce, &["other.example".to_owned()]));
        assert!(!passed_on.is_refused(DmarcMode::Enforce, &["lists.example".to_owned()]));
    }

    #[test]
    fn what_the_owner_wants_refused_or_put_aside_is_spam() {
        for policy in [DmarcPolicy::Quarantine, DmarcPolicy::Reject] {
            let points = found(Outcome::Fail, policy).points(WHOLE, &[]);
            assert_eq!(placed(&points), Placed::Spam, "{points:?}");
        }
    }

    #[test]
    fn spam_begins_at_five_points() {
        let point = |tenths| vec![Point { rule: "a".to_owned(), tenths }];
        assert_eq!(placed(&point(SPAM_FROM - 1)), Placed::Inbox);
        assert_eq!(placed(&point(SPAM_FROM)), Placed::Spam);
        assert_eq!(placed(&point(SPAM_FROM + 1)), Placed::Spam);
    }

    #[test]
    fn a_message_that_only_nobody_vouches_for_is_no_spam() {
        let points = found(Outcome::None, DmarcPolicy::None).points(WHOLE, &[]);
        assert_eq!(points, [Point { rule: "nobody_vouches".to_owned(), tenths: 10 }]);
        let bare = found(Outcome::None, DmarcPolicy::None).points(b"From: ada@example.com\r\n\r\n", &[]);
        assert_eq!(bare.len(), 3, "{bare:?}");
        assert_eq!(placed(&bare), Placed::Inbox);
    }

    #[test]
    fn two_senders_of_other_domains_are_spam() {
        let mut two = found(Outcome::None, DmarcPolicy::None);
        two.from_domains.push("example.net".to_owned());
        assert_eq!(placed(&two.points(WHOLE, &[])), Placed::Spam);
    }
}
