//! Rules in a file, which a test may change while the program runs. Beside it, with the extension `read`, stands which of them
//! hold: whoever has changed them waits for that.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    thread,
};

use super::{
    FaultsError,
    present::{Faults, LOOK_EVERY},
};

/// Sets the rules of the file, now and whenever they change.
pub(super) fn follow(path: PathBuf, faults: &Faults) -> Result<(), FaultsError> {
    let mut known = read(&path)?;
    faults.set(&known)?;
    tell(&path, &known);
    let handle = faults.downgrade();
    let following = move || {
        while let Some(faults) = handle() {
            let changed = read(&path).and_then(|text| {
                if text != known {
                    known = text;
                    faults.set(&known)?;
                    tracing::warn!(rules = known, "faults");
                    tell(&path, &known);
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

/// Says which rules hold, as a whole.
fn tell(path: &Path, rules: &str) {
    let half = path.with_extension("half");
    let told = fs::write(&half, rules).and_then(|()| fs::rename(&half, path.with_extension("read")));
    if let Err(error) = told {
        tracing::error!(%error, "which faults hold can't be told");
    }
}

fn read(path: &Path) -> Result<String, FaultsError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(FaultsError(format!("the file of faults {} can't be read: {error}", path.display()))),
    }
}
