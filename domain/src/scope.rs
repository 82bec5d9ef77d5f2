//! Scopes (contract A 5.3), and which of them a role gives.

use crate::app::names;

names! {
    /// One permission, `resource:action`.
    Scope {
        PlatformAdmin = "platform:admin",
        PlatformInfra = "platform:infra",
        PlatformAnalytics = "platform:analytics",
        PlatformCoverage = "platform:coverage",
        OrgRead = "org:read",
        OrgWrite = "org:write",
        AuditRead = "audit:read",
        TenantRead = "tenant:read",
        TenantWrite = "tenant:write",
        MembersRead = "members:read",
        MembersWrite = "members:write",
        ProjectsRead = "projects:read",
        ProjectsWrite = "projects:write",
        DeploymentsRead = "deployments:read",
        DeploymentsWrite = "deployments:write",
        EnvRead = "env:read",
        EnvWrite = "env:write",
        KeysRead = "keys:read",
        KeysUse = "keys:use",
        KeysWrite = "keys:write",
        DomainsRead = "domains:read",
        DomainsWrite = "domains:write",
        ResourcesRead = "resources:read",
        ResourcesWrite = "resources:write",
        GitRead = "git:read",
        GitWrite = "git:write",
        GitAdmin = "git:admin",
        LogsRead = "logs:read",
        AnalyticsRead = "analytics:read",
        KnowledgeRead = "knowledge:read",
        KnowledgeWrite = "knowledge:write",
        ConnectorsRead = "connectors:read",
        ConnectorsWrite = "connectors:write",
        ChatUse = "chat:use",
        McpConnect = "mcp:connect",
        AgentsRead = "agents:read",
        AgentsWrite = "agents:write",
        AgentsRun = "agents:run",
        MailRead = "mail:read",
        MailSend = "mail:send",
        MailAdmin = "mail:admin",
        CalendarRead = "calendar:read",
        CalendarWrite = "calendar:write",
        ContactsRead = "contacts:read",
        ContactsWrite = "contacts:write",
        IssuesRead = "issues:read",
        IssuesWrite = "issues:write",
        IssuesAdmin = "issues:admin",
        MapsRead = "maps:read",
        MapsWrite = "maps:write",
        DriveRead = "drive:read",
        DriveWrite = "drive:write",
        CrmRead = "crm:read",
        CrmWrite = "crm:write",
        CrmAdmin = "crm:admin",
        MarketingRead = "marketing:read",
        MarketingWrite = "marketing:write",
        MarketingSend = "marketing:send",
        MarketingAdmin = "marketing:admin",
        HealthRead = "health:read",
        HealthWrite = "health:write",
        WeatherRead = "weather:read",
        WeatherWrite = "weather:write",
        FoodRead = "food:read",
        FoodWrite = "food:write",
        VehiclesRead = "vehicles:read",
        VehiclesWrite = "vehicles:write",
        VehiclesControl = "vehicles:control",
        VehiclesAdmin = "vehicles:admin",
        SharingRead = "sharing:read",
        SharingWrite = "sharing:write",
    }
}

/// A set of scopes.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct ScopeSet(u128);

// One bit per scope.
const _: () = assert!(Scope::ALL.len() <= 128);

impl ScopeSet {
    /// The set without a scope.
    pub const EMPTY: Self = Self(0);

    /// Whether `scope` is in it.
    pub const fn contains(self, scope: Scope) -> bool {
        self.0 & (1 << scope as u32) != 0
    }

    /// The set with `scope` added.
    #[must_use]
    pub const fn with(self, scope: Scope) -> Self {
        Self(self.0 | 1 << scope as u32)
    }

    /// What is in both.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The scopes in the contract's order.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.iter().copied().filter(move |scope| self.contains(*scope))
    }
}

impl FromIterator<Scope> for ScopeSet {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        scopes.into_iter().fold(Self::EMPTY, Self::with)
    }
}

impl std::fmt::Debug for ScopeSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter().map(Scope::as_str)).finish()
    }
}
