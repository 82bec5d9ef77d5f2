use proptest::prelude::*;

use super::*;
use crate::{
    Timestamp,
    error::Error,
    storage::{FILE_TAGS, FileKey, Tag, Tags, Version, VersionKind, VersionName, VersionStamp},
};

const HOUR: i64 = 60 * 60 * 1_000;
const DAY: i64 = 24 * HOUR;
/// A midnight of UTC.
const MIDNIGHT: i64 = 20_000 * DAY;

fn rule() -> LifecycleRule {
    LifecycleRule { enabled: true, ..LifecycleRule::default() }
}

fn rules(rules: &[LifecycleRule]) -> LifecycleRules {
    LifecycleRules::check(rules.to_vec()).unwrap()
}

fn key(text: &str) -> FileKey {
    FileKey::parse(text).unwrap()
}

fn tags(key: &str, value: &str) -> Tags {
    Tags::check("tags", vec![Tag { key: key.to_owned(), value: value.to_owned() }], FILE_TAGS).unwrap()
}

fn paths(result: crate::Result<LifecycleRules>) -> Vec<String> {
    let Err(Error::Invalid { problems }) = result else { panic!("{result:?}") };
    problems.into_iter().map(|problem| problem.path).collect()
}

static NO_TAGS: std::sync::LazyLock<Tags> = std::sync::LazyLock::new(Tags::default);

fn newest(made_at: i64, kind: VersionKind) -> AgedVersion<'static> {
    let stamp = VersionStamp::next(Timestamp(made_at), None);
    let version = Version { stamp, name: VersionName::Stamp, kind, locked_until: None };
    AgedVersion { version, made_at: Timestamp(made_at), ended_at: None, size: 100, tags: &NO_TAGS }
}

fn file(made_at: i64) -> AgedVersion<'static> {
    newest(made_at, VersionKind::Content)
}

fn marker(made_at: i64) -> AgedVersion<'static> {
    newest(made_at, VersionKind::DeleteMarker)
}

fn old(version: AgedVersion<'static>, ended_at: i64) -> AgedVersion<'static> {
    AgedVersion { ended_at: Some(Timestamp(ended_at)), ..version }
}

/// What becomes of each version, and whether the delete marker on top goes too.
fn fates(rules: &LifecycleRules, versions: &[AgedVersion<'_>], now: i64) -> (Vec<Fate>, bool) {
    let mut run = rules.run(&key("logs/a"), Timestamp(now));
    let fates = versions.iter().map(|version| run.show(version)).collect();
    (fates, run.finish().is_some())
}

fn expires(rule: LifecycleRule, file: AgedVersion<'_>, now: i64) -> bool {
    fates(&rules(&[rule]), &[file], now).0 == [Fate::FileExpires]
}

#[test]
fn a_day_is_over_at_the_midnight_behind_it() {
    let days = |days| LifecycleRule { expire_days: Some(days), ..rule() };
    let made = MIDNIGHT + 10 * HOUR;
    // Made at ten, the day is over at ten, and the file expires at midnight.
    for (now, goes) in [(MIDNIGHT + 2 * DAY - 1, false), (MIDNIGHT + 2 * DAY, true)] {
        assert_eq!(expires(days(1), file(made), now), goes, "{now}");
    }
    for (made, due) in [(MIDNIGHT, MIDNIGHT + DAY), (MIDNIGHT + 1, MIDNIGHT + 2 * DAY), (MIDNIGHT - 1, MIDNIGHT + DAY)]
    {
        assert_eq!(due_after_days(Timestamp(made), 1), Timestamp(due));
        assert!(expires(days(1), file(made), due) && !expires(days(1), file(made), due - 1));
    }
    assert_eq!(next_midnight(Timestamp(-1)), Timestamp(0));
    assert!(!expires(days(RULE_DAYS_MAX), file(0), MIDNIGHT));
    let last = due_after_days(Timestamp(i64::MAX - 1), u32::MAX);
    assert_eq!(last, Timestamp(i64::MAX));
}

#[test]
fn a_date_is_a_midnight_from_which_on_files_expire() {
    let at = LifecycleRule { expire_at: Some(Timestamp(MIDNIGHT)), ..rule() };
    assert!(expires(at.clone(), file(0), MIDNIGHT) && expires(at.clone(), file(MIDNIGHT + DAY), MIDNIGHT + DAY));
    assert!(!expires(at.clone(), file(0), MIDNIGHT - 1));
    let off = LifecycleRule { enabled: false, ..at };
    assert!(!expires(off, file(0), MIDNIGHT));
}

#[test]
fn a_filter_fits_where_all_of_it_does() {
    let red = tags("colour", "red");
    let filter = RuleFilter { prefix: "logs/".to_owned(), tags: red.clone(), size_over: Some(9), size_under: Some(11) };
    for (text, tags, size, fits) in [
        ("logs/a", &red, 10, true),
        ("log", &red, 10, false),
        ("logs/a", &*NO_TAGS, 10, false),
        ("logs/a", &tags("colour", "blue"), 10, false),
        ("logs/a", &red, 9, false),
        ("logs/a", &red, 11, false),
    ] {
        assert_eq!(filter.fits(&key(text), tags, size), fits, "{text} {size}");
    }
    let tagged = LifecycleRule { filter, expire_days: Some(1), ..rule() };
    assert!(expires(tagged.clone(), AgedVersion { tags: &red, size: 10, ..file(0) }, 9 * DAY));
    assert!(!expires(tagged.clone(), AgedVersion { tags: &red, size: 9, ..file(0) }, 9 * DAY));
    // A delete marker has neither tags nor a size.
    assert!(!fates(&rules(&[tagged]), &[marker(0)], 9 * DAY).1);
}

#[test]
fn old_versions_go_by_their_days_and_the_newest_of_them_stay() {
    let by_days = LifecycleRule { old_version_days: Some(2), ..rule() };
    let versions = [file(5 * DAY), old(file(4 * DAY), 5 * DAY), old(file(DAY), 4 * DAY), old(file(0), DAY)];
    let goes = |rule: &LifecycleRule, now| {
        let (fates, marker) = fates(&rules(std::slice::from_ref(rule)), &versions, now);
        assert!(fates[0] == Fate::Stays && !marker);
        fates[1..].iter().map(|fate| *fate == Fate::VersionExpires).collect::<Vec<_>>()
    };
    assert_eq!(goes(&by_days, 6 * DAY - 1), [false, false, true]);
    assert_eq!(goes(&by_days, 6 * DAY), [false, true, true]);
    assert_eq!(goes(&by_days, 7 * DAY), [true, true, true]);
    let one_stays = LifecycleRule { old_versions_kept: Some(1), ..by_days };
    assert_eq!(goes(&one_stays, 9 * DAY), [false, true, true]);
    let two_stay = LifecycleRule { old_versions_kept: Some(2), ..one_stays };
    assert_eq!(goes(&two_stay, 9 * DAY), [false, false, true]);
}

#[test]
fn a_lone_delete_marker_goes_and_one_over_content_stays() {
    let markers = rules(&[LifecycleRule { expire_markers: true, ..rule() }]);
    assert!(fates(&markers, &[marker(DAY)], DAY).1);
    let over = [marker(DAY), old(file(0), DAY)];
    assert!(!fates(&markers, &over, 99 * DAY).1);
    // What is left when the old versions go on the same day goes with them.
    let all = LifecycleRule { old_version_days: Some(1), expire_markers: true, ..rule() };
    assert_eq!(
        fates(&rules(std::slice::from_ref(&all)), &over, 2 * DAY),
        (vec![Fate::Stays, Fate::VersionExpires], true)
    );
    assert_eq!(fates(&rules(&[all]), &over, 2 * DAY - 1), (vec![Fate::Stays, Fate::Stays], false));
    // By days it goes when it is as old.
    let days = rules(&[LifecycleRule { expire_days: Some(1), ..rule() }]);
    assert!(!fates(&days, &[marker(DAY)], 2 * DAY - 1).1 && fates(&days, &[marker(DAY)], 2 * DAY).1);
    // An old marker is a version like any other.
    let old_days = rules(&[LifecycleRule { old_version_days: Some(1), ..rule() }]);
    let versions = [file(DAY), old(marker(0), DAY)];
    assert_eq!(fates(&old_days, &versions, 2 * DAY).0, [Fate::Stays, Fate::VersionExpires]);
}

#[test]
fn a_locked_version_outlives_every_rule() {
    let mut locked = old(file(0), DAY);
    locked.version.locked_until = Some(Timestamp(10 * DAY));
    let all = rules(&[LifecycleRule { old_version_days: Some(1), expire_markers: true, ..rule() }]);
    assert_eq!(fates(&all, &[marker(DAY), locked], 9 * DAY), (vec![Fate::Stays, Fate::Stays], false));
    assert_eq!(fates(&all, &[marker(DAY), locked], 10 * DAY), (vec![Fate::Stays, Fate::VersionExpires], true));
}

#[test]
fn the_earliest_rule_counts_and_is_told() {
    let days = |id: &str, days| LifecycleRule { id: id.to_owned(), expire_days: Some(days), ..rule() };
    let other =
        LifecycleRule { filter: RuleFilter { prefix: "x".to_owned(), ..RuleFilter::default() }, ..days("x", 1) };
    let rules = rules(&[days("late", 9), days("early", 3), other]);
    let expiry = rules.expiry(&key("logs/a"), &file(MIDNIGHT)).unwrap();
    assert_eq!((expiry.at, expiry.rule.id.as_str()), (Timestamp(MIDNIGHT + 3 * DAY), "early"));
    assert_eq!(LifecycleRules::default().expiry(&key("a"), &file(0)), None);
    assert!(LifecycleRules::default().run(&key("a"), Timestamp(0)).is_idle());
}

#[test]
fn unfinished_uploads_end_after_a_week_or_as_a_rule_says() {
    let abort = |prefix: &str, days| LifecycleRule {
        filter: RuleFilter { prefix: prefix.to_owned(), ..RuleFilter::default() },
        abort_upload_days: Some(days),
        ..rule()
    };
    let rules = rules(&[abort("a", 9), abort("a/b", 2)]);
    for (text, days) in [("a/b", 2), ("a", 9), ("c", 7)] {
        assert_eq!(rules.upload_due(&key(text), Timestamp(MIDNIGHT)), Timestamp(MIDNIGHT + days * DAY), "{text}");
    }
}

#[test]
fn every_fault_of_rules_is_named() {
    let days = LifecycleRule { expire_days: Some(1), ..rule() };
    let sized = RuleFilter { size_over: Some(5), size_under: Some(5), ..RuleFilter::default() };
    for (wrong, path) in [
        (rule(), "rules[0]"),
        (LifecycleRule { expire_days: Some(0), ..rule() }, "rules[0].expireDays"),
        (LifecycleRule { old_version_days: Some(0), ..rule() }, "rules[0].oldVersionDays"),
        (LifecycleRule { abort_upload_days: Some(0), ..rule() }, "rules[0].abortUploadDays"),
        (LifecycleRule { expire_at: Some(Timestamp(1)), ..rule() }, "rules[0].expireAt"),
        (LifecycleRule { expire_at: Some(Timestamp(0)), ..days.clone() }, "rules[0].expireAt"),
        (LifecycleRule { expire_markers: true, ..days.clone() }, "rules[0].expireMarkers"),
        (LifecycleRule { old_versions_kept: Some(1), ..days.clone() }, "rules[0].oldVersionsKept"),
        (
            LifecycleRule { old_version_days: Some(1), old_versions_kept: Some(101), ..rule() },
            "rules[0].oldVersionsKept",
        ),
        (LifecycleRule { id: "a".repeat(256), ..days.clone() }, "rules[0].id"),
        (LifecycleRule { filter: sized, ..days.clone() }, "rules[0].filter.sizeUnder"),
        (
            LifecycleRule {
                filter: RuleFilter { tags: tags("a", "b"), ..RuleFilter::default() },
                abort_upload_days: Some(1),
                ..rule()
            },
            "rules[0].abortUploadDays",
        ),
        (
            LifecycleRule { filter: RuleFilter { prefix: "a".repeat(1_025), ..RuleFilter::default() }, ..days.clone() },
            "rules[0].filter.prefix",
        ),
    ] {
        assert_eq!(paths(LifecycleRules::check(vec![wrong])), [path]);
    }
    let named = LifecycleRule { id: "a".to_owned(), ..days.clone() };
    assert_eq!(paths(LifecycleRules::check(vec![named.clone(), named])), ["rules[1].id"]);
    assert_eq!(paths(LifecycleRules::check(vec![days.clone(); 1_001])), ["rules"]);
    let called = LifecycleRule { id: "rule-1".to_owned(), ..days.clone() };
    assert_eq!(rules(&[days.clone(), called]).as_slice()[0].id, "rule-2");
    assert_eq!(rules(&vec![days; 1_000]).as_slice()[999].id, "rule-1000");
}

#[test]
fn an_expiry_is_told_in_a_header() {
    let rule = LifecycleRule { id: "old logs".to_owned(), ..rule() };
    let expiry = Expiry { at: Timestamp(1_356_220_800_000), rule: &rule };
    assert_eq!(expiry.header(), "expiry-date=\"Sun, 23 Dec 2012 00:00:00 GMT\", rule-id=\"old%20logs\"");
}

proptest! {
    #[test]
    fn what_expired_once_stays_expired(
        days in 1_u32..5,
        kept in proptest::option::of(1_u32..3),
        ages in proptest::collection::vec(0_i64..8 * DAY, 1..6),
        now in 0_i64..20 * DAY,
        later in 0_i64..5 * DAY,
    ) {
        let rule = LifecycleRule { old_version_days: Some(days), old_versions_kept: kept, expire_days: Some(days), ..rule() };
        let rules = rules(&[rule]);
        let mut made = ages;
        made.sort_unstable_by(|one, two| two.cmp(one));
        let versions: Vec<_> = made
            .iter()
            .enumerate()
            .map(|(at, made_at)| if at == 0 { file(*made_at) } else { old(file(*made_at), made[at - 1]) })
            .collect();
        let (before, after) = (fates(&rules, &versions, now).0, fates(&rules, &versions, now + later).0);
        for (at, (before, after)) in before.iter().zip(&after).enumerate() {
            prop_assert!(*before == Fate::Stays || before == after);
            let began = if at == 0 { made[0] } else { made[at - 1] };
            let is_due = now >= (began + i64::from(days) * DAY + DAY - 1).div_euclid(DAY) * DAY;
            let is_kept = at > 0 && kept.is_some_and(|kept| at <= usize::try_from(kept).unwrap());
            prop_assert_eq!(*before != Fate::Stays, is_due && !is_kept);
        }
    }
}
