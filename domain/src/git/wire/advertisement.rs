//! What a server says first: its refs, and what it can do.

use super::packet::{FLUSH, packet};
use crate::git::{ObjectId, RefKind, RefName};

/// The name by which the server calls itself.
pub const AGENT: &str = concat!("agent=troupe/", env!("CARGO_PKG_VERSION"));

/// What a client comes for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Fetching.
    UploadPack,
    /// Pushing.
    ReceivePack,
}

impl Service {
    /// The service of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::UploadPack, Self::ReceivePack].into_iter().find(|service| service.as_str() == name)
    }

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UploadPack => "git-upload-pack",
            Self::ReceivePack => "git-receive-pack",
        }
    }
}

/// A ref as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Its name.
    pub name: RefName,
    /// The object that it names.
    pub oid: ObjectId,
    /// The object that a tag's object ends at, where it names one.
    pub peeled: Option<ObjectId>,
}

const FETCH: &str = "multi_ack thin-pack side-band side-band-64k ofs-delta shallow deepen-since deepen-not deepen-relative \
                     no-progress include-tag multi_ack_detailed allow-tip-sha1-in-want allow-reachable-sha1-in-want no-done \
                     filter object-format=sha1";
const PUSH: &str = "report-status report-status-v2 delete-refs side-band-64k quiet atomic ofs-delta push-options \
                    object-format=sha1";
/// What stands in the place of a ref where there is none.
const NO_REF: &[u8] = b"capabilities^{}";

/// What the first version of the protocol says to who fetches: `HEAD`, where its branch is there, and all refs.
pub fn fetch_advertisement(refs: &[Listing], head: &RefName) -> Vec<u8> {
    let target = refs.iter().find(|listed| listed.name == *head);
    let symref = target.map_or_else(String::new, |_| format!(" symref=HEAD:{head}"));
    let mut out = announced(Service::UploadPack);
    let mut capabilities = Some(format!("{FETCH}{symref} {AGENT}"));
    if let Some(target) = target {
        line(&mut out, target.oid, b"HEAD", &mut capabilities);
    }
    for listed in refs {
        line(&mut out, listed.oid, listed.name.as_bytes(), &mut capabilities);
        if let Some(peeled) = listed.peeled {
            line(&mut out, peeled, &[listed.name.as_bytes(), b"^{}"].concat(), &mut capabilities);
        }
    }
    ended(out, capabilities)
}

/// What is said to who pushes: all refs but the repository's own, so that a mirror doesn't ask to delete them.
pub fn push_advertisement(refs: &[Listing]) -> Vec<u8> {
    let mut out = announced(Service::ReceivePack);
    let mut capabilities = Some(format!("{PUSH} {AGENT}"));
    for listed in refs.iter().filter(|listed| listed.name.kind() != RefKind::Other) {
        line(&mut out, listed.oid, listed.name.as_bytes(), &mut capabilities);
    }
    ended(out, capabilities)
}

/// What the second version of the protocol says to who fetches: what the server can do.
pub fn v2_advertisement() -> Vec<u8> {
    let mut out = announced(Service::UploadPack);
    for capability in [
        "version 2",
        AGENT,
        "ls-refs=unborn",
        "fetch=shallow wait-for-done filter",
        "server-option",
        "object-format=sha1",
    ] {
        packet(&mut out, &[capability.as_bytes(), b"\n"]);
    }
    out.extend_from_slice(FLUSH);
    out
}

fn announced(service: Service) -> Vec<u8> {
    let mut out = Vec::new();
    packet(&mut out, &[b"# service=", service.as_str().as_bytes(), b"\n"]);
    out.extend_from_slice(FLUSH);
    out
}

/// A ref's line; the first has the capabilities.
fn line(out: &mut Vec<u8>, oid: ObjectId, name: &[u8], capabilities: &mut Option<String>) {
    let (oid, capabilities) = (oid.to_string(), capabilities.take());
    let (separator, capabilities): (&[u8], _) = match &capabilities {
        Some(capabilities) => (b"\0", capabilities.as_bytes()),
        None => (b"", &[][..]),
    };
    packet(out, &[oid.as_bytes(), b" ", name, separator, capabilities, b"\n"]);
}

/// The end, before which the capabilities stand where no ref had them.
fn ended(mut out: Vec<u8>, mut capabilities: Option<String>) -> Vec<u8> {
    if capabilities.is_some() {
        line(&mut out, ObjectId::ZERO, NO_REF, &mut capabilities);
    }
    out.extend_from_slice(FLUSH);
    out
}

#[cfg(test)]
mod tests {
    use super::{
        super::packet::{Packet, packets},
        *,
    };

    fn listing(name: &str, oid: u8, peeled: Option<u8>) -> Listing {
        let oid_of = |byte| ObjectId::of_bytes([byte; 20]);
        Listing { name: RefName::parse(name.as_bytes()).unwrap(), oid: oid_of(oid), peeled: peeled.map(oid_of) }
    }

    fn lines(bytes: &[u8]) -> Vec<String> {
        let text = |packet| match packet {
            Packet::Data(data) => String::from_utf8_lossy(data).trim_end().to_owned(),
            other => format!("{other:?}"),
        };
        packets(bytes).map(|packet| text(packet.unwrap())).collect()
    }

    #[test]
    fn refs_are_listed_with_what_tags_end_at_and_the_capabilities_stand_once() {
        let refs = [listing("refs/heads/main", 1, None), listing("refs/tags/v1", 2, Some(1))];
        let head = RefName::parse(b"refs/heads/main").unwrap();
        let said = lines(&fetch_advertisement(&refs, &head));
        let oid = |digits: &str| digits.repeat(20);
        assert_eq!(said[..2], ["# service=git-upload-pack", "Flush"]);
        assert!(said[2].starts_with(&format!("{} HEAD\0multi_ack ", oid("01"))), "{}", said[2]);
        assert!(said[2].contains(" symref=HEAD:refs/heads/main "), "{}", said[2]);
        assert_eq!(said[3], format!("{} refs/heads/main", oid("01")));
        assert_eq!(said[4], format!("{} refs/tags/v1", oid("02")));
        assert_eq!(said[5], format!("{} refs/tags/v1^{{}}", oid("01")));
        assert_eq!(said[6..], ["Flush"]);
        let pushing = lines(&push_advertisement(&refs));
        assert!(pushing[2].starts_with(&format!("{} refs/heads/main\0report-status ", oid("01"))), "{}", pushing[2]);
        assert_eq!(pushing[3..], [format!("{} refs/tags/v1", oid("02")), "Flush".to_owned()]);
    }

    #[test]
    fn an_empty_repository_says_what_it_can_do() {
        let head = RefName::parse(b"refs/heads/main").unwrap();
        for said in [lines(&fetch_advertisement(&[], &head)), lines(&push_advertisement(&[]))] {
            assert!(said[2].starts_with(&format!("{} capabilities^{{}}\0", "0".repeat(40))), "{}", said[2]);
            assert!(!said[2].contains("symref"), "{}", said[2]);
            assert_eq!(said[3..], ["Flush"]);
        }
        let said = lines(&v2_advertisement());
        assert_eq!(said[2..4], ["version 2", AGENT]);
        assert_eq!(said.last().unwrap(), "Flush");
    }
}
