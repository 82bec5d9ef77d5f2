//! Accounts: people and their sign-ins, organizations and who has a part in them.

pub mod admin;
mod login_attempt;
pub mod machine_key;
pub mod organization;
mod passwords;
pub mod person;
mod second_factor;
pub mod setup;
pub mod sign_in;

use std::{sync::Arc, time::Duration};

use actors_base::{
    Area, Services,
    work::{Lane, job},
};
use domain::Timestamp;
use store::Purge;

use self::organization::{ORGANIZATION_REMOVAL, OrganizationRemoval};

/// How long failed attempts at accounts are kept; they count for a quarter of an hour and lock for another.
const ATTEMPTS_KEPT: Duration = Duration::from_hours(1);
/// How long it is known why a sign-in was ended: whoever doesn't come back for so long may read that they must sign in.
const ENDED_SIGN_INS_KEPT: Duration = Duration::from_hours(400 * 24);

/// What goes over all areas knows of accounts.
pub const AREA: Area = Area { purges, jobs: &[ORGANIZATION_REMOVAL], lanes, ..Area::named("accounts") };

fn purges(now: Timestamp) -> Vec<Purge> {
    vec![
        Purge::sign_ins(now),
        Purge::ended_sign_ins(now.before(ENDED_SIGN_INS_KEPT)),
        Purge::machine_keys(now),
        Purge::attempts(now.before(ATTEMPTS_KEPT)),
    ]
}

fn lanes(services: &Services) -> Vec<Arc<dyn Lane>> {
    vec![job::lane(services.store.clone(), ORGANIZATION_REMOVAL, OrganizationRemoval)]
}
