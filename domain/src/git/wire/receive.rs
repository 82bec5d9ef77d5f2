//! What a push asks for, before its pack.

use std::collections::HashSet;

use super::packet::{Packet, WireError};
use crate::git::{Fingerprint, ObjectId, REF_NAME_MAX, RefName};

/// Refs that one push moves.
pub const COMMANDS_MAX: usize = 5_000;
/// Options of one push.
const OPTIONS_MAX: usize = 100;
/// What an option begins with that allows secrets; their fingerprints are behind it, with commas between them.
const ALLOWS_SECRET: &str = "secret.allow=";
/// Fingerprints that are named in one option, so that it isn't too long.
pub(in crate::git) const ALLOWED_IN_OPTION: usize = 30;
/// Bytes of an option.
const OPTION_LEN: usize = 1_024;

/// A ref that is to be moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushCommand {
    /// Its name, as the client says it.
    pub name: Vec<u8>,
    /// What it names, as the client believes; nothing where there is to be none.
    pub old: Option<ObjectId>,
    /// What it is to name; nothing where it is to go.
    pub new: Option<ObjectId>,
}

impl PushCommand {
    /// The ref, where git takes such a name.
    pub fn ref_name(&self) -> Option<RefName> {
        RefName::parse(&self.name)
    }

    fn read(line: &[u8]) -> Result<Self, WireError> {
        let malformed = WireError("A command of the push can't be read.");
        let (Some(old), Some(b' '), Some(new), Some(b' '), Some(name)) =
            (line.get(..40), line.get(40), line.get(41..81), line.get(81), line.get(82..))
        else {
            return Err(malformed);
        };
        if name.len() > REF_NAME_MAX {
            return Err(WireError("The name of a ref has at most 1024 bytes."));
        }
        let (Ok(old), Ok(new)) = (ObjectId::read(old), ObjectId::read(new)) else { return Err(malformed) };
        Ok(Self { name: name.to_vec(), old: old.given(), new: new.given() })
    }
}

/// What a push asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PushRequest {
    /// The refs, each once.
    pub commands: Vec<PushCommand>,
    /// What was given with `git push -o`.
    pub options: Vec<String>,
    /// Whether all of it is to be done, or nothing.
    pub is_atomic: bool,
    /// Whether the outcome is told.
    pub reports: bool,
    /// Whether the answer is sent in bands.
    pub in_bands: bool,
}

impl PushRequest {
    /// Whether a pack follows: not where refs are deleted only.
    pub fn has_pack(&self) -> bool {
        self.commands.iter().any(|command| command.new.is_some())
    }

    /// The secrets that the options allow. Other options are ignored, as git does it where nobody asks for them.
    pub fn allowed_secrets(&self) -> HashSet<Fingerprint> {
        let lists = self.options.iter().filter_map(|option| option.strip_prefix(ALLOWS_SECRET));
        lists.flat_map(|list| list.split(',')).filter_map(|fingerprint| fingerprint.parse().ok()).collect()
    }

    /// Whether options follow the commands.
    fn capabilities(&mut self, said: &[u8]) -> Result<bool, WireError> {
        let mut has_options = false;
        for capability in said.split(|byte| *byte == b' ') {
            match capability {
                b"atomic" => self.is_atomic = true,
                b"report-status" | b"report-status-v2" => self.reports = true,
                b"side-band-64k" => self.in_bands = true,
                b"push-options" => has_options = true,
                other if other.starts_with(b"object-format=") && other != b"object-format=sha1" => {
                    return Err(WireError("Objects are named by SHA-1 here."));
                }
                _ => {}
            }
        }
        Ok(has_options)
    }

    /// Whether options follow the commands, as the first of them says.
    fn command(&mut self, line: &[u8]) -> Result<bool, WireError> {
        if line.starts_with(b"shallow ") {
            return Ok(false);
        }
        if line.starts_with(b"push-cert") {
            return Err(WireError("Signed pushes aren't taken."));
        }
        let (line, said) = match line.iter().position(|byte| *byte == 0) {
            Some(end) if self.commands.is_empty() => (&line[..end], &line[end + 1..]),
            Some(_) => return Err(WireError("A command of the push can't be read.")),
            None => (line, &[][..]),
        };
        let has_options = self.capabilities(said)?;
        let command = PushCommand::read(line)?;
        if self.commands.len() >= COMMANDS_MAX {
            return Err(WireError("A push moves at most 5000 refs."));
        }
        self.commands.push(command);
        Ok(has_options)
    }

    fn option(&mut self, line: &[u8]) -> Result<(), WireError> {
        if self.options.len() >= OPTIONS_MAX || line.len() > OPTION_LEN {
            return Err(WireError("A push has at most 100 options of 1024 bytes."));
        }
        self.options.push(String::from_utf8_lossy(line).into_owned());
        Ok(())
    }

    /// Each ref once.
    fn check(&self) -> Result<(), WireError> {
        let mut names: Vec<&[u8]> = self.commands.iter().map(|command| command.name.as_slice()).collect();
        names.sort_unstable();
        if names.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(WireError("A push names a ref twice."));
        }
        if self.commands.iter().any(|command| command.old.is_none() && command.new.is_none()) {
            return Err(WireError("A push deletes a ref that it says isn't there."));
        }
        Ok(())
    }
}

/// Reads what a push asks for, as it comes.
#[derive(Debug, Default)]
pub struct PushRequestReader {
    read: PushRequest,
    has_options: bool,
    are_options: bool,
}

impl PushRequestReader {
    /// Takes whole packets from the beginning of `bytes`, and says how many bytes they were, and whether the request is whole:
    /// what follows is the pack.
    pub fn take(&mut self, bytes: &[u8]) -> Result<(usize, bool), WireError> {
        let mut taken = 0;
        while let Some((packet, len)) = Packet::first(&bytes[taken..])? {
            taken += len;
            match packet.line().unwrap_or(packet) {
                Packet::Data(line) if self.are_options => self.read.option(line)?,
                Packet::Data(line) => self.has_options |= self.read.command(line)?,
                Packet::Flush if self.has_options && !self.are_options => {
                    self.are_options = true;
                }
                Packet::Flush => {
                    self.read.check()?;
                    return Ok((taken, true));
                }
                Packet::Delimiter | Packet::ResponseEnd => return Err(WireError("A push has no such packet.")),
            }
        }
        Ok((taken, false))
    }

    /// What was read.
    pub fn finish(self) -> PushRequest {
        self.read
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::packet::{FLUSH, packet},
        *,
    };

    const ZERO: &str = "0000000000000000000000000000000000000000";
    const ONE: &str = "0101010101010101010101010101010101010101";

    fn request(lines: &[&str], options: Option<&[&str]>) -> Vec<u8> {
        let mut body = Vec::new();
        for line in lines {
            packet(&mut body, &[line.as_bytes()]);
        }
        body.extend_from_slice(FLUSH);
        if let Some(options) = options {
            for option in options {
                packet(&mut body, &[option.as_bytes(), b"\n"]);
            }
            body.extend_from_slice(FLUSH);
        }
        body
    }

    /// Reads it in pieces of every size.
    fn read(body: &[u8]) -> Result<PushRequest, WireError> {
        let mut outcomes = Vec::new();
        for size in [1, 7, body.len().max(1)] {
            let (mut reader, mut waiting) = (PushRequestReader::default(), Vec::new());
            let mut outcome = Err(WireError("It isn't whole."));
            for piece in body.chunks(size) {
                waiting.extend_from_slice(piece);
                match reader.take(&waiting) {
                    Ok((_, true)) => {
                        outcome = Ok(std::mem::take(&mut reader).finish());
                        break;
                    }
                    Ok((taken, false)) => drop(waiting.drain(..taken)),
                    Err(error) => {
                        outcome = Err(error);
                        break;
                    }
                }
            }
            outcomes.push(outcome);
        }
        assert!(outcomes.windows(2).all(|pair| pair[0] == pair[1]), "{outcomes:?}");
        outcomes.swap_remove(0)
    }

    #[test]
    fn a_push_says_what_it_moves_and_how() {
        let first =
            format!("{ZERO} {ONE} refs/heads/main\0report-status-v2 side-band-64k atomic push-options agent=git/2");
        let second = format!("{ONE} {ZERO} refs/tags/v1\n");
        let read = read(&request(&[&format!("shallow {ONE}"), &first, &second], Some(&["secret.allow=1"]))).unwrap();
        let one = ONE.parse().ok();
        assert_eq!(read.commands[0], PushCommand { name: b"refs/heads/main".to_vec(), old: None, new: one });
        assert_eq!(read.commands[1], PushCommand { name: b"refs/tags/v1".to_vec(), old: one, new: None });
        assert_eq!(read.options, ["secret.allow=1"]);
        assert!(read.is_atomic && read.reports && read.in_bands && read.has_pack());
    }

    #[test]
    fn options_allow_secrets_and_others_are_ignored() {
        let fingerprint = |digit: &str| digit.repeat(32);
        let options: Vec<String> =
            ["a", "b", "a", "A", "g"].map(|digit| format!("secret.allow={}", fingerprint(digit))).into();
        let list = format!("secret.allow={},,{},x", fingerprint("d"), fingerprint("e"));
        let others = vec!["ci.skip".to_owned(), "secret.allow=".to_owned(), fingerprint("c"), list];
        let request = PushRequest { options: [options, others].concat(), ..PushRequest::default() };
        let expected = ["a", "b", "d", "e"].map(|digit| fingerprint(digit).parse().unwrap());
        assert_eq!(request.allowed_secrets(), HashSet::from(expected));
    }

    #[test]
    fn all_secrets_that_are_kept_of_a_change_can_be_allowed_by_one_push() {
        let list = vec!["0a".repeat(16); ALLOWED_IN_OPTION].join(",");
        let option = format!("{ALLOWS_SECRET}{list}");
        assert!(option.len() <= OPTION_LEN && OPTIONS_MAX * ALLOWED_IN_OPTION >= crate::git::FINDINGS_MAX);
        let first = format!("{ZERO} {ONE} refs/heads/main\0push-options");
        let push = |count| read(&request(&[&first], Some(&vec![option.as_str(); count])));
        assert_eq!(push(OPTIONS_MAX).unwrap().options.len(), OPTIONS_MAX);
        assert!(push(OPTIONS_MAX + 1).is_err());
    }

    #[test]
    fn a_probe_and_deletions_have_no_pack() {
        assert_eq!(read(FLUSH).unwrap(), PushRequest::default());
        let deletion = read(&request(&[&format!("{ONE} {ZERO} refs/heads/a\0report-status")], None)).unwrap();
        assert!(!deletion.has_pack() && deletion.reports && !deletion.in_bands);
    }

    #[test]
    fn what_is_no_push_is_refused() {
        let line = format!("{ZERO} {ONE} refs/heads/main");
        for lines in [
            &[&line[..60]][..],
            &[&line.replace("0000 ", "0000_")],
            &[&line.replace("01 ", "0z ")],
            &[&line, &line],
            &[&line, &format!("{ZERO} {ONE} refs/heads/b\0atomic")],
            &[&format!("{ZERO} {ZERO} refs/heads/a")],
            &[&format!("{line}\0object-format=sha256")],
            &["push-cert\0"],
        ] {
            assert!(read(&request(lines, None)).is_err(), "{lines:?}");
        }
        assert!(read(b"0001").is_err());
        assert!(read(b"00").is_err());
    }

    #[test]
    fn a_push_moves_5000_refs_and_no_more() {
        let lines =
            |count: usize| -> Vec<String> { (0..count).map(|at| format!("{ZERO} {ONE} refs/heads/{at}")).collect() };
        let push = |count| {
            let lines = lines(count);
            read(&request(&lines.iter().map(String::as_str).collect::<Vec<_>>(), None))
        };
        assert_eq!(push(COMMANDS_MAX).unwrap().commands.len(), COMMANDS_MAX);
        assert_eq!(push(COMMANDS_MAX + 1), Err(WireError("A push moves at most 5000 refs.")));
    }
}
