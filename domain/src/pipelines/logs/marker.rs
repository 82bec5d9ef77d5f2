//! What a runner says of itself among the lines of a log.

/// Where a step begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepBorder {
    /// What follows is the step's.
    Begin,
    /// What follows is no step's.
    End,
}

/// A line that is the runner's own: `##[<marker>]step 3 begin`. Who doesn't know the job's marker can't forge one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunnerWord {
    /// A step begins or ends.
    Step {
        /// The step's number.
        index: u32,
        /// Which of both.
        border: StepBorder,
    },
    /// A word that this server doesn't know.
    Unknown,
}

impl RunnerWord {
    /// The word that a line is; none of a line that a step wrote.
    pub fn read(marker: &str, line: &str) -> Option<Self> {
        let said = line.strip_prefix("##[")?.strip_prefix(marker)?.strip_prefix(']')?;
        let mut words = said.split_ascii_whitespace();
        let read = (words.next(), words.next().and_then(|index| index.parse().ok()), words.next(), words.next());
        Some(match read {
            (Some("step"), Some(index), Some("begin"), None) => Self::Step { index, border: StepBorder::Begin },
            (Some("step"), Some(index), Some("end"), None) => Self::Step { index, border: StepBorder::End },
            _ => Self::Unknown,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKER: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn a_line_of_the_marker_is_the_runners_own() {
        let of = |said: &str| RunnerWord::read(MARKER, &format!("##[{MARKER}]{said}"));
        assert_eq!(of("step 0 begin"), Some(RunnerWord::Step { index: 0, border: StepBorder::Begin }));
        assert_eq!(of("step 5000 end"), Some(RunnerWord::Step { index: 5_000, border: StepBorder::End }));
        for said in ["", "step", "step x begin", "step 1", "step 1 begin now", "step -1 end", "other 1 end"] {
            assert_eq!(of(said), Some(RunnerWord::Unknown), "{said}");
        }
    }

    #[test]
    fn other_lines_are_none() {
        for line in
            ["", "##[group]step 0 begin", "##[]step 0 begin", "step 0 begin", " ##[0123456789abcdef0123456789abcdef]"]
        {
            assert_eq!(RunnerWord::read(MARKER, line), None, "{line}");
        }
    }
}
