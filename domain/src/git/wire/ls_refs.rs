//! Listing refs, in the second version of the protocol.

use super::{
    advertisement::Listing,
    packet::{FLUSH, Packet, WireError, packet, packets},
};
use crate::git::RefName;

/// Prefixes by which refs are asked for; with more, all are listed.
const PREFIXES_MAX: usize = 65_536;

/// The command of a request in the second version: `ls-refs`, `fetch`.
pub fn v2_command(body: &[u8]) -> Result<&[u8], WireError> {
    match Packet::first(body)?.and_then(|(packet, _)| packet.line()) {
        Some(Packet::Data(line)) => line.strip_prefix(b"command=").ok_or(WireError("The request names no command.")),
        _ => Err(WireError("The request names no command.")),
    }
}

/// Which refs are asked for, and what of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LsRefs {
    peel: bool,
    symrefs: bool,
    unborn: bool,
    prefixes: Vec<Vec<u8>>,
}

impl LsRefs {
    /// Reads a request whose command is `ls-refs`.
    pub fn read(body: &[u8]) -> Result<Self, WireError> {
        let (mut asked, mut are_arguments) = (Self::default(), false);
        for packet in packets(body) {
            match packet? {
                Packet::Delimiter => are_arguments = true,
                Packet::Flush => return Ok(asked),
                Packet::Data(line) if are_arguments => asked.argument(line.strip_suffix(b"\n").unwrap_or(line))?,
                Packet::Data(_) => {}
                Packet::ResponseEnd => return Err(WireError("The request ends as an answer does.")),
            }
        }
        Err(WireError("The request breaks off."))
    }

    fn argument(&mut self, line: &[u8]) -> Result<(), WireError> {
        match line {
            b"peel" => self.peel = true,
            b"symrefs" => self.symrefs = true,
            b"unborn" => self.unborn = true,
            line => match line.strip_prefix(b"ref-prefix ") {
                Some(prefix) if self.prefixes.len() < PREFIXES_MAX => self.prefixes.push(prefix.to_vec()),
                Some(_) => return Err(WireError("The request has too many prefixes.")),
                None => return Err(WireError("An argument of ls-refs isn't known.")),
            },
        }
        Ok(())
    }

    /// How many prefixes it asks by.
    pub const fn prefixes(&self) -> usize {
        self.prefixes.len()
    }

    fn takes(&self, name: &[u8]) -> bool {
        self.prefixes.is_empty() || self.prefixes.iter().any(|prefix| name.starts_with(prefix))
    }

    /// The answer: `HEAD`, which names the ref `head`, and those of `refs` that are asked for.
    pub fn answer(&self, refs: &[Listing], head: &RefName) -> Vec<u8> {
        let mut out = Vec::new();
        let symref = if self.symrefs { [b" symref-target:", head.as_bytes()].concat() } else { Vec::new() };
        if self.takes(b"HEAD") {
            match refs.iter().find(|listed| listed.name == *head) {
                Some(target) => packet(&mut out, &[target.oid.to_string().as_bytes(), b" HEAD", &symref, b"\n"]),
                None if self.unborn => packet(&mut out, &[b"unborn HEAD", &symref, b"\n"]),
                None => {}
            }
        }
        for listed in refs.iter().filter(|listed| self.takes(listed.name.as_bytes())) {
            let peeled = listed.peeled.filter(|_| self.peel).map_or_else(String::new, |oid| format!(" peeled:{oid}"));
            let oid = listed.oid.to_string();
            packet(&mut out, &[oid.as_bytes(), b" ", listed.name.as_bytes(), peeled.as_bytes(), b"\n"]);
        }
        out.extend_from_slice(FLUSH);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::ObjectId;

    fn request(arguments: &[&str]) -> Vec<u8> {
        let mut body = Vec::new();
        packet(&mut body, &[b"command=ls-refs\n"]);
        packet(&mut body, &[b"agent=git/2.47.3"]);
        body.extend_from_slice(b"0001");
        for argument in arguments {
            packet(&mut body, &[argument.as_bytes(), b"\n"]);
        }
        body.extend_from_slice(FLUSH);
        body
    }

    fn answered(arguments: &[&str], refs: &[Listing]) -> Vec<String> {
        let head = RefName::parse(b"refs/heads/main").unwrap();
        let body = request(arguments);
        assert_eq!(v2_command(&body), Ok(&b"ls-refs"[..]));
        let answer = LsRefs::read(&body).unwrap().answer(refs, &head);
        let text = |packet| match packet {
            Packet::Data(line) => Some(String::from_utf8(line.to_vec()).unwrap().trim_end().to_owned()),
            _ => None,
        };
        packets(&answer).filter_map(|packet| text(packet.unwrap())).collect()
    }

    fn refs() -> Vec<Listing> {
        let listing = |name: &[u8], oid, peeled: Option<u8>| Listing {
            name: RefName::parse(name).unwrap(),
            oid: ObjectId::of_bytes([oid; 20]),
            peeled: peeled.map(|byte| ObjectId::of_bytes([byte; 20])),
        };
        vec![listing(b"refs/heads/main", 1, None), listing(b"refs/tags/v1", 2, Some(1))]
    }

    #[test]
    fn refs_are_listed_as_they_are_asked_for() {
        let (one, two) = ("01".repeat(20), "02".repeat(20));
        let main = format!("{one} refs/heads/main");
        assert_eq!(answered(&[], &refs()), [format!("{one} HEAD"), main.clone(), format!("{two} refs/tags/v1")]);
        let asked = ["peel", "symrefs", "ref-prefix refs/tags/", "ref-prefix HEAD"];
        let listed = [format!("{one} HEAD symref-target:refs/heads/main"), format!("{two} refs/tags/v1 peeled:{one}")];
        assert_eq!(answered(&asked, &refs()), listed);
        assert_eq!(answered(&["ref-prefix refs/heads/"], &refs()), [main]);
    }

    #[test]
    fn an_empty_repository_says_which_branch_there_will_be() {
        assert_eq!(answered(&["unborn", "symrefs"], &[]), ["unborn HEAD symref-target:refs/heads/main"]);
        assert!(answered(&["symrefs"], &[]).is_empty());
        assert!(answered(&["unborn", "ref-prefix refs/heads/"], &[]).is_empty());
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for bad in ["", "0000", "0009abcde", "0014command=ls-refs\n"] {
            assert!(LsRefs::read(bad.as_bytes()).is_err() || v2_command(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(LsRefs::read(&request(&["colour"])).is_err());
    }
}
