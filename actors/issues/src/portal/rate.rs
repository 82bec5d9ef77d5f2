//! Rating how a request was answered.

use domain::{
    Error, Result,
    id::OrgId,
    issues::portal::{RATING_COMMENT_LEN_MAX, RATINGS, rating_check},
};
use kernel::{Command, Handle, Turn};
use store::Change;

use super::{Opened, news::tell_touched};
use crate::{fields::touched, issue::IssueOwner};

/// Rates how a request was answered.
#[derive(Clone, Debug)]
pub struct RateRequest {
    /// The organization.
    pub org_id: OrgId,
    /// 1 to 5 stars.
    pub rating: i64,
    /// What is said with it.
    pub comment: Option<String>,
}

impl Command for RateRequest {
    type Reply = ();

    const NAME: &'static str = "rate_issue_request";
}

impl Handle<RateRequest> for IssueOwner {
    async fn handle(&mut self, command: &RateRequest, turn: &mut Turn<'_, Self>) -> Result<()> {
        let opened = Opened::of(turn, command.org_id).await?;
        if !RATINGS.contains(&command.rating) {
            return Err(Error::invalid("rating", "Use 1 to 5."));
        }
        let comment = command.comment.as_deref().map(str::trim).filter(|text| !text.is_empty());
        if comment.is_some_and(|text| text.chars().count() > RATING_COMMENT_LEN_MAX || text.contains('\0')) {
            return Err(Error::invalid("comment", "Use at most 1000 characters."));
        }
        rating_check(&opened.desk, &opened.stored.issue, opened.person)?;
        let (mut after, now) = (opened.stored.clone(), turn.now());
        after.issue.satisfaction = Some(command.rating);
        after.issue.satisfaction_comment = comment.map(str::to_owned);
        touched(&mut after, now);
        let mut change = Change::new();
        change.issue_set(&after, &opened.stored);
        tell_touched(&mut change, &turn.services().store, &after.issue, now).await?;
        turn.commit(change).await
    }
}
