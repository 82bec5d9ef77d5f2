//! Rules in a file, which a test may change while the program runs.

use std::{io::ErrorKind, path::PathBuf, thread};

use super::{
    FaultsError,
    present::{Faults, LOOK_EVERY},
};

/// Sets the rules of the file, now and whenever they change.
pub(super) fn follow(path: PathBuf, faults: &Faults) -> Result<(), FaultsError> {
    let mut known = read(&path)?;
    faults.set(&known)?;
    let handle = faults.downgrade();
    let following = move || {
        while let Some(faults) = handle() {
            let changed = read(&path).and_then(|text| {
                if text != known {
                    known = text;
                    faults.set(&known)?;
                    tracing::warn!(rules = known, "faults");
                }
                Ok(())
            });
            if let Err(error) = changed {
                tracing::error!(%error, "the faults stay as they were");
            }
            drop(faults);
            thread::sleep(LOOK_EVERY);
        }
    };
    let started = thread::Builder::new().name("faults".into()).spawn(following);
    started.map(drop).map_err(|error| FaultsError(format!("the file of faults can't be followed: {error}")))
}

fn read(path: &PathBuf) -> Result<String, FaultsError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(FaultsError(format!("the file of faults {} can't be read: {error}", path.display()))),
    }
}
