//! The node that is asked, and the actor that is asked about, as arguments.

use actors::platform::Question;
use domain::Error;
use http_shell::{
    answer::Json,
    argument::Argument,
    call::Call,
    error::Result,
    facts::Facts,
    path::{Path, PathParameter},
    query::{Query, RequestQuery},
    state::State,
};
use serde::{Deserialize, de::DeserializeOwned};
use utoipa::IntoParams;

/// Which node is asked.
#[derive(Debug, Deserialize, IntoParams)]
pub(crate) struct NodeQuery {
    /// The name of a node; by default the one that answers.
    node: Option<String>,
}

impl RequestQuery for NodeQuery {}

/// The node that the query names; by default this one.
pub(crate) struct AskedNode {
    state: State,
    name: Option<String>,
}

impl AskedNode {
    /// What it answers.
    pub(super) async fn answer<T: DeserializeOwned>(&self, question: Question) -> Result<T> {
        let answer = self.state.actors.platform.ask(self.name(), question).await?;
        Ok(serde_json::from_value(answer).map_err(Error::internal)?)
    }

    /// What it answers, passed on as it is.
    pub(super) async fn pass_on<T: DeserializeOwned>(&self, question: Question) -> Result<Json<T>> {
        self.answer(question).await.map(Json)
    }

    /// Its name, if it was named.
    pub(super) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }
}

impl Argument for AskedNode {
    fn describe(facts: &mut Facts) {
        Query::<NodeQuery>::describe(facts);
        facts.error(404, "Node not found.");
        facts.error(503, "This node doesn't answer right now; try again.");
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let Query(NodeQuery { node: name }) = Query::take(call).await?;
        Ok(Self { state: call.state.clone(), name })
    }
}

/// The name of a kind of actor.
pub(crate) struct KindName(pub(super) String);

impl PathParameter for KindName {
    const NAME: &'static str = "kind";
    const DESCRIPTION: &'static str = "A kind of actor.";
    const EXAMPLE: &'static str = "organization";
    const NOT_FOUND: &'static str = "Kind not found.";

    fn read(text: &str) -> Option<Self> {
        Some(Self(text.to_owned()))
    }
}

/// The key of an actor.
struct ActorKey(String);

impl PathParameter for ActorKey {
    const NAME: &'static str = "actorKey";
    const DESCRIPTION: &'static str = "The key of an actor, such as the id of what it owns.";
    const EXAMPLE: &'static str = "org_01jd7rt4m5e9fv2w8x3c6k0hqz";
    const NOT_FOUND: &'static str = "There is no such actor on this node.";

    fn read(text: &str) -> Option<Self> {
        Some(Self(text.to_owned()))
    }
}

/// The actor that the path names, on the node that the query names. Whether there is one, the node says.
pub(crate) struct AskedActor {
    pub(super) node: AskedNode,
    pub(super) kind: String,
    pub(super) key: String,
}

impl Argument for AskedActor {
    fn describe(facts: &mut Facts) {
        Path::<KindName>::describe(facts);
        Path::<ActorKey>::describe(facts);
        AskedNode::describe(facts);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let (Path(KindName(kind)), Path(ActorKey(key))) = (Path::take(call).await?, Path::take(call).await?);
        Ok(Self { node: AskedNode::take(call).await?, kind, key })
    }
}
