//! What operators do from the shell (`troupe admin …`): the same commands that people's requests become, asked by
//! Troupe itself.

use std::time::{Duration, Instant};

use domain::{
    App, Context, Email, Error, Origin, Platform, Result, Role, Token,
    account::{Password, name_check},
    id::{OrgId, UserId},
};
use kernel::Registry;
use store::{
    Store,
    accounts::{Member, Organization, Person, SignIn},
};

use crate::{
    organization::{self, AddMember},
    person::{self, EndSignIns, IssueSignIn, ResetPassword},
    sign_in::{CreateAccount, SignInGuard},
};

/// How long one command may take.
const TIMEOUT: Duration = Duration::from_secs(30);
/// People and organizations that one read of a list fetches.
const PAGE: u64 = 500;

fn context() -> Context {
    Context::system(Origin::Actor, Instant::now() + TIMEOUT)
}

/// Makes a person, with a password that is to be handed over; 409 when the address is taken.
pub async fn user_create(sign_ins: &Registry<SignInGuard>, email: &Email, name: &str) -> Result<(Person, Password)> {
    let name = name_check("name", name)?;
    let password = Password::generate()?;
    let command = CreateAccount { password: password.clone(), name };
    let person = sign_ins.ask(email, command, context()).await?;
    Ok((person, password))
}

/// Everybody, in the order in which they came.
pub async fn user_list(store: &Store) -> Result<Vec<Person>> {
    let mut people: Vec<Person> = Vec::new();
    loop {
        let page = store.people(people.last().map(|person| person.id), PAGE).await?;
        if page.is_empty() {
            return Ok(people);
        }
        people.extend(page);
    }
}

/// Gives the person another password, switches their second factor off and ends their sign-ins; answers the password,
/// which is to be handed over.
pub async fn password_reset(people: &Registry<person::Person>, store: &Store, email: &Email) -> Result<Password> {
    let person = person(store, email).await?;
    let password = Password::generate()?;
    people.ask(&person.id, ResetPassword { new: password.clone() }, context()).await?;
    Ok(password)
}

/// Issues a token on this app and platform.
pub async fn token_create(
    people: &Registry<person::Person>,
    store: &Store,
    email: &Email,
    app: App,
    platform: Platform,
) -> Result<(Token, SignIn)> {
    let person = person(store, email).await?;
    people.ask(&person.id, IssueSignIn { app, platform }, context()).await
}

/// Ends every sign-in of the person, on every node within a second; answers how many there were.
pub async fn sign_out(people: &Registry<person::Person>, store: &Store, email: &Email) -> Result<usize> {
    let person = person(store, email).await?;
    people.ask(&person.id, EndSignIns, context()).await
}

/// Every organization, in the order in which they were made.
pub async fn org_list(store: &Store) -> Result<Vec<Organization>> {
    let mut organizations: Vec<Organization> = Vec::new();
    loop {
        let page = store.organizations(organizations.last().map(|organization| organization.id), PAGE).await?;
        if page.is_empty() {
            return Ok(organizations);
        }
        organizations.extend(page);
    }
}

/// Makes the person a member of an organization, for instance of one that has lost its people.
pub async fn member_add(
    organizations: &Registry<organization::Organization>,
    store: &Store,
    org_id: OrgId,
    email: &Email,
    role: Role,
) -> Result<Member> {
    let user_id: UserId = person(store, email).await?.id;
    organizations.ask(&org_id, AddMember { user_id, role }, context()).await
}

async fn person(store: &Store, email: &Email) -> Result<Person> {
    store.person_by_email(email).await?.ok_or_else(|| Error::not_found("Nobody has this address."))
}
