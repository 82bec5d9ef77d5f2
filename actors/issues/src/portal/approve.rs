//! Approving a request through the help center.

use domain::{Result, id::OrgId};
use kernel::{Command, Handle, Turn};

use super::Opened;
use crate::{
    approvals::{Deciding, DecisionMade, decided},
    issue::IssueOwner,
};

/// Decides on an approval of a request; what is said with it is for all who take part.
#[derive(Clone, Debug)]
pub struct ApproveRequest {
    /// The organization.
    pub org_id: OrgId,
    /// What is decided.
    pub made: DecisionMade,
}

impl Command for ApproveRequest {
    type Reply = ();

    const NAME: &'static str = "approve_issue_request";
}

impl Handle<ApproveRequest> for IssueOwner {
    async fn handle(&mut self, command: &ApproveRequest, turn: &mut Turn<'_, Self>) -> Result<()> {
        let Opened { person, space, stored, .. } = Opened::of(turn, command.org_id).await?;
        let (_, change) = decided(turn, &Deciding { person, space, stored, is_public: true }, &command.made).await?;
        turn.commit(change).await
    }
}
