//! What is written into the person's git configuration, by git itself.

use std::{
    env,
    process::{Command, Output},
};

use super::{
    address::Address,
    error::{ClientError, Result},
    plain::sentence,
};

/// Makes this program git's only helper for what is at `address`, which it asks with the whole path.
///
/// The empty entry before it keeps others from being asked first, and from being told the key to keep it elsewhere.
pub fn write(address: &Address) -> Result<()> {
    let (helper, path) = (format!("credential.{address}.helper"), format!("credential.{address}.useHttpPath"));
    let command = helper_command()?;
    git(&["config", "--global", "--replace-all", &helper, ""])?;
    git(&["config", "--global", "--add", &helper, &command])?;
    git(&["config", "--global", "--replace-all", &path, "true"])
}

/// An error where git isn't installed.
pub fn check() -> Result<()> {
    git(&["--version"])
}

/// What git has a shell run.
fn helper_command() -> Result<String> {
    let program = env::current_exe().map_err(ClientError::System)?;
    let path =
        program.to_str().ok_or_else(|| ClientError::Git(format!("{} is no text of UTF-8.", program.display())))?;
    Ok(format!("!{} git credential", quoted(path)))
}

/// A word for a shell, whatever is in it.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn git(arguments: &[&str]) -> Result<()> {
    let output = Command::new("git").args(arguments).output();
    let output = output.map_err(|error| ClientError::Git(format!("git can't be run: {error}")))?;
    if output.status.success() { Ok(()) } else { Err(ClientError::Git(complaint(&output))) }
}

fn complaint(output: &Output) -> String {
    let words = String::from_utf8_lossy(&output.stderr);
    format!("git's configuration can't be written: {}", sentence(words.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_a_quoted_word_as_it_was() {
        for word in ["/usr/bin/troupe", "/opt/my programs/troupe", "/a'b\"c$d`e\\f;g", "'", ""] {
            let output = Command::new("sh").args(["-c", &format!("printf %s {}", quoted(word))]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), word);
        }
    }
}
