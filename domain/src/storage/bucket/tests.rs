use proptest::prelude::*;

use super::*;
use crate::{Timestamp, error::Error, id::ResourceId};

fn problems(error: Error) -> Vec<(String, String)> {
    let Error::Invalid { problems } = error else { panic!("{error}") };
    problems.into_iter().map(|problem| (problem.path, problem.message)).collect()
}

fn refusal<T: std::fmt::Debug>(result: Result<T>) -> (u16, &'static str, String) {
    let error = result.unwrap_err();
    (error.status(), error.code(), error.to_string())
}

#[test]
fn names_are_those_that_s3_takes() {
    let longest = "a".repeat(63);
    for name in ["abc", "a.b", "1-2", "a--b", "my.bucket-1", "1.2.3", "1.2.3.4.5", "256.1.1.1", "xn-a", &longest] {
        assert!(BucketName::parse("name", name).is_ok(), "{name}");
    }
    let too_long = "a".repeat(64);
    for name in [
        "",
        "ab",
        &too_long,
        "Abc",
        "a_b",
        "a b",
        "äbc",
        "-ab",
        "ab-",
        ".ab",
        "ab.",
        "a..b",
        "192.168.0.1",
        "xn--a",
        "sthree-a",
        "amzn-s3-demo-a",
        "a-s3alias",
        "a--ol-s3",
        "abc.mrap",
        "a--x-s3",
        "a--table-s3",
        "a\nb",
        "a/b",
    ] {
        let problems = problems(BucketName::parse("name", name).unwrap_err());
        assert_eq!(problems[0].0, "name", "{name}");
    }
}

#[test]
fn a_physical_name_begins_with_the_name_and_ends_with_the_id() {
    let id: ResourceId = "res_01h455vb4pex5vsknk084sn02q".parse().unwrap();
    let physical = |name: &str| BucketName::parse("name", name).unwrap().physical(id);
    assert_eq!(physical("photos").as_str(), "photos-084sn02q");
    assert_eq!(physical("photos").arn(), "arn:aws:s3:::photos-084sn02q");
    assert_eq!(physical(&"a".repeat(63)).as_str(), format!("{}-084sn02q", "a".repeat(54)));
    assert_eq!(physical(&format!("{}.-bb", "a".repeat(52))).as_str(), format!("{}-084sn02q", "a".repeat(52)));
}

#[test]
fn a_path_names_a_bucket_or_its_project() {
    assert!(matches!(BucketAddress::parse("res_01h455vb4pex5vsknk084sn02q"), Ok(BucketAddress::Resource(_))));
    assert!(matches!(BucketAddress::parse("prj_01h455vb4pex5vsknk084sn02q"), Ok(BucketAddress::Project(_))));
    for other in ["", "res_", "org_01h455vb4pex5vsknk084sn02q", "photos"] {
        assert_eq!(refusal(BucketAddress::parse(other)), (404, "not_found", "Bucket not found".to_owned()));
    }
}

#[test]
fn a_bucket_answers_how_far_it_is() {
    use BucketStatus::{Active, Creating, Deleting, Error};
    let usable = |status: BucketStatus| status.check_usable().map_err(|refused| refused.to_string()).err();
    assert_eq!(usable(Active), None);
    assert_eq!(usable(Creating).as_deref(), Some("This bucket is being created."));
    assert_eq!(usable(Deleting).as_deref(), Some("This bucket is being deleted."));
    assert_eq!(refusal(Error.check_usable()).1, "resource_busy");
    let deletable: Vec<_> = BucketStatus::ALL.iter().filter(|it| it.check_deletable().is_ok()).collect();
    assert_eq!(deletable, [&Error, &Active]);
    assert_eq!([1, 2, 3].map(BucketStatus::after_failure), [Creating, Creating, Error]);
}

#[test]
fn versioning_that_was_on_is_never_disabled() {
    use Versioning::{Disabled, Enabled, Suspended};
    let after = |now, asked| {
        let to = BucketSettings { versioning: now, ..BucketSettings::default() };
        BucketChange { versioning: asked, ..BucketChange::default() }.apply(&to, PublicHost::Shared)
    };
    for now in [None, Some(Disabled), Some(Enabled), Some(Suspended)] {
        assert_eq!(after(now, None).unwrap().versioning, now);
        for asked in [Enabled, Suspended] {
            assert_eq!(after(now, Some(asked)).unwrap().versioning, Some(asked));
        }
    }
    assert_eq!(after(None, Some(Disabled)).unwrap().versioning, Some(Disabled));
    let refused = refusal(after(Some(Suspended), Some(Disabled)));
    assert_eq!((refused.0, refused.1), (409, "versioning_stays"));
}

#[test]
fn strangers_files_come_from_a_host_of_their_own() {
    let change = BucketChange { public_read: Some(true), ..BucketChange::default() };
    assert_eq!(refusal(change.apply(&BucketSettings::default(), PublicHost::Shared)).1, "no_public_address");
    let public = change.apply(&BucketSettings::default(), PublicHost::Separate).unwrap();
    assert!(public.public_read);
    // What is public stays so when something else changes.
    assert_eq!(BucketChange::default().apply(&public, PublicHost::Shared).unwrap(), public);
}

#[test]
fn a_quota_holds_to_the_byte() {
    let quota = Quota::parse("quotaBytes", 100).unwrap();
    assert!(quota.check_room(99, 1).is_ok() && quota.check_room(500, 0).is_ok());
    let full = (403, "quota_exceeded", "This bucket is full.".to_owned());
    assert_eq!(refusal(quota.check_room(99, 2)), full);
    assert_eq!(refusal(quota.check_room(u64::MAX, u64::MAX)), full);
    let levels = [89, 90, 99, 100].map(|used| quota.level(used));
    assert_eq!(levels, [QuotaLevel::Free, QuotaLevel::Near, QuotaLevel::Near, QuotaLevel::Full]);
    assert!(Quota::parse("quotaBytes", 0).is_err() && Quota::parse("quotaBytes", u64::MAX).is_err());
    let draft = BucketDraft { name: "A".to_owned(), versioning: None, quota_bytes: Some(0) };
    assert_eq!(problems(draft.check().unwrap_err()).len(), 2);
    let change = BucketChange { quota_bytes: Some(None), ..BucketChange::default() };
    let limited = BucketSettings { quota_bytes: Some(quota), ..BucketSettings::default() };
    assert_eq!(change.apply(&limited, PublicHost::Shared).unwrap(), BucketSettings::default());
}

fn tag(key: &str, value: &str) -> Tag {
    Tag { key: key.to_owned(), value: value.to_owned() }
}

#[test]
fn tags_hold_to_the_contracts_limits() {
    let check = |tags| Tags::check("tags", tags, RESOURCE_TAGS);
    let many = |count: usize| (0..count).map(|at| tag(&at.to_string(), "")).collect::<Vec<_>>();
    assert!(check(many(20)).is_ok() && check(many(21)).is_err());
    assert!(check(vec![tag(&"ä".repeat(64), &"ä".repeat(256))]).is_ok());
    let wrong =
        vec![tag(&"a".repeat(65), ""), tag("b", &"a".repeat(257)), tag("", ""), tag("aws:x", ""), tag("b", "\n")];
    let paths: Vec<_> = problems(check(wrong).unwrap_err()).into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["tags[0].key", "tags[1].value", "tags[2].key", "tags[3].key", "tags[4].value", "tags[4].key"]);
    let tags = check(vec![tag("a", "1"), tag("b", "2")]).unwrap();
    assert!(tags.contains(&check(vec![tag("b", "2")]).unwrap()) && tags.contains(&Tags::default()));
    assert!(!tags.contains(&check(vec![tag("b", "1")]).unwrap()));
    assert_eq!((tags.get("a"), tags.get("c"), tags.iter().count()), (Some("1"), None, 2));
}

fn rule(origins: &[&str], headers: &[&str]) -> CorsRule {
    let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    let (origins, headers) = (texts(origins), texts(headers));
    CorsRule { origins, methods: vec![CorsMethod::Put], headers, expose: Vec::new(), max_age: Some(60) }
}

#[test]
fn the_first_rule_that_fits_a_request_counts() {
    let rules =
        vec![rule(&["https://a.example"], &[]), rule(&["https://*.example"], &["X-Amz-*"]), rule(&["*"], &["*"])];
    let rules = CorsRules::check(rules).unwrap();
    let find = |origin, headers: &[&str], method| {
        let found = rules.find(&CorsRequest { origin, method, headers })?;
        rules.as_slice().iter().position(|rule| rule == found)
    };
    let put = CorsMethod::Put;
    assert_eq!(find("https://a.example", &[], put), Some(0));
    assert_eq!(find("https://a.example", &["x-amz-date"], put), Some(1));
    assert_eq!(find("https://a.example", &["x-amz-date", "etag"], put), Some(2));
    assert_eq!(find("https://.example", &[], put), Some(1));
    assert_eq!(find("null", &[], put), Some(2));
    assert_eq!(find("null", &[], CorsMethod::Get), None);
    assert_eq!(find("https://A.example", &["X-AMZ-"], put), Some(1));
    assert_eq!(find("é", &["é"; 100], put), Some(2));
    assert_eq!(find("é", &["é"; 101], put), None);
    assert!(rules.as_slice()[2].is_for_everybody() && !rules.as_slice()[1].is_for_everybody());
}

#[test]
fn every_fault_of_cors_rules_is_named() {
    let mut wrong = rule(&["https://*.*", ""], &["a b"]);
    wrong.expose = vec!["*".to_owned()];
    wrong.methods.clear();
    wrong.max_age = Some(u32::MAX);
    let paths = problems(CorsRules::check(vec![rule(&[], &[]), wrong]).unwrap_err());
    let paths: Vec<_> = paths.iter().map(|(path, _)| path.as_str()).collect();
    let rest = ["origins[0]", "origins[1]", "headers[0]", "expose[0]", "methods", "maxAge"];
    let expected: Vec<_> = std::iter::once("rules[0].origins".to_owned())
        .chain(rest.iter().map(|field| format!("rules[1].{field}")))
        .collect();
    assert_eq!(paths, expected);
    assert!(CorsRules::check(vec![rule(&["*"], &[]); 101]).is_err());
    assert!(CorsRules::check(vec![rule(&["*"], &[]); 100]).is_ok());
}

proptest! {
    #[test]
    fn every_physical_name_is_a_name(name in "[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]") {
        if let Ok(name) = BucketName::parse("name", &name) {
            let physical = name.physical(ResourceId::new(Timestamp(1_700_000_000_000)));
            prop_assert_eq!(BucketName::parse("name", physical.as_str()).ok(), Some(physical));
        }
    }
}
