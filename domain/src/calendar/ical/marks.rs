//! Where the events of a file stand, and their rules as they are written.
//!
//! The parser neither says where a component stands nor keeps the numbers of a rule that are too high for it.

/// Where an event begins, and its rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    /// The line, counted from 1.
    pub line: usize,
    /// Its `RRULE`s as they are written.
    pub rules: Vec<String>,
}

/// A mark for each event, in the order of the file.
pub(super) fn marks(text: &str) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    // Which of the marks the open components are; none for what is no event.
    let mut open: Vec<Option<usize>> = Vec::new();
    for (line, content) in unfolded(text) {
        let Some((name, value)) = content.split_once(':') else { continue };
        let value = value.trim();
        let name = name.split(';').next().unwrap_or_default().trim();
        if name.eq_ignore_ascii_case("BEGIN") {
            let is_event = value.eq_ignore_ascii_case("VEVENT");
            open.push(is_event.then_some(marks.len()));
            if is_event {
                marks.push(Mark { line, rules: Vec::new() });
            }
        } else if name.eq_ignore_ascii_case("END") {
            open.pop();
        } else if name.eq_ignore_ascii_case("RRULE")
            && let Some(Some(at)) = open.last()
        {
            marks[*at].rules.push(value.to_owned());
        }
    }
    marks
}

/// Lines with what continues them, and where each begins.
fn unfolded(text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        match (line.strip_prefix([' ', '\t']), lines.last_mut()) {
            (Some(rest), Some((_, before))) => before.push_str(rest),
            _ => lines.push((at + 1, line.to_owned())),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_marked_with_their_lines_and_rules() {
        let text = "BEGIN:VCALENDAR\r\nBEGIN:VTIMEZONE\r\nBEGIN:STANDARD\r\nRRULE:FREQ=YEARLY\r\nEND:STANDARD\r\n\
                    END:VTIMEZONE\r\nBEGIN:VEVENT\r\nRRULE:FREQ=DAILY;\r\n COUNT=3\r\nBEGIN:VALARM\r\nEND:VALARM\r\n\
                    END:VEVENT\r\nbegin:vevent\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
        let rules = vec!["FREQ=DAILY;COUNT=3".to_owned()];
        assert_eq!(marks(text), [Mark { line: 7, rules }, Mark { line: 13, rules: Vec::new() }]);
    }
}
