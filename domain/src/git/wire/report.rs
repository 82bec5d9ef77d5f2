//! What a client is told of its push.

use super::packet::{FLUSH, packet};

/// Bytes that one packet of a band takes, so that it is a packet with its length and its band.
const BAND_LEN: usize = 65_515;

/// The band that programs read.
const DATA: u8 = 1;
/// The band that people read.
const PROGRESS: u8 = 2;

/// Appends `bytes` in packets of a band.
fn banded(out: &mut Vec<u8>, band: u8, bytes: &[u8]) {
    for chunk in bytes.chunks(BAND_LEN) {
        packet(out, &[&[band], chunk]);
    }
}

/// What became of a push.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PushReport {
    /// Why its pack wasn't taken.
    pub unpack: Option<String>,
    /// Each ref, and why it wasn't moved.
    pub refs: Vec<(Vec<u8>, Option<String>)>,
    /// What people read before that, where the answer is in bands.
    pub told: String,
}

impl PushReport {
    /// A push of whose pack nothing was taken.
    pub fn not_unpacked<'n>(names: impl Iterator<Item = &'n [u8]>, reason: &str) -> Self {
        let refused = names.map(|name| (name.to_vec(), Some("unpacker error".to_owned())));
        Self { unpack: Some(one_line(reason)), refs: refused.collect(), told: String::new() }
    }

    /// As it is sent, in bands or plainly.
    pub fn answer(&self, in_bands: bool) -> Vec<u8> {
        let mut report = Vec::new();
        packet(&mut report, &[b"unpack ", self.unpack.as_deref().unwrap_or("ok").as_bytes(), b"\n"]);
        for (name, refusal) in &self.refs {
            match refusal {
                None => packet(&mut report, &[b"ok ", name, b"\n"]),
                Some(reason) => packet(&mut report, &[b"ng ", name, b" ", one_line(reason).as_bytes(), b"\n"]),
            }
        }
        report.extend_from_slice(FLUSH);
        if !in_bands {
            return report;
        }
        let mut out = Vec::with_capacity(report.len() + self.told.len() + 64);
        banded(&mut out, PROGRESS, self.told.as_bytes());
        banded(&mut out, DATA, &report);
        out.extend_from_slice(FLUSH);
        out
    }
}

/// A reason on one line, as a report takes it.
fn one_line(reason: &str) -> String {
    reason
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .take(1_000)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{
        super::packet::{PACKET_MAX, Packet, packets},
        *,
    };

    #[test]
    fn a_report_names_each_ref_and_why_it_was_not_moved() {
        let refs = vec![(b"refs/heads/a".to_vec(), None), (b"refs/heads/b".to_vec(), Some("stale\n info".to_owned()))];
        let mut report = PushReport { unpack: None, refs, told: String::new() };
        let plain = report.answer(false);
        let lines: Vec<_> = packets(&plain).map(Result::unwrap).collect();
        let expected = [&b"unpack ok\n"[..], b"ok refs/heads/a\n", b"ng refs/heads/b stale info\n"].map(Packet::Data);
        assert_eq!(lines[..3], expected);
        assert_eq!(lines[3..], [Packet::Flush]);
        let bands = report.answer(true);
        let first = packets(&bands).next().unwrap().unwrap();
        assert_eq!(first, Packet::Data(&[&[1], plain.as_slice()].concat()));
        "two\nlines\n".clone_into(&mut report.told);
        assert_eq!(report.answer(false), plain);
        let bands = report.answer(true);
        let packets: Vec<_> = packets(&bands).map(Result::unwrap).collect();
        assert_eq!(packets[..2], [Packet::Data(b"\x02two\nlines\n"), first]);
    }

    #[test]
    fn a_long_report_comes_in_packets_that_there_can_be() {
        let mut out = Vec::new();
        banded(&mut out, DATA, &vec![b'x'; 2 * BAND_LEN + 1]);
        let length = |packet: Result<Packet<'_>, _>| match packet.unwrap() {
            Packet::Data(data) => data.len() + 4,
            other => panic!("{other:?}"),
        };
        let lengths: Vec<_> = packets(&out).map(length).collect();
        assert_eq!(lengths, [PACKET_MAX, PACKET_MAX, 6]);
    }
}
