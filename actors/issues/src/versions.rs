//! Versions of a space.

use domain::{
    Error, Result,
    id::{IssueVersionId, OrgId},
    issues::{
        jql::meaning::numbered_day,
        limits::{VERSION_NOT_FOUND, VERSIONS_MAX},
        parts::{Version, folded},
    },
    problems::Problems,
};
use kernel::{Command, Handle, Turn};
use store::{Change, issues::PartKind};

use super::{
    components::{administered, in_use, name_taken, stale},
    space::IssueSpace,
};

/// What is said of a version. What isn't said stays, or takes its default; null clears.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "each is what the version calls it")]
pub struct VersionPatch {
    pub name: Option<String>,
    pub description: Option<String>,
    pub start_date: Option<Option<String>>,
    pub release_date: Option<Option<String>>,
    pub archived: Option<bool>,
    /// The place that it is to have among the versions of the space, from 0.
    pub place: Option<usize>,
    pub version: Option<i64>,
}

/// Makes a version, behind those that are there.
#[derive(Clone, Debug)]
pub struct CreateVersion {
    /// The organization.
    pub org_id: OrgId,
    /// What is said of it.
    pub patch: VersionPatch,
}

/// Changes a version.
#[derive(Clone, Debug)]
pub struct ChangeVersion {
    /// The organization.
    pub org_id: OrgId,
    /// Which one.
    pub id: IssueVersionId,
    /// What is to be changed.
    pub patch: VersionPatch,
}

/// Releases a version, or takes that back.
#[derive(Clone, Copy, Debug)]
pub struct ReleaseVersion {
    /// The organization.
    pub org_id: OrgId,
    /// Which one.
    pub id: IssueVersionId,
    /// Whether it is to be released.
    pub released: bool,
}

/// Deletes a version that no issue has.
#[derive(Clone, Copy, Debug)]
pub struct RemoveVersion {
    /// The organization.
    pub org_id: OrgId,
    /// Which one.
    pub id: IssueVersionId,
}

impl Command for CreateVersion {
    type Reply = Version;

    const NAME: &'static str = "create_issue_version";
}

impl Command for ChangeVersion {
    type Reply = Version;

    const NAME: &'static str = "change_issue_version";
}

impl Command for ReleaseVersion {
    type Reply = Version;

    const NAME: &'static str = "release_issue_version";
}

impl Command for RemoveVersion {
    type Reply = ();

    const NAME: &'static str = "remove_issue_version";
}

impl VersionPatch {
    /// The version as it is to be, which is right; its place apart.
    fn apply(&self, mut version: Version) -> Result<Version> {
        if let Some(name) = &self.name {
            name.trim().clone_into(&mut version.name);
        }
        if let Some(description) = &self.description {
            description.clone_into(&mut version.description);
        }
        if let Some(day) = &self.start_date {
            version.start_date.clone_from(day);
        }
        if let Some(day) = &self.release_date {
            version.release_date.clone_from(day);
        }
        version.archived = self.archived.unwrap_or(version.archived);
        let mut problems = Problems::new();
        version.check(&mut problems);
        problems.into_result()?;
        Ok(version)
    }
}

/// The versions of a turn's space, which the caller administers.
async fn known(turn: &Turn<'_, IssueSpace>, org_id: OrgId) -> Result<Vec<Version>> {
    let space = administered(turn, org_id).await?;
    Ok(turn.services().store.issue_versions(org_id, Some(space.space_id)).await?)
}

fn found(known: &[Version], id: IssueVersionId) -> Result<&Version> {
    known.iter().find(|it| it.id == id).ok_or_else(|| Error::not_found(VERSION_NOT_FOUND))
}

impl Handle<CreateVersion> for IssueSpace {
    async fn handle(&mut self, command: &CreateVersion, turn: &mut Turn<'_, Self>) -> Result<Version> {
        let org_id = command.org_id;
        let known = known(turn, org_id).await?;
        let blank = Version {
            id: IssueVersionId::new(turn.now()),
            space_id: *turn.key(),
            name: String::new(),
            description: String::new(),
            start_date: None,
            release_date: None,
            released_at: None,
            archived: false,
            place: known.iter().map(|it| it.place).max().unwrap_or(0) + 1,
            version: 1,
            created_at: turn.now(),
        };
        let version = command.patch.apply(blank)?;
        if known.iter().any(|it| folded(&it.name) == folded(&version.name)) {
            return Err(name_taken("version"));
        }
        if known.len() >= VERSIONS_MAX {
            let message = format!("A space has at most {VERSIONS_MAX} versions.");
            return Err(Error::bad_request("limit_reached", message));
        }
        let mut change = Change::new();
        change.issue_version_add(org_id, &version);
        turn.commit(change).await?;
        Ok(version)
    }
}

impl Handle<ChangeVersion> for IssueSpace {
    async fn handle(&mut self, command: &ChangeVersion, turn: &mut Turn<'_, Self>) -> Result<Version> {
        let known = known(turn, command.org_id).await?;
        let before = found(&known, command.id)?;
        if command.patch.version.is_some_and(|version| version != before.version) {
            return Err(stale("version"));
        }
        let mut version = command.patch.apply(before.clone())?;
        if known.iter().any(|it| it.id != version.id && folded(&it.name) == folded(&version.name)) {
            return Err(name_taken("version"));
        }
        let mut change = Change::new();
        if let Some(place) = command.patch.place {
            version.place = move_to(&mut change, &known, (version.id, place));
        }
        if version == *before {
            return Ok(version);
        }
        version.version += 1;
        change.issue_version_set(&version);
        turn.commit(change).await?;
        Ok(version)
    }
}

/// Gives the versions of a space their places anew, with one of them at a place; that one's number, which is yet to be written.
fn move_to(change: &mut Change, known: &[Version], (id, place): (IssueVersionId, usize)) -> i64 {
    let mut order: Vec<&Version> = known.iter().filter(|it| it.id != id).collect();
    let place = place.min(order.len());
    if let Some(own) = known.iter().find(|it| it.id == id) {
        order.insert(place, own);
    }
    let mut own = 1;
    for (number, version) in (1..).zip(order) {
        if version.id == id {
            own = number;
        } else if version.place != number {
            change.issue_version_set(&Version { place: number, version: version.version + 1, ..version.clone() });
        }
    }
    own
}

impl Handle<ReleaseVersion> for IssueSpace {
    async fn handle(&mut self, command: &ReleaseVersion, turn: &mut Turn<'_, Self>) -> Result<Version> {
        let known = known(turn, command.org_id).await?;
        let before = found(&known, command.id)?;
        if before.is_released() == command.released {
            return Ok(before.clone());
        }
        let now = turn.now();
        let mut version = before.clone();
        version.version += 1;
        version.released_at = command.released.then_some(now);
        if command.released && version.release_date.is_none() {
            const DAY: i64 = 86_400_000;
            version.release_date = numbered_day(now.0.div_euclid(DAY)).map(|day| day.to_string());
        }
        let mut change = Change::new();
        change.issue_version_set(&version);
        turn.commit(change).await?;
        Ok(version)
    }
}

impl Handle<RemoveVersion> for IssueSpace {
    async fn handle(&mut self, command: &RemoveVersion, turn: &mut Turn<'_, Self>) -> Result<()> {
        let org_id = command.org_id;
        let known = known(turn, org_id).await?;
        let version = found(&known, command.id)?;
        let id = version.id.to_string();
        let uses = turn.services().store.issue_part_uses(org_id, PartKind::Version, &id).await?;
        if uses > 0 {
            return Err(in_use((&id, &version.name), uses));
        }
        let mut change = Change::new();
        change.issue_part_remove(org_id, PartKind::Version, (&id, version.version));
        turn.commit(change).await
    }
}
