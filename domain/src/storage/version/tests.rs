use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::id::NotAnId;

const NOW: Timestamp = Timestamp(1_700_000_000_000);

fn version(at: i64, name: VersionName, kind: VersionKind) -> Version {
    Version { stamp: VersionStamp::next(Timestamp(at), None), name, kind, locked_until: None }
}

fn content(at: i64) -> Version {
    version(at, VersionName::Stamp, VersionKind::Content)
}

fn marker(at: i64) -> Version {
    version(at, VersionName::Stamp, VersionKind::DeleteMarker)
}

fn state(newest: Version) -> FileState {
    FileState { newest: Some(newest), older_null: None }
}

fn refusal<T: std::fmt::Debug>(result: Result<T>) -> (u16, String) {
    let error = result.unwrap_err();
    (error.status(), error.to_string())
}

#[test]
fn ids_are_26_characters_or_null() {
    let stamp = VersionStamp::next(NOW, None);
    assert_eq!(stamp.to_string().len(), 26);
    for id in [VersionId::Stamp(stamp), VersionId::Null] {
        assert_eq!(id.to_string().parse(), Ok(id));
    }
    assert_eq!(VersionStamp::from_bytes(stamp.to_bytes()), stamp);
    assert_eq!("Null".parse::<VersionId>(), Err(NotAnId));
    assert_eq!(refusal(VersionId::parse("versionId", "x")), (404, "Version not found.".to_owned()));
    assert_eq!(refusal(VersionId::parse("versionId", &"é".repeat(1_024))).0, 404);
    for text in ["", &"é".repeat(1_025)] {
        assert_eq!(refusal(VersionId::parse("versionId", text)).0, 400);
    }
}

#[test]
fn stamps_rise_though_the_clock_goes_back() {
    let mut before = VersionStamp::next(NOW, None);
    for at in [NOW.0, NOW.0 - 3_600_000, 0, NOW.0 - 1, NOW.0 + 1, i64::MIN] {
        let next = VersionStamp::next(Timestamp(at), Some(before));
        assert!(next > before, "{at}");
        assert_eq!(next.to_bytes()[6] >> 4, 7);
        assert_eq!(next.to_bytes()[8] >> 6, 2);
        before = next;
    }
    // All bits behind the time are carried into it.
    let mut full = [0xff; 16];
    (full[5], full[6], full[8]) = (0, 0x7f, 0xbf);
    let mut carried = [0; 16];
    carried[..6].copy_from_slice(&[0xff, 0xff, 0xff, 0xff, 0xff, 1]);
    (carried[6], carried[8]) = (0x70, 0x80);
    assert_eq!(VersionStamp::next(NOW, Some(VersionStamp::from_bytes(full))).to_bytes(), carried);
}

#[test]
fn deleting_what_is_not_there_leaves_a_marker_where_versions_are_kept() {
    let none = FileState::default();
    for versioning in [None, Some(Versioning::Disabled)] {
        assert_eq!(none.delete(versioning, NOW).unwrap(), []);
    }
    for versioning in [Versioning::Enabled, Versioning::Suspended] {
        let changes = none.delete(Some(versioning), NOW).unwrap();
        assert!(matches!(changes[..], [RowChange::Insert(version)] if version.is_marker()), "{changes:?}");
    }
}

#[test]
fn a_locked_version_stays() {
    let locked = Version { locked_until: Some(Timestamp(NOW.0 + 1)), ..content(1) };
    let refused = (403, "This version is locked until 2023-11-14.".to_owned());
    assert_eq!(refusal(state(locked).delete_version(Some(locked), None, NOW)), refused);
    assert!(state(locked).delete_version(Some(locked), None, Timestamp(NOW.0 + 1)).is_ok());
    assert_eq!(refusal(state(locked).delete(None, NOW)), refused);
    // A marker takes nothing away.
    assert!(state(locked).delete(Some(Versioning::Enabled), NOW).is_ok());
    let null = Version { name: VersionName::Null, ..locked };
    assert_eq!(refusal(state(null).put(Some(Versioning::Suspended), NOW)), refused);
    let below = FileState { newest: Some(content(2)), older_null: Some(null) };
    assert_eq!(refusal(below.delete(Some(Versioning::Suspended), NOW)), refused);
    assert!(below.put(Some(Versioning::Enabled), NOW).is_ok());
}

#[test]
fn a_restore_says_why_it_cannot_be() {
    let restore = |newest, target, older: Vec<Version>| {
        state(newest).restore(target, older, Some(Versioning::Enabled), NOW).map(|(restored, _)| restored)
    };
    let (one, two, three) = (content(1), marker(2), marker(3));
    assert_eq!(restore(three, Some(three), vec![two, one]).unwrap(), Restored::Undeleted);
    assert_eq!(restore(three, Some(one), vec![two, one]).unwrap(), Restored::Copied);
    let no_content = (400, "Pick a version with content to restore.".to_owned());
    assert_eq!(refusal(restore(three, Some(two), vec![two, one])), no_content);
    assert_eq!(refusal(restore(three, Some(three), vec![two])), no_content);
    assert_eq!(refusal(restore(one, Some(one), vec![])), (409, "This is already the current version.".to_owned()));
    assert_eq!(refusal(restore(one, None, vec![])), (404, "Version not found.".to_owned()));
    assert_eq!(refusal(state(one).delete_version(None, None, NOW)), (404, "Version not found.".to_owned()));
    let markers = |count: usize| std::iter::repeat_n(two, count).chain([one]).collect::<Vec<_>>();
    assert!(restore(three, Some(three), markers(999)).is_ok());
    assert_eq!(refusal(restore(three, Some(three), markers(1_000))).0, 409);
}

/// A file as rows: each version with a number for its content.
#[derive(Default)]
struct Rows {
    newest: Option<(Version, u32)>,
    old: BTreeMap<VersionStamp, (Version, u32)>,
}

impl Rows {
    fn state(&self) -> FileState {
        let null = self.old.values().find(|(version, _)| version.name == VersionName::Null);
        FileState { newest: self.newest.map(|it| it.0), older_null: null.map(|it| it.0) }
    }

    fn newest_first(&self) -> Vec<(Version, u32)> {
        self.newest.into_iter().chain(self.old.values().rev().copied()).collect()
    }

    fn apply(&mut self, changes: Vec<RowChange>, content: u32) {
        for change in changes {
            match change {
                RowChange::Keep(stamp) => {
                    let kept = self.newest.take().filter(|it| it.0.stamp == stamp).unwrap();
                    assert!(self.old.insert(stamp, kept).is_none());
                }
                RowChange::Drop(stamp) => assert_eq!(self.newest.take().map(|it| it.0.stamp), Some(stamp)),
                RowChange::DropOld(stamp) => assert!(self.old.remove(&stamp).is_some()),
                RowChange::Promote(stamp) => {
                    assert!(self.newest.is_none());
                    self.newest = Some(self.old.remove(&stamp).unwrap());
                }
                RowChange::Insert(version) => {
                    assert!(self.newest.is_none() && self.old.keys().all(|stamp| *stamp < version.stamp));
                    self.newest = Some((version, content));
                }
            }
        }
    }
}

/// A version as the documents of S3 tell of it: whether it is `null`, whether a marker, and its content.
type Told = (bool, bool, u32);

/// A file as those documents tell of it, the newest version first.
#[derive(Clone, Debug, Default, PartialEq)]
struct Model(Vec<Told>);

impl Model {
    fn lay(&mut self, versioning: Option<Versioning>, is_marker: bool, content: u32) {
        let is_null = versioning != Some(Versioning::Enabled);
        self.0.retain(|version| !(is_null && version.0));
        self.0.insert(0, (is_null, is_marker, content));
    }

    fn delete(&mut self, versioning: Option<Versioning>) {
        if versioning.is_none() { self.0.clear() } else { self.lay(versioning, true, 0) }
    }

    fn restore(&mut self, at: usize, versioning: Option<Versioning>) -> Option<Restored> {
        let (_, is_marker, content) = *self.0.get(at)?;
        if at > 0 && !is_marker {
            self.lay(versioning, false, content);
            return Some(Restored::Copied);
        }
        let below = self.0.iter().position(|version| !version.1).filter(|_| at == 0 && is_marker)?;
        self.0.drain(..below);
        Some(Restored::Undeleted)
    }
}

#[derive(Clone, Copy, Debug)]
enum Act {
    Switch(bool),
    Put,
    Delete,
    DeleteVersion(usize),
    Restore(usize),
}

fn any_act() -> impl Strategy<Value = Act> {
    prop_oneof![
        1 => any::<bool>().prop_map(Act::Switch),
        3 => Just(Act::Put),
        2 => Just(Act::Delete),
        2 => (0_usize..6).prop_map(Act::DeleteVersion),
        2 => (0_usize..6).prop_map(Act::Restore),
    ]
}

proptest! {
    #[test]
    fn versions_become_what_the_documents_of_s3_tell(acts in proptest::collection::vec((any_act(), 0_i64..9), 0..40)) {
        let (mut rows, mut model, mut versioning) = (Rows::default(), Model::default(), None);
        for (number, (act, clock)) in (1_u32..).zip(acts) {
            // The clock goes to and fro.
            let (state, now, all) = (rows.state(), Timestamp(NOW.0 + clock), rows.newest_first());
            match act {
                Act::Switch(on) => versioning = Some(if on { Versioning::Enabled } else { Versioning::Suspended }),
                Act::Put => {
                    model.lay(versioning, false, number);
                    rows.apply(state.put(versioning, now).unwrap(), number);
                }
                Act::Delete => {
                    model.delete(versioning);
                    rows.apply(state.delete(versioning, now).unwrap(), 0);
                }
                Act::DeleteVersion(at) => {
                    let target = all.get(at).map(|it| it.0);
                    let changes = state.delete_version(target, all.get(1).map(|it| it.0), now);
                    prop_assert_eq!(changes.is_ok(), at < model.0.len());
                    rows.apply(changes.unwrap_or_default(), 0);
                    if at < model.0.len() { model.0.remove(at); }
                }
                Act::Restore(at) => {
                    let older = all.iter().skip(1).map(|it| it.0);
                    let target = all.get(at);
                    let done = state.restore(target.map(|it| it.0), older, versioning, now).ok();
                    prop_assert_eq!(done.as_ref().map(|it| it.0), model.restore(at, versioning));
                    rows.apply(done.map(|it| it.1).unwrap_or_default(), target.map_or(0, |it| it.1));
                }
            }
            let told: Vec<Told> = rows
                .newest_first()
                .iter()
                .map(|(version, content)| (version.id() == VersionId::Null, version.is_marker(), *content))
                .collect();
            prop_assert_eq!(&told, &model.0);
            prop_assert_eq!(rows.state().exists(), model.0.first().is_some_and(|version| !version.1));
        }
    }
}
