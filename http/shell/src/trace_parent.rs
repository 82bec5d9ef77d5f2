//! Where in which trace something stands, as `traceparent` says it (W3C Trace Context).

use std::fmt;

/// The one version of the header that is written, and the one whose length is fixed.
const VERSION: &str = "00";
/// Characters of version, trace id, span id and flags, with the dashes between them.
const LEN: usize = 55;
/// The flag of a trace that is being recorded.
const SAMPLED: u8 = 1;

/// A place in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceParent {
    /// The trace; never 0.
    pub trace_id: u128,
    /// The span in it; never 0.
    pub span_id: u64,
    /// Whether the trace is recorded.
    pub is_sampled: bool,
}

impl TraceParent {
    /// Reads the header's value; later versions as far as they are like this one. `None` is for what is none.
    pub fn parse(text: &str) -> Option<Self> {
        let (head, more) = (text.get(..LEN)?, text.get(LEN..)?);
        let mut parts = head.split('-');
        let (version, trace_id, span_id, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let lengths = [version, trace_id, span_id, flags].map(str::len);
        let is_hex = |part: &str| part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let fits = lengths == [2, 32, 16, 2] && [version, trace_id, span_id, flags].into_iter().all(is_hex);
        let is_known = version != "ff" && (more.is_empty() || version != VERSION && more.starts_with('-'));
        if !fits || !is_known {
            return None;
        }
        let trace_id = u128::from_str_radix(trace_id, 16).ok().filter(|id| *id != 0)?;
        let span_id = u64::from_str_radix(span_id, 16).ok().filter(|id| *id != 0)?;
        let is_sampled = u8::from_str_radix(flags, 16).ok()? & SAMPLED != 0;
        Some(Self { trace_id, span_id, is_sampled })
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { trace_id, span_id, is_sampled } = self;
        write!(f, "{VERSION}-{trace_id:032x}-{span_id:016x}-{:02x}", u8::from(*is_sampled))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn what_is_written_reads_back() {
        let parent = TraceParent::parse(TEXT).unwrap();
        assert_eq!(parent.trace_id, 0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c);
        assert_eq!(parent.span_id, 0xb7ad_6b71_6920_3331);
        assert!(parent.is_sampled);
        assert_eq!(parent.to_string(), TEXT);
        assert!(!TraceParent::parse(&TEXT.replace("-01", "-00")).unwrap().is_sampled);
        assert!(TraceParent::parse(&TEXT.replace("-01", "-03")).unwrap().is_sampled);
    }

    #[test]
    fn a_later_version_is_read_as_far_as_it_is_known() {
        let later = TEXT.replacen("00", "42", 1);
        assert!(TraceParent::parse(&later).is_some());
        assert!(TraceParent::parse(&format!("{later}-more")).is_some());
        assert!(TraceParent::parse(&format!("{later}more")).is_none());
    }

    #[test]
    fn what_is_none_is_refused() {
        let zero_trace = "00-00000000000000000000000000000000-b7ad6b7169203331-01";
        let zero_span = "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01";
        let (upper, longer) = (TEXT.replace("0af", "0AF"), format!("{TEXT}-00"));
        let (version, shifted) = (TEXT.replacen("00", "ff", 1), TEXT.replacen("c-b", "-cb", 1));
        let wide = TEXT.replace("0af", "0ä");
        for text in ["", "00", zero_trace, zero_span, &upper, &longer, &version, &shifted, &wide, &TEXT[..54]] {
            assert_eq!(TraceParent::parse(text), None, "{text}");
        }
    }
}
