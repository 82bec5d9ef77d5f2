//! What a job's settings come to once their expressions are evaluated.

use serde::{Deserialize, Serialize};

use crate::pipelines::{
    expressions::{ExpressionFault, Surroundings, Value},
    workflow::{Concurrency, Queue, Setting},
};

/// Minutes that a job may take unless it says otherwise.
pub const TIMEOUT_MINUTES: u32 = 360;
/// Minutes that a job may take, at most: five days, as on self-hosted runners at GitHub. More counts as this.
pub const TIMEOUT_MINUTES_MAX: u32 = 7_200;

/// Characters that a fault shows of a value of the wrong kind, at most.
const FOUND_LEN_MAX: usize = 100;

/// A concurrency group that a run or a job wants to be in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupWish {
    /// The group's name, in lower case, since names are alike regardless of case.
    pub group: String,
    /// Whether what runs makes way.
    pub cancels: bool,
    /// How many members wait.
    pub queue: Queue,
}

/// Why a job can't be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum JobFault {
    #[error("{key}: {fault}")]
    Expression { key: &'static str, fault: ExpressionFault },
    #[error("{key}: Unexpected value '{found}'. {wanted} was expected")]
    Kind { key: &'static str, found: String, wanted: &'static str },
    #[error("{key}: {message}")]
    Other { key: &'static str, message: String },
}

impl JobFault {
    /// The fault of an expression at this key.
    pub fn expression(key: &'static str) -> impl FnOnce(ExpressionFault) -> Self {
        move |fault| Self::Expression { key, fault }
    }

    pub fn other(key: &'static str, message: impl Into<String>) -> Self {
        Self::Other { key, message: message.into() }
    }

    fn kind(key: &'static str, found: &Value, wanted: &'static str) -> Self {
        Self::Kind { key, found: found.to_text().chars().take(FOUND_LEN_MAX).collect(), wanted }
    }
}

type Evaluated<T> = Result<T, JobFault>;

/// The value of a boolean setting.
pub(super) fn flag(key: &'static str, setting: &Setting<bool>, surroundings: &impl Surroundings) -> Evaluated<bool> {
    match setting {
        Setting::Given(value) => Ok(*value),
        Setting::Evaluated(template) => match template.evaluate(surroundings).map_err(JobFault::expression(key))? {
            Value::Boolean(value) => Ok(value),
            other => Err(JobFault::kind(key, &other, "A boolean")),
        },
    }
}

/// The value of a setting that is a number above 0, rounded up to a whole one.
pub(super) fn count(key: &'static str, setting: &Setting<f64>, surroundings: &impl Surroundings) -> Evaluated<u32> {
    let number = match setting {
        Setting::Given(value) => *value,
        Setting::Evaluated(template) => match template.evaluate(surroundings).map_err(JobFault::expression(key))? {
            Value::Number(value) => value,
            other => return Err(JobFault::kind(key, &other, "A number")),
        },
    };
    if number.is_nan() || number <= 0.0 {
        return Err(JobFault::other(key, "A number greater than 0 was expected"));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast of a float stays at the bounds"
    )]
    Ok(number.ceil() as u32)
}

/// What a concurrency group's settings come to; none where the group's name is empty.
pub(super) fn group(
    wanted: &Concurrency,
    len_max: usize,
    surroundings: &impl Surroundings,
) -> Evaluated<Option<GroupWish>> {
    const KEY: &str = "concurrency";
    let name = wanted.group.evaluate(surroundings).map_err(JobFault::expression(KEY))?;
    let group = name.to_text().replace('\0', "").to_lowercase();
    if group.is_empty() {
        return Ok(None);
    }
    if group.chars().count() > len_max {
        return Err(JobFault::other(KEY, format!("The name of a group has at most {len_max} characters")));
    }
    let cancels = flag("concurrency.cancel-in-progress", &wanted.cancel_in_progress, surroundings)?;
    Ok(Some(GroupWish { group, cancels, queue: wanted.queue }))
}
