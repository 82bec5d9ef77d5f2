//! The issue, the space and the filter that a path names, as arguments: holding one proves that the caller may see it.

use actors::issues::sight;
use domain::{
    Context, Error,
    id::{BoardId, IssueFilterId, IssueVersionId, OrgId},
    issues::{
        access::{Permission as Grant, require},
        boards::Board,
        builtin::{self, BuiltIn},
        limits::{
            BOARD_NOT_FOUND, FILTER_NOT_FOUND, ISSUE_NOT_FOUND, SPACE_NOT_FOUND, VERSION_NOT_FOUND, WORKFLOW_NOT_FOUND,
        },
        parts::Version,
        portal::{QUEUE_NOT_FOUND, Queue},
        space::{Space, SpaceRole},
    },
};
use http_shell::{
    argument::Argument,
    call::Call,
    error::Result,
    facts::Facts,
    org::Org,
    path::{PathParameter, concat_example},
    permission::Permission,
};
use store::issues::{FilterOf, StoredIssue};

/// The issue that the path names, in a space that the caller may browse.
pub struct IssueOf<P: Permission> {
    /// The organization.
    pub org: Org<P>,
    /// The issue.
    pub stored: StoredIssue,
    /// Its space.
    pub space: Space,
    /// What the caller is there.
    pub role: SpaceRole,
}

impl<P: Permission> IssueOf<P> {
    /// The organization.
    pub fn org_id(&self) -> OrgId {
        self.org.id()
    }

    /// The context to ask an owner with.
    pub fn context(&self) -> Context {
        self.org.context()
    }
}

impl<P: Permission> Argument for IssueOf<P> {
    fn describe(facts: &mut Facts) {
        Org::<P>::describe(facts);
        facts.path_parameter("issueKey", "An issue: its key, in any case, or its id.", "WEB-12");
        facts.error(404, ISSUE_NOT_FOUND);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let org = Org::<P>::take(call).await?;
        let gone = || Error::not_found(ISSUE_NOT_FOUND);
        let store = &call.state.store;
        let stored = store.issue_named(org.id(), call.path_value("issueKey")?).await?.ok_or_else(gone)?;
        let sight = sight(store, org.authority()).await?;
        let (space, role) = sight.space(stored.issue.space_id).cloned().ok_or_else(gone)?;
        Ok(Self { org, stored, space, role })
    }
}

/// The space that the path names, which the caller may browse.
pub(crate) struct SpaceOf<P: Permission> {
    /// The organization.
    pub org: Org<P>,
    /// The space.
    pub space: Space,
    /// What the caller is there.
    pub role: SpaceRole,
}

impl<P: Permission> SpaceOf<P> {
    /// 403, where the caller lacks this permission in the space.
    pub fn require(&self, permission: Grant) -> domain::Result<()> {
        require(Some(self.role), permission, SPACE_NOT_FOUND)
    }
}

impl<P: Permission> Argument for SpaceOf<P> {
    fn describe(facts: &mut Facts) {
        Org::<P>::describe(facts);
        facts.path_parameter("spaceKey", "A space: its key, in any case, or its id.", "WEB");
        facts.error(404, SPACE_NOT_FOUND);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let org = Org::<P>::take(call).await?;
        let gone = || Error::not_found(SPACE_NOT_FOUND);
        let store = &call.state.store;
        let found = store.issue_space_named(org.id(), call.path_value("spaceKey")?).await?.ok_or_else(gone)?;
        let sight = sight(store, org.authority()).await?;
        let (space, role) = sight.space(found.space_id).cloned().ok_or_else(gone)?;
        Ok(Self { org, space, role })
    }
}

/// The board that the path names, of a space that the caller may browse.
pub(crate) struct BoardOf<P: Permission> {
    /// Its space.
    pub of: SpaceOf<P>,
    /// The board.
    pub board: Board,
}

impl<P: Permission> Argument for BoardOf<P> {
    fn describe(facts: &mut Facts) {
        SpaceOf::<P>::describe(facts);
        facts.path_parameter("boardId", "A board of the space.", concat_example(BoardId::PREFIX));
        facts.error(404, BOARD_NOT_FOUND);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let of = SpaceOf::<P>::take(call).await?;
        let gone = || Error::not_found(BOARD_NOT_FOUND);
        let id: BoardId = call.path_value("boardId")?.parse().map_err(|_| gone())?;
        let known = call.state.store.issue_boards(of.org.id(), of.space.space_id).await?;
        let board = known.into_iter().find(|it| it.id == id).ok_or_else(gone)?;
        Ok(Self { of, board })
    }
}

/// The queue that the path names, of a desk that the caller may browse.
pub(crate) struct QueueOf<P: Permission> {
    /// The desk's space.
    pub of: SpaceOf<P>,
    /// The queue.
    pub queue: Queue,
}

impl<P: Permission> Argument for QueueOf<P> {
    fn describe(facts: &mut Facts) {
        SpaceOf::<P>::describe(facts);
        facts.path_parameter("queueId", "A queue of the desk.", "unassigned");
        facts.error(404, QUEUE_NOT_FOUND);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let of = SpaceOf::<P>::take(call).await?;
        let id = call.path_value("queueId")?;
        let desk = of.space.config.servicedesk.as_ref();
        let found = desk.and_then(|desk| desk.queues.iter().find(|queue| queue.id == id)).cloned();
        Ok(Self { queue: found.ok_or_else(|| Error::not_found(QUEUE_NOT_FOUND))?, of })
    }
}

/// The version that the path names, of a space that the caller may browse.
pub(crate) struct VersionOf<P: Permission> {
    /// Its space.
    pub of: SpaceOf<P>,
    /// The version.
    pub version: Version,
}

impl<P: Permission> Argument for VersionOf<P> {
    fn describe(facts: &mut Facts) {
        SpaceOf::<P>::describe(facts);
        facts.path_parameter("versionId", "A version of the space.", concat_example(IssueVersionId::PREFIX));
        facts.error(404, VERSION_NOT_FOUND);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let of = SpaceOf::<P>::take(call).await?;
        let gone = || Error::not_found(VERSION_NOT_FOUND);
        let id: IssueVersionId = call.path_value("versionId")?.parse().map_err(|_| gone())?;
        let known = call.state.store.issue_versions(of.org.id(), Some(of.space.space_id)).await?;
        let version = known.into_iter().find(|it| it.id == id).ok_or_else(gone)?;
        Ok(Self { of, version })
    }
}

/// The filter that the path names, which the caller may read.
pub(crate) struct FilterSeen<P: Permission> {
    /// The organization.
    pub org: Org<P>,
    /// The filter.
    pub found: FilterOf,
}

impl<P: Permission> Argument for FilterSeen<P> {
    fn describe(facts: &mut Facts) {
        Org::<P>::describe(facts);
        facts.path_parameter("filterId", "A saved filter.", concat_example(IssueFilterId::PREFIX));
        facts.error(404, FILTER_NOT_FOUND);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let org = Org::<P>::take(call).await?;
        let gone = || Error::not_found(FILTER_NOT_FOUND);
        let id: IssueFilterId = call.path_value("filterId")?.parse().map_err(|_| gone())?;
        let person = org.authority().on_behalf_of()?;
        let store = &call.state.store;
        let found = store.issue_filter(org.id(), id, person).await?.ok_or_else(gone)?;
        let teams = sight(store, org.authority()).await?.teams;
        if !found.filter.is_read_by(org.authority(), &teams) {
            return Err(gone().into());
        }
        Ok(Self { org, found })
    }
}

/// The workflow that the path names.
pub(crate) struct NamedWorkflow(pub &'static BuiltIn);

impl PathParameter for NamedWorkflow {
    const NAME: &'static str = "workflowId";
    const DESCRIPTION: &'static str = "A workflow.";
    const EXAMPLE: &'static str = "wf_software";
    const NOT_FOUND: &'static str = WORKFLOW_NOT_FOUND;

    fn read(text: &str) -> Option<Self> {
        builtin::workflow(text).map(Self)
    }
}
