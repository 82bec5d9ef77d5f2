//! What agents of a desk work with: queues, answers that they keep at hand, and the customers.

use actors::issues::count;
use domain::{
    Email,
    issues::{
        access::Permission,
        jql::meaning::Fallback,
        limits::{SEARCH_RESULTS, SEARCH_START_MAX},
        portal::{CannedResponse, QUEUE_COUNTED_MAX},
    },
    problems::Problems,
};
use http_shell::{
    answer::Json,
    error::Result,
    permission::IssuesRead,
    query::{Query, RequestQuery},
    state::State,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{
    argument::{QueueOf, SpaceOf},
    search::{IssueSearchAnswer, answered},
};

/// A queue of a desk.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IssueQueueBody {
    id: String,
    name: String,
    /// Which issues of the space are in it, and in which order.
    jql: String,
    /// The fields that it is shown with.
    columns: Vec<String>,
    /// How many issues are in it, up to 1,000; null where the query can't be asked.
    count: Option<u64>,
    /// Why the query can't be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// The queues of a desk.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueQueuesAnswer {
    /// In the order in which they are shown; none of a space that is no desk.
    queues: Vec<IssueQueueBody>,
}

/// Which page of a queue.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(rename_all = "camelCase")]
pub(crate) struct IssueQueueQuery {
    /// Issues that are passed over: 0 to 100,000.
    #[serde(default)]
    #[param(maximum = 100_000)]
    start_at: u64,
    /// Issues that are answered at most: 1 to 1,000; 50 by default.
    #[param(minimum = 1, maximum = 1_000)]
    max_results: Option<u64>,
}

impl RequestQuery for IssueQueueQuery {
    fn check(&self, problems: &mut Problems) {
        problems.require(self.start_at <= SEARCH_START_MAX as u64, "startAt", "Must be from 0 to 100000.");
        let (least, most) = (*SEARCH_RESULTS.start() as u64, *SEARCH_RESULTS.end() as u64);
        let fits = self.max_results.is_none_or(|count| (least..=most).contains(&count));
        problems.require(fits, "maxResults", "Must be from 1 to 1000.");
    }
}

/// An answer that is kept at hand.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueCannedBody {
    id: String,
    name: String,
    /// Markdown.
    body: String,
}

/// The answers of a desk.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueCannedAnswer {
    canned: Vec<IssueCannedBody>,
}

impl From<CannedResponse> for IssueCannedBody {
    fn from(canned: CannedResponse) -> Self {
        let CannedResponse { id, name, body } = canned;
        Self { id, name, body }
    }
}

/// A customer of a desk.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IssueCustomerBody {
    email: String,
    /// The member of the organization who has this address.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
    /// The member's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

/// The customers of a desk.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueCustomersAnswer {
    /// In the order in which the desk lists them.
    customers: Vec<IssueCustomerBody>,
}

/// The queues of a desk
///
/// With how many issues are in each. What you may not browse isn't counted.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/queues")]
pub(crate) async fn issue_queues_list(of: SpaceOf<IssuesRead>, state: State) -> Result<Json<IssueQueuesAnswer>> {
    let queues = of.space.config.servicedesk.as_ref().map_or(&[][..], |desk| &desk.queues);
    let mut all = Vec::with_capacity(queues.len());
    for queue in queues {
        let jql = queue.query(of.space.space_id);
        let found = count(&state.store, of.org.authority(), (&jql, QUEUE_COUNTED_MAX)).await;
        let (count, error) = match found {
            Ok(count) => (Some(count), None),
            Err(error) if error.status() == 400 => (None, Some(error.to_string())),
            Err(error) => return Err(error.into()),
        };
        let (id, name, jql) = (queue.id.clone(), queue.name.clone(), queue.jql.clone());
        all.push(IssueQueueBody { id, name, jql, columns: queue.columns.clone(), count, error });
    }
    Ok(Json(IssueQueuesAnswer { queues: all }))
}

/// The issues of a queue
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/queues/{queueId}/issues",
    responses((status = 400, description = "Field 'x' does not exist or you do not have permission to view it. (line 1, character 1)")))]
pub(crate) async fn issue_queue_issues(
    QueueOf { of, queue }: QueueOf<IssuesRead>,
    query: Query<IssueQueueQuery>,
    state: State,
) -> Result<Json<IssueSearchAnswer>> {
    let jql = queue.query(of.space.space_id);
    answered(&of.org, &state, (&jql, Fallback::Created), (query.start_at, query.max_results)).await
}

/// The answers that a desk keeps at hand
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/canned", responses(
    (status = 403, description = "You can't answer requests in this space."),
))]
pub(crate) async fn issue_canned_list(of: SpaceOf<IssuesRead>) -> Result<Json<IssueCannedAnswer>> {
    of.require(Permission::ServiceAgent)?;
    let canned = of.space.config.servicedesk.map_or_else(Vec::new, |desk| desk.canned_responses);
    Ok(Json(IssueCannedAnswer { canned: canned.into_iter().map(IssueCannedBody::from).collect() }))
}

/// The customers of a desk
///
/// The addresses that the desk lists. Whether somebody outside of the organization has an account isn't told.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/customers", responses(
    (status = 403, description = "Only admins of the space can do this."),
))]
pub(crate) async fn issue_customers_list(of: SpaceOf<IssuesRead>, state: State) -> Result<Json<IssueCustomersAnswer>> {
    of.require(Permission::Administer)?;
    let listed = of.space.config.servicedesk.map_or_else(Vec::new, |desk| desk.portal.customers);
    let mut customers = Vec::with_capacity(listed.len());
    for email in listed {
        let known = match Email::parse("email", &email) {
            Ok(address) => state.store.person_by_email(&address).await?,
            Err(_) => None,
        };
        let member = match known {
            Some(person) => state.store.member(of.org.id(), person.id).await?,
            None => None,
        };
        let (user_id, name) = member.map(|member| (member.user_id.to_string(), member.name)).unzip();
        customers.push(IssueCustomerBody { email, user_id, name });
    }
    Ok(Json(IssueCustomersAnswer { customers }))
}
