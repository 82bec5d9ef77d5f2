//! The actors of a node, and what operators do with one.

use actors::platform::{Act, Question};
use domain::problems::Problems;
use http_shell::{
    answer::Json,
    cursor,
    error::Result,
    path::{Path, PathParameter},
    permission::PlatformInfra,
    query::{Query, RequestQuery},
    state::State,
    wire::Done,
};
use kernel::{ResidentPlace, ResidentState, ResidentsQuery, ResidentsSort, SortOrder};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{
    AskedActor, AskedNode, KindName, Operator,
    views::{ActorAnswer, ActorListAnswer, ActorsAnswer, FoundActors},
};

/// Actors that are listed when nothing else is asked for.
const LIMIT_DEFAULT: u64 = 100;
/// Actors that are listed at once, at most.
const LIMIT_MAX: u64 = 500;
/// Characters that are looked for.
const TEXT_LEN_MAX: usize = 200;

/// See the kinds of actor
///
/// Totals since the start of the node, times, and policies of each kind.
#[utoipa::path(get, path = "/v1/platform/actors")]
pub(crate) async fn actors_get(_operator: Operator<PlatformInfra>, node: AskedNode) -> Result<Json<ActorsAnswer>> {
    node.pass_on(Question::Actors).await
}

/// Which actors to list.
#[derive(Debug, Deserialize, IntoParams)]
pub(crate) struct ActorListQuery {
    /// Only those with this in their key, their command or their last error, in whatever case: 1 to 200 characters.
    q: Option<String>,
    /// Only those in this state: `busy`, `crashed` or `quarantined`.
    #[param(value_type = Option<String>)]
    state: Option<ResidentState>,
    /// What they are sorted by: `key`, `waiting` (the default), `running`, `crashes` or `active`.
    #[param(value_type = Option<String>)]
    sort: Option<ResidentsSort>,
    /// `asc` or `desc`; by default `asc` for keys and `desc` for the rest.
    #[param(value_type = Option<String>)]
    order: Option<SortOrder>,
    /// Where the page starts: the `cursor` of the page before it, of the same kind in the same order.
    cursor: Option<String>,
    /// How many: 1 to 500, by default 100.
    #[param(minimum = 1, maximum = 500, default = 100)]
    limit: Option<u64>,
}

impl RequestQuery for ActorListQuery {
    fn check(&self, problems: &mut Problems) {
        let fits = self.q.as_deref().is_none_or(|text| (1..=TEXT_LEN_MAX).contains(&text.chars().count()));
        problems.require(fits, "q", "Use 1 to 200 characters.");
        problems.require((1..=LIMIT_MAX).contains(&self.limit()), "limit", "Use 1 to 500.");
    }
}

impl ActorListQuery {
    fn limit(&self) -> u64 {
        self.limit.unwrap_or(LIMIT_DEFAULT)
    }

    fn sort(&self) -> ResidentsSort {
        self.sort.unwrap_or(ResidentsSort::Waiting)
    }

    fn order(&self) -> SortOrder {
        let natural = if self.sort() == ResidentsSort::Key { SortOrder::Asc } else { SortOrder::Desc };
        self.order.unwrap_or(natural)
    }

    /// The name of the list in its cursors.
    fn list(&self, kind: &str) -> String {
        format!("actors {kind} {:?} {:?}", self.sort(), self.order())
    }

    fn read(&self, kind: &str) -> Result<ResidentsQuery> {
        let after = self.cursor.as_deref().map(|cursor| cursor::read::<ResidentPlace>(&self.list(kind), cursor));
        Ok(ResidentsQuery {
            text: self.q.clone(),
            state: self.state,
            sort: self.sort(),
            order: self.order(),
            after: after.transpose()?,
            limit: usize::try_from(self.limit()).unwrap_or(usize::MAX),
        })
    }
}

/// List the resident actors of a kind
///
/// With what they are at, how many commands wait, and how they crashed. They move while they are looked through: by `key`,
/// each one that stays is seen once.
#[utoipa::path(get, path = "/v1/platform/actors/{kind}")]
pub(crate) async fn actors_list(
    _operator: Operator<PlatformInfra>,
    kind: Path<KindName>,
    node: AskedNode,
    query: Query<ActorListQuery>,
) -> Result<Json<ActorListAnswer>> {
    let Path(KindName(kind)) = kind;
    let (list, query) = (query.list(&kind), query.read(&kind)?);
    let found: FoundActors = node.answer(Question::Kind { kind, query }).await?;
    Ok(Json(found.listed(&list)))
}

/// See one actor
///
/// The actor's state, and its last eight commands.
#[utoipa::path(get, path = "/v1/platform/actors/{kind}/{actorKey}")]
pub(crate) async fn actor_get(_operator: Operator<PlatformInfra>, actor: AskedActor) -> Result<Json<ActorAnswer>> {
    let AskedActor { node, kind, key } = actor;
    node.pass_on(Question::Actor { kind, key }).await
}

/// Do something with an actor
///
/// `restart`: its next command loads the resource from the store; what runs at this moment is not broken off.
/// `passivate`: it leaves memory, unless somebody waits for it or has it open.
/// `release`: its quarantine ends and its crashes are forgotten; its next command is served at once.
///
/// What is done is written into the audit trail of the platform's organization before it is done.
#[utoipa::path(post, path = "/v1/platform/actors/{kind}/{actorKey}/{act}", responses(
    (status = 409, description = "Commands wait for it, or somebody has it open.\n\n\
        It is in quarantine; release it first.\n\nIt has no crashes to forget."),
))]
pub(crate) async fn actor_act(
    operator: Operator<PlatformInfra>,
    act: Path<ActName>,
    actor: AskedActor,
    state: State,
) -> Result<Json<Done>> {
    let Path(ActName(act)) = act;
    let (org_id, context) = (operator.org_id(), operator.context());
    let one = (actor.kind.as_str(), actor.key.as_str());
    state.actors.platform.act(actor.node.name(), one, act, org_id, context).await?;
    Ok(Json(Done::new()))
}

/// What is done with an actor, as the path names it.
pub(crate) struct ActName(Act);

impl PathParameter for ActName {
    const NAME: &'static str = "act";
    const DESCRIPTION: &'static str = "What is done: `restart`, `passivate` or `release`.";
    const EXAMPLE: &'static str = "restart";
    const NOT_FOUND: &'static str = "There is nothing at this address.";

    fn read(text: &str) -> Option<Self> {
        match text {
            "restart" => Some(Self(Act::Restart)),
            "passivate" => Some(Self(Act::Passivate)),
            "release" => Some(Self(Act::Release)),
            _ => None,
        }
    }
}
