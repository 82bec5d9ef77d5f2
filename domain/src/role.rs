//! Roles in an organization, and which scopes each gives (contract A 5.3).

use crate::{
    app::names,
    organization::OrgKind,
    scope::{Scope, ScopeSet},
};

names! {
    /// What a member may do; each role has all that the one before it has.
    Role { Viewer = "viewer", Developer = "developer", Admin = "admin", Owner = "owner", }
}

impl Role {
    /// The scopes that the role gives in an organization of this kind: `platform:*` count in the platform organization
    /// only.
    pub fn scopes(self, kind: OrgKind) -> ScopeSet {
        Scope::ALL
            .iter()
            .copied()
            .filter(|scope| self >= lowest_role(*scope) && (kind == OrgKind::Platform || !is_platform(*scope)))
            .collect()
    }

    /// Whether a member with this role may give, change or take away `other`: owners are made and unmade by owners.
    pub fn may_assign(self, other: Self) -> bool {
        self.scopes(OrgKind::Customer).contains(Scope::MembersWrite) && self >= other
    }

    /// The roles that a member with this one may not give.
    pub fn beyond(self) -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(move |other| !self.may_assign(*other))
    }
}

/// Whether the scope speaks of the whole platform rather than of one organization.
pub const fn is_platform(scope: Scope) -> bool {
    matches!(scope, Scope::PlatformAdmin | Scope::PlatformInfra | Scope::PlatformAnalytics | Scope::PlatformCoverage)
}

/// The table of roles and scopes: the lowest role that has the scope. A new scope does not compile until it has a row.
pub const fn lowest_role(scope: Scope) -> Role {
    match scope {
        // Reading is everybody's, but for the audit trail, keys and secrets (`env`).
        Scope::OrgRead
        | Scope::TenantRead
        | Scope::MembersRead
        | Scope::ProjectsRead
        | Scope::DeploymentsRead
        | Scope::DomainsRead
        | Scope::ResourcesRead
        | Scope::GitRead
        | Scope::LogsRead
        | Scope::AnalyticsRead
        | Scope::KnowledgeRead
        | Scope::ConnectorsRead
        | Scope::AgentsRead
        | Scope::MailRead
        | Scope::CalendarRead
        | Scope::ContactsRead
        | Scope::IssuesRead
        | Scope::MapsRead
        | Scope::DriveRead
        | Scope::CrmRead
        | Scope::MarketingRead
        | Scope::HealthRead
        | Scope::WeatherRead
        | Scope::FoodRead
        | Scope::VehiclesRead
        | Scope::SharingRead => Role::Viewer,
        // The work itself.
        Scope::ProjectsWrite
        | Scope::DeploymentsWrite
        | Scope::EnvRead
        | Scope::EnvWrite
        | Scope::KeysUse
        | Scope::ResourcesWrite
        | Scope::GitWrite
        | Scope::KnowledgeWrite
        | Scope::ConnectorsWrite
        | Scope::ChatUse
        | Scope::McpConnect
        | Scope::AgentsWrite
        | Scope::AgentsRun
        | Scope::MailSend
        | Scope::CalendarWrite
        | Scope::ContactsWrite
        | Scope::IssuesWrite
        | Scope::MapsWrite
        | Scope::DriveWrite
        | Scope::CrmWrite
        | Scope::MarketingWrite
        | Scope::HealthWrite
        | Scope::WeatherWrite
        | Scope::FoodWrite
        | Scope::VehiclesWrite
        | Scope::VehiclesControl
        | Scope::SharingWrite => Role::Developer,
        // Who belongs here, what it is made of, and what reaches many people at once.
        Scope::PlatformAdmin
        | Scope::PlatformAnalytics
        | Scope::PlatformCoverage
        | Scope::OrgWrite
        | Scope::AuditRead
        | Scope::MembersWrite
        | Scope::KeysRead
        | Scope::KeysWrite
        | Scope::DomainsWrite
        | Scope::GitAdmin
        | Scope::MailAdmin
        | Scope::IssuesAdmin
        | Scope::CrmAdmin
        | Scope::MarketingSend
        | Scope::MarketingAdmin
        | Scope::VehiclesAdmin => Role::Admin,
        // What the organization is to the outside: its plan, and the machines below.
        Scope::TenantWrite | Scope::PlatformInfra => Role::Owner,
    }
}

/// The table as a page, `docs/roles-and-scopes.md`.
pub fn roles_and_scopes() -> String {
    let mut page = String::from(
        "# Roles and scopes\n\n\
         Which scopes a role gives in an organization. `platform:*` count in the platform organization only.\n\
         A key has exactly its own scopes, and of these never more than its maker's role gives at the moment of use.\n\n\
         Printed from `domain/src/role.rs` by its test; `TROUPE_UPDATE_DOCS=1 cargo test -p troupe-domain` rewrites it.\n\n\
         | scope | viewer | developer | admin | owner |\n|---|---|---|---|---|\n",
    );
    for scope in Scope::ALL {
        page.extend(["| `", scope.as_str(), "` |"]);
        for role in Role::ALL {
            page.push_str(if *role >= lowest_role(*scope) { " yes |" } else { " |" });
        }
        page.push('\n');
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_table_is_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/roles-and-scopes.md");
        if std::env::var_os("TROUPE_UPDATE_DOCS").is_some() {
            std::fs::write(path, roles_and_scopes()).unwrap();
        }
        assert_eq!(std::fs::read_to_string(path).unwrap(), roles_and_scopes());
    }

    #[test]
    fn every_role_has_exactly_the_scopes_of_its_rows() {
        for role in Role::ALL {
            let scopes = role.scopes(OrgKind::Platform);
            for scope in Scope::ALL {
                assert_eq!(scopes.contains(*scope), lowest_role(*scope) <= *role, "{role} {scope}");
            }
        }
    }

    #[test]
    fn each_role_has_all_of_the_one_below_and_more() {
        for pair in Role::ALL.windows(2) {
            let (lower, higher) = (pair[0].scopes(OrgKind::Customer), pair[1].scopes(OrgKind::Customer));
            assert_eq!(lower.intersection(higher), lower);
            assert_ne!(lower, higher);
        }
    }

    #[test]
    fn a_viewer_reads_everything_but_the_audit_trail_keys_and_secrets() {
        let withheld = [Scope::AuditRead, Scope::KeysRead, Scope::EnvRead];
        for scope in Scope::ALL {
            let reads = scope.as_str().ends_with(":read") && !withheld.contains(scope);
            assert_eq!(Role::Viewer.scopes(OrgKind::Platform).contains(*scope), reads, "{scope}");
        }
    }

    #[test]
    fn a_developer_administers_nothing() {
        for scope in Role::Developer.scopes(OrgKind::Platform).iter() {
            assert!(!scope.as_str().ends_with(":admin"), "{scope}");
        }
        for scope in [Scope::MembersWrite, Scope::KeysWrite, Scope::AuditRead, Scope::OrgWrite] {
            assert!(!Role::Developer.scopes(OrgKind::Customer).contains(scope), "{scope}");
        }
    }

    #[test]
    fn an_owner_has_everything() {
        assert_eq!(Role::Owner.scopes(OrgKind::Platform), Scope::ALL.iter().copied().collect());
    }

    #[test]
    fn platform_scopes_count_in_the_platform_organization_only() {
        for role in Role::ALL {
            assert!(!role.scopes(OrgKind::Customer).iter().any(is_platform), "{role}");
        }
        assert!(Role::Admin.scopes(OrgKind::Platform).contains(Scope::PlatformAdmin));
    }

    #[test]
    fn owners_are_made_and_unmade_by_owners() {
        for (actor, other, may) in [
            (Role::Owner, Role::Owner, true),
            (Role::Admin, Role::Owner, false),
            (Role::Admin, Role::Admin, true),
            (Role::Admin, Role::Viewer, true),
            (Role::Developer, Role::Viewer, false),
            (Role::Viewer, Role::Viewer, false),
        ] {
            assert_eq!(actor.may_assign(other), may, "{actor} {other}");
            assert_eq!(actor.beyond().any(|role| role == other), !may, "{actor} {other}");
        }
    }
}
