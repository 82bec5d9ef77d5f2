//! Permissions as types: what [`Org`](crate::org::Org) proves beside the part that the caller has in an organization.

use domain::Scope;

/// Scopes that a caller must all have.
pub trait Permission: 'static {
    /// They.
    const SCOPES: &'static [Scope];
}

/// No scope: any part in the organization is enough.
pub struct Part;

impl Permission for Part {
    const SCOPES: &'static [Scope] = &[];
}

macro_rules! permissions {
    ($($name:ident)*) => {$(
        #[doc = concat!("[`Scope::", stringify!($name), "`]")]
        pub struct $name;

        impl Permission for $name {
            const SCOPES: &'static [Scope] = &[Scope::$name];
        }
    )*};
}

permissions! {
    PlatformAdmin PlatformInfra PlatformAnalytics PlatformCoverage
    OrgRead OrgWrite AuditRead TenantRead TenantWrite MembersRead MembersWrite
    ProjectsRead ProjectsWrite DeploymentsRead DeploymentsWrite EnvRead EnvWrite KeysRead KeysUse KeysWrite
    DomainsRead DomainsWrite ResourcesRead ResourcesWrite GitRead GitWrite GitAdmin LogsRead AnalyticsRead
    KnowledgeRead KnowledgeWrite ConnectorsRead ConnectorsWrite ChatUse McpConnect AgentsRead AgentsWrite AgentsRun
    MailRead MailSend MailAdmin CalendarRead CalendarWrite ContactsRead ContactsWrite
    IssuesRead IssuesWrite IssuesAdmin MapsRead MapsWrite DriveRead DriveWrite CrmRead CrmWrite CrmAdmin
    MarketingRead MarketingWrite MarketingSend MarketingAdmin HealthRead HealthWrite WeatherRead WeatherWrite
    FoodRead FoodWrite VehiclesRead VehiclesWrite VehiclesControl VehiclesAdmin SharingRead SharingWrite
}

/// Two permissions at once.
pub struct Both<A, B>(std::marker::PhantomData<(A, B)>);

impl<A: Permission, B: Permission> Permission for Both<A, B> {
    const SCOPES: &'static [Scope] = &{
        assert!(A::SCOPES.len() == 1 && B::SCOPES.len() == 1, "each of the two is one scope");
        [A::SCOPES[0], B::SCOPES[0]]
    };
}
