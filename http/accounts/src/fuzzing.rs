//! What fuzzing has accounts read. Built with the feature `fuzzing` only.

use http_shell::{
    body::parse,
    fuzzing::{Kinds, reads, structure},
};

use crate::{audit, auth, invites, keys, me, members, organizations, teams};

/// The kinds of bodies by name.
pub const BODIES: Kinds = &[
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
];

/// Reads a query as each of the area's lists does.
pub fn query(query: &str) {
    reads::<audit::AuditListQuery>(query);
}
