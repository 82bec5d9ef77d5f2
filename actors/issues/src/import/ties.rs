//! The links of a file: each is made with the later of its ends.

use std::collections::{BTreeSet, HashMap};

use domain::{
    Result,
    id::IssueLinkId,
    issues::{limits::LINKS_MAX, transfer::SourceFile},
};
use store::issues::IssueLink;

use super::{Desk, ImportedRow, Made};

impl Desk<'_> {
    /// The links of which one end is new and the other one is there. `order` has the rows up to the end of this call, `start` is
    /// where this call begins; what can't be linked is told at its row.
    pub(super) async fn ties(
        &self,
        made: &Made,
        (file, order): (&SourceFile, &[usize]),
        (start, results): (usize, &mut [ImportedRow]),
    ) -> Result<Vec<IssueLink>> {
        let names = file.issues.iter().flat_map(|issue| issue.names.iter().map(String::as_str));
        let in_file: BTreeSet<&str> = names.collect();
        let (mut links, mut known) = (Vec::new(), BTreeSet::new());
        let mut counts: HashMap<_, u64> = HashMap::new();
        for (at, row) in order.iter().copied().enumerate() {
            let source = &file.issues[row];
            let Some(own) = made.find(self, &source.names).await? else { continue };
            for (label, target) in &source.links {
                let is_ours = at >= start;
                let Some((kind, is_inward)) = self.kind(label) else {
                    warn(results, (is_ours, row), format!("Unknown kind of link: {}", label.trim_start_matches('<')));
                    continue;
                };
                let Some(other) = made.find(self, std::slice::from_ref(target)).await? else {
                    if !in_file.contains(target.as_str()) {
                        warn(results, (is_ours, row), format!("Unknown issue: {target}"));
                    }
                    continue;
                };
                let is_new = made.places.contains_key(&own) || made.places.contains_key(&other);
                let (from, to) = if is_inward { (other, own) } else { (own, other) };
                if !is_new || own == other || !known.insert((from, to, kind.clone())) {
                    continue;
                }
                let most = counts.entry(from).or_default();
                *most += 1;
                let fits = *most <= LINKS_MAX;
                let least = counts.entry(to).or_default();
                *least += 1;
                if fits && *least <= LINKS_MAX {
                    links.push(IssueLink { id: IssueLinkId::new(self.now), type_id: kind, from, to });
                } else {
                    warn(results, (is_ours, row), format!("An issue has at most {LINKS_MAX} links."));
                }
            }
        }
        Ok(links)
    }

    /// The kind of link that a column or a file names, and whether it is seen from its other end.
    fn kind(&self, label: &str) -> Option<(String, bool)> {
        let (label, is_turned) = label.strip_prefix('<').map_or((label, false), |rest| (rest, true));
        let (kind, is_inward) = self.settings.link_named(label)?;
        Some((kind.id.clone(), is_inward != is_turned))
    }
}

fn warn(results: &mut [ImportedRow], (is_ours, row): (bool, usize), message: String) {
    let result = results.iter_mut().find(|result| is_ours && result.row == row && result.key.is_some());
    if let Some(result) = result.filter(|result| !result.warnings.contains(&message)) {
        result.warnings.push(message);
    }
}
