//! The times of a day that a rule allows.

/// Hours, minutes and seconds as bits; the times are all that can be put together from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clock {
    pub hours: u32,
    pub minutes: u64,
    pub seconds: u64,
}

/// The bit of 0 alone.
const ZERO: u64 = 1;

impl Clock {
    /// How many times there are.
    pub fn len(&self) -> u32 {
        self.hours.count_ones() * self.minutes.count_ones() * self.seconds.count_ones()
    }

    /// The time that has `before` others before it, in seconds since midnight; it must be there.
    pub fn nth(&self, before: u32) -> u32 {
        let (minutes, seconds) = (self.minutes.count_ones(), self.seconds.count_ones());
        let (rest, second) = (before / seconds, before % seconds);
        let (hour, minute) = (rest / minutes, rest % minutes);
        nth_bit(self.hours.into(), hour) * 3600 + nth_bit(self.minutes, minute) * 60 + nth_bit(self.seconds, second)
    }

    /// The first time at or after `time`.
    pub fn at_or_after(&self, time: u32) -> Option<u32> {
        let (mut hour, mut minute, second) = (time / 3600, time / 60 % 60, time % 60);
        let in_hour = self.hours >> hour & 1 == 1;
        if in_hour
            && self.minutes >> minute & 1 == 1
            && let Some(second) = next_bit(self.seconds, second)
        {
            return Some(hour * 3600 + minute * 60 + second);
        }
        let first_second = self.seconds.trailing_zeros();
        if in_hour {
            minute = match next_bit(self.minutes, minute + 1) {
                Some(minute) => return Some(hour * 3600 + minute * 60 + first_second),
                None => self.minutes.trailing_zeros(),
            };
        } else {
            minute = self.minutes.trailing_zeros();
        }
        hour = next_bit(self.hours.into(), hour + 1)?;
        Some(hour * 3600 + minute * 60 + first_second)
    }

    /// How many times are before `time`.
    pub fn before(&self, time: u32) -> u32 {
        let (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60);
        let (minutes, seconds) = (self.minutes.count_ones(), self.seconds.count_ones());
        let mut count = bits_below(self.hours.into(), hour) * minutes * seconds;
        if self.hours >> hour & 1 == 1 {
            count += bits_below(self.minutes, minute) * seconds;
            if self.minutes >> minute & 1 == 1 {
                count += bits_below(self.seconds, second);
            }
        }
        count
    }

    /// The beginnings of these hours.
    pub const fn hours_only(self) -> Self {
        Self { hours: self.hours, minutes: ZERO, seconds: ZERO }
    }

    /// The beginnings of these minutes.
    pub const fn minutes_only(self) -> Self {
        Self { hours: self.hours, minutes: self.minutes, seconds: ZERO }
    }

    /// These minutes and seconds, in the first hour of a day.
    pub const fn within_hour(self) -> Self {
        Self { hours: 1, minutes: self.minutes, seconds: self.seconds }
    }

    /// These seconds, in the first minute of a day.
    pub const fn within_minute(self) -> Self {
        Self { hours: 1, minutes: ZERO, seconds: self.seconds }
    }

    /// Midnight alone.
    pub const MIDNIGHT: Self = Self { hours: 1, minutes: ZERO, seconds: ZERO };
}

/// The lowest bit from `from` on, which may lie beyond the last.
fn next_bit(bits: u64, from: u32) -> Option<u32> {
    let rest = bits.checked_shr(from)?;
    (rest != 0).then(|| from + rest.trailing_zeros())
}

fn bits_below(bits: u64, end: u32) -> u32 {
    (bits & ((1 << end) - 1)).count_ones()
}

fn nth_bit(mut bits: u64, before: u32) -> u32 {
    (0..before).for_each(|_| bits &= bits - 1);
    bits.trailing_zeros()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn times(clock: Clock) -> Vec<u32> {
        (0..86_400)
            .filter(|time| {
                clock.hours >> (time / 3600) & 1 == 1
                    && clock.minutes >> (time / 60 % 60) & 1 == 1
                    && clock.seconds >> (time % 60) & 1 == 1
            })
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(50))]
        #[test]
        fn a_clock_has_the_times_of_its_parts(
            hours in 1..1_u32 << 24, minutes in 1..1_u64 << 60, seconds in 1..1_u64 << 60,
            sparse in any::<[u64; 2]>(), looked in prop::collection::vec(0..86_400_u32, 20),
        ) {
            let thinned = |bits: u64, by: u64| if bits & by == 0 { bits } else { bits & by };
            let clock = Clock { hours, minutes: thinned(minutes, sparse[0]), seconds: thinned(seconds, sparse[1]) };
            let times = times(clock);
            prop_assert_eq!(clock.len() as usize, times.len());
            for time in looked {
                let before = times.partition_point(|&it| it < time);
                prop_assert_eq!(clock.before(time) as usize, before);
                prop_assert_eq!(clock.at_or_after(time), times.get(before).copied());
                if let Some(&next) = times.get(before) {
                    prop_assert_eq!(clock.nth(u32::try_from(before).unwrap()), next);
                }
            }
        }
    }
}
