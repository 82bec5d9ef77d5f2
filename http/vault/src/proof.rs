//! The signature of the vault's key, as it comes with a request.

use domain::vault::{Proof, SignedRequest, VaultSignature};
use http_shell::{
    argument::Argument,
    body::{BODY_LEN_MAX, TOO_LARGE},
    call::Call,
    error::Result,
    facts::Facts,
};

const DESCRIPTION: &str = "\
`v1;d=<deviceId>;t=<unix ms>;s=<base64url Ed25519 signature>`, over the lines `troupe-vault/v1`, method, path with query, \
device id, time, and lower-case hex SHA-256 of the body, joined by line feeds. Counts within five minutes, once.";
const REFUSAL: &str = "This request isn't signed by your vault.";

/// What a request shows of the vault's key, which it must. Stands behind the body, which it covers.
pub(crate) struct VaultProof(pub Proof);

/// The same where a request without any signature has a meaning of its own.
pub(crate) struct VaultProofIfAny(pub Proof);

impl Argument for VaultProofIfAny {
    fn describe(facts: &mut Facts) {
        facts.header(VaultSignature::HEADER, DESCRIPTION, false);
        facts.error(403, REFUSAL);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        VaultProof::take(call).await.map(|VaultProof(proof)| Self(proof))
    }
}

impl Argument for VaultProof {
    fn describe(facts: &mut Facts) {
        facts.header(VaultSignature::HEADER, DESCRIPTION, true);
        facts.error(403, REFUSAL);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let body = call.read_body(BODY_LEN_MAX, TOO_LARGE).await?;
        let mut headers = call.request.headers().get_all(VaultSignature::HEADER);
        let proof = match (headers.next(), headers.next()) {
            (None, _) => Proof::Missing,
            (Some(header), None) => header
                .to_str()
                .ok()
                .and_then(|text| text.parse().ok())
                .map_or(Proof::Malformed, |signature| signed(call, signature, &body)),
            (Some(_), Some(_)) => Proof::Malformed,
        };
        Ok(Self(proof))
    }
}

fn signed(call: &Call, signature: VaultSignature, body: &[u8]) -> Proof {
    let method = call.request.method().as_str();
    Proof::Signed(Box::new(SignedRequest::new(signature, method, call.path_and_query(), body)))
}
