//! `/v1/orgs/:orgId/mail/domains`

use std::time::Duration;

use domain::{id::OrgId, mail::DomainName};
use serde_json::{Value, json};

use super::dns::{Dns, Mood};
use crate::{
    accounts::org,
    harness::{Answer, Person, Server},
};

const IN_USE: &str = "This domain is already in use.";
const NO_DOMAIN: &str = "Domain not found";

/// An organization on a server that asks a name server of the test's.
pub struct Desk {
    pub server: Server,
    pub dns: Dns,
    pub ada: Person,
    pub org: String,
}

impl Desk {
    pub async fn new() -> Self {
        let dns = Dns::start();
        let resolver = format!("mail_server.resolver={}", dns.address);
        let names = ["mail_server.hostname=mail.example.net", "mail_server.outbound_addresses=192.0.2.1"];
        let server = Server::with(&[&resolver, names[0], names[1]]).await;
        dns.host("mail.example.net", [192, 0, 2, 1].into());
        let ada = server.person("ada").await;
        let org = org(&ada, "Acme").await;
        Self { server, dns, ada, org }
    }

    pub fn path(&self, rest: &str) -> String {
        format!("{}/mail/{rest}", self.org)
    }

    pub async fn add(&self, name: &str) -> Answer {
        self.ada.client.post(&self.path("domains")).json(&json!({ "domain": name })).send().await
    }

    /// Adds a domain and publishes what it needs.
    pub async fn add_active(&self, name: &str) -> Value {
        self.dns.zone(name, &["ns1.example.org"]);
        let made = self.add(name).await.expect(201);
        self.dns.publish_required(&made.json["domain"]);
        let verified = self.verify(name).await.expect(200);
        assert_eq!(verified.str("/domain/status"), "active", "{}", verified.json);
        verified.json["domain"].clone()
    }

    pub async fn verify(&self, name: &str) -> Answer {
        self.ada.client.post(&self.path(&format!("domains/{name}/verify"))).send().await
    }

    async fn rotate(&self, name: &str) -> Answer {
        self.ada.client.post(&self.path(&format!("domains/{name}/dkim/rotate"))).send().await
    }

    pub async fn get(&self, name: &str) -> Answer {
        self.ada.client.get(&self.path(&format!("domains/{name}"))).send().await
    }

    pub async fn delete(&self, name: &str) -> Answer {
        self.ada.client.delete(&self.path(&format!("domains/{name}"))).send().await
    }

    /// Waits until a domain is as it shall be.
    async fn until(&self, name: &str, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let found = async || {
            let domain = self.get(name).await.expect(200).json["domain"].clone();
            is_so(&domain).then_some(domain)
        };
        self.server.eventually(what, found).await
    }

    /// Whom somebody was told of with this event.
    async fn told(&self, event: &str) -> Vec<Value> {
        let path = "/v1/me/notifications";
        let notices = self.ada.client.get(path).send().await.expect(200);
        notices.list("/notices").iter().filter(|notice| notice["event"] == event).cloned().collect()
    }

    async fn audited(&self) -> Vec<String> {
        let trail = self.ada.client.get(&format!("{}/audit?limit=100", self.org)).send().await.expect(200);
        trail.list("/events").iter().filter_map(|entry| entry["action"].as_str().map(str::to_owned)).collect()
    }
}

fn keys(domain: &Value) -> Vec<&str> {
    domain["records"].as_array().expect("records").iter().filter_map(|it| it["key"].as_str()).collect()
}

fn record<'d>(domain: &'d Value, key: &str) -> &'d Value {
    let records = domain["records"].as_array().expect("records");
    records.iter().find(|record| record["key"] == key).unwrap_or_else(|| panic!("no record {key}"))
}

#[tokio::test]
async fn a_domain_is_added_with_the_records_that_it_needs() {
    let desk = Desk::new().await;
    desk.dns.zone("example.org", &["ada.ns.cloudflare.com", "bob.ns.cloudflare.com"]);
    let made = desk.add(" team.example.org ").await.expect(201);
    let (domain, now) = (&made.json["domain"], desk.server.clock.now().0);
    let shown = json!({
        "domain": "team.example.org", "status": "pending", "region": "us-east-1", "zone": "example.org",
        "dnsProvider": "Cloudflare", "message": "These records weren't found: dkim-1, mx, spf.", "dkimMode": "easy",
        "records": domain["records"], "checks": domain["checks"], "checkedAt": now, "lent": false, "createdAt": now
    });
    assert_eq!(*domain, shown);
    let all =
        ["dkim-1", "mx", "spf", "dkim-ed", "dmarc", "mailfrom-mx", "mailfrom-spf", "imaps", "submissions", "caldavs"];
    assert_eq!(keys(domain), all);
    assert!(all.iter().all(|key| domain["checks"][key] == json!(false)), "{}", domain["checks"]);
    assert_eq!(
        *record(domain, "mx"),
        json!({
            "key": "mx", "purpose": "receiving", "type": "MX", "name": "team", "fqdn": "team.example.org",
            "value": "mail.example.net", "priority": 10
        })
    );
    assert_eq!(
        *record(domain, "spf"),
        json!({
            "key": "spf", "purpose": "spf", "type": "TXT", "name": "team", "fqdn": "team.example.org",
            "value": "v=spf1 a:mail.example.net ip4:192.0.2.1 ~all"
        })
    );
    assert_eq!(
        *record(domain, "imaps"),
        json!({
            "key": "imaps", "purpose": "discovery", "type": "SRV", "name": "_imaps._tcp.team",
            "fqdn": "_imaps._tcp.team.example.org", "value": "1 993 mail.example.net", "priority": 0, "optional": true
        })
    );
    let dkim = record(domain, "dkim-1");
    assert_eq!(dkim["name"], "trp1._domainkey.team");
    assert!(dkim["value"].as_str().expect("a key").starts_with("v=DKIM1; k=rsa; p=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A"));
    assert_eq!(desk.get("TEAM.example.org").await.expect(200).json["domain"], *domain);
    let list = desk.ada.client.get(&desk.path("domains")).send().await.expect(200);
    assert_eq!(list.json["domains"][1], *domain);
    assert!(desk.audited().await.iter().any(|action| action == "mail.domain_added"));
    let lines = desk.ada.client.get(&desk.path("domains/team.example.org/zone")).send().await.expect(200);
    assert_eq!(lines.header("content-type"), Some("text/dns; charset=utf-8"));
}

#[tokio::test]
async fn the_platform_lends_a_domain_that_nobody_takes_away() {
    let desk = Desk::new().await;
    let slug = desk.ada.client.get(&desk.org).send().await.expect(200).str("/org/slug").to_owned();
    let name = format!("{slug}.localhost.localdomain");
    let lent = json!({
        "domain": name, "status": "active", "region": "us-east-1", "dkimMode": "easy", "records": [], "checks": {},
        "lent": true
    });
    let list = desk.ada.client.get(&desk.path("domains")).send().await.expect(200);
    assert_eq!(list.json, json!({ "domains": [lent] }));
    assert_eq!(desk.get(&name).await.expect(200).json["domain"], lent);
    assert_eq!(desk.verify(&name).await.expect(200).json["domain"], lent);
    let refused = "This domain is lent by the platform.";
    desk.delete(&name).await.expect_error(400, "domain_lent", refused);
    desk.rotate(&name).await.expect_error(400, "domain_lent", refused);
    for name in [&name, "localhost.localdomain", "other.localhost.localdomain", "mail.example.net"] {
        desk.add(name).await.expect_error(400, "platform_domain", "Platform domains can't be added.");
    }
    assert_eq!(desk.dns.asked(), 0);
}

#[tokio::test]
async fn names_of_domains_are_checked() {
    let desk = Desk::new().await;
    let label = "a".repeat(63);
    let longest = format!("{label}.{label}.{label}.{}", "a".repeat(61));
    for name in ["", "a.b", "Example.org", "example", "a_b.org", "-a.org", "127.0.0.1", "é.org", &format!("{longest}a")]
    {
        desk.add(name).await.expect_problems(&["domain"]);
    }
    desk.ada.client.post(&desk.path("domains")).json(&json!({})).send().await.expect_problems(&["domain"]);
    desk.add("a.co").await.expect(201);
    desk.add("a.co").await.expect_error(409, "domain_in_use", IN_USE);
    desk.add(&longest).await.expect(201);
    for (name, act) in
        [("unknown.org", ""), ("unknown.org", "/verify"), ("%00", "/verify"), ("unknown.org", "/dkim/rotate")]
    {
        let path = desk.path(&format!("domains/{name}{act}"));
        let asked = if act.is_empty() { desk.ada.client.get(&path) } else { desk.ada.client.post(&path) };
        asked.send().await.expect_error(404, "not_found", NO_DOMAIN);
    }
    desk.delete("unknown.org").await.expect_error(404, "not_found", NO_DOMAIN);
    desk.delete("a.co").await.expect(204);
    desk.delete("a.co").await.expect_error(404, "not_found", NO_DOMAIN);
    desk.add("a.co").await.expect(201);
}

#[tokio::test]
async fn a_domain_is_active_once_its_records_are_seen() {
    let desk = Desk::new().await;
    desk.dns.zone("example.org", &[]);
    let made = desk.add("example.org").await.expect(201);
    desk.dns.publish(&made.json["domain"], "mx");
    let verifying = desk.verify("example.org").await.expect(200);
    assert_eq!(verifying.str("/domain/status"), "verifying");
    assert_eq!(verifying.str("/domain/message"), "These records weren't found: dkim-1, spf.");
    assert_eq!(verifying.json["domain"]["checks"]["mx"], true);
    assert!(desk.told("domain.verified").await.is_empty());
    for key in keys(&made.json["domain"]).into_iter().filter(|key| *key != "mx") {
        desk.dns.publish(&made.json["domain"], key);
    }
    let active = desk.verify("example.org").await.expect(200);
    assert_eq!(active.str("/domain/status"), "active");
    assert_eq!(active.json["domain"].get("message"), None);
    let checks = active.json["domain"]["checks"].as_object().expect("checks");
    assert!(checks.len() == 10 && checks.values().all(|seen| *seen == true), "{checks:?}");
    let told = desk.server.eventually("a notice", async || desk.told("domain.verified").await.pop()).await;
    assert_eq!(told["title"], "example.org is verified");
    let audited = desk.audited().await;
    assert!(audited.contains(&"mail.domain_verified".to_owned()), "{audited:?}");
    desk.verify("example.org").await.expect(200);
    assert_eq!(desk.told("domain.verified").await.len(), 1);
}

#[tokio::test]
async fn spf_is_judged_by_what_receivers_find_out() {
    let desk = Desk::new().await;
    desk.dns.zone("example.org", &[]);
    desk.dns.text("example.org", "a text of somebody else's");
    desk.dns.text("example.org", "v=spf1 include:other.example -all");
    let made = desk.add("example.org").await.expect(201);
    let value = "v=spf1 a:mail.example.net ip4:192.0.2.1 include:other.example -all";
    assert_eq!(record(&made.json["domain"], "spf")["value"], value);
    assert_eq!(made.json["domain"]["checks"]["spf"], false);
    // What lets the server's address pass is as good, however it says so.
    desk.dns.text("other.example", "v=spf1 ip4:192.0.2.0/24 -all");
    assert_eq!(desk.verify("example.org").await.expect(200).json["domain"]["checks"]["spf"], true);
    // Two records are an error to whoever reads them.
    desk.dns.text("example.org", "v=spf1 +all");
    assert_eq!(desk.verify("example.org").await.expect(200).json["domain"]["checks"]["spf"], false);
}

#[tokio::test]
async fn where_nobody_answers_nothing_changes() {
    let desk = Desk::new().await;
    desk.dns.is(Mood::Fails);
    let refused = "Couldn't set up this domain. Try again.";
    desk.add("example.org").await.expect_error(502, "domain_setup_failed", refused);
    desk.get("example.org").await.expect_error(404, "not_found", NO_DOMAIN);
    desk.dns.is(Mood::Answers);
    let active = desk.add_active("example.org").await;
    for mood in [Mood::Fails, Mood::IsSilent] {
        desk.dns.is(mood);
        let answered = desk.verify("example.org").await.expect(200);
        let mut domain = answered.json["domain"].clone();
        let message = domain.as_object_mut().and_then(|domain| domain.remove("message"));
        assert_eq!(message, Some(json!("The servers of this domain's zone didn't answer. Nothing was changed.")));
        assert_eq!(domain, active);
    }
    desk.dns.is(Mood::Fails);
    let refused = "Couldn't rotate the key. The current key is still in use; try again.";
    desk.rotate("example.org").await.expect_error(502, "rotation_failed", refused);
    desk.dns.is(Mood::Answers);
    assert_eq!(desk.verify("example.org").await.expect(200).json["domain"], active);
}

#[tokio::test]
async fn another_key_signs_once_receivers_find_it() {
    let desk = Desk::new().await;
    desk.dns.zone("new.example", &[]);
    let made = desk.add("new.example").await.expect(201).json["domain"].clone();
    let replaced = desk.rotate("new.example").await.expect(200).json["domain"].clone();
    assert_eq!(replaced["dkimRotatedAt"], desk.server.clock.now().0);
    assert_eq!(record(&replaced, "dkim-1")["name"], "trp2._domainkey");
    assert_ne!(record(&replaced, "dkim-1")["value"], record(&made, "dkim-1")["value"]);
    assert_eq!(keys(&replaced), keys(&made));

    let active = desk.add_active("example.org").await;
    let waits = desk.rotate("example.org").await.expect(200).json["domain"].clone();
    assert_eq!(record(&waits, "dkim-1"), record(&active, "dkim-1"));
    assert_eq!(record(&waits, "dkim-1-next")["name"], "trp2._domainkey");
    assert_eq!(waits.get("dkimRotatedAt"), None);
    assert_eq!(desk.rotate("example.org").await.expect(200).json["domain"], waits);
    assert_eq!(desk.verify("example.org").await.expect(200).json["domain"]["checks"]["dkim-1-next"], false);
    desk.dns.publish(&waits, "dkim-1-next");
    let switched = desk.verify("example.org").await.expect(200).json["domain"].clone();
    assert_eq!(switched["dkimRotatedAt"], desk.server.clock.now().0);
    assert_eq!((&switched["status"], &switched["checks"]["dkim-1"]), (&json!("active"), &json!(true)));
    assert_eq!(record(&switched, "dkim-1")["value"], record(&waits, "dkim-1-next")["value"]);
    assert_eq!(record(&switched, "dkim-old-trp1")["value"], record(&active, "dkim-1")["value"]);
    desk.server.clock.advance(Duration::from_secs(7 * 86_400));
    let later = desk.verify("example.org").await.expect(200).json["domain"].clone();
    assert!(!keys(&later).iter().any(|key| key.starts_with("dkim-old")), "{:?}", keys(&later));
}

#[tokio::test]
async fn private_keys_are_sealed_and_those_of_the_records() {
    let desk = Desk::new().await;
    let made = desk.add("example.org").await.expect(201).json["domain"].clone();
    let org_id: OrgId = desk.org.rsplit('/').next().expect("an id").parse().expect("an id");
    let store = desk.server.store().await;
    let name: DomainName = "example.org".parse().expect("a name");
    let domain = store.mail_domain(org_id, &name).await.expect("a read").expect("a claim");
    assert_eq!(domain.keys.len(), 2);
    for key in &domain.keys {
        let private = store.dkim_private(domain.id, &key.selector).await.expect("an open cell").expect("a key");
        let value = format!("v=DKIM1; k={}; p={}", key.kind.as_str(), key.public);
        assert!(made["records"].as_array().expect("records").iter().any(|record| record["value"] == value));
        assert_eq!(private[0], 0x30, "it is a structure of DER");
    }
}

#[tokio::test]
async fn a_key_may_be_brought_along() {
    let desk = Desk::new().await;
    let add = async |name: &str, selector: &str, key: &str| {
        let body = json!({"domain": name, "dkim": {"selector": selector, "privateKey": key}});
        desk.ada.client.post(&desk.path("domains")).json(&body).send().await
    };
    let pem = include_str!("dkim.pem");
    let made = add("example.org", "s2026", pem).await.expect(201);
    assert_eq!(made.str("/domain/dkimMode"), "byo");
    assert_eq!(record(&made.json["domain"], "dkim-1")["fqdn"], "s2026._domainkey.example.org");
    assert!(!keys(&made.json["domain"]).contains(&"dkim-ed"));
    assert!(!made.json.to_string().contains("PRIVATE"));
    let refused = "Only keys that were made here can be rotated.";
    desk.rotate("example.org").await.expect_error(400, "dkim_byo", refused);
    for key in ["", "a key", include_str!("short.pem"), &"a".repeat(8_192)] {
        add("example.com", "s", key).await.expect_problems(&["dkim.privateKey"]);
    }
    add("example.com", "s", &"a".repeat(8_193)).await.expect_problems(&["dkim.privateKey"]);
    for selector in ["", "-a", "A", "a.b", &"a".repeat(64)] {
        add("example.com", selector, pem).await.expect_problems(&["dkim.selector"]);
    }
    add("example.com", &"a".repeat(63), pem).await.expect(201);
    for number in 2..50 {
        add(&format!("n{number}.example.com"), "s", pem).await.expect(201);
    }
    let refused = "An organization has at most 50 domains.";
    add("one.too.many", "s", pem).await.expect_error(400, "limit_reached", refused);
}

#[tokio::test]
async fn who_proves_a_domain_first_owns_it_until_it_is_lost() {
    let desk = Desk::new().await;
    let bob = desk.server.person("bob").await;
    let others = org(&bob, "Others").await;
    let path = |rest: &str| format!("{others}/mail/domains{rest}");
    desk.dns.zone("example.org", &[]);
    let ours = desk.add("example.org").await.expect(201).json["domain"].clone();
    let body = json!({"domain": "example.org"});
    let theirs = bob.client.post(&path("")).json(&body).send().await.expect(201).json["domain"].clone();
    assert_ne!(record(&ours, "dkim-1")["value"], record(&theirs, "dkim-1")["value"]);
    // Both hosts are this server's, so that the key alone tells whose domain it is.
    desk.dns.publish_required(&ours);
    let look = async || bob.client.post(&path("/example.org/verify")).send().await.expect(200).json["domain"].clone();
    assert_eq!(look().await["status"], "verifying");
    assert_eq!(desk.verify("example.org").await.expect(200).str("/domain/status"), "active");
    desk.dns.publish(&theirs, "dkim-1");
    let held = look().await;
    assert_eq!(held["status"], "verifying");
    assert_eq!(held["message"], "Another organization has proved that this domain is its own.");
    let third = desk.server.person("cleo").await;
    let third_org = org(&third, "Third").await;
    let refused = third.client.post(&format!("{third_org}/mail/domains")).json(&body).send().await;
    refused.expect_error(409, "domain_in_use", IN_USE);
    // The record of the first one's key goes, and the proof of the other one stays.
    desk.dns.forget("trp1._domainkey.example.org");
    desk.dns.publish(&theirs, "dkim-1");
    for _ in 0..3 {
        desk.verify("example.org").await.expect(200);
        desk.server.clock.advance(Duration::from_secs(43_200));
    }
    assert_eq!(desk.verify("example.org").await.expect(200).str("/domain/status"), "error");
    desk.server.eventually("the domain is theirs", async || (look().await["status"] == "active").then_some(())).await;
    let lost = desk.get("example.org").await.expect(200);
    assert_eq!(lost.str("/domain/status"), "error");
    assert_eq!(lost.str("/domain/message"), "This domain has become another organization's.");
    let mailbox = json!({"localPart": "ada", "domain": "example.org"});
    let refused = desk.ada.client.post(&desk.path("admin/mailboxes")).json(&mailbox).send().await;
    refused.expect_error(409, "domain_removed", "This mailbox's domain was removed.");
}

#[tokio::test]
async fn domains_are_looked_at_without_being_asked_to() {
    let desk = Desk::new().await;
    desk.dns.zone("example.org", &[]);
    let made = desk.add("example.org").await.expect(201).json["domain"].clone();
    desk.dns.publish_required(&made);
    desk.server.clock.advance(Duration::from_secs(299));
    assert_eq!(desk.get("example.org").await.expect(200).str("/domain/status"), "pending");
    desk.server.clock.advance(Duration::from_secs(1));
    desk.until("example.org", "the domain is active", |domain| domain["status"] == "active").await;
    desk.dns.forget("example.org");
    for hours in [24, 12, 12] {
        let before = desk.get("example.org").await.expect(200).json["domain"]["checkedAt"].clone();
        assert_eq!(desk.get("example.org").await.expect(200).str("/domain/status"), "active");
        desk.server.clock.advance(Duration::from_secs(hours * 3_600));
        desk.until("example.org", "a look", |domain| domain["checkedAt"] != before).await;
    }
    let failed = desk.get("example.org").await.expect(200);
    assert_eq!(failed.str("/domain/status"), "error");
    assert_eq!(failed.str("/domain/message"), "These records weren't found: mx, spf.");
    let told = desk.server.eventually("a notice", async || desk.told("domain.failed").await.pop()).await;
    assert_eq!(told["body"], "These records are missing: mx, spf.");
    desk.dns.publish(&made, "mx");
    desk.dns.publish(&made, "spf");
    desk.server.clock.advance(Duration::from_secs(300));
    desk.until("example.org", "the domain is active again", |domain| domain["status"] == "active").await;
    assert_eq!(desk.delete("example.org").await.expect(204).status, 204);
}

#[tokio::test]
async fn looks_are_ten_a_minute() {
    let desk = Desk::new().await;
    desk.add("example.org").await.expect(201);
    for _ in 0..10 {
        desk.verify("example.org").await.expect(200);
    }
    let refused = desk.verify("example.org").await;
    assert!(refused.header("retry-after").is_some());
    let text = "This organization had its domains looked at often just now; try again in a minute.";
    refused.expect_error(429, "rate_limited", text);
    desk.server.clock.advance(Duration::from_secs(60));
    desk.verify("example.org").await.expect(200);
}
