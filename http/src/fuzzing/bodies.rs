//! Bodies in JSON, each as its endpoint reads it.

use domain::{
    Error, Result,
    id::{OrgId, PageCommentId},
};

use crate::{
    auth, backup,
    body::{RequestBody, parse},
    console, invites, keys, me, members, notify, organizations, pages, teams, vault,
};

/// What reads one kind of body, as far as no actor is asked.
type Read = fn(&[u8]) -> Result<()>;

/// The kinds by name.
const KINDS: &[(&str, Read)] = &[
    ("register", |raw| parse::<auth::RegisterBody>(raw)?.read().map(drop)),
    ("sign-in", |raw| parse::<auth::SignInBody>(raw)?.read().map(drop)),
    ("otp", structure::<auth::OtpBody>),
    ("me", |raw| parse::<me::UserPatch>(raw)?.read().map(drop)),
    ("password", structure::<me::PasswordBody>),
    ("organization", structure::<organizations::OrgCreate>),
    ("organization-change", structure::<organizations::OrgPatch>),
    ("member", structure::<members::MemberAdd>),
    ("member-change", structure::<members::MemberPatch>),
    ("invite", structure::<invites::InviteCreate>),
    ("team", structure::<teams::TeamCreate>),
    ("team-change", structure::<teams::TeamPatch>),
    ("key", structure::<keys::KeyCreate>),
    ("backup", |raw| parse::<backup::BackupPut>(raw)?.draft().map(drop)),
    ("vault", |raw| parse::<vault::VaultCreate>(raw)?.draft().map(drop)),
    ("vault-keyset", |raw| parse::<vault::VaultKeysetPut>(raw)?.draft().map(drop)),
    ("vault-items", |raw| parse::<vault::VaultItemsChange>(raw)?.changes().map(drop)),
    ("vault-device", structure::<vault::VaultDevicePut>),
    ("alarms", alarms),
    ("prefs", |raw| parse::<notify::PrefsPut>(raw)?.read().map(drop)),
    ("channels", structure::<notify::ChannelsPut>),
    ("device", structure::<notify::DevicePut>),
    ("live-start", structure::<notify::LiveStartPut>),
    ("live-activity", structure::<notify::LiveActivityPut>),
    ("notices-read", structure::<notify::NoticesRead>),
    ("phone", structure::<notify::PhonePost>),
    ("phone-confirm", structure::<notify::PhoneConfirm>),
    ("rota", |raw| parse::<notify::RotaCreate>(raw)?.draft().map(drop)),
    ("rota-change", |raw| parse::<notify::RotaPatch>(raw)?.change().map(drop)),
    ("rota-override", structure::<notify::OverrideCreate>),
    ("protocol", |raw| parse::<notify::ProtocolCreate>(raw)?.draft().map(drop)),
    ("protocol-change", |raw| parse::<notify::ProtocolPatch>(raw)?.change().map(drop)),
    ("attachment", structure::<notify::AttachmentPut>),
    ("snooze", structure::<notify::EscalationSnooze>),
    ("hand-over", structure::<notify::EscalationHandOver>),
    ("page", |raw| parse::<pages::PageCreate>(raw)?.draft().map(drop)),
    ("page-change", |raw| parse::<pages::PagePatch>(raw)?.change().map(drop)),
    ("content", |raw| parse::<pages::ContentPut>(raw)?.read().map(drop)),
    ("comment", |raw| parse::<pages::CommentCreate>(raw)?.command(organization()).map(drop)),
    ("comment-change", |raw| parse::<pages::CommentPatch>(raw)?.command(organization(), comment()).map(drop)),
    ("console", structure::<console::ConsoleSignInBody>),
];

/// A line with the kind of body, and the body. What is refused is the client's fault, and says what is wrong.
pub fn bodies(bytes: &[u8]) {
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else { return };
    let (kind, raw) = (&bytes[..end], &bytes[end + 1..]);
    let Some((_, read)) = KINDS.iter().find(|(name, _)| name.as_bytes() == kind) else { return };
    match read(raw) {
        Err(Error::Invalid { problems }) => {
            assert!(!problems.is_empty(), "nothing is wrong");
            assert!(problems.iter().all(|problem| problem.message.ends_with('.')), "{problems:?}");
        }
        Err(error) => assert!(matches!(error.status(), 400..=499), "{error:?}"),
        Ok(()) => {}
    }
}

fn structure<T: RequestBody>(raw: &[u8]) -> Result<()> {
    parse::<T>(raw).map(drop)
}

/// Alarms are kept by every database, as long as they are, and so short that they can be shown.
fn alarms(raw: &[u8]) -> Result<()> {
    for alarm in parse::<notify::AlarmPost>(raw)?.alarms()? {
        let texts = [&alarm.title, &alarm.body, &alarm.fingerprint].into_iter().chain(&alarm.url);
        assert!(texts.into_iter().all(|text| !text.contains('\0')), "{alarm:?}");
        assert!((1..=domain::notify::ALARM_TITLE_LEN_MAX).contains(&alarm.title.chars().count()));
        assert!(!alarm.title.contains(char::is_control));
        assert!(alarm.body.chars().count() <= domain::notify::ALARM_BODY_LEN_MAX && !alarm.fingerprint.is_empty());
        assert_eq!(alarm.data["status"], if alarm.resolved { "resolved" } else { "firing" });
    }
    Ok(())
}

fn organization() -> OrgId {
    OrgId::new(domain::Timestamp(0))
}

fn comment() -> PageCommentId {
    PageCommentId::new(domain::Timestamp(0))
}
