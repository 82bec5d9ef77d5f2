//! What clients of git send before packs: packets, pushes, questions for refs, requests to fetch.

use std::collections::HashSet;

use crate::git::{
    BranchName, ObjectId, REF_NAME_MAX, RefName,
    wire::{
        COMMANDS_MAX, FLUSH, Listing, LsRefs, PackRequest, Packet, PushReport, PushRequest, PushRequestReader,
        WireError, is_clone, packet, packets, v2_command,
    },
};

/// What stands before the arguments of a request.
const DELIMITER: &[u8] = b"0001";
/// What ends an answer.
const RESPONSE_END: &[u8] = b"0002";
/// Bytes of an option that is read again: what isn't UTF-8 was replaced by more bytes.
const OPTION_LEN: usize = 1_024;

/// The body of a request, of whatever kind.
pub fn git_wire(bytes: &[u8]) {
    framed(bytes);
    pushed(bytes);
    listed(bytes);
    fetched(bytes);
}

/// Packets are written as they are read, but for the case of their lengths' digits.
fn framed(bytes: &[u8]) {
    let read: Vec<Packet<'_>> = packets(bytes).map_while(Result::ok).collect();
    let mut written = Vec::new();
    for it in &read {
        match it {
            Packet::Data(data) => packet(&mut written, &[*data]),
            Packet::Flush => written.extend_from_slice(FLUSH),
            Packet::Delimiter => written.extend_from_slice(DELIMITER),
            Packet::ResponseEnd => written.extend_from_slice(RESPONSE_END),
        }
    }
    assert!(bytes.get(..written.len()).is_some_and(|same| same.eq_ignore_ascii_case(&written)));
    let again: Vec<Packet<'_>> = packets(&written).map(|it| it.expect("what was written is read")).collect();
    assert_eq!(again, read);
}

/// What a push asks for is the same however it comes, and is read again as it is written.
fn pushed(bytes: &[u8]) {
    let read = push_of(bytes, bytes.len().max(1));
    let size = 1 + bytes.first().map_or(0, |byte| usize::from(*byte));
    assert_eq!(push_of(bytes, size), read, "in pieces of {size}");
    let Some(Ok(push)) = read else { return };
    let names: HashSet<&[u8]> = push.commands.iter().map(|command| command.name.as_slice()).collect();
    assert!(names.len() == push.commands.len() && names.len() <= COMMANDS_MAX);
    for command in &push.commands {
        assert!(command.name.len() <= REF_NAME_MAX && (command.old.is_some() || command.new.is_some()));
        assert!(command.ref_name().is_none_or(|name| name.as_bytes() == command.name));
    }
    assert!(push.has_pack() || push.commands.iter().all(|command| command.new.is_none()));
    let _allowed = push.allowed_secrets();
    reported(&push);
    if push.options.iter().all(|option| option.len() <= OPTION_LEN) {
        assert_eq!(push_of(&written(&push), 7), Some(Ok(push)));
    }
}

/// The push in these bytes, which come in pieces of `size`; none where more would have to come.
fn push_of(bytes: &[u8], size: usize) -> Option<Result<PushRequest, WireError>> {
    let (mut reader, mut waiting) = (PushRequestReader::default(), Vec::new());
    for piece in bytes.chunks(size) {
        waiting.extend_from_slice(piece);
        match reader.take(&waiting) {
            Ok((_, true)) => return Some(Ok(reader.finish())),
            Ok((taken, false)) => drop(waiting.drain(..taken)),
            Err(error) => return Some(Err(error)),
        }
    }
    None
}

fn written(push: &PushRequest) -> Vec<u8> {
    let mut body = Vec::new();
    let mut capabilities = vec!["agent=fuzz"];
    let said = [
        (push.is_atomic, "atomic"),
        (push.reports, "report-status"),
        (push.in_bands, "side-band-64k"),
        (!push.options.is_empty(), "push-options"),
    ];
    capabilities.extend(said.iter().filter(|(is_said, _)| *is_said).map(|(_, capability)| *capability));
    let mut capabilities = Some(format!("\0{}", capabilities.join(" ")));
    for command in &push.commands {
        let [old, new] = [command.old, command.new].map(|oid| oid.unwrap_or(ObjectId::ZERO).to_string());
        let said = capabilities.take().unwrap_or_default();
        packet(
            &mut body,
            &[old.as_bytes(), b" ", new.as_bytes(), b" ", command.name.as_slice(), said.as_bytes(), b"\n"],
        );
    }
    body.extend_from_slice(FLUSH);
    if !push.options.is_empty() {
        for option in &push.options {
            packet(&mut body, &[option.as_bytes(), b"\n"]);
        }
        body.extend_from_slice(FLUSH);
    }
    body
}

/// What is answered is packets, whatever the refs are called.
fn reported(push: &PushRequest) {
    let names = push.commands.iter().map(|command| command.name.as_slice());
    let report = PushReport::not_unpacked(names, "It broke off.");
    let plain = report.answer(false);
    assert_eq!(packets(&plain).filter(|it| matches!(it, Ok(Packet::Data(_)))).count(), push.commands.len() + 1);
    let banded = report.answer(true);
    let mut joined = Vec::new();
    for it in packets(&banded) {
        match it.expect("a packet of a band") {
            Packet::Data([1, data @ ..]) => joined.extend_from_slice(data),
            other => assert_eq!(other, Packet::Flush),
        }
    }
    assert_eq!(joined, plain);
}

/// Refs are listed that are asked for, and no others.
fn listed(bytes: &[u8]) {
    if v2_command(bytes) != Ok(&b"ls-refs"[..]) {
        return;
    }
    let Ok(asked) = LsRefs::read(bytes) else { return };
    let head = RefName::of_branch(&BranchName::default());
    let named = |name: &[u8]| {
        let name = RefName::parse(name).expect("a ref's name");
        Listing { name, oid: ObjectId::of_bytes([1; 20]), peeled: Some(ObjectId::of_bytes([2; 20])) }
    };
    let refs = [head.as_bytes(), b"refs/heads/other", b"refs/tags/v1"].map(named);
    let answer = asked.answer(&refs, &head);
    let said: Vec<Packet<'_>> = packets(&answer).map(|it| it.expect("a packet of the answer")).collect();
    assert!(said.len() <= refs.len() + 2 && said.last() == Some(&Packet::Flush));
    assert!(asked.prefixes() > 0 || said.len() == refs.len() + 2);
}

/// A request that is answered with a pack is whole, and what a client is called makes no other of it.
fn fetched(bytes: &[u8]) {
    let has = |line: &[u8]| packets(bytes).any(|it| it.is_ok_and(|it| it.line() == Some(Packet::Data(line))));
    let is_whole = packets(bytes).all(|it| it.is_ok());
    if let Some(request) = PackRequest::of_v0(bytes) {
        assert!(is_whole && has(b"done"));
        assert_eq!(request.clone().answer_name("1", b""), request.answer_name("1", b""));
    }
    if let Some(request) = PackRequest::of_v2(bytes) {
        assert!(is_whole && has(b"done"));
        let mut called = Vec::new();
        packet(&mut called, &[b"agent=fuzz\n"]);
        called.extend_from_slice(bytes);
        let named = PackRequest::of_v2(&called).expect("the same request");
        assert_eq!(named.follows_from, request.follows_from);
        assert_eq!(named.answer_name("1", b"tags"), request.clone().answer_name("1", b"tags"));
        let more = PackRequest::of_v2(&[bytes, FLUSH].concat()).expect("a longer request");
        assert_ne!(more.answer_name("1", b"tags"), request.answer_name("1", b"tags"));
    }
    assert!(!is_clone(bytes) || is_whole);
}
