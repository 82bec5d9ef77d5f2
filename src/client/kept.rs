//! What this machine keeps for its person: sign-ins, and the keys that git uses.
//!
//! One file, read whole and replaced whole. Whoever reads needs no lock, as a rename shows either the old file or the new
//! one; whoever changes it holds the lock of a file beside it from reading to writing, so that no change is lost.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{
    address::Address,
    error::{ClientError, Result},
    plain::Plain,
};
use crate::program::make_folder;

/// The name of the file.
const FILE: &str = "sign-ins.json";
/// The name that the file has while it is written.
const NEW_FILE: &str = "sign-ins.json.new";
/// The name of the file whose lock it is changed under.
const LOCK_FILE: &str = "sign-ins.lock";
/// Random bytes of a machine's id.
const MACHINE_ID_BYTES: usize = 16;

/// What is kept.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Kept {
    /// What this machine calls itself, at every server: made once.
    machine_id: Option<Plain>,
    /// The sign-in at each server.
    pub servers: BTreeMap<Address, SignIn>,
}

/// A sign-in, and what was made with it.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SignIn {
    /// Whose it is.
    pub user_id: Plain,
    /// The credential.
    pub token: Plain,
    /// This machine's key of each organization, by the organization's id.
    #[serde(default)]
    pub keys: BTreeMap<Plain, MachineKey>,
}

/// The key with which git opens an organization's repositories.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MachineKey {
    /// The organization's other name.
    pub slug: Plain,
    /// The key's id.
    pub key_id: Plain,
    /// The credential.
    pub key: Plain,
    /// When it ends, in milliseconds since 1970.
    pub expires_at: Option<i64>,
}

impl Kept {
    /// What this machine calls itself; made now where it has no name yet.
    pub fn machine_id(&mut self) -> Result<Plain> {
        if let Some(id) = &self.machine_id {
            return Ok(id.clone());
        }
        let mut bytes = [0; MACHINE_ID_BYTES];
        getrandom::fill(&mut bytes).map_err(|error| ClientError::System(error.into()))?;
        let text = bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
        let id = Plain::try_from(text).map_err(|why| ClientError::System(io::Error::other(why)))?;
        Ok(self.machine_id.insert(id).clone())
    }

    /// The server that `typed` names, or the only one, with the sign-in there.
    pub fn server(&self, typed: Option<&str>) -> Result<(Address, SignIn)> {
        let address = match typed {
            Some(text) => Address::parse(text)?,
            None => self.only()?.clone(),
        };
        let sign_in = self.servers.get(&address).cloned();
        sign_in.map(|sign_in| (address.clone(), sign_in)).ok_or(ClientError::NotSignedIn(address))
    }

    fn only(&self) -> Result<&Address> {
        let mut addresses = self.servers.keys();
        match (addresses.next(), addresses.next()) {
            (None, _) => Err(ClientError::NowhereSignedIn),
            (Some(only), None) => Ok(only),
            _ => {
                let all: Vec<_> = self.servers.keys().map(Address::as_str).collect();
                Err(ClientError::Which(all.join(", ")))
            }
        }
    }
}

/// The folder that it is kept in.
#[derive(Clone)]
pub struct Place(PathBuf);

impl Place {
    /// `troupe` in the folder of the person's configuration.
    pub fn of_environment() -> Result<Self> {
        let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
        let home = || folder("HOME").map(|home| home.join(".config"));
        let folder = folder("XDG_CONFIG_HOME").or_else(home).ok_or(ClientError::NoFolder)?;
        Ok(Self(folder.join("troupe")))
    }

    /// What is kept; nothing where there is no file yet.
    pub fn read(&self) -> Result<Kept> {
        let path = self.0.join(FILE);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Kept::default()),
            Err(source) => return Err(ClientError::File { path, source }),
        };
        serde_json::from_slice(&bytes).map_err(|error| ClientError::Damaged { path, line: error.line() })
    }

    /// What is kept, for one who changes it; others who do so wait until this one is dropped.
    pub fn lock(&self) -> Result<Locked> {
        let unusable = |path: &Path| {
            let path = path.to_owned();
            move |source| ClientError::File { path, source }
        };
        make_folder(&self.0).and_then(|()| only_for_owner(&self.0)).map_err(unusable(&self.0))?;
        let path = self.0.join(LOCK_FILE);
        let mut options = private();
        let file = options.create(true).truncate(false).open(&path).map_err(unusable(&path))?;
        file.lock().map_err(unusable(&path))?;
        Ok(Locked { kept: self.read()?, place: self.clone(), _lock: file })
    }
}

/// What is kept, while nobody else changes it.
pub struct Locked {
    /// What is kept.
    pub kept: Kept,
    place: Place,
    _lock: File,
}

impl Locked {
    /// Replaces what is in the file.
    pub fn save(&self) -> Result<()> {
        let (path, new) = (self.place.0.join(FILE), self.place.0.join(NEW_FILE));
        self.write(&new).and_then(|()| fs::rename(&new, &path)).map_err(|source| ClientError::File { path, source })
    }

    fn write(&self, new: &Path) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(&self.kept)?;
        text.push(b'\n');
        // One that was left behind by a program that was killed.
        match fs::remove_file(new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = private().create_new(true).open(new)?;
        file.write_all(&text)?;
        file.sync_all()
    }
}

/// To write a file that only its owner reads.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn only_for_owner(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
    Ok(())
}

/// What is kept, for fuzzing: what is read is written and reads again as the same.
#[cfg(any(test, feature = "fuzzing"))]
pub(super) fn fuzzing(bytes: &[u8]) {
    let Ok(kept) = serde_json::from_slice::<Kept>(bytes) else { return };
    let written = serde_json::to_vec_pretty(&kept).unwrap_or_default();
    assert!(serde_json::from_slice::<Kept>(&written).is_ok_and(|again| again == kept));
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn plain(text: &str) -> Plain {
        Plain::try_from(text.to_owned()).unwrap()
    }

    fn sign_in(user_id: &str) -> SignIn {
        let key = MachineKey {
            slug: plain("acme"),
            key_id: plain("key_1"),
            key: plain("trp_k_secret"),
            expires_at: Some(1_775_001_600_000),
        };
        let keys = BTreeMap::from([(plain("org_1"), key)]);
        SignIn { user_id: plain(user_id), token: plain("trp_p_secret"), keys }
    }

    fn address(text: &str) -> Address {
        Address::parse(text).unwrap()
    }

    fn place() -> (tempfile::TempDir, Place) {
        let folder = tempfile::tempdir().unwrap();
        let place = Place(folder.path().join("config/troupe"));
        (folder, place)
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn what_is_kept_is_read_again_and_only_by_its_owner() {
        let (_folder, place) = place();
        assert!(place.read().unwrap() == Kept::default());
        let mut locked = place.lock().unwrap();
        let id = locked.kept.machine_id().unwrap();
        assert_eq!(id.as_str().len(), 32);
        locked.kept.servers.insert(address("https://a.example"), sign_in("usr_1"));
        locked.save().unwrap();
        let read = place.read().unwrap();
        assert!(read == locked.kept);
        assert!(read.clone().machine_id().unwrap() == id, "a machine has one name");
        assert_eq!(mode(&place.0), 0o700);
        assert_eq!(mode(&place.0.join(FILE)), 0o600);
        assert_eq!(mode(&place.0.join(LOCK_FILE)), 0o600);
    }

    #[test]
    fn a_folder_that_others_read_is_closed_and_what_a_killed_program_left_is_replaced() {
        let (_folder, place) = place();
        fs::create_dir_all(&place.0).unwrap();
        fs::set_permissions(&place.0, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(place.0.join(NEW_FILE), "{\"ser").unwrap();
        let mut locked = place.lock().unwrap();
        locked.kept.servers.insert(address("https://a.example"), sign_in("usr_1"));
        locked.save().unwrap();
        assert_eq!(mode(&place.0), 0o700);
        assert_eq!(mode(&place.0.join(FILE)), 0o600);
        assert!(!place.0.join(NEW_FILE).exists());
    }

    #[test]
    fn no_change_is_lost_to_another_one() {
        let (_folder, place) = place();
        let change = |number: usize| {
            let place = place.clone();
            move || {
                let mut locked = place.lock().unwrap();
                locked.kept.servers.insert(address(&format!("https://s{number}.example")), sign_in("usr_1"));
                locked.save().unwrap();
            }
        };
        let threads: Vec<_> = (0..16).map(|number| std::thread::spawn(change(number))).collect();
        for thread in threads {
            // Readers never find half a file.
            place.read().unwrap();
            thread.join().unwrap();
        }
        assert_eq!(place.read().unwrap().servers.len(), 16);
    }

    #[test]
    fn a_damaged_file_is_named_and_left_alone_and_what_is_in_it_stays_there() {
        let (_folder, place) = place();
        fs::create_dir_all(&place.0).unwrap();
        let secret = "{\"servers\":\n{\"https://a\":{\"userId\":\"usr_1\",\"token\":[\"trp_p_secret\"]}}}";
        for text in ["", "{", "7", secret, "\u{0}\u{1}", "{\"machineId\":\"a b\"}"] {
            fs::write(place.0.join(FILE), text).unwrap();
            let Err(refused) = place.read() else { panic!("{text:?} was read") };
            let refused = refused.to_string();
            assert!(refused.contains("sign-ins.json is damaged in line"), "{refused}");
            assert!(!refused.contains("secret"), "{refused}");
            assert!(place.lock().is_err());
            assert_eq!(fs::read_to_string(place.0.join(FILE)).unwrap(), text);
        }
    }

    #[test]
    fn a_server_is_the_one_that_was_said_or_the_only_one() {
        let mut kept = Kept::default();
        let message = |kept: &Kept, typed| kept.server(typed).err().unwrap().to_string();
        assert!(message(&kept, None).starts_with("You are not signed in anywhere"));
        kept.servers.insert(address("https://a.example"), sign_in("usr_1"));
        assert_eq!(kept.server(None).ok().unwrap().0.as_str(), "https://a.example");
        assert_eq!(kept.server(Some("a.example/")).ok().unwrap().0.as_str(), "https://a.example");
        assert!(message(&kept, Some("b.example")).contains("troupe login https://b.example"));
        kept.servers.insert(address("https://b.example"), sign_in("usr_2"));
        assert_eq!(message(&kept, None), "Say which server: https://a.example, https://b.example.");
    }
}
