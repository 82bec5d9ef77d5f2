//! Raising a request.

use domain::{
    Error, Result,
    id::OrgId,
    issues::{
        issue::{Issue, excerpt},
        limits::SUMMARY_LEN_MAX,
        portal::{
            COUNTED_FOR, FormFieldId, REQUEST_DESCRIPTION_LEN_MAX, REQUEST_TYPE_NOT_FOUND, REQUESTS_PER_HOUR,
            RequestType,
        },
        settings::Settings,
        space::{DefaultAssignee, Space},
    },
    problems::Problems,
};
use kernel::{Command, Handle, Turn};
use store::{Store, issues::StoredIssue};

use super::{Entered, desk_of, tell_raised};
use crate::{
    fields::is_assignable,
    space::{Begun, IssueSpace, begin, blank},
};

/// Has the lead take a request, where the space says so and the lead may.
pub(crate) async fn lead_takes(store: &Store, space: &Space, issue: &mut Issue) -> Result<()> {
    if let (DefaultAssignee::Lead, Some(lead)) = (space.config.default_assignee, space.lead_id)
        && is_assignable(store, space, lead).await?
    {
        issue.assignee_id = Some(lead);
        issue.watch(lead);
    }
    Ok(())
}

/// Raises a request. Answers its key.
#[derive(Clone, Debug)]
pub struct RaiseRequest {
    /// The organization.
    pub org_id: OrgId,
    /// What is asked for.
    pub request_type: String,
    /// In a few words.
    pub summary: String,
    /// In more of them, as Markdown.
    pub description: String,
    /// How urgent it is: the id or the name of a priority.
    pub priority: Option<String>,
}

impl Command for RaiseRequest {
    type Reply = String;

    const NAME: &'static str = "raise_issue_request";
}

impl RaiseRequest {
    /// Puts what is said into an issue; an error names everything that can't be.
    fn apply(&self, kind: &RequestType, settings: &Settings, stored: &mut StoredIssue) -> Result<()> {
        let mut problems = Problems::new();
        let summary = self.summary.trim();
        let fits = (1..=SUMMARY_LEN_MAX).contains(&summary.chars().count()) && !summary.contains('\0');
        problems.require(fits, "summary", "Use 1 to 255 characters.");
        let fits = self.description.chars().count() <= REQUEST_DESCRIPTION_LEN_MAX && !self.description.contains('\0');
        problems.require(fits, "description", "Use at most 32000 characters.");
        let asked = self.priority.as_deref().filter(|text| !text.is_empty());
        match (kind.asks(FormFieldId::Priority), asked) {
            (None, Some(_)) => problems.add("priority", "This form doesn't ask for a priority."),
            (Some(_), Some(text)) => match settings.priority_named(text) {
                Some(id) => stored.issue.priority_id = Some(id),
                None => problems.add("priority", "There is no such priority."),
            },
            (Some(field), None) => problems.require(!field.required, "priority", "This field is required."),
            (None, None) => {}
        }
        problems.into_result()?;
        let issue = &mut stored.issue;
        summary.clone_into(&mut issue.summary);
        issue.excerpt = excerpt(&self.description);
        issue.type_id.clone_from(&kind.issue_type_id);
        issue.request_type_id = Some(kind.id.clone());
        issue.channel = Some("portal".to_owned());
        stored.description.clone_from(&self.description);
        Ok(())
    }
}

impl Handle<RaiseRequest> for IssueSpace {
    async fn handle(&mut self, command: &RaiseRequest, turn: &mut Turn<'_, Self>) -> Result<String> {
        let org_id = command.org_id;
        let (store, now) = (&turn.services().store, turn.now());
        let Entered { person, space, desk } = desk_of(store, turn.context(), (org_id, *turn.key())).await?;
        let kind = desk.request_type(&command.request_type).filter(|kind| !kind.hidden);
        let kind = kind.ok_or_else(|| Error::invalid("requestType", REQUEST_TYPE_NOT_FOUND))?;
        let settings = store.issue_catalog(org_id).await?.settings;
        let mut stored = blank(&space, &settings, person, now);
        command.apply(kind, &settings, &mut stored)?;
        if store.issue_requests_raised(person, now.before(COUNTED_FOR)).await? >= REQUESTS_PER_HOUR {
            let message = "That's as many requests as an hour allows. Try again later.".into();
            return Err(Error::RateLimited { message, retry_after: COUNTED_FOR });
        }
        lead_takes(store, &space, &mut stored.issue).await?;
        begin(&space, &settings, &mut stored.issue, now)?;
        let begun = Begun { space: &space, by: person, cause: "person", requester: Some(person) };
        let mut change = begun.change(store, &mut stored, now).await?;
        tell_raised(&mut change, (&space, &stored.issue), now);
        let key = stored.issue.key.clone();
        turn.commit(change).await?;
        Ok(key)
    }
}
