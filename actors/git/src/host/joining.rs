//! Making one pack of several. It has each of their objects, also those that nothing leads to; that is looked at before any of
//! them is given up.

use std::{
    fmt::Write as _,
    fs::File,
    io::{self, BufReader, Read},
    path::{Path, PathBuf},
};

use domain::{Error, Result, git::ObjectId};
use gateways::GitJob;
use store::git::{NewPack, StoredPack, StoredRepository};
use tokio::{fs, task::spawn_blocking};

use super::{
    GitHost, Quarantine, internal,
    reading::PIECE_LEN,
    views::{failed, lay_out},
};

/// How an index of git's begins (gitformat-pack, "Version 2 pack-*.idx files").
const INDEX_BEGINNING: [u8; 8] = *b"\xfftOc\0\0\0\x02";
/// Numbers of the table behind it, the last of which says how many objects there are.
const FAN_OUT: usize = 256;
/// Bytes of an object's name.
const OID_LEN: usize = 20;

impl GitHost {
    /// A pack that has all objects of these packs of a repository, for the commit that names it in their place.
    pub(crate) async fn join_packs(&self, repository: &StoredRepository, packs: &[StoredPack]) -> Result<NewPack> {
        let mut quarantine = self.quarantine(repository).await?;
        quarantine.join(packs).await?;
        let joined = quarantine.keep(repository).await?;
        joined.ok_or_else(|| Error::internal("packs without objects are joined"))
    }

    /// Has what this node makes of a repository follow the commit that joined packs of it.
    pub(crate) async fn packs_joined(&self, repository: &StoredRepository) {
        if let Err(error) = self.view(repository).await {
            tracing::info!(%error, repository = %repository.id(), "a view is brought up to date later");
        }
    }
}

impl Quarantine {
    /// Makes a pack of all objects of these packs, and reads all of it again where git finds nothing else.
    async fn join(&mut self, packs: &[StoredPack]) -> Result<()> {
        let mut names = String::new();
        for pack in packs {
            // Writing to a text doesn't fail.
            let _ = writeln!(names, "pack-{}.pack", pack.hash);
        }
        let git = self.host.parts.git.clone();
        let options = ["--stdin-packs", "--delta-base-offset", "-q", "objects/pack/pack"];
        let said = git.run(&self.job("pack-objects").with_all(options), names.as_bytes()).await.map_err(internal)?;
        let hash = ObjectId::read(said.trim_ascii());
        let hash = hash.map_err(|_| Error::internal("git pack-objects says something else"))?;
        let (joined, alone) = (self.pack_file(hash), self.folder().join("alone"));
        lay_out(&alone).await.map_err(failed)?;
        let checked = alone.join("checked.idx");
        let job = GitJob::new(&alone, "index-pack").with_all(["-o", "checked.idx"]);
        git.run(&job.with(format!("../objects/pack/pack-{hash}.pack")), b"").await.map_err(internal)?;
        let index = |pack: &StoredPack| self.view.folder().join(format!("objects/pack/pack-{}.idx", pack.hash));
        let indexes: Vec<PathBuf> = packs.iter().map(index).collect();
        let place = checked.clone();
        let looking = spawn_blocking(move || has_all(&place, &indexes));
        if !looking.await.map_err(Error::internal)?.map_err(failed)? {
            return Err(Error::internal("git has left out an object of packs that are joined"));
        }
        fs::rename(checked, joined.with_extension("idx")).await.map_err(failed)?;
        self.packed(hash);
        Ok(())
    }
}

/// Whether each object of these indexes is in the one of the joined pack.
fn has_all(joined: &Path, indexes: &[PathBuf]) -> io::Result<bool> {
    let mut joined = Names::open(joined)?;
    let mut others = indexes.iter().map(|index| Names::open(index)).collect::<io::Result<Vec<_>>>()?;
    while let Some(name) = joined.next {
        for other in &mut others {
            if other.next == Some(name) {
                other.advance()?;
            }
        }
        joined.advance()?;
    }
    Ok(others.iter().all(|other| other.next.is_none()))
}

/// The names of objects in an index, in their order.
struct Names {
    file: BufReader<File>,
    /// How many are behind the next one.
    left: u32,
    next: Option<[u8; OID_LEN]>,
}

impl Names {
    fn open(place: &Path) -> io::Result<Self> {
        let mut file = BufReader::with_capacity(PIECE_LEN, File::open(place)?);
        let mut beginning = [0; INDEX_BEGINNING.len()];
        file.read_exact(&mut beginning)?;
        if beginning != INDEX_BEGINNING {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "an index of git's begins differently"));
        }
        let mut number = [0; 4];
        for _ in 0..FAN_OUT {
            file.read_exact(&mut number)?;
        }
        let mut names = Self { file, left: u32::from_be_bytes(number), next: None };
        names.advance()?;
        Ok(names)
    }

    fn advance(&mut self) -> io::Result<()> {
        self.next = None;
        if self.left > 0 {
            let mut name = [0; OID_LEN];
            self.file.read_exact(&mut name)?;
            self.left -= 1;
            self.next = Some(name);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An index with objects whose names begin with these bytes.
    fn index(folder: &Path, name: &str, objects: &[u8]) -> PathBuf {
        let mut bytes = INDEX_BEGINNING.to_vec();
        for first in 0..=u8::MAX {
            let up_to = objects.iter().filter(|object| **object <= first).count();
            bytes.extend(u32::try_from(up_to).unwrap().to_be_bytes());
        }
        for object in objects {
            bytes.extend([*object; OID_LEN]);
        }
        bytes.extend(b"sums and places");
        let place = folder.join(name);
        std::fs::write(&place, bytes).unwrap();
        place
    }

    #[test]
    fn an_object_that_is_left_out_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str, objects: &[u8]| index(folder.path(), name, objects);
        let (first, second) = (at("1", &[1, 5, 255]), at("2", &[0, 5, 9]));
        let both = [first, second, at("3", &[])];
        assert!(has_all(&at("all", &[0, 1, 5, 9, 255]), &both).unwrap());
        assert!(has_all(&at("more", &[0, 1, 2, 5, 9, 77, 255]), &both).unwrap());
        for without in [0, 1, 5, 9, 255] {
            let objects: Vec<u8> = [0, 1, 5, 9, 255].into_iter().filter(|object| *object != without).collect();
            assert!(!has_all(&at("less", &objects), &both).unwrap(), "{without}");
        }
        assert!(!has_all(&at("none", &[]), &both).unwrap());
        std::fs::write(folder.path().join("old"), [0; 2_000]).unwrap();
        assert!(has_all(&folder.path().join("old"), &both).is_err());
        std::fs::write(folder.path().join("cut"), INDEX_BEGINNING).unwrap();
        assert!(has_all(&folder.path().join("cut"), &both).is_err());
    }
}
