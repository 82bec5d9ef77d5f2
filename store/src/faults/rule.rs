//! How a rule is read, and what it fits.

use std::{str::FromStr, time::Duration};

use super::{FaultsError, Place, Stage};

/// How long a stall is that gives no time: longer than anybody waits.
const STALL: Duration = Duration::from_hours(24);

/// All that stands in one text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Rules {
    pub at_points: Vec<Rule>,
    pub disk_is_full: bool,
    /// What the clock is moved by, in milliseconds.
    pub clock_jump_ms: i64,
    /// What the node's clock is ahead of the others' by, in milliseconds.
    pub drift_ms: i64,
}

/// What happens at a point, and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    stage: Stage,
    kind: Option<String>,
    command: Option<String>,
    key: Option<String>,
    pub effect: Effect,
    after: u64,
    every: u64,
    times: u64,
    /// Meetings so far, and those of them at which it happened.
    met: u64,
    happened: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Panic,
    Fail,
    Away,
    Lose,
    /// Ends the process, as SIGKILL from outside does.
    Kill,
    /// The same once the commit has been made.
    KillAfter,
    Stall(Duration),
    /// Takes its time without letting go of its thread.
    Spin(Duration),
}

impl FromStr for Rules {
    type Err = FaultsError;

    fn from_str(text: &str) -> Result<Self, FaultsError> {
        let mut rules = Self::default();
        for line in text.split([',', '\n']).map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            rules.add(line).map_err(|reason| FaultsError(format!("`{line}` is no fault: {reason}")))?;
        }
        Ok(rules)
    }
}

impl Rules {
    fn add(&mut self, line: &str) -> Result<(), String> {
        let mut parts = line.split(';').map(str::trim);
        let (point, effect) = parts.next().and_then(|rule| rule.split_once('=')).ok_or("write <point>=<effect>")?;
        match (point.trim(), effect.trim()) {
            ("disk", "full") => self.disk_is_full = true,
            ("disk", other) => return Err(format!("a disk can be full, not {other}")),
            ("clock", jump) => self.clock_jump_ms = clock_jump(jump)?,
            ("drift", span) => self.drift_ms = clock_jump(span)?,
            (point, effect) => {
                let mut rule = Rule::read(point, effect)?;
                parts.by_ref().try_for_each(|option| rule.option(option))?;
                self.at_points.push(rule);
            }
        }
        parts.next().map_or(Ok(()), |option| Err(format!("`{option}` has no place here")))
    }
}

impl Rule {
    fn read(point: &str, effect: &str) -> Result<Self, String> {
        let (point, key) = split(point, '@');
        let (stage, resource) = split(point, ':');
        let (kind, command) = split(resource.unwrap_or_default(), '/');
        let stage = match stage {
            "load" => Stage::Load,
            "handler" => Stage::Handler,
            "commit" => Stage::Commit,
            "blob" if resource.is_none() => Stage::Blob,
            _ => {
                return Err(format!(
                    "there is no point {stage}; there are load, handler, commit, blob, disk, clock and drift"
                ));
            }
        };
        let effect = match effect {
            "panic" if stage != Stage::Blob => Effect::Panic,
            "fail" => Effect::Fail,
            "away" => Effect::Away,
            "kill" => Effect::Kill,
            "lose" if stage == Stage::Commit => Effect::Lose,
            "kill_after" if stage == Stage::Commit => Effect::KillAfter,
            "stall" => Effect::Stall(STALL),
            effect => timed(effect)
                .filter(|timed| !matches!((stage, timed), (Stage::Commit | Stage::Blob, Effect::Spin(_))))
                .ok_or_else(|| format!("{effect} is nothing that can happen there"))?,
        };
        if stage != Stage::Handler && command.is_some() {
            return Err("only handlers are told apart by command".to_owned());
        }
        let owned = |name: &str| (!name.is_empty()).then(|| name.to_owned());
        let (kind, command, key) = (owned(kind), command.and_then(owned), key.and_then(owned));
        Ok(Self { stage, kind, command, key, effect, after: 0, every: 1, times: u64::MAX, met: 0, happened: 0 })
    }

    fn option(&mut self, option: &str) -> Result<(), String> {
        let (name, value) = option.split_once('=').ok_or_else(|| format!("`{option}` has no ="))?;
        let value = value.parse().map_err(|_| format!("`{value}` is no number"))?;
        match name {
            "after" => self.after = value,
            "every" if value > 0 => self.every = value,
            "times" => self.times = value,
            _ => return Err(format!("`{option}` says nothing; there are after, every and times")),
        }
        Ok(())
    }

    fn fits(&self, place: Place<'_>) -> bool {
        let is = |wanted: &Option<String>, found: &str| wanted.as_deref().is_none_or(|wanted| wanted == found);
        self.stage == place.stage
            && is(&self.kind, place.kind)
            && is(&self.command, place.command)
            && self.key.as_ref().is_none_or(|key| *key == place.key.to_string())
    }

    /// Whether it happens at this meeting, which is counted.
    pub fn happens(&mut self, place: Place<'_>) -> bool {
        if !self.fits(place) {
            return false;
        }
        self.met += 1;
        let turn = (self.met - 1).checked_sub(self.after);
        let happens = self.happened < self.times && turn.is_some_and(|turn| turn.is_multiple_of(self.every));
        self.happened += u64::from(happens);
        happens
    }
}

/// What stands before the first `separator`, and what behind it.
fn split(text: &str, separator: char) -> (&str, Option<&str>) {
    text.split_once(separator).map_or((text, None), |(before, behind)| (before, Some(behind)))
}

/// An effect with how long it lasts.
fn timed(effect: &str) -> Option<Effect> {
    let (name, span) = effect.strip_suffix(')')?.split_once('(')?;
    let span = duration(span)?;
    match name {
        "stall" => Some(Effect::Stall(span)),
        "spin" => Some(Effect::Spin(span)),
        _ => None,
    }
}

fn clock_jump(text: &str) -> Result<i64, String> {
    let (sign, span) = match (text.strip_prefix('+'), text.strip_prefix('-')) {
        (Some(span), _) => (1, span),
        (_, Some(span)) => (-1, span),
        _ => return Err("write +<duration> or -<duration>".to_owned()),
    };
    let span = duration(span).and_then(|span| i64::try_from(span.as_millis()).ok());
    span.map(|millis| sign * millis).ok_or_else(|| format!("{text} is no duration"))
}

/// A whole number and its unit: `ms`, `s`, `m`, `h` or `d`.
fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at(text.find(|letter: char| !letter.is_ascii_digit())?);
    let number: u64 = number.parse().ok()?;
    let seconds = match unit {
        "ms" => return Some(Duration::from_millis(number)),
        "s" => 1,
        "m" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        _ => return None,
    };
    Some(Duration::from_secs(number.checked_mul(seconds)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> Rules {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    fn meetings(text: &str, place: Place<'_>) -> String {
        let mut rules = rules(text);
        (0..10).map(|_| if rules.at_points[0].happens(place) { 'x' } else { '.' }).collect()
    }

    const CREATE: Place<'_> = Place { stage: Stage::Handler, kind: "page_tree", command: "create", key: &"org_1" };

    #[test]
    fn a_rule_fits_what_it_names_and_whatever_it_leaves_out() {
        for fits in ["handler", "handler:page_tree", "handler:page_tree/create", "handler:/create", "handler@org_1"] {
            assert_eq!(meetings(&format!("{fits}=panic"), CREATE), "xxxxxxxxxx", "{fits}");
        }
        for other in ["load", "handler:vault", "handler:page_tree/delete", "handler:page_tree/create@org_2"] {
            assert_eq!(meetings(&format!("{other}=panic"), CREATE), "..........", "{other}");
        }
    }

    #[test]
    fn a_rule_happens_as_often_as_it_says() {
        assert_eq!(meetings("handler=panic;times=2", CREATE), "xx........");
        assert_eq!(meetings("handler=panic;after=3", CREATE), "...xxxxxxx");
        assert_eq!(meetings("handler=panic;after=1;every=3;times=3", CREATE), ".x..x..x..");
        assert_eq!(meetings("handler=panic;after=18446744073709551615", CREATE), "..........");
    }

    #[test]
    fn rules_stand_behind_commas_and_on_lines() {
        let rules = rules("disk=full, clock=-90m\n# of no interest\n  commit:vault=lose ;times=1\nload=stall(200ms)\n");
        assert_eq!((rules.disk_is_full, rules.clock_jump_ms), (true, -90 * 60 * 1_000));
        let effects: Vec<_> = rules.at_points.iter().map(|rule| rule.effect).collect();
        assert_eq!(effects, [Effect::Lose, Effect::Stall(Duration::from_millis(200))]);
        assert_eq!(" \n,".parse(), Ok(Rules::default()));
    }

    #[test]
    fn what_says_nothing_is_refused() {
        for text in [
            "handler",
            "handlers=panic",
            "handler=explode",
            "load=lose",
            "load:vault/create=fail",
            "handler=panic;times",
            "handler=panic;times=often",
            "handler=panic;every=0",
            "handler=panic;never=1",
            "disk=empty",
            "disk=full;times=1",
            "clock=1h",
            "clock=+1 week",
            "load=stall(5)",
            "handler=spin",
            "commit=spin(1s)",
            "blob:imports=fail",
            "blob=panic",
            "blob=lose",
            "blob=kill_after",
            "handler=kill_after",
        ] {
            assert!(text.parse::<Rules>().is_err(), "{text}");
        }
    }
}
