//! When the people of a rota hand over, as it travels.

use domain::{
    Error,
    notify::{Handover, HandoverMoment, TimeOfDay},
    problems::Problems,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// When one hands over to the next.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"every": "week", "day": 1, "at": "09:00"}))]
pub(crate) struct HandoverBody {
    /// `day`, `week`, or `custom`: each week at the moments.
    every: String,
    /// The time of a `day`'s or `week`'s handover: `HH:MM`, in the rota's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    /// The day of a `week`'s handover: 0 (Sunday) to 6.
    #[serde(skip_serializing_if = "Option::is_none")]
    day: Option<u8>,
    /// How many days or weeks one turn lasts: 1 to 12; 1 where it isn't said.
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<u8>,
    /// The moments of a `custom` handover: 1 to 21.
    #[serde(skip_serializing_if = "Option::is_none")]
    moments: Option<Vec<MomentBody>>,
}

/// A moment of the week.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"day": 5, "at": "17:00"}))]
pub(crate) struct MomentBody {
    /// The day: 0 (Sunday) to 6.
    day: u8,
    /// The time: `HH:MM`.
    at: String,
}

impl From<&Handover> for HandoverBody {
    fn from(handover: &Handover) -> Self {
        let body = |every: &str| Self { every: every.to_owned(), at: None, day: None, interval: None, moments: None };
        match handover {
            Handover::Day { at, interval } => {
                Self { at: Some(at.to_string()), interval: Some(*interval), ..body("day") }
            }
            Handover::Week { day, at, interval } => {
                Self { at: Some(at.to_string()), day: Some(*day), interval: Some(*interval), ..body("week") }
            }
            Handover::Custom { moments } => {
                let moments = moments.iter().map(|moment| MomentBody { day: moment.day, at: moment.at.to_string() });
                Self { moments: Some(moments.collect()), ..body("custom") }
            }
        }
    }
}

impl HandoverBody {
    /// Reads it; what can't be read is noted in `problems`. Limits are checked by `domain`.
    pub(super) fn read(&self, problems: &mut Problems) -> domain::Result<Option<Handover>> {
        let interval = self.interval.unwrap_or(1);
        let mut time = |path: &str, text: Option<&str>| {
            let required = || Error::invalid(path, "This field is required.");
            problems.keep(text.ok_or_else(required).and_then(|text| TimeOfDay::parse(path, text)))
        };
        match self.every.as_str() {
            "day" => Ok(time("handover.at", self.at.as_deref())?.map(|at| Handover::Day { at, interval })),
            "week" => {
                let at = time("handover.at", self.at.as_deref())?;
                problems.require(self.day.is_some(), "handover.day", "This field is required.");
                Ok(at.zip(self.day).map(|(at, day)| Handover::Week { day, at, interval }))
            }
            "custom" => {
                let moments = self.moments.as_deref().unwrap_or_default().iter().enumerate();
                let moments = moments.map(|(place, moment)| {
                    let at = time(&format!("handover.moments[{place}].at"), Some(&moment.at))?;
                    Ok(at.map(|at| HandoverMoment { day: moment.day, at }))
                });
                let moments: Option<Vec<_>> = moments.collect::<domain::Result<Option<Vec<_>>>>()?;
                Ok(moments.map(|moments| Handover::Custom { moments }))
            }
            _ => {
                problems.add("handover.every", "Use day, week or custom.");
                Ok(None)
            }
        }
    }
}
