//! Whose tokens these are, which were found where none should be.

use domain::{
    TokenHash,
    id::{KeyId, OrgId, SignInId, UserId},
};

use super::parsed;
use crate::{Store, StoreError, reader::row, sql::Sql};

/// A token that opens something, by what is kept of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedToken {
    /// What is kept of it.
    pub hash: TokenHash,
    /// Who can revoke it: whose sign-in it is, or who made the key.
    pub owner: UserId,
    /// What opens with it.
    pub credential: OwnedCredential,
}

/// What a token belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnedCredential {
    /// A key of an organization.
    Key {
        /// Which one.
        id: KeyId,
        /// What it is called.
        name: String,
        /// Whose it is.
        org_id: OrgId,
    },
    /// A person's sign-in.
    SignIn(SignInId),
}

row! {
    struct OwnedKeyRow {
        token_hash: Vec<u8>,
        maker: String,
        id: String,
        name: String,
        org_id: String,
    }
}

row! {
    struct OwnedSignInRow {
        token_hash: Vec<u8>,
        user_id: String,
        id: String,
    }
}

fn hash_of(column: &'static str, bytes: Vec<u8>) -> Result<TokenHash, StoreError> {
    bytes.try_into().map(TokenHash).map_err(|_| StoreError::corrupt(column))
}

impl TryFrom<OwnedKeyRow> for OwnedToken {
    type Error = StoreError;

    fn try_from(row: OwnedKeyRow) -> Result<Self, StoreError> {
        Ok(Self {
            hash: hash_of("api_keys.token_hash", row.token_hash)?,
            owner: parsed("api_keys.maker", &row.maker)?,
            credential: OwnedCredential::Key {
                id: parsed("api_keys.id", &row.id)?,
                name: row.name,
                org_id: parsed("api_keys.org_id", &row.org_id)?,
            },
        })
    }
}

impl TryFrom<OwnedSignInRow> for OwnedToken {
    type Error = StoreError;

    fn try_from(row: OwnedSignInRow) -> Result<Self, StoreError> {
        Ok(Self {
            hash: hash_of("sign_ins.token_hash", row.token_hash)?,
            owner: parsed("sign_ins.user_id", &row.user_id)?,
            credential: OwnedCredential::SignIn(parsed("sign_ins.id", &row.id)?),
        })
    }
}

impl Store {
    /// Those of these tokens that are good now: people's sign-ins, and keys of organizations. A thousand are asked for at once, at
    /// most.
    pub async fn owned_tokens(&self, hashes: &[TokenHash]) -> Result<Vec<OwnedToken>, StoreError> {
        if hashes.is_empty() {
            return Ok(Vec::new());
        }
        let places: Vec<String> = (2..2 + hashes.len()).map(|at| format!("${at}")).collect();
        let places = places.join(", ");
        let now = self.now();
        let asked = |statement: String| {
            let values = hashes.iter().map(|hash| sea_orm::Value::from(hash.0.to_vec()));
            Sql::new(statement, [now.0.into()].into_iter().chain(values))
        };
        let keys = asked(format!(
            "SELECT token_hash, maker, id, name, org_id FROM api_keys \
             WHERE (expires_at IS NULL OR expires_at > $1) AND token_hash IN ({places})"
        ));
        let sign_ins = asked(format!(
            "SELECT token_hash, user_id, id FROM sign_ins WHERE expires_at > $1 AND token_hash IN ({places})"
        ));
        let keys: Vec<OwnedKeyRow> = self.reader().rows(&keys).await?;
        let sign_ins: Vec<OwnedSignInRow> = self.reader().rows(&sign_ins).await?;
        let keys = keys.into_iter().map(OwnedToken::try_from);
        keys.chain(sign_ins.into_iter().map(OwnedToken::try_from)).collect()
    }
}
