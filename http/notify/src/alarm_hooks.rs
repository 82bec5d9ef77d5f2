//! Hooks that alarms from outside come in by: their list, and what is posted to them.

use std::time::Duration;

use actors::organization::{DeleteAlarmHook, MakeAlarmHook, RaiseAlarms};
use domain::{
    Context, Error, Timestamp, Token, TokenKind, account::name_check, id::AlarmHookId, notify::ALARM_POSTS_PER_MINUTE,
};
use gateways::hub::{Limit, RetryAfter};
use http_shell::{
    answer::{Created, Json},
    argument::Argument,
    body::{Body, RequestBody},
    call::Call,
    error::Result,
    facts::Facts,
    org::Org,
    path::{Path, PathParameter},
    permission::{OrgRead, OrgWrite},
    state::State,
    wire::Done,
};
use serde::{Deserialize, Serialize};
use store::notify::AlarmHook;
use utoipa::ToSchema;

use super::alarm_post::AlarmPost;

/// What the limit of posts is counted over.
const MINUTE: Duration = Duration::from_mins(1);

/// A hook that alarms come in by.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "hookId": "ahk_01jd7rt4m5e9fv2w8x3c6k0hqz", "name": "Alertmanager", "createdBy": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz",
    "createdAt": 1_767_225_600_000_i64, "lastUsedAt": 1_767_312_000_000_i64
}))]
pub(crate) struct AlarmHookBody {
    /// The hook's id.
    hook_id: String,
    /// What it is called.
    name: String,
    /// The person who made the hook.
    created_by: String,
    /// When.
    created_at: i64,
    /// When something last came in by it, to the minute.
    last_used_at: Option<i64>,
}

impl From<AlarmHook> for AlarmHookBody {
    fn from(hook: AlarmHook) -> Self {
        Self {
            hook_id: hook.id.to_string(),
            name: hook.name,
            created_by: hook.created_by.to_string(),
            created_at: hook.created_at.as_millis(),
            last_used_at: hook.last_used_at.map(Timestamp::as_millis),
        }
    }
}

/// All hooks.
#[derive(Serialize, ToSchema)]
pub(crate) struct AlarmHooksAnswer {
    /// The oldest first; at most 50.
    hooks: Vec<AlarmHookBody>,
}

/// The hooks for alarms
#[utoipa::path(get, path = "/v1/orgs/{orgId}/notify/hooks")]
pub(crate) async fn alarm_hooks_list(org: Org<OrgRead>, state: State) -> Result<Json<AlarmHooksAnswer>> {
    let hooks = state.store.alarm_hooks(org.id()).await?;
    Ok(Json(AlarmHooksAnswer { hooks: hooks.into_iter().map(AlarmHookBody::from).collect() }))
}

/// A new hook.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"name": "Alertmanager"}))]
pub(crate) struct AlarmHookCreate {
    /// What it is called: 1 to 80 characters.
    name: String,
}

impl RequestBody for AlarmHookCreate {}

/// A new hook with its address.
#[derive(Serialize, ToSchema)]
pub(crate) struct AlarmHookAnswer {
    /// The hook.
    hook: AlarmHookBody,
    /// Where alarms are posted; it is shown once, and whoever has it may raise alarms.
    #[schema(
        example = "https://troupe.example.com/v1/hooks/ops/ahk_01jd7rt4m5e9fv2w8x3c6k0hqz/trp_h_0iZ3qkV9xTg2mB7sYcN5wLhRj8DfAeUo4PvXu1KtQ6rWnBd8Fq2"
    )]
    url: String,
}

/// Make a hook for alarms
///
/// Put its address into Alertmanager as a `webhook_configs` entry, or into Grafana as a contact point of the kind
/// webhook. The address is shown once and not kept, so a lost answer can't be repeated: delete the hook and make another.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/notify/hooks", responses(
    (status = 400, description = "An organization has at most 50 alarm hooks."),
))]
pub(crate) async fn alarm_hook_create(
    org: Org<OrgWrite>,
    body: Body<AlarmHookCreate>,
    state: State,
) -> Result<Created<AlarmHookAnswer>> {
    let command = MakeAlarmHook { name: name_check("name", &body.name)? };
    let (hook, token) = state.actors.organization.ask(&org.id(), command, org.context()).await?;
    let url = format!("{}/v1/hooks/ops/{}/{}", state.options.public_url, hook.id, token.reveal());
    Ok(Created(AlarmHookAnswer { hook: hook.into(), url }))
}

/// Delete a hook for alarms
///
/// What came in by it stays.
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/notify/hooks/{hookId}")]
pub(crate) async fn alarm_hook_delete(org: Org<OrgWrite>, id: Path<AlarmHookId>, state: State) -> Result<Json<Done>> {
    state.actors.organization.ask(&org.id(), DeleteAlarmHook(*id), org.context()).await?;
    Ok(Json(Done::new()))
}

/// The hook that the path names and whose token it has. Holding it proves that whoever posts was given its address, and
/// has not posted too often.
pub(crate) struct OpenHook {
    hook: AlarmHook,
    context: Context,
}

impl Argument for OpenHook {
    fn describe(facts: &mut Facts) {
        facts.open();
        Path::<AlarmHookId>::describe(facts);
        facts.path_parameter(
            "hookToken",
            "The secret of the hook.",
            "trp_h_0iZ3qkV9xTg2mB7sYcN5wLhRj8DfAeUo4PvXu1KtQ6rWnBd8Fq2",
        );
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let not_found = || Error::not_found(AlarmHookId::NOT_FOUND);
        let Path(id) = Path::<AlarmHookId>::take(call).await?;
        let token: Token = call.path_value("hookToken")?.parse().map_err(|_| not_found())?;
        if token.kind() != TokenKind::Hook {
            return Err(not_found().into());
        }
        let hook = call.state.store.alarm_hook_by_token(id, token.hash()).await?.ok_or_else(not_found)?;
        // After the token, so that nobody without it uses the hook's limit up.
        let limit = Limit::new(ALARM_POSTS_PER_MINUTE, MINUTE);
        let verdict = call.state.hub.limit_check(&format!("alarms:{id}"), limit, call.state.store.now()).await;
        verdict.map_err(|RetryAfter(retry_after)| Error::RateLimited {
            message: format!("A hook takes {ALARM_POSTS_PER_MINUTE} posts a minute; try again later.").into(),
            retry_after,
        })?;
        Ok(Self { hook, context: call.context.clone() })
    }
}

/// How many alerts were taken.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"accepted": 1}))]
pub(crate) struct AlarmPostAnswer {
    /// The number of alerts, those that are resolved included.
    accepted: usize,
}

/// Raise alarms
///
/// The token in the path is the credential. Each alert is an event `ops.alarm`, known by its fingerprint: whoever was told
/// of it is not told again until it is resolved, and that is told once too. Posted again it adds nothing to an escalation
/// under way, and resolved it ends it.
#[utoipa::path(post, path = "/v1/hooks/ops/{hookId}/{hookToken}", responses(
    (status = 413, description = "The request is too large.\n\nA post has at most 500 alerts; send them in several."),
    (status = 429, description = "A hook takes 120 posts a minute; try again later."),
))]
pub(crate) async fn alarms_post(hook: OpenHook, body: Body<AlarmPost>, state: State) -> Result<Json<AlarmPostAnswer>> {
    let OpenHook { hook, context } = hook;
    let alarms = body.into_inner().alarms()?;
    let accepted = alarms.len();
    if accepted > 0 {
        let command = RaiseAlarms { hook_id: hook.id, alarms };
        state.actors.organization.ask(&hook.org_id, command, context).await?;
    }
    Ok(Json(AlarmPostAnswer { accepted }))
}
