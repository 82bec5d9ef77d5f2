//! Presigned addresses of S3 (Signature Version 4 in the query), in path style.

use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::{Digest, Sha256};

use super::Dialect;
use crate::{load::Request, report::Result};

/// What stands as it is in the value of a query.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// How long the addresses work: longer than any run.
const EXPIRES_SECONDS: u32 = 86_400;
const REGION: &str = "us-east-1";
/// The host that the load program's requests name.
const HOST: &str = "bench";

/// The bucket that all servers of S3 have.
pub const BUCKET: &str = "bench";

/// A key of S3.
pub struct AccessKey {
    pub id: String,
    pub secret: String,
}

impl AccessKey {
    /// The path and query that permit `method` on `path`, which has nothing to be encoded.
    pub fn presign(&self, method: &str, path: &str) -> String {
        let now = Timestamp::now();
        let (date, time) = (now.strftime("%Y%m%d").to_string(), now.strftime("%Y%m%dT%H%M%SZ").to_string());
        let scope = format!("{date}/{REGION}/s3/aws4_request");
        let credential = format!("{}/{scope}", self.id);
        let query = format!(
            "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential={}&X-Amz-Date={time}&X-Amz-Expires={EXPIRES_SECONDS}\
             &X-Amz-SignedHeaders=host",
            utf8_percent_encode(&credential, UNRESERVED)
        );
        let canonical = format!("{method}\n{path}\n{query}\nhost:{HOST}\n\nhost\nUNSIGNED-PAYLOAD");
        let to_sign = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", hex(&Sha256::digest(canonical)));
        let secret = format!("AWS4{}", self.secret);
        let key = [&*date, REGION, "s3", "aws4_request"].iter().fold(secret.into_bytes(), |key, part| mac(&key, part));
        format!("{path}?{query}&X-Amz-Signature={}", hex(&mac(&key, &to_sign)))
    }
}

impl Dialect for AccessKey {
    fn put(&self, name: &str) -> Request {
        Request::new("PUT", &self.presign("PUT", &format!("/{BUCKET}/{name}")))
    }

    fn get(&self, name: &str) -> Result<Request> {
        Ok(Request::new("GET", &self.presign("GET", &format!("/{BUCKET}/{name}"))))
    }
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |text, byte| text + &format!("{byte:02x}"))
}
