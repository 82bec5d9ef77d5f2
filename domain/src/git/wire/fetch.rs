//! Requests to fetch, as far as it has to be known which of them have the same answer.

use sha2::{Digest, Sha256};

use super::{
    advertisement::Listing,
    packet::{Packet, packets},
};
use crate::git::RefKind;

/// What the answer to a request follows from, beside the objects that it names, which never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FollowsFrom {
    /// Nothing else.
    Objects,
    /// The tags that there are: those of what is sent come with it.
    Tags,
    /// All refs: the history ends at one that is named.
    Refs,
}

/// A request that is answered with a pack, and with nothing that a client has to answer first.
#[derive(Clone, Debug)]
pub struct PackRequest {
    said: Sha256,
    /// What else its answer follows from.
    pub follows_from: FollowsFrom,
    is_done: bool,
}

impl PackRequest {
    /// Reads a request in the first version of the protocol; none where its answer may be no pack.
    pub fn of_v0(body: &[u8]) -> Option<Self> {
        let (mut request, mut is_first) = (Self::new("0"), true);
        for packet in packets(body) {
            let packet = packet.ok()?;
            match packet.line() {
                Some(Packet::Data(line)) if is_first => request.first_want(line),
                Some(Packet::Data(line)) => request.argument(line),
                _ => request.mark(packet),
            }
            is_first = false;
        }
        Some(request).filter(|request| request.is_done)
    }

    /// Reads a request in the second version of the protocol; none where its answer may be no pack.
    pub fn of_v2(body: &[u8]) -> Option<Self> {
        let (mut request, mut are_arguments) = (Self::new("2"), false);
        for packet in packets(body) {
            let packet = packet.ok()?;
            match packet.line() {
                Some(Packet::Data(line)) if are_arguments => request.argument(line),
                Some(Packet::Data(line)) => request.capability(line),
                _ => request.mark(packet),
            }
            are_arguments |= packet == Packet::Delimiter;
        }
        Some(request).filter(|request| request.is_done)
    }

    fn new(version: &str) -> Self {
        let said = Sha256::new().chain_update(version);
        Self { said, follows_from: FollowsFrom::Objects, is_done: false }
    }

    /// The first line of the first version: an object, and what the client can do.
    fn first_want(&mut self, line: &[u8]) {
        for word in line.split(|byte| *byte == b' ') {
            self.capability(word);
        }
        self.note(b"");
    }

    /// What a client can do, but for what it is called.
    fn capability(&mut self, said: &[u8]) {
        if said == b"include-tag" {
            self.needs(FollowsFrom::Tags);
        }
        if !said.starts_with(b"agent=") && !said.starts_with(b"session-id=") {
            self.note(said);
        }
    }

    fn argument(&mut self, line: &[u8]) {
        match line {
            b"done" => self.is_done = true,
            b"include-tag" => self.needs(FollowsFrom::Tags),
            line if line.starts_with(b"deepen-not ") || line.starts_with(b"want-ref ") => self.needs(FollowsFrom::Refs),
            _ => {}
        }
        self.note(line);
    }

    fn mark(&mut self, packet: Packet<'_>) {
        self.note(format!("{packet:?}").as_bytes());
    }

    fn needs(&mut self, more: FollowsFrom) {
        self.follows_from = self.follows_from.max(more);
    }

    fn note(&mut self, said: &[u8]) {
        // With its length, so that no two lists of lines are the same bytes.
        self.said.update((said.len() as u64).to_be_bytes());
        self.said.update(said);
    }

    /// The name of its answer in a repository, where what it follows from is `beside`.
    pub fn answer_name(mut self, repository: &str, beside: &[u8]) -> AnswerName {
        self.note(repository.as_bytes());
        self.note(beside);
        AnswerName(self.said.finalize().into())
    }
}

/// Names an answer among those of all repositories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AnswerName([u8; 32]);

/// Whether a request, in either version of the protocol, wants something of a repository of which the client says to have nothing.
pub fn is_clone(body: &[u8]) -> bool {
    let mut wants = false;
    for packet in packets(body) {
        let Ok(packet) = packet else { return false };
        if let Some(Packet::Data(line)) = packet.line() {
            if line.starts_with(b"have ") {
                return false;
            }
            wants |= line.starts_with(b"want ") || line.starts_with(b"want-ref ");
        }
    }
    wants
}

/// What tells these tags from others.
pub fn tags_digest(refs: &[Listing]) -> [u8; 32] {
    let mut digest = Sha256::new();
    for listed in refs.iter().filter(|listed| listed.name.kind() == RefKind::Tag) {
        // A name has no line feed, and an object's name always has the same length.
        digest.update(listed.oid.as_bytes());
        digest.update(listed.name.as_bytes());
        digest.update(b"\n");
    }
    digest.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::{super::packet::packet, *};
    use crate::git::{ObjectId, RefName};

    const OID: &str = "0101010101010101010101010101010101010101";

    fn lines(lines: &[&str]) -> Vec<u8> {
        let mut body = Vec::new();
        for line in lines {
            match *line {
                "0000" | "0001" => body.extend_from_slice(line.as_bytes()),
                line => packet(&mut body, &[line.as_bytes(), b"\n"]),
            }
        }
        body
    }

    fn v2(capabilities: &[&str], arguments: &[&str]) -> Option<PackRequest> {
        let all = [&["command=fetch"], capabilities, &["0001"], arguments, &["0000"]].concat();
        PackRequest::of_v2(&lines(&all))
    }

    fn v0(capabilities: &str, rest: &[&str]) -> Option<PackRequest> {
        PackRequest::of_v0(&lines(&[&[format!("want {OID} {capabilities}").as_str()], rest].concat()))
    }

    fn name(request: Option<PackRequest>) -> AnswerName {
        request.unwrap().answer_name("1", b"")
    }

    #[test]
    fn what_a_client_is_called_makes_no_other_answer_and_all_else_does() {
        let want = format!("want {OID}");
        let done = [want.as_str(), "done"];
        let one = name(v2(&["agent=git/2.39", "session-id=1", "object-format=sha1"], &done));
        assert_eq!(one, name(v2(&["agent=git/2.47", "object-format=sha1"], &done)));
        assert_ne!(one, name(v2(&[], &done)));
        assert_ne!(one, name(v2(&["object-format=sha1"], &[&want, "thin-pack", "done"])));
        assert_ne!(one, name(v2(&["object-format=sha1"], &[&want, "agent=git/2.39", "done"])));
        let rest = ["0000", "done"];
        let zero = name(v0("ofs-delta agent=git/2.39 session-id=1", &rest));
        assert_eq!(zero, name(v0("ofs-delta agent=git/2.47", &rest)));
        assert_ne!(zero, name(v0("agent=git/2.39", &rest)));
        assert_ne!(zero, name(v0("ofs-delta", &["deepen 1", "0000", "done"])));
        assert_ne!(name(v0("", &rest)), name(v0("", &["0000", "0000", "done"])));
    }

    #[test]
    fn only_what_is_done_with_asking_is_answered_with_a_pack() {
        let want = format!("want {OID}");
        assert!(v2(&[], &[&want]).is_none() && v0("", &["0000"]).is_none());
        assert!(v2(&["done"], &[&want]).is_none() && v0("done", &["0000"]).is_none());
        assert!(PackRequest::of_v2(b"0012command=fetch\n0001zz").is_none());
        assert!(PackRequest::of_v0(b"").is_none());
    }

    #[test]
    fn whoever_wants_and_has_nothing_clones() {
        let (want, have) = (format!("want {OID}"), format!("have {OID}"));
        let of_v2 = |rest: &[&str]| is_clone(&lines(&[&["command=fetch", "0001"], rest, &["0000"]].concat()));
        let of_v0 = |rest: &[&str]| is_clone(&lines(&[&[format!("{want} ofs-delta").as_str(), "0000"], rest].concat()));
        assert!(of_v2(&[&want, "done"]) && of_v2(&["want-ref refs/heads/main", "done"]) && of_v2(&["deepen 1", &want]));
        assert!(of_v0(&["done"]) && of_v0(&[]));
        assert!(!of_v2(&[&want, &have]) && !of_v2(&["done"]) && !of_v0(&[&have, "done"]));
        assert!(!is_clone(b"") && !is_clone(b"0011want nothingzz"));
    }

    #[test]
    fn tags_and_refs_count_where_they_are_asked_for() {
        let want = format!("want {OID}");
        let of = |request: Option<PackRequest>| request.unwrap().follows_from;
        assert_eq!(of(v2(&[], &[&want, "deepen 3", "done"])), FollowsFrom::Objects);
        assert_eq!(of(v2(&[], &[&want, "include-tag", "done"])), FollowsFrom::Tags);
        assert_eq!(of(v2(&[], &[&want, "deepen-not v1", "include-tag", "done"])), FollowsFrom::Refs);
        assert_eq!(of(v0("ofs-delta include-tag", &["0000", "done"])), FollowsFrom::Tags);
        assert_eq!(of(v0("ofs-delta", &["deepen-not v1", "0000", "done"])), FollowsFrom::Refs);
        let listing = |name: &str, oid: u8| Listing {
            name: RefName::parse(name.as_bytes()).unwrap(),
            oid: ObjectId::of_bytes([oid; 20]),
            peeled: None,
        };
        let tags = tags_digest(&[listing("refs/heads/main", 1), listing("refs/tags/v1", 1)]);
        assert_eq!(tags, tags_digest(&[listing("refs/heads/main", 2), listing("refs/tags/v1", 1)]));
        assert_ne!(tags, tags_digest(&[listing("refs/tags/v1", 2)]));
        assert_ne!(tags, tags_digest(&[listing("refs/tags/v2", 1)]));
        let request = v2(&[], &[&want, "include-tag", "done"]).unwrap();
        assert_ne!(request.clone().answer_name("1", b"tags"), request.clone().answer_name("1", b"other tags"));
        assert_ne!(request.clone().answer_name("1", b"tags"), request.answer_name("2", b"tags"));
    }
}
