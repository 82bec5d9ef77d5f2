//! What is known of a log that is being written, and what becomes of the lines that come.

use super::{LogLine, Masks, RunnerWord, StepBorder, text};
use crate::{Error, Result, pipelines::job::sized};

/// A line as a runner sends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentLine {
    /// When it was written, in milliseconds since the Unix epoch.
    pub t: i64,
    /// The text.
    pub m: String,
}

/// What holds for the log of one job.
#[derive(Clone, Debug)]
pub struct LogRules {
    /// What a line begins with that is the runner's own.
    pub marker: String,
    /// Bytes that are kept.
    pub len_max: u64,
    /// What is never shown.
    pub masks: Masks,
}

/// How far a log is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogHead {
    /// Lines that have come; the number of the next one.
    pub received: u64,
    /// Lines that readers see; the number of the next one.
    pub lines: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// Lines that came behind the limit, and are counted only.
    pub dropped: u64,
    /// The step that is under way.
    pub step: Option<u32>,
}

impl LogHead {
    /// Takes what a runner sends, and adds what readers will see of it. Where the runner says which number the first line has,
    /// the lines that have come before are skipped.
    pub fn take(&mut self, first: Option<u64>, sent: &[SentLine], rules: &LogRules) -> Result<Vec<LogLine>> {
        let first = first.unwrap_or(self.received);
        if first > self.received {
            return Err(log_gap(self.received));
        }
        let known = usize::try_from(self.received - first).unwrap_or(usize::MAX);
        let mut lines = Vec::new();
        for line in sent.iter().skip(known) {
            self.received += 1;
            lines.extend(self.take_line(line, rules));
        }
        Ok(lines)
    }

    fn take_line(&mut self, sent: &SentLine, rules: &LogRules) -> Option<LogLine> {
        if let Some(word) = RunnerWord::read(&rules.marker, &sent.m) {
            match word {
                RunnerWord::Step { index, border: StepBorder::Begin } => self.step = Some(index),
                RunnerWord::Step { border: StepBorder::End, .. } => self.step = None,
                RunnerWord::Unknown => {}
            }
            return None;
        }
        if self.dropped > 0 {
            self.dropped += 1;
            return None;
        }
        let masked = rules.masks.hide(text::shown(&sent.m));
        let mut m = text::cut(masked).into_owned();
        // Each line costs a little, so that empty ones have an end, too.
        if self.bytes + m.len() as u64 + 1 > rules.len_max {
            self.dropped = 1;
            m = format!("The log is longer than {}. What follows is counted, and not kept.", sized(rules.len_max));
        }
        self.bytes += m.len() as u64 + 1;
        let line = LogLine { n: self.lines, t: sent.t, step: self.step, m };
        self.lines += 1;
        Some(line)
    }
}

/// 409 for lines behind one that hasn't come.
pub fn log_gap(next: u64) -> Error {
    Error::conflict("log_gap", "Lines before these haven't come.").adding("next", next)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::LOG_LINE_LEN_MAX, *};

    const MARKER: &str = "0123456789abcdef0123456789abcdef";

    fn rules(len_max: u64) -> LogRules {
        LogRules { marker: MARKER.to_owned(), len_max, masks: Masks::none() }
    }

    fn sent(texts: &[&str]) -> Vec<SentLine> {
        (0..).zip(texts).map(|(t, m)| SentLine { t, m: (*m).to_owned() }).collect()
    }

    fn texts(lines: &[LogLine]) -> Vec<&str> {
        lines.iter().map(|line| line.m.as_str()).collect()
    }

    #[test]
    fn what_has_come_is_skipped_and_a_gap_is_told() {
        let (mut head, rules) = (LogHead::default(), rules(1_000));
        assert_eq!(texts(&head.take(Some(0), &sent(&["a", "b"]), &rules).unwrap()), ["a", "b"]);
        assert_eq!(texts(&head.take(Some(1), &sent(&["b", "c"]), &rules).unwrap()), ["c"]);
        assert_eq!(texts(&head.take(Some(0), &sent(&["a", "b", "c"]), &rules).unwrap()), [""; 0]);
        assert_eq!(texts(&head.take(None, &sent(&["d"]), &rules).unwrap()), ["d"]);
        let before = head;
        let refusal = head.take(Some(5), &sent(&["f"]), &rules).unwrap_err();
        assert_eq!((refusal.status(), refusal.code()), (409, "log_gap"));
        assert_eq!(head, before);
    }

    #[test]
    fn a_step_owns_what_is_between_its_borders_and_nobody_sees_these() {
        let (mut head, rules) = (LogHead::default(), rules(1_000));
        let (begin, end) = (format!("##[{MARKER}]step 2 begin"), format!("##[{MARKER}]step 2 end"));
        let forged = "##[00000000000000000000000000000000]step 7 begin";
        let lines = head.take(Some(0), &sent(&["before", &begin, "in", forged, &end, "after"]), &rules).unwrap();
        let seen: Vec<_> = lines.iter().map(|line| (line.n, line.step, line.m.as_str())).collect();
        assert_eq!(seen, [(0, None, "before"), (1, Some(2), "in"), (2, Some(2), forged), (3, None, "after")]);
        assert_eq!((head.received, head.lines), (6, 4));
    }

    #[test]
    fn behind_the_limit_lines_are_counted() {
        for (limit, kept) in [(9, 2), (10, 3), (11, 3)] {
            let (mut head, rules) = (LogHead::default(), rules(limit));
            // Four bytes each, but for the last, which has two.
            let lines = head.take(Some(0), &sent(&["abc", "def", "g", "hij", "k"]), &rules).unwrap();
            assert_eq!(lines.len(), kept + 1, "{limit}");
            assert_eq!(head.dropped, 5 - kept as u64, "{limit}");
            let told = format!("The log is longer than {limit} bytes. What follows is counted, and not kept.");
            assert_eq!(lines[kept].m, told);
            assert_eq!(texts(&head.take(None, &sent(&["", ""]), &rules).unwrap()), [""; 0]);
            assert_eq!((head.dropped, head.received), (7 - kept as u64, 7));
        }
    }

    #[test]
    fn a_secret_where_a_line_is_cut_is_masked_before() {
        let masks = Masks::of(["s3cret"]).unwrap();
        let rules = LogRules { masks, ..rules(10_000_000) };
        for at in LOG_LINE_LEN_MAX - 7..=LOG_LINE_LEN_MAX + 1 {
            let line = format!("{}s3cret", "x".repeat(at));
            let lines = LogHead::default().take(None, &sent(&[&line]), &rules).unwrap();
            let text = &lines[0].m;
            let shown = text.trim_start_matches('x');
            assert!("***".starts_with(shown), "{at}: {shown}");
            assert_eq!(text.len(), LOG_LINE_LEN_MAX.min(at + 3), "{at}");
        }
    }

    proptest! {
        #[test]
        fn however_often_and_wherever_sending_begins_again_every_line_is_there_once(
            count in 1_usize..60,
            posts in prop::collection::vec((0_usize..60, 1_usize..20), 1..40),
        ) {
            let all: Vec<SentLine> = (0_i64..).take(count).map(|at| SentLine { t: at, m: format!("line {at}") }).collect();
            let (mut head, rules) = (LogHead::default(), rules(u64::MAX));
            let mut seen = Vec::new();
            for (first, length) in posts {
                let first = first.min(count);
                let part = &all[first..(first + length).min(count)];
                match head.take(Some(first as u64), part, &rules) {
                    Ok(lines) => seen.extend(lines),
                    Err(_) => prop_assert!(first as u64 > head.received),
                }
            }
            let rest = usize::try_from(head.received).unwrap();
            seen.extend(head.take(Some(rest as u64), &all[rest..], &rules).unwrap());
            prop_assert_eq!(seen.len(), count);
            for (at, line) in seen.iter().enumerate() {
                prop_assert_eq!((line.n, &line.m), (at as u64, &all[at].m));
            }
        }
    }
}
