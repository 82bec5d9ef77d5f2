//! What git asks of a credential helper, and what it is told (gitcredentials(7)).

use std::io::{self, BufRead, Write};

use super::{
    address::Address,
    error::{ClientError, Result},
    kept::{Kept, MachineKey, Place},
    plain::Plain,
    warn,
};

/// Bytes of a question that are read, at most.
const QUESTION_BYTES_MAX: u64 = 64 * 1024;
/// The server looks at the password only.
const USERNAME: &str = "troupe";

/// What git says of the credential that it wants or has.
#[derive(Default)]
struct Question {
    protocol: String,
    host: String,
    path: Option<String>,
    password: Option<String>,
}

impl Question {
    /// Reads lines up to an empty one or the end; those that aren't known here are passed over.
    fn read(reader: impl BufRead) -> io::Result<Self> {
        let mut question = Self::default();
        for line in reader.take(QUESTION_BYTES_MAX).split(b'\n') {
            let line = line?;
            if line.is_empty() {
                break;
            }
            let Some((name, value)) = std::str::from_utf8(&line).ok().and_then(|line| line.split_once('=')) else {
                continue;
            };
            match name {
                "protocol" => value.clone_into(&mut question.protocol),
                "host" => value.clone_into(&mut question.host),
                "path" => question.path = Some(value.to_owned()),
                "password" => question.password = Some(value.to_owned()),
                _ => {}
            }
        }
        Ok(question)
    }

    /// The organization that the path names: `git/<organization>/<repository>`.
    fn organization(&self) -> Option<&str> {
        let mut parts = self.path.as_deref()?.trim_start_matches('/').split('/');
        let (top, organization, repository) = (parts.next()?, parts.next()?, parts.next()?);
        (top == "git" && !organization.is_empty() && !repository.is_empty()).then_some(organization)
    }
}

/// The key that a question is about, and where it is kept.
struct Found<'k> {
    address: Address,
    org_id: &'k Plain,
    key: &'k MachineKey,
}

/// What is known about a question.
enum Finding<'k> {
    /// Nothing: another helper's.
    Foreign,
    /// The server is known, and there is no key for this organization.
    Missing(Address),
    /// The key.
    Found(Found<'k>),
}

fn find<'k>(kept: &'k Kept, question: &Question) -> Finding<'k> {
    let Some(address) = Address::of_git(&question.protocol, &question.host) else { return Finding::Foreign };
    let (Some(sign_in), Some(organization)) = (kept.servers.get(&address), question.organization()) else {
        return Finding::Foreign;
    };
    let by_id = sign_in.keys.iter().find(|(org_id, _)| org_id.as_str() == organization);
    let by_slug = || sign_in.keys.iter().find(|(_, key)| key.slug.as_str().eq_ignore_ascii_case(organization));
    match by_id.or_else(by_slug) {
        Some((org_id, key)) => Finding::Found(Found { address, org_id, key }),
        None => Finding::Missing(address),
    }
}

/// Does what git asks for. What it asks besides is left alone, as helpers shall.
pub fn answer(place: &Place, operation: &str) -> Result<()> {
    match operation {
        "get" => get(place),
        "erase" => erase(place),
        _ => Ok(()),
    }
}

fn question() -> Result<Question> {
    Question::read(io::stdin().lock()).map_err(ClientError::Input)
}

fn get(place: &Place) -> Result<()> {
    let (question, kept) = (question()?, place.read()?);
    match find(&kept, &question) {
        Finding::Foreign => {}
        Finding::Missing(address) => hint("has no key", &address),
        Finding::Found(found) if found.key.has_ended(now()) => hint("had a key, which has ended", &found.address),
        Finding::Found(found) => {
            let text = format!("username={USERNAME}\npassword={}\n", found.key.key.as_str());
            // Git may have stopped listening, and then wants nothing any more.
            drop(io::stdout().write_all(text.as_bytes()));
        }
    }
    Ok(())
}

/// Forgets the key that the server refused, unless another one stands in its place already.
fn erase(place: &Place) -> Result<()> {
    let question = question()?;
    let is_refused = |found: &Found| question.password.as_deref() == Some(found.key.key.as_str());
    // Most questions are about something else, and need no lock.
    if !matches!(find(&place.read()?, &question), Finding::Found(found) if is_refused(&found)) {
        return Ok(());
    }
    let mut locked = place.lock()?;
    let Finding::Found(found) = find(&locked.kept, &question) else { return Ok(()) };
    if !is_refused(&found) {
        return Ok(());
    }
    let (address, org_id) = (found.address.clone(), found.org_id.clone());
    if let Some(sign_in) = locked.kept.servers.get_mut(&address) {
        sign_in.keys.remove(&org_id);
    }
    locked.save()?;
    hint("had a key, which the server refused", &address);
    Ok(())
}

/// Says what would help, where people see it and git doesn't.
fn hint(what: &str, address: &Address) {
    warn(format_args!("This machine {what} for these repositories. Run `troupe git setup {address}`."));
}

fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

impl MachineKey {
    fn has_ended(&self, now: i64) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }
}

/// A question, for fuzzing: a key is found for exactly the server that it is kept for.
#[cfg(any(test, feature = "fuzzing"))]
pub(super) fn fuzzing(bytes: &[u8]) {
    let kept = r#"{"servers": {"https://troupe.example.com": {"userId": "usr_1", "token": "trp_p_1", "keys": {
        "org_1": {"slug": "acme", "keyId": "key_1", "key": "trp_k_1", "expiresAt": null}}}}}"#;
    let Ok(kept) = serde_json::from_str::<Kept>(kept) else { return };
    let Ok(question) = Question::read(bytes) else { return };
    if let Finding::Found(found) = find(&kept, &question) {
        let host = question.host.to_ascii_lowercase();
        assert!(matches!(host.as_str(), "troupe.example.com" | "troupe.example.com:443"), "{host:?}");
        assert_eq!(question.protocol, "https");
        assert_eq!(found.org_id.as_str(), "org_1");
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::client::kept::SignIn;

    fn plain(text: &str) -> Plain {
        Plain::try_from(text.to_owned()).unwrap()
    }

    fn key(slug: &str, key: &str) -> MachineKey {
        MachineKey { slug: plain(slug), key_id: plain("key_1"), key: plain(key), expires_at: Some(1000) }
    }

    fn kept() -> Kept {
        let keys = BTreeMap::from([
            (plain("org_1"), key("acme", "trp_k_acme")),
            (plain("org_2"), key("umbrella", "trp_k_umbrella")),
            // Somebody chose another organization's id as a slug.
            (plain("org_3"), key("org_1", "trp_k_mallory")),
        ]);
        let sign_in = SignIn { user_id: plain("usr_1"), token: plain("trp_p_1"), keys };
        let mut kept = Kept::default();
        kept.servers.insert(Address::parse("https://troupe.example.com").unwrap(), sign_in);
        kept
    }

    /// The key that is found for a question, a hyphen where there is none, and nothing where it is another helper's.
    fn found(question: &str) -> String {
        let kept = kept();
        match find(&kept, &Question::read(question.as_bytes()).unwrap()) {
            Finding::Foreign => String::new(),
            Finding::Missing(_) => "-".to_owned(),
            Finding::Found(found) => found.key.key.as_str().to_owned(),
        }
    }

    fn at(path: &str) -> String {
        found(&format!("protocol=https\nhost=troupe.example.com\npath={path}\n"))
    }

    #[test]
    fn the_path_says_whose_key_it_is() {
        for path in ["git/acme/web.git", "git/ACME/web", "git/org_1/web.git", "/git/acme/web.git/info/lfs"] {
            assert_eq!(at(path), "trp_k_acme", "{path}");
        }
        assert_eq!(at("git/umbrella/web"), "trp_k_umbrella");
        assert_eq!(at("git/globex/web.git"), "-");
        for path in
            ["", "git", "git/acme", "git/acme/", "git//web.git", "acme/web.git", "v1/git/acme/web.git", "Git/acme/w"]
        {
            assert_eq!(at(path), "", "{path}");
        }
    }

    #[test]
    fn what_is_not_a_kept_servers_is_left_to_others() {
        for (protocol, host) in [
            ("http", "troupe.example.com"),
            ("https", "troupe.example.com:8443"),
            ("https", "github.com"),
            ("https", "troupe.example.com\r"),
            ("ssh", "troupe.example.com"),
            ("", ""),
        ] {
            let question = format!("protocol={protocol}\nhost={host}\npath=git/acme/web.git\n");
            assert_eq!(found(&question), "", "{question:?}");
        }
        assert_eq!(found("protocol=https\nhost=troupe.example.com\n"), "");
        assert_eq!(found(""), "");
    }

    #[test]
    fn what_is_not_known_of_a_question_is_passed_over() {
        let question = "capability[]=authtype\ncapability[]=state\nprotocol=https\nhost=troupe.example.com\n\
                        path=git/acme/web.git\nusername=ada\nwwwauth[]=Basic realm=\"Troupe\"\nno line\n=\n\n\
                        host=github.com\n";
        assert_eq!(found(question), "trp_k_acme");
        let mut bytes = b"\xff\xfe=\xff\nprotocol=https\nhost=troupe.example.com\npath=git/acme/".to_vec();
        bytes.extend(vec![b'a'; 100_000]);
        let long = Question::read(bytes.as_slice()).unwrap();
        assert_eq!(long.organization(), Some("acme"));
    }

    #[test]
    fn the_password_of_a_question_is_read_as_it_is() {
        let question = Question::read(&b"password=a=b \nprotocol=https"[..]).unwrap();
        assert_eq!(question.password.as_deref(), Some("a=b "));
        assert_eq!(question.protocol, "https");
    }

    #[test]
    fn a_key_is_good_until_its_end() {
        let mut key = key("acme", "trp_k_acme");
        assert!(!key.has_ended(999));
        assert!(key.has_ended(1000));
        key.expires_at = None;
        assert!(!key.has_ended(i64::MAX));
    }
}
