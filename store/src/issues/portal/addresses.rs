//! Signed addresses of files of issues: whoever holds one may read one, or send the bytes of one, until it expires.
//!
//! Troupe signs `/v1/issues/files/<attachment>?expires=…&signature=…` with HMAC-SHA256; one that sends bytes says how many they are,
//! and names its [maker](AddressMaker), in whose name they are kept.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{Timestamp, id::AttachmentId};
use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::{Store, blobs::BlobRefusal, storage::AddressMaker};

/// What an address permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttachmentAddress {
    /// The file.
    pub attachment: AttachmentId,
    /// What is done with it.
    pub act: AttachmentAct,
    /// Until when it may begin; at that moment it is over.
    pub expires_at: Timestamp,
}

/// What is done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttachmentAct {
    /// Its bytes are read.
    Download,
    /// Its bytes are sent.
    Upload {
        /// How many they are.
        size: u64,
        /// In whose name they are kept.
        maker: AddressMaker,
    },
}

/// The query of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachmentQuery {
    /// How many bytes are sent.
    pub size: Option<u64>,
    /// In whose name they are kept.
    pub maker: Option<String>,
    /// Until when, in milliseconds.
    pub expires: i64,
    /// The signature, in base64url without padding.
    pub signature: String,
}

impl Store {
    /// The path and query that permit it.
    pub fn issue_attachment_address(&self, address: &AttachmentAddress) -> String {
        let AttachmentAddress { attachment, act, expires_at } = address;
        let signature = URL_SAFE_NO_PAD.encode(self.issue_attachment_mac(address).finalize().into_bytes());
        let mut query = form_urlencoded::Serializer::new(String::new());
        if let AttachmentAct::Upload { size, maker } = act {
            query.append_pair("size", &size.to_string()).append_pair("maker", &maker.to_string());
        }
        query.append_pair("expires", &expires_at.to_string()).append_pair("signature", &signature);
        format!("/v1/issues/files/{attachment}?{}", query.finish())
    }

    /// What the address of this file with this query permits.
    pub fn issue_attachment_address_verify(
        &self,
        attachment: AttachmentId,
        query: &AttachmentQuery,
    ) -> Result<AttachmentAddress, BlobRefusal> {
        let act = match (query.size, &query.maker) {
            (None, None) => AttachmentAct::Download,
            (Some(size), Some(maker)) => {
                AttachmentAct::Upload { size, maker: maker.parse().map_err(|_| BlobRefusal::Forged)? }
            }
            _ => return Err(BlobRefusal::Forged),
        };
        let address = AttachmentAddress { attachment, act, expires_at: Timestamp(query.expires) };
        let signature = URL_SAFE_NO_PAD.decode(&query.signature).map_err(|_| BlobRefusal::Forged)?;
        self.issue_attachment_mac(&address).verify_slice(&signature).map_err(|_| BlobRefusal::Forged)?;
        if self.now() < address.expires_at { Ok(address) } else { Err(BlobRefusal::Expired) }
    }

    fn issue_attachment_mac(&self, address: &AttachmentAddress) -> Hmac<Sha256> {
        let AttachmentAddress { attachment, act, expires_at } = address;
        let act = match act {
            AttachmentAct::Download => "download".to_owned(),
            AttachmentAct::Upload { size, maker } => format!("upload\n{size}\n{maker}"),
        };
        let mut mac = self.blobs().signer().clone();
        mac.update(format!("troupe-issue-file/v1\n{attachment}\n{expires_at}\n{act}").as_bytes());
        mac
    }
}
