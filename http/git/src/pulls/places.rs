//! The lines that people comment on: whether they are there, and where they are now.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use actors::git::host::{FileLines, Reading};
use domain::{
    Error,
    git::{LineComment, LinePlace, LineSide, ObjectId, PlacedComment, Pull, PullThread},
    id::PullThreadId,
    problems::Problems,
};
use http_shell::{error::Result, permission::GitRead, repository::Repository, state::State};

use super::base_of;

/// The two commits whose files a pull request compares.
pub(super) struct Sides {
    reading: Reading,
    /// Where the branches part; nothing where they have nothing in common any more.
    old: Option<ObjectId>,
    new: ObjectId,
}

impl Sides {
    pub async fn of(state: &State, repository: &Repository<GitRead>, pull: &Pull) -> Result<Self> {
        let reading = state.git.reading(&repository.stored).await?;
        let base = base_of(state, repository, pull).await?;
        let old = reading.merge_base(base, pull.head_oid).await?;
        Ok(Self { reading, old, new: pull.head_oid })
    }

    const fn commit(&self, side: LineSide) -> Option<ObjectId> {
        match side {
            LineSide::Old => self.old,
            LineSide::New => Some(self.new),
        }
    }

    /// The comments with the commits whose files have their lines; 400 for lines that aren't there. `at` names the place of a
    /// comment in the request.
    pub async fn place(
        &self,
        comments: Vec<LineComment>,
        at: impl Fn(usize) -> String,
    ) -> domain::Result<Vec<PlacedComment>> {
        let (mut problems, mut placed) = (Problems::new(), Vec::with_capacity(comments.len()));
        let mut counted: HashMap<(LineSide, String), FileLines> = HashMap::new();
        for (index, LineComment { place, body }) in comments.into_iter().enumerate() {
            let key = (place.side, place.path.as_str().to_owned());
            let lines = match counted.get(&key) {
                Some(lines) => *lines,
                None => self.lines(&place).await?,
            };
            counted.insert(key, lines);
            match (lines, self.commit(place.side)) {
                (FileLines::Lines(count), Some(commit)) if u64::from(place.line) <= count => {
                    placed.push(PlacedComment { place, commit, body });
                }
                (FileLines::Lines(_), _) => problems.add(at(index) + "line", "The file has no such line."),
                (FileLines::Uncounted, _) => {
                    problems.add(at(index) + "path", "This file is too large, or has no lines.");
                }
                (FileLines::Missing, _) => problems.add(at(index) + "path", "There is no such file on this side."),
            }
        }
        problems.into_result().map(|()| placed)
    }

    async fn lines(&self, place: &LinePlace) -> domain::Result<FileLines> {
        match self.commit(place.side) {
            Some(commit) => self.reading.lines_of(commit, &place.path).await,
            None => Ok(FileLines::Missing),
        }
    }

    /// Where the lines of these threads are now; a thread whose line changed is left out.
    pub async fn lines_now(&self, threads: &[PullThread]) -> domain::Result<HashMap<PullThreadId, u32>> {
        let written: BTreeSet<ObjectId> = threads.iter().map(|thread| thread.commit).collect();
        let written: Vec<ObjectId> = written.into_iter().collect();
        // What nothing leads to any more may be gone.
        let there = self.reading.commits(&written).await?;
        let mut together: BTreeMap<(ObjectId, ObjectId), Vec<&PullThread>> = BTreeMap::new();
        for thread in threads.iter().filter(|thread| there.contains_key(&thread.commit)) {
            if let Some(to) = self.commit(thread.place.side) {
                together.entry((thread.commit, to)).or_default().push(thread);
            }
        }
        let mut found = HashMap::new();
        for ((from, to), threads) in together {
            let places: Vec<_> = threads.iter().map(|thread| (&thread.place.path, thread.place.line)).collect();
            let lines = self.reading.lines_now(from, to, &places).await?;
            found.extend(threads.iter().zip(lines).filter_map(|(thread, line)| Some((thread.id, line?))));
        }
        Ok(found)
    }
}

/// The head that the caller saw, where they say which: 409 where the pull request has another one.
pub(super) fn seen_head(named: Option<&str>, pull: &Pull) -> domain::Result<ObjectId> {
    let named = named.map(str::parse::<ObjectId>);
    let named = named.transpose().map_err(|_| Error::invalid("head", "Use 40 hexadecimal digits."))?;
    match named {
        Some(head) if head != pull.head_oid => Err(domain::git::head_moved()),
        _ => Ok(pull.head_oid),
    }
}
