use std::{net::IpAddr, time::Duration};

use super::*;
use crate::id::MailDomainId;

const NOW: Timestamp = Timestamp(1_800_000_000_000);
const DAY: Duration = Duration::from_hours(24);

fn host() -> MailHost {
    MailHost { name: "mail.example.net".to_owned(), addresses: vec!["192.0.2.1".parse::<IpAddr>().unwrap()] }
}

fn key(kind: DkimKind, selector: &str, place: DkimPlace) -> DkimKey {
    DkimKey { selector: selector.to_owned(), kind, public: format!("KEY{selector}"), place, since: NOW }
}

fn claim() -> MailDomain {
    MailDomain {
        id: MailDomainId::new(NOW),
        org_id: OrgId::new(NOW),
        name: DomainName::parse("domain", "mail.example.org").unwrap(),
        status: DomainStatus::Pending,
        owned_at: None,
        zone: Some("example.org".to_owned()),
        dns_provider: None,
        note: DomainNote::None,
        mode: DkimMode::Easy,
        keys: vec![key(DkimKind::Rsa, "trp1", DkimPlace::Current), key(DkimKind::Ed25519, "trp1e", DkimPlace::Current)],
        rotated_at: None,
        spf_before: None,
        checks: std::collections::BTreeMap::new(),
        checked_at: None,
        looks_from: NOW,
        misses: 0,
        missed_since: None,
        catch_all: None,
        version: 1,
        created_at: NOW,
    }
}

/// A look at which these were seen, and the others of those that are required not.
fn look(seen: &[&str]) -> Observed {
    let mut observed = Observed::default();
    for record in [DKIM, MX, SPF] {
        observed.seen.insert(record.to_owned(), false);
    }
    observed.seen.extend(seen.iter().map(|key| ((*key).to_owned(), true)));
    observed
}

const ALL: [&str; 3] = [DKIM, MX, SPF];

#[test]
fn an_address_has_its_letters_and_no_character_more() {
    let address = |local: &str| mailbox_address(local, "acme.example.org");
    assert_eq!(address(" Ada.L ").unwrap().as_str(), "ada.l@acme.example.org");
    for local in ["a", "a-b_c.d", "1", &"a".repeat(63), &"a".repeat(64)] {
        assert!(address(local).is_ok(), "{local}");
    }
    for local in ["", ".a", "a.", "-a", "a b", "a@b", "é", "a+b", &"a".repeat(65)] {
        assert_eq!(address(local).unwrap_err().to_string(), ADDRESS_INVALID, "{local}");
    }
    assert_eq!(address("a..b").unwrap_err().to_string(), ADDRESS_INVALID);
}

#[test]
fn the_platform_lends_one_domain_to_each_slug() {
    let slug = Slug::parse("acme").unwrap();
    assert_eq!(lent_domain(&slug, "example.org").as_deref(), Some("acme.example.org"));
    assert_eq!(lent_domain(&slug, ""), None);
    assert_eq!(lent_slug("acme.example.org", "example.org"), Some(slug));
    for (domain, platform) in [
        ("acme.example.org", ""),
        ("acme.example.org", "example.com"),
        ("acmeexample.org", "example.org"),
        ("a.acme.example.org", "example.org"),
        ("example.org", "example.org"),
    ] {
        assert_eq!(lent_slug(domain, platform), None, "{domain} below {platform}");
    }
}

#[test]
fn the_platforms_own_names_can_t_be_claimed() {
    let check = |name: &str| {
        let name = DomainName::parse("domain", name).unwrap();
        platform_domain_check(&name, "lent.example", &["mail.example.net"])
    };
    for name in ["lent.example", "acme.lent.example", "mail.example.net"] {
        assert_eq!(check(name).unwrap_err().to_string(), "Platform domains can't be added.");
    }
    assert!(["example.net", "silent.example", "a.mail.example.net"].iter().all(|name| check(name).is_ok()));
}

#[test]
fn a_claim_becomes_active_once_all_that_is_required_is_seen() {
    let claim = claim();
    let (pending, told) = claim.observed(&look(&[]), Rival::None, NOW);
    assert_eq!((pending.status, told), (DomainStatus::Pending, None));
    assert_eq!(pending.message().unwrap(), "These records weren't found: dkim-1, mx, spf.");
    let (verifying, told) = pending.observed(&look(&[MX, SPF]), Rival::None, NOW);
    assert_eq!((verifying.status, told), (DomainStatus::Verifying, None));
    assert_eq!(
        verifying.sending_check().unwrap_err().to_string(),
        "This mailbox's domain isn't verified for sending yet."
    );
    let (active, told) = verifying.observed(&look(&ALL), Rival::None, NOW);
    assert_eq!((active.status, told), (DomainStatus::Active, Some(Happened::Verified)));
    assert_eq!((active.owned_at, active.message()), (Some(NOW), None));
    assert!(active.sending_check().is_ok());
    let (back, _) = verifying.observed(&look(&[]), Rival::None, NOW);
    assert_eq!(back.status, DomainStatus::Pending);
}

#[test]
fn a_claim_to_what_is_anothers_waits() {
    let (held, told) = claim().observed(&look(&ALL), Rival::Active, NOW);
    assert_eq!((held.status, held.owned_at, told), (DomainStatus::Verifying, None, None));
    assert_eq!(held.message().unwrap(), "Another organization has proved that this domain is its own.");
    let (missing, _) = held.observed(&look(&[MX]), Rival::Active, NOW);
    assert_eq!(missing.message().unwrap(), "These records weren't found: dkim-1, spf.");
    let (active, _) = held.observed(&look(&ALL), Rival::None, NOW);
    assert_eq!((active.status, active.message()), (DomainStatus::Active, None));
}

#[test]
fn an_active_domain_is_in_error_after_three_misses_in_a_day() {
    let (mut domain, _) = claim().observed(&look(&ALL), Rival::None, NOW);
    let times = [NOW, NOW.after(DAY / 2), NOW.after(Duration::from_millis(86_399_999))];
    for at in times {
        let (next, told) = domain.observed(&look(&[MX]), Rival::None, at);
        assert_eq!((next.status, told), (DomainStatus::Active, None));
        domain = next;
    }
    let (failed, told) = domain.observed(&look(&[MX]), Rival::None, NOW.after(DAY));
    assert_eq!((failed.status, told), (DomainStatus::Error, Some(Happened::Failed)));
    assert_eq!(failed.owned_at, Some(NOW), "it stays the organization's until another one proves that it is its own");
    let (again, told) = failed.observed(&look(&ALL), Rival::None, NOW.after(DAY * 2));
    assert_eq!((again.status, told, again.misses), (DomainStatus::Active, Some(Happened::Verified), 0));
    let (held, _) = domain.observed(&look(&ALL), Rival::None, NOW.after(DAY));
    assert_eq!((held.misses, held.missed_since), (0, None));
}

#[test]
fn no_answer_changes_nothing() {
    let (active, _) = claim().observed(&look(&ALL), Rival::None, NOW);
    let later = NOW.after(DAY * 9);
    let (next, told) = active.observed(&Observed::default(), Rival::None, later);
    assert_eq!((next.status, next.misses, next.checked_at, told), (DomainStatus::Active, 0, Some(NOW), None));
    assert_eq!(next.checks, active.checks);
    assert!(next.message().unwrap().contains("didn't answer"));
    let mut half = Observed::default();
    half.seen.insert(MX.to_owned(), true);
    let (next, _) = next.observed(&half, Rival::None, later);
    assert_eq!((next.status, next.misses, next.message()), (DomainStatus::Active, 0, None));
    let (waits, _) = claim().observed(&half, Rival::None, later);
    assert_eq!(waits.status, DomainStatus::Verifying);
}

#[test]
fn the_next_key_signs_once_its_record_is_seen_and_the_former_one_stays_for_a_week() {
    let (mut domain, _) = claim().observed(&look(&ALL), Rival::None, NOW);
    domain.keys.push(key(DkimKind::Rsa, "trp2", DkimPlace::Next));
    let keys = |domain: &MailDomain| -> Vec<String> {
        let records = domain.records(&host());
        records.into_iter().filter(|it| it.purpose == Purpose::Dkim).map(|it| it.key).collect()
    };
    let (waits, _) = domain.observed(&look(&ALL), Rival::None, NOW);
    assert_eq!(waits.rotated_at, None);
    assert_eq!(keys(&waits), ["dkim-1", "dkim-1-next", "dkim-ed"]);
    let seen: Vec<&str> = ALL.into_iter().chain(["dkim-1-next"]).collect();
    let (switched, told) = waits.observed(&look(&seen), Rival::None, NOW);
    assert_eq!((switched.status, switched.rotated_at, told), (DomainStatus::Active, Some(NOW), None));
    assert_eq!(keys(&switched), ["dkim-old-trp1", "dkim-1", "dkim-old-trp1e"]);
    assert_eq!(switched.checks.get(DKIM), Some(&true));
    let before = Timestamp(NOW.after(DAY * 7).0 - 1);
    assert_eq!(keys(&switched.observed(&look(&ALL), Rival::None, before).0).len(), 3);
    assert_eq!(keys(&switched.observed(&look(&ALL), Rival::None, NOW.after(DAY * 7)).0), ["dkim-1"]);
}

#[test]
fn looks_become_rarer() {
    let mut domain = claim();
    let pause = |domain: &MailDomain, at: Timestamp| domain.next_look(at).0 - at.0;
    let (minutes, hour, day) = (300_000, 3_600_000, 86_400_000);
    assert_eq!(pause(&domain, NOW), minutes);
    assert_eq!(pause(&domain, Timestamp(NOW.0 + hour - 1)), minutes);
    assert_eq!(pause(&domain, Timestamp(NOW.0 + hour)), hour);
    assert_eq!(pause(&domain, Timestamp(NOW.0 + 14 * day - 1)), hour);
    assert_eq!(pause(&domain, Timestamp(NOW.0 + 14 * day)), day);
    domain.status = DomainStatus::Active;
    assert_eq!(pause(&domain, NOW), day);
    domain.misses = 1;
    assert_eq!(pause(&domain, NOW), day / 2);
    domain.keys.push(key(DkimKind::Rsa, "trp2", DkimPlace::Next));
    assert_eq!(pause(&domain, NOW), minutes);
}

#[test]
fn records_stand_in_their_zone() {
    let mut domain = claim();
    let find = |domain: &MailDomain, key: &str| {
        domain.records(&host()).into_iter().find(|it| it.key == key).unwrap_or_else(|| panic!("no {key}"))
    };
    let dkim = find(&domain, "dkim-1");
    assert_eq!((dkim.name.as_str(), dkim.fqdn.as_str()), ("trp1._domainkey.mail", "trp1._domainkey.mail.example.org"));
    assert_eq!(dkim.value, "v=DKIM1; k=rsa; p=KEYtrp1");
    assert_eq!((find(&domain, "mx").name, find(&domain, "mx").priority), ("mail".to_owned(), Some(10)));
    assert_eq!(find(&domain, "spf").value, "v=spf1 a:mail.example.net ip4:192.0.2.1 ~all");
    assert_eq!(
        find(&domain, "imaps").zone_line(),
        "_imaps._tcp.mail.example.org. 3600 IN SRV 0 1 993 mail.example.net.\n"
    );
    let optional: Vec<String> = domain.records(&host()).into_iter().filter(|it| it.optional).map(|it| it.key).collect();
    assert_eq!(optional, ["dkim-ed", "dmarc", "mailfrom-mx", "mailfrom-spf", "imaps", "submissions", "caldavs"]);
    domain.zone = Some("mail.example.org".to_owned());
    assert_eq!(find(&domain, "mx").name, "@");
    domain.spf_before = Some("v=spf1 include:other.example -all".to_owned());
    assert_eq!(find(&domain, "spf").value, "v=spf1 a:mail.example.net ip4:192.0.2.1 include:other.example -all");
    domain.spf_before = Some("v=spf1 A:MAIL.example.net ip4:192.0.2.1 -all".to_owned());
    assert_eq!(find(&domain, "spf").value, "v=spf1 A:MAIL.example.net ip4:192.0.2.1 -all");
}

#[test]
fn a_long_text_is_written_in_strings_of_255_bytes() {
    let mut domain = claim();
    domain.keys[0].public = "k".repeat(392);
    let line = domain.records(&host())[0].zone_line();
    let strings: Vec<&str> = line.split('"').skip(1).step_by(2).collect();
    assert_eq!(strings.iter().map(|it| it.len()).collect::<Vec<_>>(), [255, 410 - 255]);
    assert_eq!(strings.concat(), domain.records(&host())[0].value);
}

#[test]
fn answers_are_read_as_receivers_read_them() {
    let rsa = key(DkimKind::Rsa, "trp1", DkimPlace::Current);
    for text in ["v=DKIM1; k=rsa; p=KEYtrp1", "p=KEYtrp1", "v=DKIM1;p= KEY trp1 ;t=s", "k=rsa;p=KEYtrp1;"] {
        assert!(is_dkim_record(text, &rsa), "{text}");
    }
    for text in ["v=DKIM1; k=rsa; p=", "v=DKIM1; k=ed25519; p=KEYtrp1", "v=DKIM2; p=KEYtrp1", "KEYtrp1", ""] {
        assert!(!is_dkim_record(text, &rsa), "{text}");
    }
    for text in ["v=DMARC1; p=none", "v=DMARC1;p=reject;rua=mailto:a@b.example", "v = DMARC1 ; p = quarantine"] {
        assert!(is_dmarc_record(text), "{text}");
    }
    for text in ["v=DMARC1", "p=none; v=DMARC1", "v=DMARC1; p=perhaps", "v=DMARC2; p=none", ""] {
        assert!(!is_dmarc_record(text), "{text}");
    }
    assert!(is_spf("v=spf1 -all") && is_spf("v=spf1") && !is_spf("v=spf10 -all") && !is_spf("spf1"));
    assert_eq!(dns_provider(&["ns-1.awsdns-00.com".to_owned()]), Some("Amazon Route 53"));
    assert_eq!(dns_provider(&["ns.example.org".to_owned()]), None);
}
