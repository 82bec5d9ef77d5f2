//! Hooks by which mail comes to a desk: their list, and the messages that are posted to them.

use std::time::Duration;

use actors::{
    issues::{DeleteMailHook, MakeMailHook},
    mail::HandedMail,
};
use domain::{
    Error, Timestamp, Token, TokenKind,
    account::name_check,
    id::IssueMailHookId,
    issues::{
        access::{Permission, require},
        limits::SPACE_NOT_FOUND,
        mailing::{HOOK_BYTES_MAX, HOOK_POSTS_PER_MINUTE, HOOK_TOO_LARGE, no_mail_hook},
    },
};
use gateways::hub::{Limit, RetryAfter};
use http_shell::{
    answer::{Accepted, Created, Either, Json, NoContent},
    argument::Argument,
    body::{Body, RequestBody},
    call::Call,
    error::Result,
    facts::Facts,
    path::Path,
    permission::{IssuesRead, IssuesWrite},
    state::State,
    wire::Done,
};
use serde::{Deserialize, Serialize};
use store::issues::{IssueMailHook, RefusedMail};
use utoipa::ToSchema;

use super::argument::SpaceOf;

/// What the limit of messages is counted over.
const MINUTE: Duration = Duration::from_mins(1);

/// A hook by which mail comes to a desk.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "hookId": "imh_01jd7rt4m5e9fv2w8x3c6k0hqz", "name": "Our mail server", "createdBy": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz",
    "createdAt": 1_767_225_600_000_i64, "lastUsedAt": 1_767_312_000_000_i64
}))]
pub(crate) struct IssueMailHookBody {
    /// The hook's id.
    hook_id: String,
    /// What it is called.
    name: String,
    /// The person who made the hook.
    created_by: String,
    /// When.
    created_at: i64,
    /// When a message last came in by it, to the minute.
    last_used_at: Option<i64>,
}

impl From<IssueMailHook> for IssueMailHookBody {
    fn from(hook: IssueMailHook) -> Self {
        Self {
            hook_id: hook.id.to_string(),
            name: hook.name,
            created_by: hook.created_by.to_string(),
            created_at: hook.created_at.as_millis(),
            last_used_at: hook.last_used_at.map(Timestamp::as_millis),
        }
    }
}

/// Mail that came to nothing for one reason.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IssueMailRefusedBody {
    /// `closed`, `no_sender`, `spam`, `loop`, `automatic`, `stranger`, `too_many` or `full`.
    reason: String,
    /// How many messages.
    count: i64,
    /// The address that the last one says to be from; may be empty, and may be anybody's.
    last_from: String,
    /// When that came.
    last_at: i64,
}

impl From<RefusedMail> for IssueMailRefusedBody {
    fn from(refused: RefusedMail) -> Self {
        Self {
            reason: refused.reason,
            count: refused.count,
            last_from: refused.last_from,
            last_at: refused.last_at.as_millis(),
        }
    }
}

/// The hooks of a space, and what of its mail came to nothing.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueMailHooksAnswer {
    /// The oldest first; at most 20.
    hooks: Vec<IssueMailHookBody>,
    /// By reason. Nobody is told that their message came to nothing.
    refused: Vec<IssueMailRefusedBody>,
}

/// The space that the path names, of which the caller is an admin.
pub(crate) struct AdministeredSpace(SpaceOf<IssuesRead>);

impl Argument for AdministeredSpace {
    fn describe(facts: &mut Facts) {
        SpaceOf::<IssuesRead>::describe(facts);
        facts.error(403, "Only admins of the space can do this.");
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let of = SpaceOf::<IssuesRead>::take(call).await?;
        require(Some(of.role), Permission::Administer, SPACE_NOT_FOUND)?;
        Ok(Self(of))
    }
}

/// The mail hooks of a space
///
/// For admins of the space.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/mail-hooks")]
pub(crate) async fn issue_mail_hooks_list(of: AdministeredSpace, state: State) -> Result<Json<IssueMailHooksAnswer>> {
    let space_id = of.0.space.space_id;
    let hooks = state.store.issue_mail_hooks(space_id).await?;
    let refused = state.store.issue_mail_refused(space_id).await?;
    Ok(Json(IssueMailHooksAnswer {
        hooks: hooks.into_iter().map(IssueMailHookBody::from).collect(),
        refused: refused.into_iter().map(IssueMailRefusedBody::from).collect(),
    }))
}

/// A new mail hook.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"name": "Our mail server"}))]
pub(crate) struct IssueMailHookCreate {
    /// What it is called: 1 to 80 characters.
    name: String,
}

impl RequestBody for IssueMailHookCreate {}

/// A new mail hook with its address.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueMailHookAnswer {
    /// The hook.
    hook: IssueMailHookBody,
    /// Where messages are posted; it is shown once, and whoever has it may bring mail to the desk.
    #[schema(
        example = "https://troupe.example.com/v1/hooks/issues/mail/imh_01jd7rt4m5e9fv2w8x3c6k0hqz/trp_h_0iZ3qkV9xTg2mB7sYcN5wLhRj8DfAeUo4PvXu1KtQ6rWnBd8Fq2"
    )]
    url: String,
}

/// Make a mail hook of a space
///
/// For a mail server that can pipe what it takes in, as with `curl --data-binary @-`. The address is shown once and not kept: delete the
/// hook and make another where it is lost.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/mail-hooks", responses(
    (status = 400, description = "A space has at most 20 mail hooks."),
    (status = 403, description = "Only admins of the space can do this."),
    (status = 409, description = "The desk of this space takes no mail.\n\nThis space is archived."),
))]
pub(crate) async fn issue_mail_hook_create(
    of: SpaceOf<IssuesWrite>,
    body: Body<IssueMailHookCreate>,
    state: State,
) -> Result<Created<IssueMailHookAnswer>> {
    let command = MakeMailHook { org_id: of.org.id(), name: name_check("name", &body.name)? };
    let (hook, token) = state.actors.issue_space.ask(&of.space.space_id, command, of.org.context()).await?;
    let url = format!("{}/v1/hooks/issues/mail/{}/{}", state.options.public_url, hook.id, token.reveal());
    Ok(Created(IssueMailHookAnswer { hook: hook.into(), url }))
}

/// Delete a mail hook of a space
///
/// What came in by it stays.
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/issues/spaces/{spaceKey}/mail-hooks/{mailHookId}",
    responses((status = 403, description = "Only admins of the space can do this.")))]
pub(crate) async fn issue_mail_hook_delete(
    of: SpaceOf<IssuesWrite>,
    Path(id): Path<IssueMailHookId>,
    state: State,
) -> Result<NoContent> {
    let command = DeleteMailHook { org_id: of.org.id(), id };
    state.actors.issue_space.ask(&of.space.space_id, command, of.org.context()).await?;
    Ok(NoContent)
}

/// A message, and the hook that the path names and whose token it has.
pub(crate) struct PostedMail {
    hook: IssueMailHook,
    mail: HandedMail,
}

impl Argument for PostedMail {
    fn describe(facts: &mut Facts) {
        facts.open();
        Path::<IssueMailHookId>::describe(facts);
        facts.path_parameter(
            "mailHookToken",
            "The secret of the hook.",
            "trp_h_0iZ3qkV9xTg2mB7sYcN5wLhRj8DfAeUo4PvXu1KtQ6rWnBd8Fq2",
        );
        facts.stream(&["message/rfc822"]);
        facts.error(400, "The body broke off.");
        facts.error(413, HOOK_TOO_LARGE);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let Path(id) = Path::<IssueMailHookId>::take(call).await?;
        let token: Token = call.path_value("mailHookToken")?.parse().map_err(|_| no_mail_hook())?;
        if token.kind() != TokenKind::Hook {
            return Err(no_mail_hook().into());
        }
        let hook = call.state.store.issue_mail_hook_by_token(id, token.hash()).await?.ok_or_else(no_mail_hook)?;
        // After the token, so that nobody without it uses the hook's limit up.
        let limit = Limit::new(HOOK_POSTS_PER_MINUTE, MINUTE);
        let verdict = call.state.hub.limit_check(&format!("issue-mail:{id}"), limit, call.state.store.now()).await;
        verdict.map_err(|RetryAfter(retry_after)| Error::RateLimited {
            message: format!("A hook takes {HOOK_POSTS_PER_MINUTE} messages a minute; try again later.").into(),
            retry_after,
        })?;
        let bytes = call.read_body(HOOK_BYTES_MAX, HOOK_TOO_LARGE).await?;
        if bytes.is_empty() {
            return Err(Error::bad_request("malformed", "Send a message.").into());
        }
        Ok(Self { hook, mail: HandedMail { bytes } })
    }
}

/// Bring mail to a desk
///
/// The token in the path is the credential. 202 once the message is committed, 200 where one with its Message-ID came before. What
/// becomes of it, nobody is told here.
#[utoipa::path(post, path = "/v1/hooks/issues/mail/{mailHookId}/{mailHookToken}", responses(
    (status = 400, description = "Send a message."),
    (status = 429, description = "A hook takes 600 messages a minute; try again later."),
))]
pub(crate) async fn issue_mail_post(posted: PostedMail, state: State) -> Result<Either<Accepted<Done>, Json<Done>>> {
    let is_new = state.actors.issue_mail.take(&posted.hook, posted.mail).await?;
    Ok(if is_new { Either::Left(Accepted(Done::new())) } else { Either::Right(Json(Done::new())) })
}
