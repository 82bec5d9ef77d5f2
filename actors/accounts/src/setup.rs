//! The first start on an empty store: the platform's own organization, and the person who owns it.

use std::time::{Duration, Instant};

use actors_base::Services;
use domain::{
    App, Context, Email, OrgKind, Origin, Platform, Result, Role, Slug, Timestamp, Token, TokenKind,
    account::Password,
    id::{OrgId, SignInId, UserId},
};
use kernel::Kernel;
use store::{
    Change, CommitError,
    accounts::{Organization, Person, SignIn},
    audit::{AuditEntry, AuditTarget},
};

use crate::{passwords, person::new_person};

/// Who shall own the platform's organization (`[setup]` of the configuration).
#[derive(Clone, Debug)]
pub struct FirstOwner {
    /// The address that they sign in with.
    pub email: Email,
    /// What they are called.
    pub name: String,
    /// What the organization is called.
    pub organization_name: String,
}

/// What the first start made, to be printed once.
#[derive(Debug)]
pub struct FirstStart {
    /// The owner.
    pub user_id: UserId,
    /// The address that they sign in with.
    pub email: Email,
    /// The password that was made for them; `passwordChangeDue` stands in their account until they change it.
    pub password: Password,
    /// The token of a sign-in on the command line.
    pub token: Token,
    /// The platform's organization.
    pub org_id: OrgId,
}

/// Makes the platform's organization and its owner, in one commit. Nothing when there is such an organization, also when
/// another node made it meanwhile.
pub async fn first_start(services: &Services, kernel: &Kernel, owner: &FirstOwner) -> Result<Option<FirstStart>> {
    let store = &services.store;
    if store.platform_organization().await?.is_some() {
        return Ok(None);
    }
    let now = store.now();
    let password = Password::generate()?;
    let hash = passwords::hash_on(kernel, services.settings.password_cost, password.reveal()).await?;
    let person = Person { password_change_due: true, ..new_person(owner.email.clone(), owner.name.clone(), hash, now) };
    let organization = platform_organization(&owner.organization_name, now)?;
    let token = Token::generate(TokenKind::SignIn)?;
    let sign_in = command_line_sign_in(&person, now, services.settings.sign_in_lasts);

    let context = Context::system(Origin::Actor, Instant::now());
    let mut change = Change::new();
    change.person_add(&person);
    change.organization_add(&organization);
    change.member_add(now, organization.id, person.id, Role::Owner);
    change.sign_in_add(&sign_in, token.hash());
    let target = AuditTarget::new("organization", organization.id).labelled(&organization.name);
    change.audit_add(now, AuditEntry::new(&context, "org.created", target).in_org(organization.id));
    match store.commit(change).await {
        Ok(()) => {}
        Err(CommitError::Duplicate { .. }) if store.platform_organization().await?.is_some() => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    Ok(Some(FirstStart { user_id: person.id, email: person.email, password, token, org_id: organization.id }))
}

fn platform_organization(name: &str, now: Timestamp) -> Result<Organization> {
    Ok(Organization {
        id: OrgId::new(now),
        name: name.to_owned(),
        slug: Slug::from_name(name, &Slug::random_suffix()?),
        kind: OrgKind::Platform,
        version: 1,
        created_at: now,
        updated_at: now,
    })
}

fn command_line_sign_in(person: &Person, now: Timestamp, lasts: Duration) -> SignIn {
    SignIn {
        id: SignInId::new(now),
        user_id: person.id,
        app: App::Admin,
        platform: Platform::Cli,
        install_id: None,
        ip: None,
        user_agent: None,
        created_at: now,
        last_seen_at: now,
        expires_at: now.after(lasts),
        confirmed_until: None,
    }
}
