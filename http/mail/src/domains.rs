//! Domains of an organization for mail (contract B 4.7).

use actix_web::{HttpResponse, http::header};
use actors::mail::{BroughtKey, DomainDelete, DomainUpdate};
use domain::{
    id::MailboxId,
    mail::{DomainName, OrgDomain, no_domain, no_mailbox, selector_check},
    problems::{Problems, all},
};
use http_shell::{
    answer::{Created, Json, NoContent},
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    path::Path,
    permission::MailAdmin,
    state::State,
    wire::nullable,
};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::domain_body::{DomainAnswer, DomainsAnswer};

/// Characters of `catchAllMailboxId` (contract B 4.7).
const MAILBOX_ID_LEN_MAX: usize = 40;
/// Bytes of a key in PEM, more than one of 4,096 bits has.
const PEM_LEN_MAX: usize = 8_192;

/// The domains
///
/// The one that the platform lends, and those that were added.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/domains")]
pub(crate) async fn mail_domains_list(org: Org<MailAdmin>, state: State) -> Result<Json<DomainsAnswer>> {
    let domains = state.store.org_domains(org.id(), &state.settings.platform_domain).await?;
    Ok(Json(DomainsAnswer::new(domains, &state)))
}

/// A key that is brought along.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DkimBrought {
    /// The name that its record is found by: 1 to 63 small letters, digits and hyphens.
    selector: String,
    /// An RSA key of 2,048 to 4,096 bits in PEM.
    private_key: String,
}

/// The domain to add.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"domain": "acme.example"}))]
pub(crate) struct MailDomainCreate {
    /// The domain's name in small letters: 4 to 253 characters.
    domain: String,
    /// Signs what leaves from it; otherwise keys are made.
    dkim: Option<DkimBrought>,
}

impl RequestBody for MailDomainCreate {
    fn check(&self, problems: &mut Problems) {
        let fits = self.dkim.as_ref().is_none_or(|dkim| dkim.private_key.len() <= PEM_LEN_MAX);
        problems.require(fits, "dkim.privateKey", "Give at most 8,192 characters.");
    }
}

/// Add a domain
///
/// A domain is active once the records that it needs are seen. Until an organization has shown that a domain is its own, several
/// may add it.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/mail/domains", responses(
    (status = 400, description = "Platform domains can't be added.\n\nAn organization has at most 50 domains."),
    (status = 409, description = "This domain is already in use."),
    (status = 502, description = "Couldn't set up this domain. Try again.")))]
pub(crate) async fn mail_domain_create(
    org: Org<MailAdmin>,
    body: Body<MailDomainCreate>,
    state: State,
) -> Result<Created<DomainAnswer>> {
    let MailDomainCreate { domain, dkim } = body.into_inner();
    let brought = dkim.map(|DkimBrought { selector, private_key }| {
        selector_check("dkim.selector", &selector).map(|selector| BroughtKey { selector, pem: private_key })
    });
    let (name, brought) = all((DomainName::parse("domain", &domain), brought.transpose()))?;
    let made = state.actors.mail_domains.add(org.id(), name, brought, org.context()).await?;
    Ok(Created(DomainAnswer::claimed(made, &state)))
}

/// A domain
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/domains/{domain}")]
pub(crate) async fn mail_domain_get(
    org: Org<MailAdmin>,
    name: Path<DomainName>,
    state: State,
) -> Result<Json<DomainAnswer>> {
    let platform = &state.settings.platform_domain;
    let domain = state.store.org_domain(org.id(), &name, platform).await?.ok_or_else(no_domain)?;
    Ok(Json(DomainAnswer::new(domain, &state)))
}

/// The records of a domain, as lines of a zone's file
///
/// Lines of records that the domain does without are among them. The lent domain has none.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/domains/{domain}/zone",
    responses((status = 200, description = "The lines.", content_type = "text/dns")))]
pub(crate) async fn mail_domain_zone(
    org: Org<MailAdmin>,
    name: Path<DomainName>,
    state: State,
) -> Result<HttpResponse> {
    let platform = &state.settings.platform_domain;
    let records = match state.store.org_domain(org.id(), &name, platform).await?.ok_or_else(no_domain)? {
        OrgDomain::Claimed(domain) => domain.records(&state.settings.mail_host),
        OrgDomain::Lent { .. } => Vec::new(),
    };
    let lines: String = records.iter().map(domain::mail::DomainRecord::zone_line).collect();
    Ok(HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, "text/dns; charset=utf-8"))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .body(lines))
}

/// Look at the records of a domain
///
/// Where nobody answers for the zone, the domain is answered as it was, with a `message`.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/mail/domains/{domain}/verify")]
pub(crate) async fn mail_domain_verify(
    org: Org<MailAdmin>,
    name: Path<DomainName>,
    state: State,
) -> Result<Json<DomainAnswer>> {
    let domain = state.actors.mail_domains.verify(org.id(), &name, org.context()).await?;
    Ok(Json(DomainAnswer::new(domain, &state)))
}

/// Have other keys sign
///
/// Where receivers find the key that signs, the next one signs once its record is seen too; the former one's record must stay
/// for a week then. Otherwise the next one takes its place at once.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/mail/domains/{domain}/dkim/rotate", responses(
    (status = 400, description = "Only keys that were made here can be rotated.\n\nThis domain is lent by the platform."),
    (status = 502, description = "Couldn't rotate the key. The current key is still in use; try again.")))]
pub(crate) async fn mail_dkim_rotate(
    org: Org<MailAdmin>,
    name: Path<DomainName>,
    state: State,
) -> Result<Json<DomainAnswer>> {
    let domain = state.actors.mail_domains.rotate(org.id(), &name, org.context()).await?;
    Ok(Json(DomainAnswer::claimed(domain, &state)))
}

/// What to change.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"catchAllMailboxId": "mbx_01jd7rt4m5e9fv2w8x3c6k0hqz"}))]
#[expect(clippy::option_option, reason = "null is said, and absent is an error")]
pub(crate) struct MailDomainPatch {
    /// The mailbox that gets what no address matches; null for none.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<String>, max_length = 40, required = true)]
    catch_all_mailbox_id: Option<Option<String>>,
}

impl RequestBody for MailDomainPatch {
    fn check(&self, problems: &mut Problems) {
        let field = "catchAllMailboxId";
        problems.require(self.catch_all_mailbox_id.is_some(), field, "This field is required.");
        let id = self.catch_all_mailbox_id.iter().flatten().next();
        let fits = id.is_none_or(|id| id.chars().count() <= MAILBOX_ID_LEN_MAX);
        problems.require(fits, field, "Give at most 40 characters.");
    }
}

/// Change a domain
#[utoipa::path(patch, path = "/v1/orgs/{orgId}/mail/domains/{domain}", responses(
    (status = 404, description = "Mailbox not found")))]
pub(crate) async fn mail_domain_patch(
    org: Org<MailAdmin>,
    name: Path<DomainName>,
    body: Body<MailDomainPatch>,
    state: State,
) -> Result<Json<DomainAnswer>> {
    let id = body.into_inner().catch_all_mailbox_id.flatten();
    // What is no id is no mailbox's; the domain's 404 comes first.
    let catch_all = id.map(|id| id.parse::<MailboxId>().map_err(|_| no_mailbox())).transpose();
    let catch_all = match catch_all {
        Ok(catch_all) => catch_all,
        Err(unknown) => {
            let platform = &state.settings.platform_domain;
            state.store.org_domain(org.id(), &name, platform).await?.ok_or_else(no_domain)?;
            return Err(unknown.into());
        }
    };
    let command = DomainUpdate { name: name.0, catch_all };
    let changed = state.actors.mail_directory.ask(&org.id(), command, org.context()).await?;
    Ok(Json(DomainAnswer::new(changed, &state)))
}

/// Give a domain up
///
/// The domain's aliases go with it.
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/mail/domains/{domain}", responses(
    (status = 400, description = "This domain is lent by the platform."),
    (status = 409, description = "Delete this domain's mailboxes first.")))]
pub(crate) async fn mail_domain_delete(org: Org<MailAdmin>, name: Path<DomainName>, state: State) -> Result<NoContent> {
    state.actors.mail_directory.ask(&org.id(), DomainDelete(name.0), org.context()).await?;
    Ok(NoContent)
}
