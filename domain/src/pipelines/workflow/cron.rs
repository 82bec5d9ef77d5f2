//! Whether five fields of a schedule mean something.

/// Names of months, from 1.
const MONTHS: &[&str] = &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
/// Names of days of the week, from 0.
const DAYS: &[&str] = &["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// Minutes that lie between two starts of a schedule, at least.
const INTERVAL_MIN: u32 = 5;
const MINUTES_OF_AN_HOUR: u32 = 60;

/// What a field may say.
pub(super) struct Field {
    min: u32,
    max: u32,
    names: &'static [&'static str],
}

pub(super) const FIELDS: [Field; 5] = [
    Field { min: 0, max: 59, names: &[] },
    Field { min: 0, max: 23, names: &[] },
    Field { min: 1, max: 31, names: &[] },
    Field { min: 1, max: 12, names: MONTHS },
    Field { min: 0, max: 6, names: DAYS },
];

/// Whether the text is minute, hour, day, month and weekday of a schedule.
pub(super) fn is_valid(text: &str) -> bool {
    let parts: Vec<&str> = text.split(' ').filter(|part| !part.is_empty()).collect();
    let is_framed = text.starts_with(' ') || text.ends_with(' ');
    !is_framed && parts.len() == FIELDS.len() && parts.iter().zip(&FIELDS).all(|(part, field)| field.allows(part))
}

/// Whether a valid schedule starts more often than runs are started.
pub(super) fn is_too_frequent(text: &str) -> bool {
    let minutes = text.split(' ').next().unwrap_or_default();
    let mut starts: Vec<u32> = minutes.split(',').flat_map(|part| FIELDS[0].values(part)).collect();
    starts.sort_unstable();
    starts.dedup();
    let Some(first) = starts.first() else { return false };
    let next = starts.iter().skip(1).copied().chain([first + MINUTES_OF_AN_HOUR]);
    starts.iter().zip(next).any(|(one, next)| next - one < INTERVAL_MIN)
}

impl Field {
    fn number(&self, text: &str) -> Option<u32> {
        let named = self.names.iter().position(|name| text.eq_ignore_ascii_case(name));
        let named = named.and_then(|at| u32::try_from(at).ok()).map(|at| at + self.min);
        let is_number = !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
        named.or_else(|| text.parse().ok().filter(|_| is_number)).filter(|it| (self.min..=self.max).contains(it))
    }

    /// Lists of ranges with steps.
    fn allows(&self, text: &str) -> bool {
        text.split(',').all(|part| match part.split_once('/') {
            Some((range, step)) => self.range(range).is_some() && self.number(step).is_some_and(|step| step > 0),
            None => self.range(part).is_some(),
        })
    }

    /// The first and the last one.
    fn range(&self, text: &str) -> Option<(u32, u32)> {
        if text == "*" {
            return Some((self.min, self.max));
        }
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        self.number(first).zip(self.number(last)).filter(|(first, last)| first <= last)
    }

    /// All that a list stands for, as bits.
    pub fn bits(&self, text: &str) -> u64 {
        text.split(',').flat_map(|part| self.values(part)).fold(0, |bits, value| bits | (1_u64 << value))
    }

    /// What one part of a list stands for.
    fn values(&self, part: &str) -> Vec<u32> {
        let (range, step) = part.split_once('/').map_or((part, None), |(range, step)| (range, self.number(step)));
        let Some((first, mut last)) = self.range(range) else { return Vec::new() };
        // One number with a step stands for all from there on.
        if step.is_some() && first == last && !range.contains('-') {
            last = self.max;
        }
        (first..=last).step_by(step.and_then(|it| usize::try_from(it).ok()).unwrap_or(1).max(1)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_has_five_fields_within_their_bounds() {
        for text in
            ["* * * * *", "0 0 1 1 0", "59 23 31 12 6", "*/5 1-5 1,15 JAN-mar mon", "0  5 * * *", "5/10 * * * *"]
        {
            assert!(is_valid(text), "{text}");
        }
        for text in [
            "",
            "* * * *",
            "* * * * * *",
            "60 * * * *",
            "* 24 * * *",
            "* * 0 * *",
            "* * * 13 *",
            "* * * * 7",
            "5-1 * * * *",
            "*/0 * * * *",
            "1,,2 * * * *",
            "a * * * *",
            "@daily",
            "1-2-3 * * * *",
            "-1 * * * *",
            " * * * * *",
        ] {
            assert!(!is_valid(text), "{text}");
        }
    }

    #[test]
    fn a_schedule_starts_every_five_minutes_at_most() {
        for text in ["*/5 * * * *", "0 * * * *", "0,30 * * * *", "3/5 * * * *"] {
            assert!(!is_too_frequent(text), "{text}");
        }
        for text in ["* * * * *", "*/4 * * * *", "0,2 * * * *", "58,1 * * * *", "0-3 * * * *"] {
            assert!(is_too_frequent(text), "{text}");
        }
    }
}
