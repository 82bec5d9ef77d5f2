//! Whether a callback comes from the provider.

use base64::{Engine, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;

/// A request that claims to come from the provider of texts and calls.
///
/// The provider signs (`X-Twilio-Signature`) the address that it was given, followed by the name and the value of each
/// field of the form, sorted by name, with HMAC-SHA1 and our auth token.
#[derive(Clone, Copy, Debug)]
pub struct SignedCallback<'a> {
    /// The address as the provider was given it, with its query.
    pub url: &'a str,
    /// The fields of the form, decoded.
    pub fields: &'a [(String, String)],
    /// The header `X-Twilio-Signature`.
    pub signature: &'a str,
}

impl SignedCallback<'_> {
    /// Whether the one who knows `auth_token` signed it.
    pub fn is_genuine(&self, auth_token: &str) -> bool {
        let Ok(signature) = STANDARD.decode(self.signature) else { return false };
        self.mac(auth_token).is_some_and(|mac| mac.verify_slice(&signature).is_ok())
    }

    /// What the header says when the one who knows `auth_token` signs it.
    pub fn sign(&self, auth_token: &str) -> Option<String> {
        self.mac(auth_token).map(|mac| STANDARD.encode(mac.finalize().into_bytes()))
    }

    fn mac(&self, auth_token: &str) -> Option<Hmac<Sha1>> {
        let mut mac = Hmac::<Sha1>::new_from_slice(auth_token.as_bytes()).ok()?;
        mac.update(self.url.as_bytes());
        let mut fields: Vec<&(String, String)> = self.fields.iter().collect();
        fields.sort();
        // A field that stands there twice with the same value counts once.
        fields.dedup();
        for (name, value) in fields {
            mac.update(name.as_bytes());
            mac.update(value.as_bytes());
        }
        Some(mac)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the provider's own documentation.
    const URL: &str = "https://mycompany.com/myapp.php?foo=1&bar=2";
    const AUTH_TOKEN: &str = "12345";
    const SIGNATURE: &str = "RSOYDt4T1cUTdK1PDd93/VVr8B8=";

    fn fields() -> Vec<(String, String)> {
        [
            ("To", "+18005551212"),
            ("CallSid", "CA1234567890ABCDE"),
            ("Caller", "+14158675309"),
            ("Digits", "1234"),
            ("From", "+14158675309"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
    }

    #[test]
    fn the_providers_own_example_is_genuine() {
        let fields = fields();
        let callback = SignedCallback { url: URL, fields: &fields, signature: SIGNATURE };
        assert_eq!(callback.sign(AUTH_TOKEN).as_deref(), Some(SIGNATURE));
        assert!(callback.is_genuine(AUTH_TOKEN));
    }

    #[test]
    fn a_field_that_stands_there_twice_is_signed_once() {
        let fields =
            [("Sid", "CA123"), ("SidAccount", "AC123"), ("Digits", "5678"), ("Digits", "1234"), ("Digits", "1234")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let callback = SignedCallback { url: URL, fields: &fields, signature: "IK+Dwps556ElfBT0I3Rgjkr1wJU=" };
        assert!(callback.is_genuine(AUTH_TOKEN));
    }

    #[test]
    fn anything_changed_is_not_genuine() {
        let fields = fields();
        let genuine = SignedCallback { url: URL, fields: &fields, signature: SIGNATURE };
        let mut pressed_other = fields.clone();
        pressed_other[3].1 = "1".to_owned();
        assert!(!genuine.is_genuine("12346"));
        assert!(!SignedCallback { url: "https://mycompany.com/myapp.php", ..genuine }.is_genuine(AUTH_TOKEN));
        assert!(!SignedCallback { fields: &pressed_other, ..genuine }.is_genuine(AUTH_TOKEN));
        assert!(!SignedCallback { fields: &fields[1..], ..genuine }.is_genuine(AUTH_TOKEN));
        for signature in ["", "RSOYDt4T1cUTdK1PDd93/VVr8B8", "SSOYDt4T1cUTdK1PDd93/VVr8B8=", "no base64!"] {
            assert!(!SignedCallback { signature, ..genuine }.is_genuine(AUTH_TOKEN), "{signature}");
        }
    }
}
