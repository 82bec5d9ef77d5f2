//! Ids: TypeIDs, that is a prefix that names the kind, `_`, and 26 characters of base32 of a UUIDv7.
//!
//! Each kind is a type of its own, so that one can't stand in another's place. Ids sort by when they were made.

use std::{fmt, str::FromStr, time::Duration};

use uuid::Uuid;

use crate::time::Timestamp;

/// Crockford's base32 in lower case, as TypeID uses it.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// Characters after the prefix and `_`.
const SUFFIX_LEN: usize = 26;

/// The text is not an id of the kind that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an id of this kind")]
pub struct NotAnId;

/// The value of each character, by its byte; [`NO_VALUE`] of those that stand in no id.
const VALUES: [u8; 256] = values();
const NO_VALUE: u8 = u8::MAX;

#[expect(clippy::cast_possible_truncation, reason = "32 characters")]
const fn values() -> [u8; 256] {
    let mut values = [NO_VALUE; 256];
    let mut value = 0;
    while value < ALPHABET.len() {
        values[ALPHABET[value] as usize] = value as u8;
        value += 1;
    }
    values
}

/// Characters of an id: three of its prefix, `_`, and the rest.
const LEN: usize = 4 + SUFFIX_LEN;

/// An id as text, without a place of its own in memory.
struct Text([u8; LEN]);

impl Text {
    fn new(prefix: &str, uuid: Uuid) -> Self {
        let mut text = [b'_'; LEN];
        for (place, character) in text.iter_mut().zip(prefix.bytes()) {
            *place = character;
        }
        text[LEN - SUFFIX_LEN..].copy_from_slice(&base32(uuid));
        Self(text)
    }

    fn as_str(&self) -> &str {
        // Prefix and alphabet are ASCII.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

/// The 26 characters of base32 that a UUID is written with.
pub(crate) fn base32(uuid: Uuid) -> [u8; SUFFIX_LEN] {
    let mut bits = uuid.as_u128();
    let mut text = [0; SUFFIX_LEN];
    for character in text.iter_mut().rev() {
        *character = ALPHABET[(bits & 31) as usize];
        bits >>= 5;
    }
    text
}

fn parse(prefix: &str, text: &str) -> Result<Uuid, NotAnId> {
    text.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('_')).ok_or(NotAnId).and_then(from_base32)
}

/// The UUID that is written with these 26 characters.
pub(crate) fn from_base32(text: &str) -> Result<Uuid, NotAnId> {
    let suffix = text.as_bytes();
    // The first character holds three bits: 26 times five is 130.
    if suffix.len() != SUFFIX_LEN || suffix[0] > b'7' {
        return Err(NotAnId);
    }
    let mut bits = 0_u128;
    for character in suffix {
        let value = VALUES[usize::from(*character)];
        if value == NO_VALUE {
            return Err(NotAnId);
        }
        bits = (bits << 5) | u128::from(value);
    }
    Ok(Uuid::from_u128(bits))
}

/// Whether the text is an id, of whatever kind: a prefix of three small letters, `_`, and 26 characters.
pub fn is_id(text: &str) -> bool {
    let prefix = text.split_once('_').map_or("", |(prefix, _)| prefix);
    prefix.len() == 3 && prefix.bytes().all(|byte| byte.is_ascii_lowercase()) && parse(prefix, text).is_ok()
}

/// A new UUIDv7 for `now`.
pub fn new_uuid(now: Timestamp) -> Uuid {
    let since_epoch = Duration::from_millis(u64::try_from(now.as_millis()).unwrap_or(0));
    Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, since_epoch.as_secs(), since_epoch.subsec_nanos()))
}

/// The moment in a UUIDv7: its first 48 bits.
const fn made_at(uuid: Uuid) -> Timestamp {
    Timestamp((uuid.as_u64_pair().0 >> 16).cast_signed())
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// What stands before the `_`.
            pub const PREFIX: &'static str = $prefix;
            /// The id that nothing has.
            pub const NIL: Self = Self(Uuid::nil());

            /// A new id, made at `now`.
            pub fn new(now: Timestamp) -> Self {
                Self(new_uuid(now))
            }

            /// When it was made.
            pub const fn made_at(self) -> Timestamp {
                made_at(self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(Text::new($prefix, self.0).as_str())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = NotAnId;

            fn from_str(text: &str) -> Result<Self, NotAnId> {
                parse($prefix, text).map(Self)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(Text::new($prefix, self.0).as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(|_| serde::de::Error::custom(concat!("expected an id that starts with ", $prefix, "_")))
            }
        }
    )*};
}

ids! {
    /// A person.
    UserId = "usr";
    /// A person's sign-in on one app and platform; its token is the credential.
    SignInId = "sgn";
    /// An organization (contract A 1).
    OrgId = "org";
    /// An invitation into an organization.
    InviteId = "inv";
    /// A team of an organization.
    TeamId = "tea";
    /// An API key of an organization.
    KeyId = "key";
    /// What a mail client of a person signs in with.
    AppPasswordId = "apw";
    /// An audit entry.
    AuditId = "aud";
    /// An entry of the outbox.
    OutboxId = "obx";
    /// A message that a gateway kept instead of sending it.
    KeptId = "kpt";
    /// A notice to a person (contract A 2.3).
    NoticeId = "nte";
    /// A delivery of a notice, or of an escalation's step, over one channel to one target.
    DeliveryId = "dlv";
    /// A notification protocol of an organization (contract A 2.3).
    ProtocolId = "ptc";
    /// An on-call rota of an organization.
    RotaId = "rot";
    /// A window in which somebody else is on call than the rota says.
    RotaOverrideId = "rov";
    /// A running or ended escalation.
    EscalationId = "esc";
    /// A hook that takes alarms from outside.
    AlarmHookId = "ahk";
    /// A resource of an organization: a repository, a database or a bucket (contract A 4.4, C 2.3).
    ResourceId = "res";
    /// A project of an organization, which may have one bucket of its own (contract C 4.4).
    ProjectId = "prj";
    /// An upload in parts (contract C 4.4, `uploadId`).
    UploadId = "upl";
    /// What is kept of an organization as bytes: a file's content, an attachment, a pack.
    ContentId = "con";
    /// A push to a repository.
    PushId = "psh";
    /// A rule of a repository's branches or tags.
    BranchRuleId = "rul";
    /// A review of a pull request.
    PullReviewId = "prv";
    /// A thread on a line of a pull request.
    PullThreadId = "pth";
    /// A comment of such a thread.
    PullCommentId = "pcm";
    /// A lock of a path in a repository, which Git LFS asked for.
    LfsLockId = "lck";
    /// A run of a workflow (contract C 2.1).
    RunId = "run";
    /// A job of a run.
    JobId = "job";
    /// A file that a job leaves behind.
    ArtifactId = "art";
    /// What a job keeps for later ones.
    CacheId = "cch";
    /// A program that runs jobs.
    RunnerId = "rnr";
    /// A page of an organization's notes (contract B 2.6).
    PageId = "doc";
    /// An import of pages.
    PageImportId = "imp";
    /// A comment on a page.
    PageCommentId = "pgc";
    /// A shared history of a page that is edited together; a write from outside ends it, and the next one has another.
    PageEpochId = "pge";
    /// A mailbox of an organization (contract B 2.7).
    MailboxId = "mbx";
    /// An organization's claim to a domain for mail (contract B 2.7).
    MailDomainId = "mdm";
    /// A message on its way into a mailbox.
    MailArrivalId = "mar";
    /// A conversation in a mailbox (contract B 2.7).
    MailThreadId = "thr";
    /// A message in a mailbox.
    MailMessageId = "msg";
    /// A label of a mailbox.
    MailLabelId = "lbl";
    /// An import of mail into a mailbox.
    MailImportId = "imp";
    /// An export of a mailbox.
    MailExportId = "exp";
    /// A filter of a mailbox.
    MailFilterId = "flt";
    /// A calendar of a mailbox (contract B 2.8).
    CalendarId = "cal";
    /// An event in a calendar (contract B 2.8).
    EventId = "evt";
    /// A space of issues.
    SpaceId = "spc";
    /// An issue.
    IssueId = "iss";
    /// A comment on an issue.
    IssueCommentId = "icm";
    /// A link between two issues.
    IssueLinkId = "ilk";
    /// A file of an issue (contract B 4.4).
    AttachmentId = "att";
    /// A hook by which mail comes to a desk.
    IssueMailHookId = "imh";
    /// An approval of an issue.
    ApprovalId = "apv";
    /// A component of a space of issues.
    IssueComponentId = "cmp";
    /// A version of a space of issues.
    IssueVersionId = "ver";
    /// A sprint of a space of issues.
    SprintId = "spr";
    /// A board of a space of issues.
    BoardId = "brd";
    /// A change of many issues at once.
    IssueJobId = "ijb";
    /// A saved filter of issues.
    IssueFilterId = "ifl";
}

impl PageImportId {
    /// The id of the page that an import makes of the place `place` of its archive: the same, however often that is read.
    ///
    /// Ids of an import follow one another in the bits that are random in an id. They are no secrets.
    pub fn page(self, place: usize) -> PageId {
        const RANDOM: u128 = (1 << 62) - 1;
        let bits = self.0.as_u128();
        let moved = bits.wrapping_add(u128::try_from(place).unwrap_or_default());
        PageId(Uuid::from_u128((bits & !RANDOM) | (moved & RANDOM)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_of_an_import_have_ids_of_their_own_that_stay() {
        for import in
            [PageImportId::new(Timestamp(1)), PageImportId(Uuid::from_u128(new_uuid(Timestamp(1)).as_u128() | 7))]
        {
            let ids: Vec<_> = (0..5_000).map(|place| import.page(place)).collect();
            assert_eq!(ids, (0..5_000).map(|place| import.page(place)).collect::<Vec<_>>());
            let distinct: std::collections::BTreeSet<_> = ids.iter().collect();
            assert_eq!(distinct.len(), ids.len());
            assert!(ids.iter().all(|id| id.0.get_version_num() == 7));
        }
    }

    #[test]
    fn text_and_id_are_one_to_one() {
        let id = UserId::new(Timestamp(1_700_000_000_000));
        assert_eq!(id.to_string().len(), "usr_".len() + SUFFIX_LEN);
        assert_eq!(id.to_string().parse(), Ok(id));
    }

    #[test]
    fn ids_sort_by_when_they_were_made() {
        let earlier = OrgId::new(Timestamp(1_700_000_000_000));
        let later = OrgId::new(Timestamp(1_700_000_000_001));
        assert!(earlier.to_string() < later.to_string());
    }

    #[test]
    fn a_known_typeid_reads_as_its_uuid() {
        // From the TypeID specification's valid cases.
        assert_eq!(
            parse("prefix", "prefix_0123456789abcdefghjkmnpqrs").map(|id| id.to_string()),
            Ok("0110c853-1d09-52d8-d73e-1194e95b5f19".into())
        );
        assert_eq!(
            parse("prefix", "prefix_01h455vb4pex5vsknk084sn02q").map(|id| id.to_string()),
            Ok("01890a5d-ac96-774b-bcce-b302099a8057".into())
        );
    }

    #[test]
    fn other_texts_are_no_ids() {
        for text in [
            "",
            "usr",
            "usr_",
            "org_01h455vb4pex5vsknk084sn02q",
            "usr_81h455vb4pex5vsknk084sn02q",
            "usr_01H455VB4PEX5VSKNK084SN02Q",
            "usr_01h455vb4pex5vsknk084sn02",
            "usr_01h455vb4pex5vsknk084sn02qq",
            "usr_01h455vb4pex5vsknk084sn0éq",
        ] {
            assert_eq!(text.parse::<UserId>(), Err(NotAnId), "{text}");
        }
    }
}
