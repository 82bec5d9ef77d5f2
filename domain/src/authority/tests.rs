use super::*;
use crate::{
    app::{App, Platform},
    context::{KeyCaller, KeyKind, PersonCaller},
    id::{KeyId, SignInId},
    role::lowest_role,
    time::Timestamp,
};

const NOW: Timestamp = Timestamp(1_700_000_000_000);
const PEOPLE_ONLY: &str = "This is for people, not for keys.";

/// What a person with this role may do.
pub(crate) fn member(user_id: UserId, role: Role) -> Authority {
    let membership = Membership { org_id: OrgId::new(NOW), user_id, role, kind: OrgKind::Customer };
    Authority::of_person(Some(membership)).unwrap()
}

/// What a key with these scopes may do that a person with this role made.
pub(crate) fn key_of(maker: UserId, role: Role, given: &[Scope]) -> Authority {
    let org_id = OrgId::new(NOW);
    let membership = Membership { org_id, user_id: maker, role, kind: OrgKind::Customer };
    Authority::of(&key(org_id, maker, given), org_id, Some(membership)).unwrap()
}

fn person(user_id: UserId) -> Caller {
    let sign_in_id = SignInId::new(NOW);
    Caller::Person(PersonCaller {
        user_id,
        sign_in_id,
        app: App::Account,
        platform: Platform::Web,
        confirmed_until: None,
    })
}

fn key(org_id: OrgId, maker: UserId, given: &[Scope]) -> Caller {
    let scopes = given.iter().copied().collect();
    Caller::Key(KeyCaller { key_id: KeyId::new(NOW), org_id, maker, kind: KeyKind::Api, scopes, is_machine: false })
}

fn message(result: Result<impl std::fmt::Debug>) -> (u16, String) {
    let error = result.unwrap_err();
    (error.status(), error.to_string())
}

/// Who asks, in the table below.
#[derive(Clone, Copy, Debug)]
enum Asks {
    /// A person.
    Person,
    /// A key of theirs with these scopes.
    Key(&'static [Scope]),
}

#[test]
#[rustfmt::skip]
fn what_is_asked_is_allowed_to_whoever_has_it_and_to_nobody_below() {
    use Asks::{Key, Person};
    use OrgKind::{Customer, Platform};
    use Role::{Admin, Developer, Owner, Viewer};

    for (asks, role, kind, scope, allowed) in [
        // Each role has what begins with it, and the one below hasn't.
        (Person, Viewer, Customer, Scope::OrgRead, true),
        (Person, Viewer, Customer, Scope::KnowledgeWrite, false),
        (Person, Developer, Customer, Scope::KnowledgeWrite, true),
        (Person, Developer, Customer, Scope::OrgWrite, false),
        (Person, Admin, Customer, Scope::OrgWrite, true),
        (Person, Admin, Customer, Scope::TenantWrite, false),
        (Person, Owner, Customer, Scope::TenantWrite, true),
        // Operators are people of the platform's organization.
        (Person, Owner, Customer, Scope::PlatformAdmin, false),
        (Person, Developer, Platform, Scope::PlatformAdmin, false),
        (Person, Admin, Platform, Scope::PlatformAdmin, true),
        (Person, Admin, Platform, Scope::PlatformInfra, false),
        (Person, Owner, Platform, Scope::PlatformInfra, true),
        // A key has what it was given, as far as its maker has it.
        (Key(&[Scope::OrgWrite]), Admin, Customer, Scope::OrgWrite, true),
        (Key(&[Scope::OrgWrite]), Admin, Customer, Scope::OrgRead, false),
        (Key(&[]), Owner, Customer, Scope::OrgRead, false),
        (Key(&[Scope::TenantWrite]), Owner, Customer, Scope::TenantWrite, true),
        (Key(&[Scope::PlatformInfra]), Owner, Platform, Scope::PlatformInfra, true),
        (Key(&[Scope::PlatformInfra]), Owner, Customer, Scope::PlatformInfra, false),
        // A key whose maker was demoted.
        (Key(&[Scope::OrgWrite, Scope::OrgRead]), Developer, Customer, Scope::OrgWrite, false),
        (Key(&[Scope::OrgWrite, Scope::OrgRead]), Developer, Customer, Scope::OrgRead, true),
        (Key(&[Scope::PlatformInfra]), Admin, Platform, Scope::PlatformInfra, false),
    ] {
        let (org_id, user_id) = (OrgId::new(NOW), UserId::new(NOW));
        let caller = match asks {
            Person => person(user_id),
            Key(given) => key(org_id, user_id, given),
        };
        let authority = Authority::of(&caller, org_id, Some(Membership { org_id, user_id, role, kind })).unwrap();
        let row = format!("{asks:?} {role} {kind} {scope}");
        assert_eq!(authority.has(scope), allowed, "{row}");
        match authority.require(scope) {
            Ok(()) => assert!(allowed, "{row}"),
            Err(error) => assert!(!allowed && matches!(error, Error::MissingScope(named) if named == scope), "{row}"),
        }
    }
}

#[test]
fn a_person_has_their_role_and_a_key_what_is_also_its_own_of_it() {
    let (org_id, user_id) = (OrgId::new(NOW), UserId::new(NOW));
    for kind in OrgKind::ALL {
        for role in Role::ALL {
            let membership = Membership { org_id, user_id, role: *role, kind: *kind };
            let theirs = Authority::of(&person(user_id), org_id, Some(membership)).unwrap();
            assert_eq!(theirs, Authority::of_person(Some(membership)).unwrap());
            for given in Scope::ALL {
                let keys = Authority::of(&key(org_id, user_id, &[*given]), org_id, Some(membership)).unwrap();
                for asked in Scope::ALL {
                    let by_role = role.scopes(*kind).contains(*asked);
                    assert_eq!(theirs.has(*asked), by_role, "{role} {kind} {asked}");
                    assert_eq!(keys.has(*asked), by_role && asked == given, "{role} {kind} {asked} of {given}");
                }
            }
        }
    }
}

#[test]
fn who_has_no_part_in_an_organization_finds_none() {
    let (org_id, other, user_id) = (OrgId::new(NOW), OrgId::new(NOW), UserId::new(NOW));
    let membership = Membership { org_id, user_id, role: Role::Owner, kind: OrgKind::Customer };
    let nowhere = (404, "Organization not found.".to_owned());
    let all: &[Scope] = Scope::ALL;
    // A stranger; a key whose maker has left; somebody else's part; a part elsewhere; another organization's key.
    assert_eq!(message(Authority::of(&person(user_id), org_id, None)), nowhere);
    assert_eq!(message(Authority::of(&key(org_id, user_id, all), org_id, None)), nowhere);
    assert_eq!(message(Authority::of(&person(UserId::new(NOW)), org_id, Some(membership))), nowhere);
    assert_eq!(message(Authority::of(&person(user_id), other, Some(membership))), nowhere);
    assert_eq!(message(Authority::of(&key(other, user_id, all), org_id, Some(membership))), nowhere);
    assert_eq!(message(Authority::of_person(None)), nowhere);
    assert_eq!(Authority::rests_on(&key(other, user_id, all), org_id), None);
    assert_eq!(Authority::rests_on(&key(org_id, user_id, all), org_id), Some(user_id));
}

#[test]
fn who_is_not_signed_in_reads_so_wherever_they_ask() {
    let (org_id, user_id) = (OrgId::new(NOW), UserId::new(NOW));
    let membership = Membership { org_id, user_id, role: Role::Owner, kind: OrgKind::Customer };
    for membership in [None, Some(membership)] {
        let found = Authority::of(&Caller::Nobody, org_id, membership);
        assert_eq!(message(found), (401, "Sign in to continue.".to_owned()));
    }
    assert_eq!(Authority::rests_on(&Caller::Nobody, org_id), None);
}

#[test]
fn troupe_itself_may_everything_and_is_no_person() {
    let troupe = Authority::of(&Caller::System, OrgId::new(NOW), None).unwrap();
    assert!(troupe.require_all(Scope::ALL.iter().copied()).is_ok());
    assert!(troupe.is_troupe() && troupe.runs_organization());
    for role in Role::ALL {
        assert!(troupe.assign_check(*role).is_ok(), "{role}");
    }
    assert_eq!(message(troupe.person(PEOPLE_ONLY)), (403, PEOPLE_ONLY.to_owned()));
    assert_eq!(message(troupe.on_behalf_of()).0, 401);
    assert!(!troupe.is(UserId::new(NOW)));
}

#[test]
fn an_operator_who_is_none_reads_which_scope_is_missing() {
    let (org_id, user_id) = (OrgId::new(NOW), UserId::new(NOW));
    let wanted = [Scope::PlatformInfra];
    let of = |caller: &Caller, role: Option<Role>| {
        let membership = role.map(|role| Membership { org_id, user_id, role, kind: OrgKind::Platform });
        Authority::admit(Authority::of(caller, org_id, membership), &wanted)
    };
    let missing = (403, "This needs the platform:infra permission.".to_owned());
    assert!(of(&person(user_id), Some(Role::Owner)).is_ok());
    assert!(of(&key(org_id, user_id, &wanted), Some(Role::Owner)).is_ok());
    assert_eq!(message(of(&person(user_id), Some(Role::Admin))), missing);
    assert_eq!(message(of(&person(user_id), None)), missing);
    assert_eq!(message(of(&key(org_id, user_id, &[Scope::PlatformAdmin]), Some(Role::Owner))), missing);
    assert_eq!(message(of(&key(OrgId::new(NOW), user_id, &wanted), Some(Role::Owner))), missing);
    assert_eq!(message(of(&Caller::Nobody, None)).0, 401);
}

#[test]
fn a_key_acts_for_its_maker_and_is_not_them() {
    let user_id = UserId::new(NOW);
    let (theirs, keys) = (member(user_id, Role::Viewer), key_of(user_id, Role::Viewer, Scope::ALL));
    assert_eq!((theirs.on_behalf_of().unwrap(), keys.on_behalf_of().unwrap()), (user_id, user_id));
    assert_eq!(theirs.person(PEOPLE_ONLY).unwrap(), user_id);
    assert_eq!(message(keys.person(PEOPLE_ONLY)), (403, PEOPLE_ONLY.to_owned()));
    assert!(theirs.is(user_id) && !theirs.is(UserId::new(NOW)) && !keys.is(user_id));
}

#[test]
fn what_owners_do_is_refused_to_keys_and_to_others() {
    let user_id = UserId::new(NOW);
    let owner = |authority: &Authority| authority.owner(PEOPLE_ONLY, "Only an owner deletes an organization.");
    assert_eq!(owner(&member(user_id, Role::Owner)).unwrap(), user_id);
    let refused = (403, "Only an owner deletes an organization.".to_owned());
    assert_eq!(message(owner(&member(user_id, Role::Admin))), refused);
    assert_eq!(message(owner(&key_of(user_id, Role::Owner, Scope::ALL))), (403, PEOPLE_ONLY.to_owned()));
}

#[test]
fn admins_run_the_organization_and_so_do_their_keys() {
    for (role, runs) in [(Role::Owner, true), (Role::Admin, true), (Role::Developer, false), (Role::Viewer, false)] {
        assert_eq!(member(UserId::new(NOW), role).runs_organization(), runs, "{role}");
        assert_eq!(key_of(UserId::new(NOW), role, &[]).runs_organization(), runs, "a key of the {role}");
    }
}

#[test]
fn an_admin_neither_makes_nor_unmakes_owners() {
    let (ada, bob) = (UserId::new(NOW), UserId::new(NOW));
    let too_low = (403, "Only an owner makes, changes or removes an owner.".to_owned());
    for (actor, role, may) in [
        (Role::Owner, Role::Owner, true),
        (Role::Admin, Role::Owner, false),
        (Role::Admin, Role::Admin, true),
        (Role::Developer, Role::Viewer, false),
    ] {
        let authority = member(ada, actor);
        for outcome in [authority.assign_check(role), authority.withdraw_check(bob, role)] {
            match outcome {
                Ok(()) => assert!(may, "{actor} {role}"),
                Err(error) => {
                    assert!(!may, "{actor} {role}");
                    assert_eq!(message(Err::<(), _>(error)), too_low);
                }
            }
        }
        assert!(authority.withdraw_check(ada, actor).is_ok(), "anybody gives up their own role: {actor}");
    }
}

#[test]
fn a_key_gives_no_role_that_can_do_what_it_can_not() {
    let maker = UserId::new(NOW);
    let viewers: Vec<Scope> = Scope::ALL.iter().copied().filter(|scope| lowest_role(*scope) == Role::Viewer).collect();
    let keys = key_of(maker, Role::Owner, &viewers);
    assert!(keys.assign_check(Role::Viewer).is_ok());
    assert!(matches!(keys.assign_check(Role::Developer), Err(Error::MissingScope(_))));
    // However much it was given, and though its maker owns the organization.
    let all = key_of(maker, Role::Owner, Scope::ALL);
    assert!(all.assign_check(Role::Admin).is_ok());
    assert_eq!(message(all.assign_check(Role::Owner)).0, 403);
    assert_eq!(message(all.withdraw_check(UserId::new(NOW), Role::Owner)).0, 403);
    assert!(all.withdraw_check(maker, Role::Admin).is_ok());
    assert_eq!(message(all.withdraw_check(maker, Role::Owner)).0, 403, "a key is not its maker");
}

#[test]
fn a_mail_client_is_its_person_and_does_no_more_than_send() {
    use crate::app_password::{AppPasswordCaller, AppPasswordUse};

    let (org_id, user_id) = (OrgId::new(NOW), UserId::new(NOW));
    let part = |role| Some(Membership { org_id, user_id, role, kind: OrgKind::Customer });
    let caller = |opens| {
        let id = crate::id::AppPasswordId::new(NOW);
        Caller::AppPassword(AppPasswordCaller { id, user_id, org_id, opens })
    };
    let client = Authority::of(&caller(AppPasswordUse::Smtp), org_id, part(Role::Owner)).unwrap();
    assert_eq!(client.person(PEOPLE_ONLY).unwrap(), user_id);
    assert!(client.has(Scope::MailSend) && !client.has(Scope::MailAdmin) && !client.has(Scope::OrgRead));
    let viewer = Authority::of(&caller(AppPasswordUse::Smtp), org_id, part(Role::Viewer)).unwrap();
    assert!(!viewer.has(Scope::MailSend), "no more than its person");
    let reader = Authority::of(&caller(AppPasswordUse::Imap), org_id, part(Role::Owner)).unwrap();
    assert!(!reader.has(Scope::MailSend));
    assert!(Authority::of(&caller(AppPasswordUse::Smtp), OrgId::new(NOW), part(Role::Owner)).is_err());
}
