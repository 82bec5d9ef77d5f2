//! Approvals (contract B 2.1): a status of a request type may ask people whether a request goes on.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{issue::Issue, settings::Settings, space::Space, workflow::available};
use crate::{
    Error, Result, Timestamp,
    id::{ApprovalId, TeamId, UserId},
    problems::Problems,
};

/// Statuses of a request type that ask for an approval.
pub const APPROVALS_MAX: usize = 20;
/// People and teams that are named as approvers.
pub const APPROVERS_NAMED_MAX: usize = 50;
/// People who are asked for one approval.
pub const APPROVERS_MAX: usize = 100;
/// 404 of an approval.
pub const APPROVAL_NOT_FOUND: &str = "Approval not found.";
/// 409, where nobody is left who could approve.
pub const NOBODY_APPROVES: &str = "Nobody can approve this.";
/// 409, where more people would be asked than may be.
pub const TOO_MANY_APPROVE: &str = "At most 100 people can be asked to approve.";

/// That a status of requests asks for an approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ApprovalRule {
    /// The status that asks when it is entered.
    pub status_id: String,
    /// Who is asked.
    pub approvers: Approvers,
    /// How many have to approve.
    pub needed: Needed,
    /// Where an approved request goes.
    pub approved_to: String,
    /// Where a declined request goes.
    pub declined_to: String,
    /// Whether whoever raised the request may be asked, too.
    #[serde(default)]
    pub reporter_may: bool,
}

/// Who is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Approvers {
    /// These people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub user_ids: Vec<UserId>,
    /// The members of these teams.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub team_ids: Vec<TeamId>,
    /// Whoever stands in a field of the issue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<ApproverField>,
    /// Whoever leads the space.
    #[serde(default)]
    pub lead: bool,
}

/// The fields of an issue that hold a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "each is what it is called")]
pub enum ApproverField {
    Assignee,
    Reporter,
    Creator,
}

/// How many have to approve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Needed {
    /// Everybody who is asked; one who declines is enough to decline.
    All,
    /// The first who answers decides.
    One,
}

/// What an approver says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "each is what it is called")]
pub enum Decision {
    Approved,
    Declined,
}

/// How an approval stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "each is what it is called")]
pub enum ApprovalState {
    Pending,
    Approved,
    Declined,
}

/// An approval of an issue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the fields are the contract's")]
pub struct Approval {
    pub id: ApprovalId,
    pub status_id: String,
    pub approvers: Vec<UserId>,
    pub needed: Needed,
    pub decisions: Vec<Decided>,
    pub state: ApprovalState,
    pub created_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<Timestamp>,
}

/// What somebody decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the fields are the contract's")]
pub struct Decided {
    pub user_id: UserId,
    pub decision: Decision,
    pub at: Timestamp,
}

impl Needed {
    /// The contract's name for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::One => "one",
        }
    }
}

impl Decision {
    /// The contract's name for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Declined => "declined",
        }
    }
}

impl ApprovalState {
    /// The contract's name for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Declined => "declined",
        }
    }
}

impl Approval {
    /// Asks these people, at `now`.
    pub fn asked(rule: &ApprovalRule, approvers: Vec<UserId>, now: Timestamp) -> Self {
        Self {
            id: ApprovalId::new(now),
            status_id: rule.status_id.clone(),
            approvers,
            needed: rule.needed,
            decisions: Vec::new(),
            state: ApprovalState::Pending,
            created_at: now,
            decided_at: None,
        }
    }

    /// Whether it isn't decided yet.
    pub fn is_pending(&self) -> bool {
        self.state == ApprovalState::Pending
    }

    /// Whether somebody has said what they decide.
    pub fn has_decided(&self, person: UserId) -> bool {
        self.decisions.iter().any(|it| it.user_id == person)
    }

    /// Whether it waits for what somebody decides.
    pub fn waits_for(&self, person: UserId) -> bool {
        self.is_pending() && self.approvers.contains(&person) && !self.has_decided(person)
    }

    /// Keeps what somebody decides; `may` tells of those who haven't decided yet whether they still can. Answers whether this ends it.
    ///
    /// # Errors
    /// 403 for who isn't asked, 409 where it is over, or they have decided.
    pub fn decide(&mut self, made: Decided, may: impl Fn(UserId) -> bool) -> Result<bool> {
        if !self.approvers.contains(&made.user_id) {
            return Err(Error::forbidden("not_approver", "You aren't asked to approve this."));
        }
        if !self.is_pending() {
            return Err(Error::conflict("already_decided", "This approval is over."));
        }
        if self.has_decided(made.user_id) {
            return Err(Error::conflict("already_decided", "You have decided this."));
        }
        self.decisions.push(made);
        let is_last = !self.approvers.iter().any(|it| !self.has_decided(*it) && may(*it));
        let state = match (made.decision, self.needed) {
            (Decision::Declined, _) => ApprovalState::Declined,
            (Decision::Approved, Needed::All) if !is_last => return Ok(false),
            (Decision::Approved, _) => ApprovalState::Approved,
        };
        self.state = state;
        self.decided_at = Some(made.at);
        Ok(true)
    }

    /// Ends it, because the issue left the status: declined, whatever was decided.
    pub const fn withdraw(&mut self, now: Timestamp) {
        self.state = ApprovalState::Declined;
        self.decided_at = Some(now);
    }
}

impl ApprovalRule {
    /// Where a request goes that is approved, or declined.
    pub fn leads_to(&self, state: ApprovalState) -> Option<&str> {
        match state {
            ApprovalState::Approved => Some(&self.approved_to),
            ApprovalState::Declined => Some(&self.declined_to),
            ApprovalState::Pending => None,
        }
    }

    /// The people whom it names by id, and those who stand in a field or lead the space, each once.
    pub fn named(&self, space: &Space, issue: &Issue) -> BTreeSet<UserId> {
        let in_field = match self.approvers.field {
            Some(ApproverField::Assignee) => issue.assignee_id,
            Some(ApproverField::Reporter) => issue.reporter_id,
            Some(ApproverField::Creator) => issue.creator_id,
            None => None,
        };
        let lead = space.lead_id.filter(|_| self.approvers.lead);
        self.approvers.user_ids.iter().copied().chain(in_field).chain(lead).collect()
    }
}

/// What the status of a request asks for; nothing of an issue that is no request.
pub fn rule_of<'s>(space: &'s Space, issue: &Issue) -> Option<&'s ApprovalRule> {
    let kind = space.config.servicedesk.as_ref()?.request_type(issue.request_type_id.as_ref()?)?;
    kind.approvals.iter().find(|rule| rule.status_id == issue.status_id)
}

/// Whether a transition would do what only an approval does that the issue waits for.
pub fn is_awaited(space: &Space, issue: &Issue, to: &str) -> bool {
    let waits = issue.approvals.iter().any(|it| it.is_pending() && it.status_id == issue.status_id);
    waits && rule_of(space, issue).is_some_and(|rule| rule.approved_to == to)
}

/// What queries find the approvals of an issue by: how they stand, who is asked, and for whom they wait.
pub fn marks(approvals: &[Approval]) -> Vec<String> {
    let mut marks = BTreeSet::new();
    for approval in approvals {
        marks.insert(approval.state.as_str().to_owned());
        marks.extend(approval.approvers.iter().map(|it| format!("approver:{it}")));
        let waiting = approval.approvers.iter().filter(|it| approval.waits_for(**it));
        marks.extend(waiting.map(|it| format!("pending:{it}")));
    }
    marks.into_iter().collect()
}

/// Says everything that is wrong with what a desk asks approvals for.
pub fn check(problems: &mut Problems, config: &super::space::SpaceConfig, settings: &Settings) {
    let kinds = config.servicedesk.iter().flat_map(|desk| &desk.request_types);
    for (at, kind) in kinds.enumerate() {
        let path = format!("config.servicedesk.requestTypes[{at}].approvals");
        problems.require(kind.approvals.len() <= APPROVALS_MAX, path.clone(), "Use at most 20.");
        let workflow =
            super::builtin::workflow(config.workflow_of(&kind.issue_type_id)).map(super::builtin::BuiltIn::definition);
        let mut seen = BTreeSet::new();
        for (at, rule) in kind.approvals.iter().enumerate() {
            let path = format!("{path}[{at}]");
            problems.require(settings.status(&rule.status_id).is_some(), format!("{path}.statusId"), NO_STATUS);
            let is_new = seen.insert(&rule.status_id);
            problems.require(is_new, format!("{path}.statusId"), "This status stands here twice.");
            for (name, to) in [("approvedTo", &rule.approved_to), ("declinedTo", &rule.declined_to)] {
                let leads = |it: &super::workflow::Definition| available(it, &rule.status_id).any(|way| way.to == *to);
                let message = "The workflow has no transition from the status to this one.";
                problems.require(workflow.as_ref().is_some_and(leads), format!("{path}.{name}"), message);
            }
            let Approvers { user_ids, team_ids, field, lead } = &rule.approvers;
            let named = user_ids.len() + team_ids.len();
            let is_said = named > 0 || field.is_some() || *lead;
            problems.require(is_said, format!("{path}.approvers"), "Say who is asked.");
            let fits = named <= APPROVERS_NAMED_MAX;
            problems.require(fits, format!("{path}.approvers"), "Name at most 50 people and teams.");
        }
    }
}

const NO_STATUS: &str = "There is no such status.";

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(needed: Needed) -> ApprovalRule {
        ApprovalRule {
            status_id: "waiting_for_approval".to_owned(),
            approvers: Approvers::default(),
            needed,
            approved_to: "waiting_for_support".to_owned(),
            declined_to: "cancelled".to_owned(),
            reporter_may: false,
        }
    }

    fn people(count: i64) -> Vec<UserId> {
        (1..=count).map(|at| UserId::new(Timestamp(at))).collect()
    }

    fn says(person: UserId, decision: Decision) -> Decided {
        Decided { user_id: person, decision, at: Timestamp(9) }
    }

    #[test]
    fn one_answer_decides_where_one_is_needed() {
        let people = people(2);
        for (decision, state) in
            [(Decision::Approved, ApprovalState::Approved), (Decision::Declined, ApprovalState::Declined)]
        {
            let mut approval = Approval::asked(&rule(Needed::One), people.clone(), Timestamp(1));
            assert_eq!(approval.decide(says(people[0], decision), |_| true).ok(), Some(true));
            assert_eq!((approval.state, approval.decided_at), (state, Some(Timestamp(9))));
            let late = approval.decide(says(people[1], decision), |_| true);
            assert_eq!(late.err().map(|it| it.status()), Some(409));
        }
    }

    #[test]
    fn all_have_to_approve_but_those_who_left_and_one_declines() {
        let people = people(3);
        let mut approval = Approval::asked(&rule(Needed::All), people.clone(), Timestamp(1));
        assert_eq!(approval.decide(says(people[0], Decision::Approved), |_| true).ok(), Some(false));
        let twice = approval.decide(says(people[0], Decision::Approved), |_| true);
        assert_eq!(twice.err().map(|it| it.status()), Some(409));
        let stranger = approval.decide(says(UserId::new(Timestamp(99)), Decision::Approved), |_| true);
        assert_eq!(stranger.err().map(|it| it.status()), Some(403));
        let mut declined = approval.clone();
        assert_eq!(declined.decide(says(people[1], Decision::Declined), |_| true).ok(), Some(true));
        assert_eq!(declined.state, ApprovalState::Declined);
        assert_eq!(approval.decide(says(people[1], Decision::Approved), |it| it != people[2]).ok(), Some(true));
        assert_eq!(approval.state, ApprovalState::Approved);
    }

    #[test]
    fn queries_find_who_is_asked_and_for_whom_it_waits() {
        let people = people(2);
        let mut approval = Approval::asked(&rule(Needed::All), people.clone(), Timestamp(1));
        assert_eq!(approval.decide(says(people[0], Decision::Approved), |_| true).ok(), Some(false));
        let mut wanted = vec![
            "pending".to_owned(),
            format!("approver:{}", people[0]),
            format!("approver:{}", people[1]),
            format!("pending:{}", people[1]),
        ];
        wanted.sort();
        assert_eq!(marks(&[approval]), wanted);
        assert_eq!(marks(&[]), [""; 0]);
    }
}
