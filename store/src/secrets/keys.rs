//! The keys that seal and open.

use std::{fmt, sync::Arc};

use base64::{Engine, engine::general_purpose::STANDARD_NO_PAD};
use ring::{
    aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    rand::{SecureRandom, SystemRandom},
};
use sha2::{Digest, Sha256};

use super::{Cell, SecretError};

/// Bytes of a key.
pub const KEY_LEN: usize = 32;
/// What a sealed cell of bytes begins with, before the key's id.
const MARK: [u8; 4] = *b"tsc1";
/// What a sealed cell of text begins with, before the key's id.
const TEXT_MARK: &str = "sealed:";
/// Bytes of a key's id.
const ID_LEN: usize = 4;

/// The keys of `secrets.keys`: the first one seals, each of them opens. A cheap handle.
#[derive(Clone)]
pub struct SecretKeys {
    keys: Arc<[Key]>,
}

struct Key {
    id: [u8; ID_LEN],
    aead: LessSafeKey,
}

impl Key {
    fn new(bytes: &[u8; KEY_LEN]) -> Option<Self> {
        let digest = Sha256::new().chain_update(b"troupe-secret-key/v1\n").chain_update(bytes).finalize();
        let id = digest[..ID_LEN].try_into().ok()?;
        let aead = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, bytes).ok()?);
        Some(Self { id, aead })
    }

    fn name(&self) -> String {
        hex(self.id)
    }

    /// The nonce, what is sealed, and the tag.
    fn seal(&self, cell: &Cell<'_>, plain: &[u8]) -> Result<Vec<u8>, SecretError> {
        let mut nonce = [0; NONCE_LEN];
        SystemRandom::new().fill(&mut nonce).map_err(|_| SecretError::Failed)?;
        let mut sealed = plain.to_vec();
        let aad = Aad::from(cell.associated_data());
        let nonce_used = Nonce::assume_unique_for_key(nonce);
        self.aead.seal_in_place_append_tag(nonce_used, aad, &mut sealed).map_err(|_| SecretError::Failed)?;
        Ok([nonce.as_slice(), &sealed].concat())
    }

    fn open(&self, cell: &Cell<'_>, sealed: &[u8]) -> Result<Vec<u8>, SecretError> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE_LEN>().ok_or(SecretError::Damaged)?;
        let mut bytes = sealed.to_vec();
        let aad = Aad::from(cell.associated_data());
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let len = self.aead.open_in_place(nonce, aad, &mut bytes).map_err(|_| SecretError::Damaged)?.len();
        bytes.truncate(len);
        Ok(bytes)
    }
}

impl SecretKeys {
    /// The keys, the one that seals first; none without one.
    pub fn new<'a>(keys: impl IntoIterator<Item = &'a [u8; KEY_LEN]>) -> Option<Self> {
        let keys: Arc<[Key]> = keys.into_iter().map(Key::new).collect::<Option<_>>()?;
        if keys.is_empty() { None } else { Some(Self { keys }) }
    }

    /// Seals a secret into a cell of bytes.
    pub fn seal(&self, cell: &Cell<'_>, plain: &[u8]) -> Result<Vec<u8>, SecretError> {
        let key = self.first();
        Ok([MARK.as_slice(), &key.id, &key.seal(cell, plain)?].concat())
    }

    /// Opens a cell of bytes.
    pub fn open(&self, cell: &Cell<'_>, sealed: &[u8]) -> Result<Vec<u8>, SecretError> {
        let rest = sealed.strip_prefix(MARK.as_slice()).ok_or(SecretError::NotSealed)?;
        let (id, rest) = rest.split_first_chunk().ok_or(SecretError::Damaged)?;
        self.key(&hex(*id))?.open(cell, rest)
    }

    /// Seals a secret into a cell of text.
    pub fn seal_text(&self, cell: &Cell<'_>, plain: &str) -> Result<String, SecretError> {
        let sealed = self.first().seal(cell, plain.as_bytes())?;
        Ok(self.text_prefix() + &STANDARD_NO_PAD.encode(sealed))
    }

    /// Opens a cell of text.
    pub fn open_text(&self, cell: &Cell<'_>, sealed: &str) -> Result<String, SecretError> {
        let rest = sealed.strip_prefix(TEXT_MARK).ok_or(SecretError::NotSealed)?;
        let (id, rest) = rest.split_once(':').ok_or(SecretError::Damaged)?;
        let bytes = STANDARD_NO_PAD.decode(rest).map_err(|_| SecretError::Damaged)?;
        String::from_utf8(self.key(id)?.open(cell, &bytes)?).map_err(|_| SecretError::Damaged)
    }

    /// What cells of bytes begin with that the first key sealed.
    pub(super) fn prefix(&self) -> Vec<u8> {
        [MARK, self.first().id].concat()
    }

    /// What cells of text begin with that the first key sealed.
    pub(super) fn text_prefix(&self) -> String {
        format!("{TEXT_MARK}{}:", self.first().name())
    }

    /// The id of the key that seals.
    pub(super) fn sealing_id(&self) -> String {
        self.first().name()
    }

    /// Whether the key with this id is there.
    pub(super) fn has(&self, id: &str) -> bool {
        self.key(id).is_ok()
    }

    fn first(&self) -> &Key {
        &self.keys[0]
    }

    fn key(&self, id: &str) -> Result<&Key, SecretError> {
        self.keys.iter().find(|key| key.name() == id).ok_or_else(|| SecretError::UnknownKey(id.to_owned()))
    }
}

/// The keys themselves are shown to nobody.
impl fmt::Debug for SecretKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.keys.iter().map(Key::name)).finish()
    }
}

fn hex(id: [u8; ID_LEN]) -> String {
    format!("{:08x}", u32::from_be_bytes(id))
}
