//! Signed addresses of files of mail: whoever holds one may send the file of an import, or read that of an export, until it expires.
//!
//! Troupe signs `/v1/mail/imports/<import>?…` and `/v1/mail/exports/<export>?…` with HMAC-SHA256; one that sends bytes says how many
//! they are, and names its [maker](AddressMaker), in whose name they are kept.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{
    Timestamp,
    id::{MailExportId, MailImportId},
};
use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::{Store, blobs::BlobRefusal, storage::AddressMaker};

/// An address that the file of an import is sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MailImportAddress {
    /// The import.
    pub import: MailImportId,
    /// How many bytes are sent.
    pub size: u64,
    /// In whose name they are kept.
    pub maker: AddressMaker,
    /// Until when it may begin; at that moment it is over.
    pub expires_at: Timestamp,
}

impl Store {
    /// The path and query of the address.
    pub fn mail_import_address(&self, address: &MailImportAddress) -> String {
        let MailImportAddress { import, size, maker, expires_at } = address;
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("size", &size.to_string()).append_pair("maker", &maker.to_string());
        query.append_pair("expires", &expires_at.to_string());
        query.append_pair("signature", &signature(self.mail_import_mac(address)));
        format!("/v1/mail/imports/{import}?{}", query.finish())
    }

    /// Whether this address was signed here, and works yet.
    pub fn mail_import_address_verify(&self, address: &MailImportAddress, signed: &str) -> Result<(), BlobRefusal> {
        self.verified(self.mail_import_mac(address), signed, address.expires_at)
    }

    /// The path and query at which the file of an export is read.
    pub fn mail_export_address(&self, export: MailExportId, expires_at: Timestamp) -> String {
        let signature = signature(self.mail_export_mac(export, expires_at));
        format!("/v1/mail/exports/{export}?expires={expires_at}&signature={signature}")
    }

    /// Whether this address was signed here, and works yet.
    pub fn mail_export_address_verify(
        &self,
        export: MailExportId,
        expires_at: Timestamp,
        signed: &str,
    ) -> Result<(), BlobRefusal> {
        self.verified(self.mail_export_mac(export, expires_at), signed, expires_at)
    }

    fn verified(&self, mac: Hmac<Sha256>, signed: &str, expires_at: Timestamp) -> Result<(), BlobRefusal> {
        let signed = URL_SAFE_NO_PAD.decode(signed).map_err(|_| BlobRefusal::Forged)?;
        mac.verify_slice(&signed).map_err(|_| BlobRefusal::Forged)?;
        if self.now() < expires_at { Ok(()) } else { Err(BlobRefusal::Expired) }
    }

    fn mail_import_mac(&self, address: &MailImportAddress) -> Hmac<Sha256> {
        let MailImportAddress { import, size, maker, expires_at } = address;
        let mut mac = self.blobs().signer().clone();
        mac.update(format!("troupe-mail-import/v1\n{import}\n{expires_at}\n{size}\n{maker}").as_bytes());
        mac
    }

    fn mail_export_mac(&self, export: MailExportId, expires_at: Timestamp) -> Hmac<Sha256> {
        let mut mac = self.blobs().signer().clone();
        mac.update(format!("troupe-mail-export/v1\n{export}\n{expires_at}").as_bytes());
        mac
    }
}

fn signature(mac: Hmac<Sha256>) -> String {
    URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
}
