//! `troupe git setup`: this machine's keys, and git's configuration.

use domain::git::{MACHINE_KEY_LASTS, MACHINE_NAME_LEN};

use super::{
    address::Address,
    api::{Organization, Server},
    ask::Answers,
    error::{ClientError, Refusal, Result},
    git_config,
    kept::{Kept, MachineKey, Place, SignIn},
    login::step_up,
    plain::Plain,
    say,
};

/// The name of a machine that has none.
const NAMELESS: &str = "machine";

/// What is to be set up.
pub struct Setup {
    /// The server; the only one that somebody is signed in at where it isn't said.
    pub url: Option<String>,
    /// Slugs or ids of organizations; all of the person's where there is none.
    pub organizations: Vec<String>,
}

impl Setup {
    /// Makes the keys and writes the configuration. Repeating it replaces both.
    pub async fn run(self, place: &Place, mut answers: Answers) -> Result<()> {
        git_config::check()?;
        let (address, sign_in) = place.read()?.server(self.url.as_deref())?;
        let server = Server::with(&address, &sign_in)?;
        let all = server.organizations().await?;
        let making = Making { place, address: &address, user_id: &sign_in.user_id, server: &server };
        making.follow(&all)?;
        let (mut made, mut refused) = (Vec::new(), Vec::new());
        for organization in wanted(&all, &self.organizations)? {
            match making.key(organization, &mut answers).await? {
                Ok(()) => made.push(organization.slug.as_str()),
                Err(why) => refused.push(format!("{}: {why}", organization.slug.as_str())),
            }
        }
        if !made.is_empty() {
            // Two that write at once would write twice.
            let _locked = place.lock()?;
            git_config::write(&address)?;
            let days = MACHINE_KEY_LASTS.as_secs() / (24 * 3600);
            let names = made.join(", ");
            say(format_args!("Git on this machine opens the repositories of {names} at {address}, for {days} days."));
        }
        if refused.is_empty() { Ok(()) } else { Err(ClientError::SomeKeys(refused.join("; "))) }
    }
}

/// The organizations that were asked for, by slug or id.
pub(super) fn wanted<'o>(all: &'o [Organization], asked: &[String]) -> Result<Vec<&'o Organization>> {
    if all.is_empty() {
        return Err(ClientError::NoOrganization);
    }
    if asked.is_empty() {
        return Ok(all.iter().collect());
    }
    let is = |organization: &Organization, name: &str| {
        organization.org_id.as_str() == name || organization.slug.as_str().eq_ignore_ascii_case(name)
    };
    let missing: Vec<_> =
        asked.iter().filter(|name| !all.iter().any(|one| is(one, name))).map(String::as_str).collect();
    if !missing.is_empty() {
        let yours: Vec<_> = all.iter().map(|organization| organization.slug.as_str()).collect();
        return Err(ClientError::NoPart { asked: missing.join(", "), yours: yours.join(", ") });
    }
    Ok(all.iter().filter(|organization| asked.iter().any(|name| is(organization, name))).collect())
}

/// A person's keys at a server, being made.
struct Making<'m> {
    place: &'m Place,
    address: &'m Address,
    user_id: &'m Plain,
    server: &'m Server,
}

impl Making<'_> {
    /// The key of an organization, after the second factor where the server wants it; or why the server makes none there.
    async fn key(&self, organization: &Organization, answers: &mut Answers) -> Result<Result<(), Refusal>> {
        match self.make(organization).await? {
            Err(Refusal { enrol: true, .. }) => Err(ClientError::NoSecondFactor(self.address.clone())),
            Err(refusal) if refusal.code == "step_up" => {
                step_up(self.server, answers).await?;
                self.make(organization).await
            }
            outcome => Ok(outcome),
        }
    }

    /// Makes and keeps a key under the lock: of two that are made at once, the server's last is the one that is kept.
    async fn make(&self, organization: &Organization) -> Result<Result<(), Refusal>> {
        let mut locked = self.place.lock()?;
        let machine_id = locked.kept.machine_id()?;
        locked.save()?;
        let made = match self.server.key_make(&organization.org_id, &machine_id, &machine_name()).await {
            Err(ClientError::Refused(refusal)) => return Ok(Err(refusal)),
            outcome => outcome?,
        };
        let key = MachineKey {
            slug: organization.slug.clone(),
            key_id: made.key_id,
            key: made.key,
            expires_at: made.expires_at,
        };
        self.sign_in(&mut locked.kept)?.keys.insert(organization.org_id.clone(), key);
        locked.save()?;
        Ok(Ok(()))
    }

    /// Renames organizations that go by another slug by now, and forgets keys of those that the person has left.
    fn follow(&self, all: &[Organization]) -> Result<()> {
        let mut locked = self.place.lock()?;
        self.sign_in(&mut locked.kept)?.keys.retain(|org_id, key| {
            let found = all.iter().find(|organization| organization.org_id == *org_id);
            found.inspect(|organization| key.slug.clone_from(&organization.slug)).is_some()
        });
        locked.save()
    }

    /// The sign-in that is kept by now, if it is still this person's.
    fn sign_in<'k>(&self, kept: &'k mut Kept) -> Result<&'k mut SignIn> {
        let sign_in = kept.servers.get_mut(self.address).filter(|sign_in| sign_in.user_id == *self.user_id);
        sign_in.ok_or_else(|| ClientError::NotSignedIn(self.address.clone()))
    }
}

/// What this machine is called, as far as the server takes it.
fn machine_name() -> String {
    #[cfg(unix)]
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    let name = std::env::var("COMPUTERNAME").unwrap_or_default();
    short_name(&name)
}

fn short_name(name: &str) -> String {
    let letters = name.chars().filter(|letter| !letter.is_control());
    let name: String = letters.take(*MACHINE_NAME_LEN.end()).collect();
    if name.trim().is_empty() { NAMELESS.to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> Plain {
        Plain::try_from(text.to_owned()).unwrap()
    }

    fn organizations() -> Vec<Organization> {
        let all = [("org_1", "acme"), ("org_2", "umbrella"), ("org_3", "globex")];
        all.map(|(id, slug)| Organization { org_id: plain(id), slug: plain(slug) }).into()
    }

    fn picked(asked: &[&str]) -> Result<Vec<String>> {
        let asked: Vec<String> = asked.iter().map(|name| (*name).to_owned()).collect();
        let all = organizations();
        Ok(wanted(&all, &asked)?.iter().map(|organization| organization.slug.as_str().to_owned()).collect())
    }

    #[test]
    fn organizations_are_asked_for_by_slug_or_id_and_all_are_meant_otherwise() {
        assert_eq!(picked(&[]).unwrap(), ["acme", "umbrella", "globex"]);
        assert_eq!(picked(&["Globex", "org_1", "acme"]).unwrap(), ["acme", "globex"]);
        let refused = picked(&["acme", "initech", "org_9"]).unwrap_err().to_string();
        assert_eq!(refused, "You have no part in initech, org_9. Your organizations: acme, umbrella, globex.");
        let refused = wanted(&[], &[]).err().unwrap().to_string();
        assert_eq!(refused, "You have no part in any organization yet.");
    }

    #[test]
    fn a_machine_has_a_name_that_the_server_takes() {
        assert_eq!(short_name("ada-laptop"), "ada-laptop");
        assert_eq!(short_name("ada\n-laptop\u{7f}"), "ada-laptop");
        assert_eq!(short_name(&"é".repeat(65)), "é".repeat(64));
        assert_eq!((short_name(""), short_name(" \n ")), (NAMELESS.to_owned(), NAMELESS.to_owned()));
    }
}
