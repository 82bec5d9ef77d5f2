//! How many commits two branches don't have in common.

use std::collections::HashMap;

use crate::git::ObjectId;

/// Branches whose divergence one request asks for.
pub const DIVERGENCE_NAMES_MAX: usize = 100;
/// Commits that one request walks.
pub const DIVERGENCE_WALK_MAX: usize = 50_000;

/// How far a branch is from the one that it is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// Commits that only the branch has.
    pub ahead: u64,
    /// Commits that only the other one has.
    pub behind: u64,
    /// Whether there are no more of them.
    pub is_exact: bool,
}

/// The divergence of up to [`DIVERGENCE_NAMES_MAX`] `tips` from `base`. `graph` has the commits that can be reached from any of
/// them, each with its parents, but for such as all of them have in common; and only some of them where it `is_cut`.
pub fn divergences(
    graph: &[(ObjectId, Vec<ObjectId>)],
    base: ObjectId,
    tips: &[ObjectId],
    is_cut: bool,
) -> Vec<Divergence> {
    let places: HashMap<ObjectId, usize> = graph.iter().enumerate().map(|(at, (oid, _))| (*oid, at)).collect();
    // Which of the tips a commit can be reached from, the base first.
    let mut reached = vec![0_u128; graph.len()];
    let mut beyond = Vec::new();
    for (bit, tip) in [base].iter().chain(tips.iter().take(DIVERGENCE_NAMES_MAX)).enumerate() {
        match places.get(tip) {
            Some(at) => reached[*at] |= 1 << bit,
            None => beyond.push(1 << bit),
        }
    }
    for at in children_first(graph, &places) {
        for parent in &graph[at].1 {
            match places.get(parent) {
                Some(parent) => reached[*parent] |= reached[at],
                None => beyond.push(reached[at]),
            }
        }
    }
    let counted = |bit: usize| {
        let (of_base, of_tip) = (|mask: &u128| mask & 1 != 0, |mask: &u128| mask >> bit & 1 != 0);
        let ahead = reached.iter().filter(|mask| of_tip(mask) && !of_base(mask)).count() as u64;
        let behind = reached.iter().filter(|mask| of_base(mask) && !of_tip(mask)).count() as u64;
        // Behind a commit that both have is none that only one of them has.
        let is_exact = !is_cut || beyond.iter().all(|mask| of_tip(mask) == of_base(mask));
        Divergence { ahead, behind, is_exact }
    };
    (1..=tips.len().min(DIVERGENCE_NAMES_MAX)).map(counted).collect()
}

/// The places of the commits, each behind all that follow it.
fn children_first(graph: &[(ObjectId, Vec<ObjectId>)], places: &HashMap<ObjectId, usize>) -> Vec<usize> {
    let mut children = vec![0_usize; graph.len()];
    for parent in graph.iter().flat_map(|(_, parents)| parents).filter_map(|parent| places.get(parent)) {
        children[*parent] += 1;
    }
    let mut order: Vec<usize> = (0..graph.len()).filter(|at| children[*at] == 0).collect();
    let mut next = 0;
    while let Some(at) = order.get(next).copied() {
        next += 1;
        for parent in graph[at].1.iter().filter_map(|parent| places.get(parent)) {
            children[*parent] -= 1;
            if children[*parent] == 0 {
                order.push(*parent);
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn oid(number: usize) -> ObjectId {
        let mut bytes = [7; 20];
        bytes[..8].copy_from_slice(&(number as u64).to_be_bytes());
        ObjectId::of_bytes(bytes)
    }

    fn graph(parents: &[&[usize]]) -> Vec<(ObjectId, Vec<ObjectId>)> {
        let named = |(at, parents): (usize, &&[usize])| (oid(at), parents.iter().map(|it| oid(*it)).collect());
        parents.iter().enumerate().map(named).collect()
    }

    #[test]
    fn a_branch_is_ahead_and_behind() {
        // 0 - 1 - 2 (base), 1 - 3 - 4 (tip), 5 has both
        let graph = graph(&[&[], &[0], &[1], &[1], &[3], &[2, 4]]);
        let found = divergences(&graph, oid(2), &[oid(4), oid(2), oid(5), oid(0)], false);
        let counted: Vec<_> = found.iter().map(|it| (it.ahead, it.behind, it.is_exact)).collect();
        assert_eq!(counted, [(2, 1, true), (0, 0, true), (3, 0, true), (0, 2, true)]);
    }

    #[test]
    fn what_was_cut_is_a_lower_bound() {
        // The walk saw 4, 3 and 2 of the same history.
        let whole = graph(&[&[], &[0], &[1], &[1], &[3]]);
        let found = divergences(&whole[2..], oid(2), &[oid(4), oid(2)], true);
        assert_eq!(found[0], Divergence { ahead: 2, behind: 1, is_exact: false });
        assert_eq!(found[1], Divergence { ahead: 0, behind: 0, is_exact: true });
        // Nothing but what both have was not seen.
        let found = divergences(&graph(&[&[9], &[0]]), oid(0), &[oid(1)], true);
        assert_eq!(found[0], Divergence { ahead: 1, behind: 0, is_exact: true });
    }

    fn all(graph: &[(ObjectId, Vec<ObjectId>)], from: usize) -> HashSet<ObjectId> {
        let (mut found, mut waiting) = (HashSet::new(), vec![oid(from)]);
        let parents: HashMap<_, _> = graph.iter().map(|(oid, parents)| (*oid, parents)).collect();
        while let Some(next) = waiting.pop() {
            if found.insert(next) {
                waiting.extend(parents[&next]);
            }
        }
        found
    }

    proptest! {
        #[test]
        fn divergence_is_what_sets_say(
            histories in prop::collection::vec(prop::collection::vec(any::<prop::sample::Index>(), 0..3), 1..40),
            picked in prop::collection::vec(any::<prop::sample::Index>(), 2..12),
            turned in any::<bool>(),
        ) {
            let parents = |(at, picks): (usize, &Vec<prop::sample::Index>)| {
                let picks = if at == 0 { &[] } else { &picks[..] };
                (oid(at), picks.iter().map(|it| oid(it.index(at))).collect::<Vec<_>>())
            };
            let mut graph: Vec<_> = histories.iter().enumerate().map(parents).collect();
            let picked: Vec<usize> = picked.iter().map(|it| it.index(graph.len())).collect();
            let sets: Vec<_> = picked.iter().map(|it| all(&graph, *it)).collect();
            if turned {
                graph.reverse();
            }
            let reachable: HashSet<_> = sets.iter().flatten().copied().collect();
            graph.retain(|(oid, _)| reachable.contains(oid));
            let tips: Vec<_> = picked[1..].iter().map(|it| oid(*it)).collect();
            for (found, set) in divergences(&graph, oid(picked[0]), &tips, false).into_iter().zip(&sets[1..]) {
                let ahead = set.difference(&sets[0]).count() as u64;
                let behind = sets[0].difference(set).count() as u64;
                prop_assert_eq!(found, Divergence { ahead, behind, is_exact: true });
            }
        }
    }
}
