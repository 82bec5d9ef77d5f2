//! The help centers of an organization.

use domain::issues::{
    portal::{FormFieldId, RequestType, ServiceDesk},
    settings::{Color, Settings},
    space::Space,
};
use http_shell::{
    answer::{Json, Object},
    error::Result,
};
use serde::Serialize;
use store::accounts::Organization;
use utoipa::ToSchema;

use super::argument::{HelpCenter, OpenHelpCenters};

/// The organization behind a help center.
#[derive(Serialize, ToSchema)]
pub(crate) struct HelpOrgBody {
    /// What it is called.
    name: String,
    /// The last part of its address.
    slug: String,
}

impl From<&Organization> for HelpOrgBody {
    fn from(org: &Organization) -> Self {
        Self { name: org.name.clone(), slug: org.slug.to_string() }
    }
}

/// A help center among others.
#[derive(Serialize, ToSchema)]
pub(crate) struct HelpCenterListed {
    /// The space's key.
    key: String,
    /// The space's name.
    name: String,
    /// What the help center is called.
    title: String,
    /// What it says first.
    intro: String,
}

/// The help centers of an organization.
#[derive(Serialize, ToSchema)]
pub(crate) struct HelpCentersAnswer {
    org: HelpOrgBody,
    /// Spaces whose help centers are open to you, in the order of their keys.
    spaces: Vec<HelpCenterListed>,
}

/// The space of a help center.
#[derive(Serialize, ToSchema)]
pub(crate) struct HelpSpaceBody {
    /// What keys of requests begin with.
    key: String,
    name: String,
    /// The name of a picture, or an emoji.
    #[serde(skip_serializing_if = "Option::is_none")]
    icon: Option<String>,
    /// The space's color.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    color: Option<Color>,
}

/// What a help center is called, and says first.
#[derive(Serialize, ToSchema)]
pub(crate) struct HelpPortalBody {
    title: String,
    intro: String,
}

/// A choice.
#[derive(Serialize, ToSchema)]
pub(crate) struct HelpOptionBody {
    id: String,
    name: String,
}

/// A question of a form, beside summary and description.
#[derive(Serialize, ToSchema)]
pub(crate) struct HelpFieldBody {
    /// `priority`.
    id: &'static str,
    name: &'static str,
    /// What can be chosen, the most urgent first.
    options: Vec<HelpOptionBody>,
}

/// A kind of request.
#[derive(Serialize, ToSchema)]
pub(crate) struct HelpRequestTypeBody {
    id: String,
    name: String,
    /// When to choose it; may be empty.
    description: String,
    /// The name of a picture, or an emoji.
    #[serde(skip_serializing_if = "Option::is_none")]
    icon: Option<String>,
    /// What it is shown under; may be empty.
    group: String,
    /// What its form asks for beside summary and description.
    fields: Vec<HelpFieldBody>,
}

/// A help center.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HelpCenterAnswer {
    org: HelpOrgBody,
    space: HelpSpaceBody,
    portal: HelpPortalBody,
    /// Whether you may rate how requests were answered.
    satisfaction: bool,
    /// What you can ask for.
    request_types: Vec<HelpRequestTypeBody>,
}

impl HelpRequestTypeBody {
    fn new(kind: &RequestType, settings: &Settings) -> Self {
        let option = |priority: &domain::issues::settings::Priority| HelpOptionBody {
            id: priority.id.clone(),
            name: priority.name.clone(),
        };
        let field = |field: &domain::issues::portal::FormField| match field.id {
            FormFieldId::Priority => HelpFieldBody {
                id: "priority",
                name: "Priority",
                options: settings.priorities.iter().map(option).collect(),
            },
        };
        Self {
            id: kind.id.clone(),
            name: kind.name.clone(),
            description: kind.description.clone(),
            icon: kind.icon.clone(),
            group: kind.group.clone(),
            fields: kind.fields.iter().map(field).collect(),
        }
    }
}

/// What a help center is called: its space's name where it has no title.
fn title(space: &Space, title: &str) -> String {
    if title.trim().is_empty() { space.name.clone() } else { title.to_owned() }
}

/// The help centers of an organization
///
/// Help centers that are open to you; 404 where none is.
#[utoipa::path(get, path = "/v1/portal/issues/{org}")]
pub(crate) async fn help_centers_list(centers: OpenHelpCenters) -> Result<Json<HelpCentersAnswer>> {
    let listed = |(space, desk): &(Space, ServiceDesk)| HelpCenterListed {
        key: space.key.clone(),
        name: space.name.clone(),
        title: title(space, &desk.portal.title),
        intro: desk.portal.intro.clone(),
    };
    Ok(Json(HelpCentersAnswer { org: (&centers.org).into(), spaces: centers.open.iter().map(listed).collect() }))
}

/// A help center, and what can be asked for there
#[utoipa::path(get, path = "/v1/portal/issues/{org}/{spaceKey}")]
pub(crate) async fn help_center_get(center: HelpCenter) -> Result<Object<HelpCenterAnswer>> {
    let (space, desk) = (&center.space, &center.desk);
    let shown = desk.request_types.iter().filter(|kind| !kind.hidden);
    Ok(Object(HelpCenterAnswer {
        org: center.org().into(),
        space: HelpSpaceBody {
            key: space.key.clone(),
            name: space.name.clone(),
            icon: space.icon.clone(),
            color: space.color,
        },
        portal: HelpPortalBody { title: title(space, &desk.portal.title), intro: desk.portal.intro.clone() },
        satisfaction: desk.satisfaction,
        request_types: shown.map(|kind| HelpRequestTypeBody::new(kind, &center.settings)).collect(),
    }))
}
