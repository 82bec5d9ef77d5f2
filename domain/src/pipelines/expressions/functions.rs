//! What the functions do that need nothing but their arguments.

use super::{
    budget::Budget,
    compare::{equal, upper},
    fault::FaultKind,
    json, number,
    value::Value,
};

/// A function of the language. Names are alike regardless of case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Function {
    /// Whether a text is in a text, or a value in an array.
    Contains,
    /// Whether a text begins with another one.
    StartsWith,
    /// Whether a text ends with another one.
    EndsWith,
    /// A text with arguments in the places of `{0}`, `{1}`.
    Format,
    /// The values of an array as one text.
    Join,
    /// A value as JSON.
    ToJson,
    /// The value of a text of JSON.
    FromJson,
    /// The value behind the first condition that holds.
    Case,
    /// A hash of all files that patterns match.
    HashFiles,
    /// Whether nothing has failed, and nobody cancelled.
    Success,
    /// Whether something has failed, and nobody cancelled.
    Failure,
    /// `true`, whatever happened.
    Always,
    /// Whether somebody cancelled the run.
    Cancelled,
}

/// Arguments that `format` takes, at most.
const FORMAT_ARGUMENTS_MAX: usize = 255;

impl Function {
    const NAMES: [(&str, Self); 13] = [
        ("contains", Self::Contains),
        ("startsWith", Self::StartsWith),
        ("endsWith", Self::EndsWith),
        ("format", Self::Format),
        ("join", Self::Join),
        ("toJSON", Self::ToJson),
        ("fromJSON", Self::FromJson),
        ("case", Self::Case),
        ("hashFiles", Self::HashFiles),
        ("success", Self::Success),
        ("failure", Self::Failure),
        ("always", Self::Always),
        ("cancelled", Self::Cancelled),
    ];

    /// The function of this name.
    pub fn read(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| name.eq_ignore_ascii_case(known)).map(|(_, function)| *function)
    }

    /// Whether the function says how the run is doing. An `if` without one means `success() && (…)`.
    pub const fn is_status(self) -> bool {
        matches!(self, Self::Success | Self::Failure | Self::Always | Self::Cancelled)
    }

    /// How many arguments the function takes, where every place knows it.
    pub(super) const fn arguments(self) -> Option<(usize, usize)> {
        match self {
            Self::Contains | Self::StartsWith | Self::EndsWith => Some((2, 2)),
            Self::Format => Some((1, FORMAT_ARGUMENTS_MAX)),
            Self::Join => Some((1, 2)),
            Self::ToJson | Self::FromJson => Some((1, 1)),
            Self::Case => Some((3, usize::MAX)),
            Self::HashFiles | Self::Success | Self::Failure | Self::Always | Self::Cancelled => None,
        }
    }
}

/// Whether `of` contains `sought`: as a part of a text regardless of case, or as one of an array's values.
pub(super) fn contains(of: &Value, sought: &Value) -> bool {
    match of {
        Value::Array(array) => array.items().iter().any(|item| equal(sought, item)),
        Value::Object(_) => false,
        _ => sought.is_primitive() && of.to_text().to_lowercase().contains(&sought.to_text().to_lowercase()),
    }
}

/// Whether `of` begins with `part`, regardless of case.
pub(super) fn starts_with(of: &Value, part: &Value) -> bool {
    of.is_primitive() && part.is_primitive() && upper(&of.to_text()).starts_with(&upper(&part.to_text()))
}

/// Whether `of` ends with `part`, regardless of case.
pub(super) fn ends_with(of: &Value, part: &Value) -> bool {
    of.is_primitive() && part.is_primitive() && upper(&of.to_text()).ends_with(&upper(&part.to_text()))
}

/// The values of an array as one text, with a separator between them.
pub(super) fn join(of: &Value, separator: Option<&Value>, budget: &mut Budget) -> Result<Value, FaultKind> {
    let Value::Array(array) = of else {
        return Ok(if of.is_primitive() { Value::Text(of.to_text()) } else { Value::text("") });
    };
    let separator = separator.filter(|it| it.is_primitive()).map_or_else(|| ",".into(), Value::to_text);
    let mut joined = String::new();
    for (at, item) in array.items().iter().enumerate() {
        let item = item.to_text();
        budget.take_bytes(separator.len() + item.len())?;
        if at > 0 {
            joined.push_str(&separator);
        }
        joined.push_str(&item);
    }
    Ok(joined.into())
}

/// The first argument, with the others in the places of `{0}`, `{1}`; `{{` and `}}` are braces.
pub(super) fn format(arguments: &[Value], budget: &mut Budget) -> Result<Value, FaultKind> {
    let (pattern, values) = arguments.split_first().ok_or_else(|| FaultKind::BadFormat(String::new()))?;
    let pattern = pattern.to_text();
    let bad = || FaultKind::BadFormat(pattern.to_string());
    let (mut rest, mut made) = (&*pattern, String::new());
    while let Some(at) = rest.find(['{', '}']) {
        let (before, from_brace) = rest.split_at(at);
        let (brace, behind) = from_brace.split_at(1);
        budget.take_bytes(before.len())?;
        made.push_str(before);
        if let Some(behind) = behind.strip_prefix(brace) {
            made.push_str(brace);
            rest = behind;
            continue;
        }
        let (place, behind) = behind.split_once('}').filter(|_| brace == "{").ok_or_else(bad)?;
        let digits = place.len() - place.trim_start_matches(|it: char| it.is_ascii_digit()).len();
        if digits == 0 {
            return Err(bad());
        }
        let value = place[..digits].parse().ok().and_then(|place: usize| values.get(place));
        let value = value.ok_or_else(|| FaultKind::MissingArgument(pattern.to_string()))?.to_text();
        budget.take_bytes(value.len())?;
        made.push_str(&value);
        rest = behind;
    }
    budget.take_bytes(rest.len())?;
    made.push_str(rest);
    Ok(made.into())
}

/// The value of a text of JSON.
pub(super) fn from_json(text: &Value, budget: &mut Budget) -> Result<Value, FaultKind> {
    let text = text.to_text();
    if text.trim_matches(number::is_space).is_empty() {
        return Err(FaultKind::NotJson("it is empty"));
    }
    json::read(&text, budget)
}

/// The value behind the first condition that is true, or the last one.
pub(super) fn case(arguments: &[Value]) -> Result<Value, FaultKind> {
    let (otherwise, pairs) = arguments.split_last().ok_or(FaultKind::ConditionOfCase)?;
    for pair in pairs.chunks_exact(2) {
        match pair {
            [Value::Boolean(true), value] => return Ok(value.clone()),
            [Value::Boolean(false), _] => {}
            _ => return Err(FaultKind::ConditionOfCase),
        }
    }
    Ok(otherwise.clone())
}
