//! The help center and the request that a path names, as arguments: holding one proves that it is open to the caller.

use actors::issues::portal::visitor;
use domain::{
    Context, Error,
    id::{AttachmentId, IssueId, OrgId, UserId},
    issues::{
        portal::{
            ATTACHMENT_NOT_FOUND, HELP_CENTER_NOT_FOUND, HELP_CENTER_PEOPLE, REQUEST_NOT_FOUND, ServiceDesk, Visitor,
            admits, takes_part,
        },
        settings::Settings,
        space::Space,
    },
    organization::Slug,
};
use http_shell::{
    argument::Argument,
    call::Call,
    caller::{Door, Person},
    error::Result,
    facts::Facts,
    path::concat_example,
};
use store::{
    Store,
    accounts::Organization,
    issues::{Attachment, PortalRequest, StoredIssue},
};

/// People pass, keys don't (contract B 4.4).
pub(crate) struct HelpDoor;

impl Door for HelpDoor {
    const WHO: &'static str = "people";
    const REFUSAL: &'static str = HELP_CENTER_PEOPLE;
}

/// The organization that the path names, and who stands at its help centers' doors.
struct HelpCenters {
    person: Person<HelpDoor>,
    org: Organization,
    visitor: Visitor,
}

fn gone() -> Error {
    Error::not_found(HELP_CENTER_NOT_FOUND)
}

impl Argument for HelpCenters {
    fn describe(facts: &mut Facts) {
        Person::<HelpDoor>::describe(facts);
        facts.path_parameter("org", "The organization, by its slug.", "acme");
        facts.error(404, HELP_CENTER_NOT_FOUND);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let person = Person::<HelpDoor>::take(call).await?;
        let slug = Slug::parse(call.path_value("org")?).map_err(|_| gone())?;
        let store = &call.state.store;
        let org = store.organization_by_slug(&slug).await?.ok_or_else(gone)?;
        let visitor = visitor(store, org.id, person.user_id()).await?;
        Ok(Self { person, org, visitor })
    }
}

/// The help centers of the organization that are open to the caller: at least one.
pub(crate) struct OpenHelpCenters {
    /// The organization.
    pub org: Organization,
    /// Their spaces with what they offer, in the order of their keys.
    pub open: Vec<(Space, ServiceDesk)>,
}

impl Argument for OpenHelpCenters {
    fn describe(facts: &mut Facts) {
        HelpCenters::describe(facts);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let HelpCenters { org, visitor, .. } = HelpCenters::take(call).await?;
        let all = call.state.store.issue_spaces(org.id).await?.into_iter();
        let open = all.filter_map(|space| admits(&space, &visitor).cloned().map(|desk| (space.clone(), desk)));
        let open: Vec<_> = open.collect();
        if open.is_empty() { Err(gone().into()) } else { Ok(Self { org, open }) }
    }
}

/// The help center that the path names, which is open to the caller.
pub(crate) struct HelpCenter {
    centers: HelpCenters,
    /// The space.
    pub space: Space,
    /// What it offers.
    pub desk: ServiceDesk,
    /// The organization's catalogs.
    pub settings: Settings,
}

impl HelpCenter {
    /// The organization.
    pub const fn org(&self) -> &Organization {
        &self.centers.org
    }

    /// The organization's id.
    pub const fn org_id(&self) -> OrgId {
        self.centers.org.id
    }

    /// The person who asks.
    pub const fn user_id(&self) -> UserId {
        self.centers.visitor.user_id
    }

    /// The context to ask an owner with.
    pub fn context(&self) -> Context {
        self.centers.person.context()
    }

    /// What the request calls this server.
    pub fn host(&self) -> Option<&str> {
        self.centers.person.host()
    }

    /// A request of this space in which the caller takes part.
    async fn request(&self, store: &Store, found: Option<StoredIssue>) -> domain::Result<PortalRequest> {
        let gone = || Error::not_found(REQUEST_NOT_FOUND);
        let stored = found.filter(|it| it.issue.space_id == self.space.space_id).ok_or_else(gone)?;
        if !takes_part(&stored.issue, self.user_id()) {
            return Err(gone());
        }
        let public_at = store.issue_request_public_at(stored.issue.issue_id).await?.ok_or_else(gone)?;
        Ok(PortalRequest { stored, public_at })
    }
}

impl Argument for HelpCenter {
    fn describe(facts: &mut Facts) {
        HelpCenters::describe(facts);
        facts.path_parameter("spaceKey", "A space: its key, in any case, or its id.", "WEB");
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let centers = HelpCenters::take(call).await?;
        let (store, org_id) = (&call.state.store, centers.org.id);
        let space = store.issue_space_named(org_id, call.path_value("spaceKey")?).await?.ok_or_else(gone)?;
        let desk = admits(&space, &centers.visitor).cloned().ok_or_else(gone)?;
        let settings = store.issue_catalog(org_id).await?.settings;
        Ok(Self { centers, space, desk, settings })
    }
}

/// The request that the path names, in which the caller takes part.
pub(crate) struct HelpRequest {
    /// Where it was raised.
    pub center: HelpCenter,
    /// The request.
    pub request: PortalRequest,
}

impl HelpRequest {
    /// The issue that it is.
    pub const fn issue_id(&self) -> IssueId {
        self.request.stored.issue.issue_id
    }
}

impl Argument for HelpRequest {
    fn describe(facts: &mut Facts) {
        HelpCenter::describe(facts);
        facts.path_parameter("issueKey", "A request: its key, in any case, or its id.", "WEB-12");
        facts.error(404, REQUEST_NOT_FOUND);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let center = HelpCenter::take(call).await?;
        let found = call.state.store.issue_named(center.org_id(), call.path_value("issueKey")?).await?;
        let request = center.request(&call.state.store, found).await?;
        Ok(Self { center, request })
    }
}

/// The file that the path names, of a request in which the caller takes part. The request stands in the path or not.
pub(crate) struct HelpFile {
    /// The request.
    pub of: HelpRequest,
    /// The file.
    pub attachment: Attachment,
}

fn attachment_gone() -> Error {
    Error::not_found(ATTACHMENT_NOT_FOUND)
}

async fn attachment(call: &Call) -> Result<Attachment> {
    let id: AttachmentId = call.path_value("attachmentId")?.parse().map_err(|_| attachment_gone())?;
    Ok(call.state.store.issue_attachment(id).await?.filter(|it| it.public).ok_or_else(attachment_gone)?)
}

fn describe_attachment(facts: &mut Facts) {
    facts.path_parameter("attachmentId", "A file of the request.", concat_example(AttachmentId::PREFIX));
    facts.error(404, ATTACHMENT_NOT_FOUND);
}

impl Argument for HelpFile {
    fn describe(facts: &mut Facts) {
        HelpRequest::describe(facts);
        describe_attachment(facts);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let of = HelpRequest::take(call).await?;
        let attachment = attachment(call).await?;
        if attachment.issue_id != of.issue_id() {
            return Err(attachment_gone().into());
        }
        Ok(Self { of, attachment })
    }
}

/// The same, where the path doesn't name the request.
pub(crate) struct HelpFileAlone(pub HelpFile);

impl Argument for HelpFileAlone {
    fn describe(facts: &mut Facts) {
        HelpCenter::describe(facts);
        describe_attachment(facts);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let center = HelpCenter::take(call).await?;
        let attachment = attachment(call).await?;
        let found = call.state.store.issue(center.org_id(), attachment.issue_id).await?;
        let request = center.request(&call.state.store, found).await.map_err(|error| match error {
            Error::NotFound { .. } => attachment_gone(),
            other => other,
        })?;
        Ok(Self(HelpFile { of: HelpRequest { center, request }, attachment }))
    }
}
