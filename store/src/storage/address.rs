//! Signed addresses of files: whoever holds one may download one version of one file, send one part of an upload, or write one
//! file, until it expires.
//!
//! Troupe signs `/v1/storage/files/<bucket>?key=…&version=…&expires=…&signature=…` with HMAC-SHA256. The address names
//! a version and not a content, so that it answers with the file's own type, and with nothing once the version is gone. One
//! that writes a file names its [maker](AddressMaker), in whose name that is done.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{
    Timestamp,
    id::{ResourceId, UploadId},
    storage::{FileKey, ListCursorKey, Overwrite, PartNumber, VersionId, content_type_check},
};
use hmac::{Hmac, Mac};
use sha2::Sha256;

use super::AddressMaker;
use crate::{Store, blobs::BlobRefusal};

/// Where files are served.
const PATH_PREFIX: &str = "/v1/storage/files/";

/// What an address permits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileAddress {
    /// The bucket.
    pub bucket: ResourceId,
    /// The file's key.
    pub key: FileKey,
    /// Its version.
    pub version: VersionId,
    /// Until when; at that moment it is over.
    pub expires_at: Timestamp,
}

/// The query of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileQuery {
    /// The file's key.
    pub key: String,
    /// Its version.
    pub version: String,
    /// Until when, in milliseconds.
    pub expires: i64,
    /// The signature, in base64url without padding.
    pub signature: String,
}

/// What an address of a part permits: to send exactly these bytes of an upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartAddress {
    /// The bucket.
    pub bucket: ResourceId,
    /// The upload.
    pub upload: UploadId,
    /// The part.
    pub number: PartNumber,
    /// Its bytes.
    pub size: u64,
    /// Until when; at that moment it is over.
    pub expires_at: Timestamp,
}

/// The query of an address of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartQuery {
    /// The upload.
    pub upload: String,
    /// The part's number.
    pub part: u64,
    /// Its bytes.
    pub size: u64,
    /// Until when, in milliseconds.
    pub expires: i64,
    /// The signature, in base64url without padding.
    pub signature: String,
}

/// What an address of a whole file permits: to write a file of exactly these bytes and this type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteAddress {
    /// The bucket.
    pub bucket: ResourceId,
    /// The file's key.
    pub key: FileKey,
    /// Its bytes.
    pub size: u64,
    /// Its type.
    pub content_type: Option<String>,
    /// Whether it may take the place of another one.
    pub overwrite: Overwrite,
    /// In whose name it is written.
    pub maker: AddressMaker,
    /// Until when sending it may begin; at that moment it is over.
    pub expires_at: Timestamp,
}

/// The query of an address of a whole file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteQuery {
    /// The file's key.
    pub key: String,
    /// Its bytes.
    pub size: u64,
    /// Its type; empty where it has none.
    pub content_type: String,
    /// `1` where it may take the place of another one.
    pub overwrite: String,
    /// Who made the address.
    pub maker: String,
    /// Until when, in milliseconds.
    pub expires: i64,
    /// The signature, in base64url without padding.
    pub signature: String,
}

impl Store {
    /// The path and query that permit it.
    pub fn file_address(&self, address: &FileAddress) -> String {
        let FileAddress { bucket, key, version, expires_at } = address;
        let signature = URL_SAFE_NO_PAD.encode(self.mac(address).finalize().into_bytes());
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("key", key.as_str()).append_pair("version", &version.to_string());
        query.append_pair("expires", &expires_at.to_string()).append_pair("signature", &signature);
        format!("{PATH_PREFIX}{bucket}?{}", query.finish())
    }

    /// What the address of this bucket with this query permits.
    pub fn file_address_verify(&self, bucket: ResourceId, query: &FileQuery) -> Result<FileAddress, BlobRefusal> {
        let address = FileAddress {
            bucket,
            key: FileKey::parse(query.key.as_str()).map_err(|_| BlobRefusal::Forged)?,
            version: query.version.parse().map_err(|_| BlobRefusal::Forged)?,
            expires_at: Timestamp(query.expires),
        };
        let signature = URL_SAFE_NO_PAD.decode(&query.signature).map_err(|_| BlobRefusal::Forged)?;
        self.mac(&address).verify_slice(&signature).map_err(|_| BlobRefusal::Forged)?;
        if self.now() < address.expires_at { Ok(address) } else { Err(BlobRefusal::Expired) }
    }

    /// The path and query that permit sending a part.
    pub fn part_address(&self, address: &PartAddress) -> String {
        let PartAddress { bucket, upload, number, size, expires_at } = address;
        let signature = URL_SAFE_NO_PAD.encode(self.part_mac(address).finalize().into_bytes());
        let number = number.get();
        format!(
            "{PATH_PREFIX}{bucket}?upload={upload}&part={number}&size={size}&expires={expires_at}&signature={signature}"
        )
    }

    /// What the address of this bucket with this query permits.
    pub fn part_address_verify(&self, bucket: ResourceId, query: &PartQuery) -> Result<PartAddress, BlobRefusal> {
        let address = PartAddress {
            bucket,
            upload: query.upload.parse().map_err(|_| BlobRefusal::Forged)?,
            number: PartNumber::parse("part", query.part).map_err(|_| BlobRefusal::Forged)?,
            size: query.size,
            expires_at: Timestamp(query.expires),
        };
        let signature = URL_SAFE_NO_PAD.decode(&query.signature).map_err(|_| BlobRefusal::Forged)?;
        self.part_mac(&address).verify_slice(&signature).map_err(|_| BlobRefusal::Forged)?;
        if self.now() < address.expires_at { Ok(address) } else { Err(BlobRefusal::Expired) }
    }

    /// The path and query that permit writing a file.
    pub fn write_address(&self, address: &WriteAddress) -> String {
        let WriteAddress { bucket, key, size, content_type, overwrite, maker, expires_at } = address;
        let signature = URL_SAFE_NO_PAD.encode(self.write_mac(address).finalize().into_bytes());
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("key", key.as_str()).append_pair("size", &size.to_string());
        query.append_pair("type", content_type.as_deref().unwrap_or_default());
        query.append_pair("overwrite", overwrite_text(*overwrite)).append_pair("maker", &maker.to_string());
        query.append_pair("expires", &expires_at.to_string()).append_pair("signature", &signature);
        format!("{PATH_PREFIX}{bucket}?{}", query.finish())
    }

    /// What the address of this bucket with this query permits.
    pub fn write_address_verify(&self, bucket: ResourceId, query: WriteQuery) -> Result<WriteAddress, BlobRefusal> {
        let address = WriteAddress {
            bucket,
            key: FileKey::parse(query.key).map_err(|_| BlobRefusal::Forged)?,
            size: query.size,
            // No text with a line's end, behind which another key could stand.
            content_type: content_type_check("type", &query.content_type).map_err(|_| BlobRefusal::Forged)?,
            overwrite: if query.overwrite == "1" { Overwrite::Allowed } else { Overwrite::Refused },
            maker: query.maker.parse().map_err(|_| BlobRefusal::Forged)?,
            expires_at: Timestamp(query.expires),
        };
        let signature = URL_SAFE_NO_PAD.decode(&query.signature).map_err(|_| BlobRefusal::Forged)?;
        self.write_mac(&address).verify_slice(&signature).map_err(|_| BlobRefusal::Forged)?;
        if self.now() < address.expires_at { Ok(address) } else { Err(BlobRefusal::Expired) }
    }

    fn write_mac(&self, address: &WriteAddress) -> Hmac<Sha256> {
        let WriteAddress { bucket, key, size, content_type, overwrite, maker, expires_at } = address;
        let overwrite = overwrite_text(*overwrite);
        let content_type = content_type.as_deref().unwrap_or_default();
        let mut mac = self.blobs().signer().clone();
        let said = format!("{bucket}\n{size}\n{overwrite}\n{maker}\n{expires_at}\n{content_type}\n{key}");
        mac.update(format!("troupe-file/v1\nWRITE\n{said}").as_bytes());
        mac
    }

    fn part_mac(&self, address: &PartAddress) -> Hmac<Sha256> {
        let PartAddress { bucket, upload, number, size, expires_at } = address;
        let mut mac = self.blobs().signer().clone();
        let number = number.get();
        mac.update(format!("troupe-file/v1\nPUT\n{bucket}\n{upload}\n{number}\n{size}\n{expires_at}").as_bytes());
        mac
    }

    /// What signs cursors of lists of files, the same on every node.
    pub fn list_cursor_key(&self) -> ListCursorKey {
        let mut mac = self.blobs().signer().clone();
        mac.update(b"troupe-file-cursors/v1");
        ListCursorKey::new(&mac.finalize().into_bytes())
    }

    fn mac(&self, address: &FileAddress) -> Hmac<Sha256> {
        let FileAddress { bucket, key, version, expires_at } = address;
        let mut mac = self.blobs().signer().clone();
        // The key comes last, since it may be any text.
        mac.update(format!("troupe-file/v1\nGET\n{bucket}\n{version}\n{expires_at}\n{key}").as_bytes());
        mac
    }
}

const fn overwrite_text(overwrite: Overwrite) -> &'static str {
    match overwrite {
        Overwrite::Allowed => "1",
        Overwrite::Refused => "0",
    }
}
