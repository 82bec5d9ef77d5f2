use proptest::prelude::*;

use super::*;
use crate::{
    Role, Timestamp,
    git::{
        RefVerdict,
        rules::{Parties, RefPattern, Requirements, RuleDraft, party::tests::person},
    },
    id::UserId,
};

const NOW: Timestamp = Timestamp(1_700_000_000_000);

fn rule(target: RuleTarget, pattern: &str, requires: Requirements) -> BranchRule {
    let draft = RuleDraft {
        name: pattern.to_owned(),
        target,
        patterns: vec![RefPattern::parse("p", pattern).unwrap()],
        enabled: true,
        requires,
        bypass: Parties::default(),
    };
    let created_by = UserId::new(NOW);
    BranchRule { id: BranchRuleId::new(NOW), draft, created_by, created_at: NOW, updated_at: NOW }
}

fn nothing() -> Requirements {
    Requirements { blocks_force_push: false, blocks_deletion: false, ..Requirements::default() }
}

fn named(name: &str) -> RefName {
    RefName::parse(name.as_bytes()).unwrap()
}

/// What a developer reads who does this to `refs/heads/main`, or to `refs/tags/v1` where the rule is of tags.
fn said(rule: BranchRule, act: RefAct) -> Vec<String> {
    let name = if rule.draft.target == RuleTarget::Tag { "refs/tags/v1" } else { "refs/heads/main" };
    told(rule, &RefChange::new(named(name), act).adding_merges(Some(false)))
}

fn told(rule: BranchRule, change: &RefChange) -> Vec<String> {
    let ruling = RuleSet(vec![rule]).ruling(&person(Role::Developer), change);
    ruling.rules[0].reasons.iter().map(Reason::to_string).collect()
}

fn of_main(requires: Requirements) -> BranchRule {
    rule(RuleTarget::Branch, "main", requires)
}

#[test]
fn a_rule_keeps_what_there_is_unless_it_says_otherwise() {
    let main = || of_main(Requirements::default());
    assert_eq!(said(main(), RefAct::Delete), ["A rule of this repository doesn't allow deleting this branch."]);
    assert_eq!(said(main(), RefAct::Force), ["A rule of this repository doesn't allow force pushes to this branch."]);
    let tags = || rule(RuleTarget::Tag, "v*", Requirements::default());
    assert_eq!(said(tags(), RefAct::Delete), ["A rule of this repository doesn't allow deleting this tag."]);
    assert_eq!(said(tags(), RefAct::Force), ["A rule of this repository doesn't allow moving this tag."]);
    for act in [RefAct::Create, RefAct::Update, RefAct::Merge(PullFacts::default())] {
        assert!(said(main(), act).is_empty(), "{act:?}");
    }
    for act in [RefAct::Create, RefAct::Update, RefAct::Force, RefAct::Delete] {
        assert!(said(of_main(nothing()), act).is_empty(), "{act:?}");
    }
}

#[test]
fn a_branch_that_needs_a_pull_request_is_only_made_deleted_and_merged_into() {
    let pull = |pull| of_main(Requirements { pull: Some(pull), ..nothing() });
    let plain = PullRequirement::default();
    for act in [RefAct::Update, RefAct::Force] {
        assert_eq!(said(pull(plain), act), ["This branch needs a pull request."], "{act:?}");
    }
    for act in [RefAct::Create, RefAct::Delete, RefAct::Merge(PullFacts::default())] {
        assert!(said(pull(plain), act).is_empty(), "{act:?}");
    }
}

#[test]
fn a_pull_request_is_merged_once_it_has_all_that_is_asked_for() {
    let asked = PullRequirement { approvals: 2, dismiss_stale: true, resolve_threads: true, code_owners: true };
    let merge = |asked: PullRequirement, facts: PullFacts| {
        said(of_main(Requirements { pull: Some(asked), ..nothing() }), RefAct::Merge(facts))
    };
    let facts =
        PullFacts { approvals: 2, fresh_approvals: 1, changes_requested: 2, open_threads: 1, owners_approve: false };
    assert_eq!(
        merge(asked, facts),
        [
            "This pull request needs one more approval.",
            "2 reviews of this pull request ask for changes.",
            "A thread of this pull request isn't resolved.",
            "The owners of what this pull request changes haven't approved it.",
        ]
    );
    let lenient = PullRequirement { approvals: 2, ..PullRequirement::default() };
    assert_eq!(merge(lenient, PullFacts { changes_requested: 0, ..facts }), Vec::<String>::new());
    assert_eq!(merge(lenient, PullFacts::default()), ["This pull request needs 2 more approvals."]);
    let enough = PullFacts { fresh_approvals: 2, owners_approve: true, ..PullFacts::default() };
    assert_eq!(merge(asked, enough), Vec::<String>::new());
}

#[test]
fn checks_have_to_succeed_for_what_a_branch_moves_to_and_what_a_tag_is_made_of() {
    let requires = || Requirements { checks: ["a", "b", "c", "d"].map(str::to_owned).to_vec(), ..nothing() };
    let checks = [("a", CommitState::Success), ("b", CommitState::Pending), ("c", CommitState::Error)];
    let change = |name: &str, act| {
        let checks = checks.iter().map(|(context, state)| ((*context).to_owned(), *state)).collect();
        RefChange { checks, ..RefChange::new(named(name), act) }
    };
    let lacking = ["The check b isn't done.", "The check c failed.", "The check d hasn't run."];
    for act in [RefAct::Update, RefAct::Force, RefAct::Merge(PullFacts::default())] {
        assert_eq!(told(of_main(requires()), &change("refs/heads/main", act)), lacking, "{act:?}");
    }
    for act in [RefAct::Create, RefAct::Delete] {
        assert!(told(of_main(requires()), &change("refs/heads/main", act)).is_empty(), "{act:?}");
    }
    let tags = || rule(RuleTarget::Tag, "v*", requires());
    assert_eq!(told(tags(), &change("refs/tags/v1", RefAct::Create)), lacking);
    assert!(told(tags(), &change("refs/tags/v1", RefAct::Delete)).is_empty());
}

#[test]
fn a_linear_branch_takes_no_merges_and_nothing_that_nobody_looked_at() {
    let linear = || of_main(Requirements { is_linear: true, ..nothing() });
    let change = |act, merges| RefChange::new(named("refs/heads/main"), act).adding_merges(merges);
    for act in [RefAct::Create, RefAct::Update, RefAct::Force, RefAct::Merge(PullFacts::default())] {
        assert!(told(linear(), &change(act, Some(false))).is_empty(), "{act:?}");
        assert_eq!(told(linear(), &change(act, Some(true))), ["This branch takes no merge commits."], "{act:?}");
        let meanwhile = ["A rule of this branch was changed meanwhile. Push again."];
        assert_eq!(told(linear(), &change(act, None)), meanwhile, "{act:?}");
    }
    assert!(told(linear(), &change(RefAct::Delete, None)).is_empty());
}

#[test]
fn who_isnt_named_where_a_ref_is_restricted_changes_nothing_of_it() {
    let admins = Parties { roles: vec![Role::Admin], ..Parties::default() };
    let restricted = of_main(Requirements { restrict_to: Some(admins), ..nothing() });
    for act in [RefAct::Create, RefAct::Update, RefAct::Delete, RefAct::Merge(PullFacts::default())] {
        let text = ["A rule of this repository doesn't allow you to change this branch."];
        assert_eq!(said(restricted.clone(), act), text, "{act:?}");
        let change = RefChange::new(named("refs/heads/main"), act);
        let ruling = RuleSet(vec![restricted.clone()]).ruling(&person(Role::Admin), &change);
        assert_eq!(ruling.outcome(), Outcome::Allowed);
    }
    let nobody = of_main(Requirements { restrict_to: Some(Parties::default()), ..nothing() });
    assert_eq!(said(nobody, RefAct::Update).len(), 1);
}

#[test]
fn each_rule_says_what_it_comes_to_and_one_that_is_passed_by_is_told() {
    use Outcome::{Allowed, Bypassed, Disabled, OtherRefs, Refused};

    let mut rules = vec![
        rule(RuleTarget::Branch, "other", Requirements::default()),
        rule(RuleTarget::Tag, "**", Requirements::default()),
        of_main(Requirements::default()),
        of_main(Requirements::default()),
        of_main(nothing()),
    ];
    rules[2].draft.enabled = false;
    rules[3].draft.bypass.roles = vec![Role::Admin];
    let strict = of_main(Requirements::default());
    let change = RefChange::new(named("refs/heads/main"), RefAct::Delete);
    let outcomes = |ruling: &Ruling| ruling.rules.iter().map(|rule| rule.outcome).collect::<Vec<_>>();
    let set = RuleSet(rules.clone());
    let ruling = set.ruling(&person(Role::Admin), &change);
    assert_eq!(outcomes(&ruling), [OtherRefs, OtherRefs, Disabled, Bypassed, Allowed]);
    assert_eq!(ruling.outcome(), Bypassed);
    assert_eq!(ruling.bypassed().map(|rule| rule.rule_id).collect::<Vec<_>>(), [rules[3].id]);
    ruling.admit().unwrap();
    let refused = set.ruling(&person(Role::Developer), &change);
    assert_eq!(outcomes(&refused), [OtherRefs, OtherRefs, Disabled, Refused, Allowed]);
    let Err(Error::Forbidden { code, adds, .. }) = refused.admit() else { panic!("the change is refused") };
    assert_eq!((code, adds["rule"].as_str()), ("branch_rule", Some(rules[3].id.to_string().as_str())));
    // Who passes one rule by doesn't pass the others by.
    let both = RuleSet([rules, vec![strict.clone()]].concat()).ruling(&person(Role::Admin), &change);
    assert_eq!(both.refusal().map(|(rule, _)| rule.rule_id), Some(strict.id));
    assert_eq!(RuleSet::default().ruling(&person(Role::Viewer), &change).outcome(), Allowed);
}

#[test]
fn a_ref_is_protected_by_a_rule_that_holds() {
    let mut main = of_main(nothing());
    assert!(RuleSet(vec![main.clone()]).protects(&named("refs/heads/main")));
    assert!(!RuleSet(vec![main.clone()]).protects(&named("refs/tags/main")));
    assert!(!RuleSet(vec![main.clone()]).protects(&named("refs/heads/other")));
    main.draft.enabled = false;
    assert!(!RuleSet(vec![main]).protects(&named("refs/heads/main")));
}

#[test]
fn a_tag_that_is_moved_is_forced() {
    let of = |name: &str, verdict| RefAct::of_push(&named(name), verdict);
    assert_eq!(of("refs/tags/a", RefVerdict::Updated), Some(RefAct::Force));
    assert_eq!(of("refs/heads/a", RefVerdict::Updated), Some(RefAct::Update));
    assert_eq!(of("refs/heads/a", RefVerdict::Forced), Some(RefAct::Force));
    assert_eq!(of("refs/heads/a", RefVerdict::Refused), None);
}

fn any_act() -> impl Strategy<Value = RefAct> {
    let facts = (0..4_u32, 0..4_u32, 0..2_u32, 0..2_u32, any::<bool>()).prop_map(|it| {
        let (approvals, fresh_approvals, changes_requested, open_threads, owners_approve) = it;
        RefAct::Merge(PullFacts { approvals, fresh_approvals, changes_requested, open_threads, owners_approve })
    });
    let others = [RefAct::Create, RefAct::Update, RefAct::Force, RefAct::Delete];
    prop_oneof![proptest::sample::select(others.to_vec()), facts]
}

prop_compose! {
    fn any_requirements()(
        flags in any::<[bool; 8]>(),
        approvals in 0..=6_u8,
        checks in proptest::collection::vec("[ab]", 0..3),
    ) -> Requirements {
        let [needs_pull, dismiss_stale, resolve_threads, code_owners, is_linear, force, deletion, restricts] = flags;
        let pull = PullRequirement { approvals, dismiss_stale, resolve_threads, code_owners };
        Requirements {
            pull: needs_pull.then_some(pull),
            checks,
            is_linear,
            blocks_force_push: force,
            blocks_deletion: deletion,
            restrict_to: restricts.then(|| Parties { roles: vec![Role::Admin], ..Parties::default() }),
        }
    }
}

proptest! {
    #[test]
    fn one_more_rule_never_allows_what_the_others_refuse(
        asked in proptest::collection::vec(any_requirements(), 1..5),
        act in any_act(),
        merges in any::<Option<bool>>(),
        role in proptest::sample::select(Role::ALL),
    ) {
        let change = RefChange::new(named("refs/heads/main"), act).adding_merges(merges);
        let who = person(role);
        let mut rules = RuleSet::default();
        let mut before = rules.ruling(&who, &change);
        for requires in asked {
            rules.0.push(of_main(requires));
            let after = rules.ruling(&who, &change);
            prop_assert!(after.outcome() >= before.outcome());
            prop_assert_eq!(after.admit().is_err(), after.outcome() == Outcome::Refused);
            before = after;
        }
    }

    #[test]
    fn who_may_pass_a_rule_by_is_never_refused_by_it(requires in any_requirements(), act in any_act()) {
        let mut rule = of_main(requires);
        rule.draft.bypass.roles = vec![Role::Viewer];
        let change = RefChange::new(named("refs/heads/main"), act);
        let ruling = RuleSet(vec![rule]).ruling(&person(Role::Viewer), &change);
        prop_assert!(ruling.admit().is_ok());
        prop_assert_eq!(ruling.outcome() == Outcome::Bypassed, !ruling.rules[0].reasons.is_empty());
    }
}
