//! Saved filters (contract B 2.3, 4.3).

use serde::{Deserialize, Serialize};

use super::jql::{JqlFault, Query};
use crate::{
    Authority, Error, Result, Scope, Timestamp,
    id::{IssueFilterId, OrgId, TeamId, UserId},
    problems::Problems,
};

/// Characters of a filter's name (contract B 4.3).
pub const FILTER_NAME_LEN: std::ops::RangeInclusive<usize> = 1..=100;
/// Characters of a filter's description (contract B 4.3).
pub const FILTER_DESCRIPTION_LEN_MAX: usize = 1_000;
/// Teams that a filter is shared with (contract B 4.3).
pub const SHARED_TEAMS_MAX: usize = 50;
/// People whom a filter is shared with (contract B 4.3).
pub const SHARED_USERS_MAX: usize = 200;
/// Columns of a filter (contract B 4.3).
pub const COLUMNS_MAX: usize = 30;
/// Characters of an id among these (contract B 4.3).
pub const SHARED_ID_LEN_MAX: usize = 64;

/// A saved query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Its id.
    pub id: IssueFilterId,
    /// The organization.
    pub org_id: OrgId,
    /// What people read.
    pub name: String,
    /// What it is for; may be empty.
    pub description: String,
    /// The query.
    pub jql: String,
    /// Whoever made it.
    pub owner_id: UserId,
    /// Who else sees it.
    pub sharing: Sharing,
    /// Columns that it is shown with.
    pub columns: Option<Vec<String>>,
    /// Counts its changes.
    pub version: i64,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// Who sees a filter beside its owner.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sharing {
    /// The whole organization.
    pub org: bool,
    /// Teams.
    pub teams: Vec<String>,
    /// People.
    pub users: Vec<String>,
}

/// When a person is mailed what a filter finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// Each day, or each week.
    pub frequency: Frequency,
    /// The hour, in universal time.
    pub hour: i32,
    /// The day of the week, 0 being Sunday; of weekly mails only.
    pub weekday: Option<i32>,
    /// When the last one was sent.
    pub last_sent_at: Option<Timestamp>,
}

/// How often a mail is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "each is what it is called")]
pub enum Frequency {
    Daily,
    Weekly,
}

impl Frequency {
    /// The contract's name for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Daily => "daily",
            Self::Weekly => "weekly",
        }
    }

    /// The one of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Daily, Self::Weekly].into_iter().find(|it| it.as_str() == name)
    }
}

impl Filter {
    /// Whether it is the caller's own, or shared with them. `teams` are theirs.
    pub fn is_shared_with(&self, person: UserId, teams: &[TeamId]) -> bool {
        let is_team = |id: &String| teams.iter().any(|team| team.to_string() == *id);
        self.owner_id == person
            || self.sharing.org
            || self.sharing.users.contains(&person.to_string())
            || self.sharing.teams.iter().any(is_team)
    }

    /// Whether the caller may read it by its id: who runs issue tracking reads all.
    pub fn is_read_by(&self, authority: &Authority, teams: &[TeamId]) -> bool {
        let person = authority.on_behalf_of().ok();
        authority.has(Scope::IssuesAdmin) || person.is_some_and(|person| self.is_shared_with(person, teams))
    }

    /// Whether the caller may change it.
    pub fn is_editable_by(&self, authority: &Authority) -> bool {
        authority.has(Scope::IssuesAdmin) || authority.on_behalf_of().is_ok_and(|person| person == self.owner_id)
    }

    /// 403 `not_owner` for who may not change it.
    pub fn require_editable(&self, authority: &Authority) -> Result<()> {
        if self.is_editable_by(authority) {
            return Ok(());
        }
        Err(Error::forbidden("not_owner", "Only its owner or an admin can change this filter."))
    }

    /// Says everything that is wrong with it. The query must be one; what it names may be unknown.
    pub fn check(&self) -> Result<()> {
        let mut problems = Problems::new();
        let fits = FILTER_NAME_LEN.contains(&self.name.chars().count()) && !self.name.contains('\0');
        problems.require(fits, "name", "Use 1 to 100 characters.");
        let length = self.description.chars().count();
        let fits = length <= FILTER_DESCRIPTION_LEN_MAX && !self.description.contains('\0');
        problems.require(fits, "description", "Use at most 1000 characters.");
        let lists = [
            ("sharing.teams", &self.sharing.teams, SHARED_TEAMS_MAX),
            ("sharing.users", &self.sharing.users, SHARED_USERS_MAX),
        ];
        for (path, ids, most) in lists {
            problems.require(ids.len() <= most, path, format!("Use at most {most}."));
            texts(&mut problems, path, ids);
        }
        if let Some(columns) = &self.columns {
            problems.require(columns.len() <= COLUMNS_MAX, "columns", "Use at most 30.");
            texts(&mut problems, "columns", columns);
        }
        problems.into_result()?;
        Query::parse(&self.jql).map_err(|fault| jql_fault(&[fault])).map(drop)
    }
}

fn texts(problems: &mut Problems, path: &str, all: &[String]) {
    for (at, text) in all.iter().enumerate() {
        let fits = (1..=SHARED_ID_LEN_MAX).contains(&text.chars().count()) && !text.contains('\0');
        problems.require(fits, format!("{path}.{at}"), "Use 1 to 64 characters.");
    }
}

/// 400 `jql` with what is wrong with a query, and where: the first fault is the message. Places count as editors do.
pub fn jql_fault(faults: &[JqlFault]) -> Error {
    let message = faults.first().map_or_else(|| "The query can't be read.".to_owned(), ToString::to_string);
    let problem = |fault: &JqlFault| {
        serde_json::json!({
            "path": "jql",
            "message": fault.message,
            "start": fault.start.offset,
            "end": fault.end.offset,
            "expected": fault.expected,
        })
    };
    Error::bad_request("jql", message).adding("problems", faults.iter().map(problem).collect::<Vec<_>>())
}

/// Milliseconds of a day, of an hour, and of the time over which filters spread their mails.
const DAY: i64 = 86_400_000;
const HOUR: i64 = 3_600_000;
const SPREAD: i64 = 300_000;

impl Subscription {
    /// When the next mail is due after `now`: within five minutes of the hour, each filter at a moment of its own.
    pub fn due_after(&self, now: Timestamp, filter: IssueFilterId) -> Timestamp {
        let mixed = filter.to_string().bytes().fold(0_i64, |mixed, byte| (mixed * 31 + i64::from(byte)) % SPREAD);
        let of_day = i64::from(self.hour) * HOUR + mixed;
        // The first of January 1970 was a Thursday; 0 is Sunday.
        let is_meant = |day: i64| self.weekday.is_none_or(|weekday| (day + 4).rem_euclid(7) == i64::from(weekday));
        let today = now.0.div_euclid(DAY);
        let days = (today..=today + 8).filter(|day| is_meant(*day));
        let due = days.map(|day| day * DAY + of_day).find(|due| *due > now.0);
        Timestamp(due.unwrap_or(now.0 + 7 * DAY))
    }

    /// Reads what was asked for; a weekly mail comes on Mondays where no day is named.
    pub fn read(frequency: Frequency, hour: i32, weekday: Option<i32>) -> Result<Self> {
        let mut problems = Problems::new();
        problems.require((0..=23).contains(&hour), "subscription.hour", "Use a whole number from 0 to 23.");
        let fits = weekday.is_none_or(|day| (0..=6).contains(&day));
        problems.require(fits, "subscription.weekday", "Use a whole number from 0 to 6.");
        problems.into_result()?;
        let weekday = match frequency {
            Frequency::Daily => None,
            Frequency::Weekly => Some(weekday.unwrap_or(1)),
        };
        Ok(Self { frequency, hour, weekday, last_sent_at: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mails_are_due_within_five_minutes_of_their_hour_on_their_day() {
        let filter: IssueFilterId = "ifl_01jd7rt4m5e9fv2w8x3c6k0hqz".parse().expect("an id");
        let subscription = |weekday| Subscription { frequency: Frequency::Daily, hour: 9, weekday, last_sent_at: None };
        // A Friday, at noon.
        let noon = Timestamp(1_800_014_400_000);
        let next = subscription(None).due_after(noon, filter);
        assert!((0..SPREAD).contains(&(next.0 - noon.0 - 21 * HOUR)), "{next}");
        assert_eq!(subscription(None).due_after(next, filter).0, next.0 + DAY);
        assert_eq!(subscription(None).due_after(Timestamp(next.0 - 1), filter), next);
        for (weekday, days) in [(5, 7), (6, 1), (0, 2), (1, 3), (2, 4), (3, 5), (4, 6)] {
            let due = subscription(Some(weekday)).due_after(noon, filter);
            assert_eq!(due.0, next.0 + (days - 1) * DAY, "{weekday}");
        }
    }

    #[test]
    fn weekly_mails_come_on_mondays_where_nobody_says() {
        let read = |frequency, hour, weekday| Subscription::read(frequency, hour, weekday).ok().map(|it| it.weekday);
        assert_eq!(read(Frequency::Weekly, 23, None), Some(Some(1)));
        assert_eq!(read(Frequency::Weekly, 0, Some(0)), Some(Some(0)));
        assert_eq!(read(Frequency::Daily, 0, Some(6)), Some(None));
        assert_eq!(read(Frequency::Weekly, 24, None), None);
        assert_eq!(read(Frequency::Weekly, -1, None), None);
        assert_eq!(read(Frequency::Weekly, 0, Some(7)), None);
    }
}
