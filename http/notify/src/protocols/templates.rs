//! Ready-made protocols.

use domain::notify::Template;
use http_shell::{answer::Json, error::Result, permission::Part};
use serde::Serialize;
use utoipa::ToSchema;

use super::RuleBody;
use crate::organization::NotifyOrg;

/// A ready-made protocol.
#[derive(Serialize, ToSchema)]
pub(crate) struct TemplateBody {
    /// The template's id.
    id: &'static str,
    /// What a protocol made from it is called.
    name: &'static str,
    /// What such a protocol is for.
    description: &'static str,
    /// What such a protocol does.
    rules: Vec<RuleBody>,
}

/// The ready-made protocols.
#[derive(Serialize, ToSchema)]
pub(crate) struct TemplatesAnswer {
    /// The templates.
    templates: Vec<TemplateBody>,
}

/// The templates of notification protocols
#[utoipa::path(get, path = "/v1/orgs/{orgId}/notify/protocols/templates")]
pub(crate) async fn protocol_templates(_: NotifyOrg<Part>) -> Result<Json<TemplatesAnswer>> {
    let template = |template: &Template| TemplateBody {
        id: template.id,
        name: template.name,
        description: template.description,
        rules: template.rules().iter().map(RuleBody::from).collect(),
    };
    Ok(Json(TemplatesAnswer { templates: Template::ALL.iter().map(template).collect() }))
}
