//! Booking time for an issue in a calendar (contract B 4.1), where issues and calendars meet.

use actors::BookingPlace;
use domain::{
    calendar::no_calendar,
    issues::{
        booking::{BOOKING_FOR_PEOPLE, BOOKING_ID_LEN_MAX, BookingFields, booking_link},
        issue::issue_url,
    },
    mail::no_mailbox,
    problems::Problems,
};
use http_calendar::CalendarEventBody;
use http_issues::IssueOf;
use http_shell::{
    answer::Created,
    argument::Argument,
    body::{Body, RequestBody},
    call::Call,
    error::Result,
    facts::Facts,
    org::Org,
    permission::{Both, CalendarWrite, IssuesWrite},
    state::State,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

type Books = Both<IssuesWrite, CalendarWrite>;

/// The issue that the path names, for a person: keys have no calendars.
pub(crate) struct BookedIssue(IssueOf<Books>);

impl Argument for BookedIssue {
    fn describe(facts: &mut Facts) {
        IssueOf::<Books>::describe(facts);
        facts.door("people", BOOKING_FOR_PEOPLE);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        Org::<Books>::take(call).await?.authority().person(BOOKING_FOR_PEOPLE)?;
        Ok(Self(IssueOf::take(call).await?))
    }
}

/// Time that is to be booked.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "mailboxId": "mbx_01jd7rt4m5e9fv2w8x3c6k0hqz", "start": "2026-11-23T09:00", "end": "2026-11-23T11:00",
    "timeZone": "Europe/Vienna"
}))]
pub(crate) struct IssueScheduleBody {
    /// A mailbox of yours.
    #[schema(max_length = 64)]
    mailbox_id: String,
    /// A calendar of the mailbox; the default one where none is named.
    #[schema(max_length = 64)]
    calendar_id: Option<String>,
    /// When it begins, on the wall of the zone: `YYYY-MM-DD` or `YYYY-MM-DDTHH:MM`.
    start: String,
    /// When it ends; of whole days, the day behind the last.
    end: String,
    /// The zone, such as `Europe/Vienna`.
    #[schema(min_length = 1, max_length = 64)]
    time_zone: String,
    /// Whether it is of whole days.
    #[serde(default)]
    all_day: bool,
    /// What it is called, at most 500 characters; the issue's key and summary where nothing is said.
    title: Option<String>,
}

impl RequestBody for IssueScheduleBody {
    fn check(&self, problems: &mut Problems) {
        let fits = |text: &str| text.chars().count() <= BOOKING_ID_LEN_MAX;
        problems.require(fits(&self.mailbox_id), "mailboxId", "Use at most 64 characters.");
        let calendar = self.calendar_id.as_deref().is_none_or(fits);
        problems.require(calendar, "calendarId", "Use at most 64 characters.");
    }
}

/// Time that is booked.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IssueScheduleAnswer {
    /// The event, which links back to the issue.
    event: CalendarEventBody,
    /// The link between the two.
    link_id: String,
    /// Where the issue is shown.
    url: String,
}

/// Book time for an issue
///
/// In a calendar of one of your mailboxes. Nobody is invited.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/issues/calendar/schedule/{issueKey}", responses(
    (status = 400, description = "A mailbox has at most 200,000 events."),
    (status = 404, description = "Mailbox not found\n\nCalendar not found"),
))]
pub(crate) async fn issue_schedule(
    BookedIssue(of): BookedIssue,
    body: Body<IssueScheduleBody>,
    state: State,
) -> Result<Created<IssueScheduleAnswer>> {
    let IssueScheduleBody { mailbox_id, calendar_id, start, end, time_zone, all_day, title } = body.into_inner();
    let issue = &of.stored.issue;
    let url = issue_url(&state.settings.public_url, issue.org_id, &issue.key);
    let booking = BookingFields { start, end, time_zone, all_day, title };
    let draft = booking.event((&issue.key, &issue.summary), url.clone())?;
    let place = BookingPlace {
        org_id: of.org_id(),
        mailbox_id: mailbox_id.parse().map_err(|_| no_mailbox())?,
        calendar_id: calendar_id.map(|id| id.parse().map_err(|_| no_calendar())).transpose()?,
    };
    let event = state.actors.issue_calendar.book(place, draft, of.context()).await?;
    let link_id = booking_link(event.head.id);
    Ok(Created(IssueScheduleAnswer { event: CalendarEventBody::of(event)?, link_id, url }))
}
