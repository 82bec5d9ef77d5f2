//! The audit trail of an organization (contract A 2.4, `AuditEvent`).

use domain::{id::AuditId, problems::Problems};
use http_shell::{
    answer::Json,
    error::Result,
    org::Org,
    paging::PageQuery,
    permission::AuditRead,
    query::{Query, RequestQuery},
    state::State,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{AuditActor, AuditEvent, AuditQuery, AuditTarget};
use utoipa::{IntoParams, ToSchema};

/// The name of the list in its cursors.
const LIST: &str = "audit";
/// Characters of one part of an action (contract A 4.4).
const ACTION_PART_LEN_MAX: usize = 32;
/// Characters of an actor or a target (contract A 4.4).
const ID_LEN_MAX: usize = 512;

/// Which page of the trail.
#[derive(Deserialize, IntoParams)]
pub(crate) struct AuditListQuery {
    /// Where the page starts: the `cursor` of the page before it.
    cursor: Option<String>,
    /// Entries of the page: 1 to 100, by default 50.
    limit: Option<u64>,
    /// Only this action, such as `member.added`; `member` stands for everything that starts with it.
    action: Option<String>,
    /// Only what the actor with this id did.
    actor: Option<String>,
    /// Only what was done to the target with this id.
    target: Option<String>,
}

impl RequestQuery for AuditListQuery {
    fn check(&self, problems: &mut Problems) {
        self.paging().check(problems);
        let action = self.action.as_deref();
        problems.require(action.is_none_or(is_action), "action", "Use lower-case words, with one dot at most.");
        for (path, id) in [("actor", &self.actor), ("target", &self.target)] {
            let fits = id.as_deref().is_none_or(|id| (1..=ID_LEN_MAX).contains(&id.chars().count()));
            problems.require(fits, path, "Use 1 to 512 characters.");
        }
    }
}

impl AuditListQuery {
    fn paging(&self) -> PageQuery {
        PageQuery { cursor: self.cursor.clone(), limit: self.limit }
    }
}

fn is_action(text: &str) -> bool {
    let is_part = |part: &str| {
        (1..=ACTION_PART_LEN_MAX).contains(&part.len())
            && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    text.split('.').count() <= 2 && text.split('.').all(is_part)
}

/// The person or thing that acted.
#[derive(Serialize, ToSchema)]
pub(crate) struct AuditActorBody {
    /// `user`, `key`, `device` or `system`
    #[serde(rename = "type")]
    kind: &'static str,
    /// The actor's id.
    id: String,
    /// What it was called at the time.
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
}

/// What was acted on.
#[derive(Serialize, ToSchema)]
pub(crate) struct AuditTargetBody {
    /// What kind of thing it is.
    #[serde(rename = "type")]
    kind: String,
    /// The target's id.
    id: String,
    /// What it was called at the time.
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
}

/// An entry of the trail.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "eventId": "aud_01jd7rt4m5e9fv2w8x3c6k0hqz", "orgId": "org_01jd7rt4m5e9fv2w8x3c6k0hqz",
    "action": "member.role_changed", "actor": {"type": "user", "id": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz"},
    "target": {"type": "person", "id": "usr_01jd7rt4m5e9fv2w8x3c6k0hqy", "label": "Grace Hopper"},
    "metadata": {"from": "viewer", "to": "developer"}, "ip": "203.0.113.7", "userAgent": "curl/8.9",
    "createdAt": 1_767_225_600_000_i64
}))]
pub(crate) struct AuditEventBody {
    /// The entry's id.
    event_id: String,
    /// The organization in whose trail it stands.
    org_id: Option<String>,
    /// What was done.
    action: String,
    /// The person or thing that did it.
    actor: AuditActorBody,
    /// What it was done to.
    target: AuditTargetBody,
    /// More about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    metadata: Option<Value>,
    /// The address that it came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    ip: Option<String>,
    /// The program that it came through.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_agent: Option<String>,
    /// When.
    created_at: i64,
}

impl From<AuditEvent> for AuditEventBody {
    fn from(event: AuditEvent) -> Self {
        let AuditEvent { id, entry, created_at } = event;
        let AuditActor { kind, id: actor_id, label: actor_label } = entry.actor;
        let AuditTarget { kind: target_kind, id: target_id, label: target_label } = entry.target;
        Self {
            event_id: id.to_string(),
            org_id: entry.org_id.map(|org_id| org_id.to_string()),
            action: entry.action,
            actor: AuditActorBody { kind: kind.as_str(), id: actor_id, label: actor_label },
            target: AuditTargetBody { kind: target_kind, id: target_id, label: target_label },
            metadata: entry.metadata,
            ip: entry.ip.map(|ip| ip.to_string()),
            user_agent: entry.user_agent,
            created_at: created_at.as_millis(),
        }
    }
}

/// A page of the trail.
#[derive(Serialize, ToSchema)]
pub(crate) struct AuditAnswer {
    /// The newest first.
    events: Vec<AuditEventBody>,
    /// For the next page; null on the last one.
    cursor: Option<String>,
}

/// The audit trail
///
/// Every change in the organization, the newest first: who did what, on what, from where, when.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/audit", responses((status = 400, description = "Invalid cursor")))]
pub(crate) async fn audit_list(
    org: Org<AuditRead>,
    query: Query<AuditListQuery>,
    state: State,
) -> Result<Json<AuditAnswer>> {
    let page = query.paging().page::<AuditId>(LIST)?;
    let wanted = AuditQuery {
        org_id: org.id(),
        action: query.action.clone(),
        actor: query.actor.clone(),
        target: query.target.clone(),
        before: page.after,
        limit: u32::try_from(page.read_limit()).unwrap_or(u32::MAX),
    };
    let found = state.store.audit_list(&wanted).await?;
    let (found, cursor) = page.cut(found, |event| event.id);
    Ok(Json(AuditAnswer { events: found.into_iter().map(AuditEventBody::from).collect(), cursor }))
}
