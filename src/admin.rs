//! `troupe admin`: what operators do to accounts, with or without a server beside it.

use std::process::ExitCode;

use actors::{Actors, admin};
use domain::{App, Platform, account::Email};
use store::Clock;

use crate::{RunError, cli::Admin, config::Config, program::Parts};

/// Does what the operator said, and prints what came of it.
pub async fn run(config: &Config, command: Admin) -> Result<ExitCode, RunError> {
    let parts =
        Parts::open(config, Clock::system(), config.public_url(config.server.listen), Actors::for_commands).await?;
    let done = match command {
        Admin::SecretsRekey => secrets_rekey(&parts).await,
        command => carry_out(&parts, command).await.map(|()| ExitCode::SUCCESS),
    };
    parts.close(config).await;
    Ok(done?)
}

async fn carry_out(parts: &Parts, command: Admin) -> domain::Result<()> {
    let Parts { store, actors, .. } = parts;
    match command {
        Admin::UserCreate { email, name } => {
            let (person, password) = admin::user_create(&actors.sign_in, &address(&email)?, &name).await?;
            println!("{} {}\nPassword  {}", person.id, person.email.as_str(), password.reveal());
        }
        Admin::UserList => {
            for person in admin::user_list(store).await? {
                println!("{} {} {}", person.id, person.email.as_str(), person.name);
            }
        }
        Admin::PasswordReset { email } => {
            let password = admin::password_reset(&actors.person, store, &address(&email)?).await?;
            println!("Password  {}", password.reveal());
        }
        Admin::TokenCreate { email } => {
            let made =
                admin::token_create(&actors.person, store, &address(&email)?, App::Account, Platform::Cli).await?;
            println!("Token  {}", made.0.reveal());
        }
        Admin::SignOut { email } => {
            let ended = admin::sign_out(&actors.person, store, &address(&email)?).await?;
            println!("Ended {ended} sign-ins.");
        }
        Admin::OrgList => {
            for organization in admin::org_list(store).await? {
                println!("{} {} {}", organization.id, organization.slug.as_str(), organization.name);
            }
        }
        Admin::SecretsRekey => {}
    }
    Ok(())
}

/// What can't be opened is named, and no reason to leave the rest.
async fn secrets_rekey(parts: &Parts) -> domain::Result<ExitCode> {
    let rekeyed = parts.store.secrets_rekey().await?;
    println!("Sealed {} secrets anew.", rekeyed.sealed);
    for unreadable in &rekeyed.unreadable {
        println!("Unreadable  {unreadable}");
    }
    if rekeyed.unreadable.is_empty() {
        println!("Every secret is sealed under the first key; the others are no longer needed.");
        return Ok(ExitCode::SUCCESS);
    }
    println!("Keep the other keys, or have these people set up again what can't be read, and run this again.");
    Ok(ExitCode::FAILURE)
}

fn address(text: &str) -> domain::Result<Email> {
    Email::parse("email", text)
}
