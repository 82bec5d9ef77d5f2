//! Who a rule names: whom it doesn't hold for, and who may change what it restricts.

use serde::{Deserialize, Serialize};

use crate::{
    Authority, Caller, Result, Role,
    id::{KeyId, TeamId, UserId},
    problems::Problems,
};

/// People that a rule names, and teams, and keys: of each at most so many.
pub const PARTIES_MAX: usize = 50;

/// Whom a rule names.
///
/// People are named by themselves, by their teams or by their role, where each role stands for those above it, too. They are meant
/// when they act themselves, on the command line, or with their machine's key; a program's key is meant only where it is named.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Parties {
    /// Members with one of these roles, or a higher one.
    pub roles: Vec<Role>,
    /// These people.
    pub people: Vec<UserId>,
    /// Members of these teams.
    pub teams: Vec<TeamId>,
    /// These keys.
    pub keys: Vec<KeyId>,
}

impl Parties {
    /// Whether nobody is named.
    pub fn is_empty(&self) -> bool {
        self.roles.is_empty() && self.people.is_empty() && self.teams.is_empty() && self.keys.is_empty()
    }

    /// Whether somebody is named among them.
    pub fn include(&self, who: &RuleActor) -> bool {
        if who.key_id.is_some_and(|id| self.keys.contains(&id)) {
            return true;
        }
        who.is_themselves
            && (self.roles.iter().any(|role| who.authority.has_rank(*role))
                || who.authority.on_behalf_of().is_ok_and(|id| self.people.contains(&id))
                || self.teams.iter().any(|team| who.teams.contains(team)))
    }

    /// The parties, each once, where they aren't too many; `path` is where they stand in the request.
    pub fn check(mut self, path: &str) -> Result<Self> {
        let mut problems = Problems::new();
        once(&mut self.roles, &mut problems, || format!("{path}.roles"));
        once(&mut self.people, &mut problems, || format!("{path}.people"));
        once(&mut self.teams, &mut problems, || format!("{path}.teams"));
        once(&mut self.keys, &mut problems, || format!("{path}.keys"));
        problems.into_result().map(|()| self)
    }
}

fn once<T: Ord>(named: &mut Vec<T>, problems: &mut Problems, path: impl Fn() -> String) {
    named.sort_unstable();
    named.dedup();
    problems.require(named.len() <= PARTIES_MAX, path(), format!("Name at most {PARTIES_MAX}."));
}

/// Who changes a ref.
#[derive(Clone, Debug)]
pub struct RuleActor {
    authority: Authority,
    key_id: Option<KeyId>,
    /// Whether a person acts themselves, not a program in their name.
    is_themselves: bool,
    teams: Vec<TeamId>,
}

impl RuleActor {
    /// Who asks, with what they may do.
    pub fn of(caller: &Caller, authority: Authority) -> Self {
        let (key_id, is_themselves) = match caller {
            Caller::Person(_) => (None, true),
            Caller::Key(key) => (Some(key.key_id), key.is_machine),
            Caller::AccessKey(_) | Caller::Job(_) | Caller::AppPassword(_) | Caller::Nobody | Caller::System => {
                (None, false)
            }
        };
        Self { authority, key_id, is_themselves, teams: Vec::new() }
    }

    /// A person who doesn't ask themselves.
    pub const fn person(authority: Authority) -> Self {
        Self { authority, key_id: None, is_themselves: true, teams: Vec::new() }
    }

    /// The same, in these teams.
    #[must_use]
    pub fn in_teams(self, teams: Vec<TeamId>) -> Self {
        Self { teams, ..self }
    }

    /// The person whose teams count.
    pub fn teams_of(&self) -> Option<UserId> {
        self.authority.on_behalf_of().ok().filter(|_| self.is_themselves)
    }

    /// What they may do.
    pub const fn authority(&self) -> &Authority {
        &self.authority
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::{
        KeyCaller, KeyKind, Scope, Timestamp,
        authority::tests::{key_of, member},
    };

    const NOW: Timestamp = Timestamp(1_700_000_000_000);

    pub fn person(role: Role) -> RuleActor {
        RuleActor::person(member(UserId::new(NOW), role))
    }

    fn with_key(role: Role, is_machine: bool) -> (RuleActor, KeyId, UserId) {
        let maker = UserId::new(NOW);
        let authority = key_of(maker, role, &[Scope::GitWrite]);
        let (key_id, org_id) = (KeyId::new(NOW), authority.org_id());
        let scopes = std::iter::once(Scope::GitWrite).collect();
        let caller = Caller::Key(KeyCaller { key_id, org_id, maker, kind: KeyKind::Api, scopes, is_machine });
        (RuleActor::of(&caller, authority), key_id, maker)
    }

    #[test]
    fn people_are_named_by_themselves_their_role_and_their_teams() {
        let named = |role| Parties { roles: vec![role], ..Parties::default() };
        assert!(named(Role::Admin).include(&person(Role::Admin)));
        assert!(named(Role::Admin).include(&person(Role::Owner)));
        assert!(!named(Role::Admin).include(&person(Role::Developer)));
        assert!(!Parties::default().include(&person(Role::Owner)));
        let (team, ada) = (TeamId::new(NOW), UserId::new(NOW));
        let of_team = Parties { teams: vec![team], ..Parties::default() };
        let actor = RuleActor::person(member(ada, Role::Viewer));
        assert!(!of_team.include(&actor));
        assert!(of_team.include(&actor.clone().in_teams(vec![TeamId::new(NOW), team])));
        assert!(Parties { people: vec![ada], ..Parties::default() }.include(&actor));
    }

    #[test]
    fn a_machines_key_stands_for_its_person_and_a_programs_key_for_itself() {
        let (machine, machine_key, maker) = with_key(Role::Owner, true);
        let (program, program_key, other) = with_key(Role::Owner, false);
        let people = Parties { people: vec![maker, other], ..Parties::default() };
        assert!(people.include(&machine) && !people.include(&program));
        assert_eq!((machine.teams_of(), program.teams_of()), (Some(maker), None));
        let admins = Parties { roles: vec![Role::Admin], ..Parties::default() };
        assert!(admins.include(&machine) && !admins.include(&program));
        // No key acts as an owner.
        assert!(!Parties { roles: vec![Role::Owner], ..Parties::default() }.include(&machine));
        let keys = Parties { keys: vec![program_key], ..Parties::default() };
        assert!(keys.include(&program) && !keys.include(&machine));
        assert!(Parties { keys: vec![machine_key], ..Parties::default() }.include(&machine));
    }

    #[test]
    fn each_is_named_once_and_not_too_many_are() {
        let people: Vec<_> = (0..PARTIES_MAX).map(|_| UserId::new(NOW)).collect();
        let twice = Parties { people: [people.clone(), people.clone()].concat(), ..Parties::default() };
        assert_eq!(twice.check("bypass").unwrap().people.len(), PARTIES_MAX);
        let more = Parties { people: [people, vec![UserId::new(NOW)]].concat(), ..Parties::default() };
        assert!(more.check("bypass").is_err());
    }
}
