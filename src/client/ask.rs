//! What the person is asked for: at the terminal, or in lines of standard input.

use std::io::{self, BufRead, Read, StdinLock, Take};

use super::error::{ClientError, Result};

/// Bytes of standard input that are read, at most.
const INPUT_BYTES_MAX: u64 = 64 * 1024;
/// What is typed for Ctrl-C, Ctrl-D, Ctrl-U and the two that delete a character.
const INTERRUPT: u8 = 3;
const END: u8 = 4;
const DELETE_LINE: u8 = 21;
const BACKSPACES: [u8; 2] = [8, 127];

/// Where answers come from.
pub enum Answers {
    /// From whoever sits at the terminal.
    Terminal,
    /// From the lines of standard input, one an answer; from the terminal once they are used up.
    Lines(Take<StdinLock<'static>>),
}

impl Answers {
    /// From the lines of standard input.
    pub fn lines() -> Self {
        Self::Lines(io::stdin().lock().take(INPUT_BYTES_MAX))
    }

    /// Asks for what nobody may read along. `instead` says what to do where nobody can be asked.
    pub fn secret(&mut self, prompt: &str, instead: &'static str) -> Result<String> {
        if let Self::Lines(lines) = self {
            if let Some(line) = line(lines)? {
                return Ok(line);
            }
            *self = Self::Terminal;
        }
        terminal::hidden(prompt, instead)
    }

    /// Asks for what everybody may read, always at the terminal.
    pub fn open(prompt: &str, instead: &'static str) -> Result<String> {
        terminal::shown(prompt, instead)
    }

    /// Whether whoever answered wrongly can be asked again.
    pub const fn is_patient(&self) -> bool {
        matches!(self, Self::Terminal)
    }
}

/// The next line without its end; none at the end.
fn line(reader: &mut impl BufRead) -> Result<Option<String>> {
    let mut line = String::new();
    let read = reader.read_line(&mut line).map_err(ClientError::Input)?;
    let text = line.strip_suffix('\n').unwrap_or(&line);
    let text = text.strip_suffix('\r').unwrap_or(text);
    Ok((read > 0).then(|| text.to_owned()))
}

/// What somebody types at a terminal that neither shows nor edits it.
fn typed(bytes: impl Iterator<Item = io::Result<u8>>) -> Result<String> {
    let mut typed = Vec::new();
    for byte in bytes {
        match byte.map_err(ClientError::Input)? {
            b'\n' | b'\r' => return text(typed),
            INTERRUPT | END => return Err(ClientError::Interrupted),
            DELETE_LINE => typed.clear(),
            byte if BACKSPACES.contains(&byte) => {
                // The rest of a character goes with its first byte.
                while typed.pop().is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000) {}
            }
            byte => typed.push(byte),
        }
    }
    Err(ClientError::Interrupted)
}

fn text(typed: Vec<u8>) -> Result<String> {
    String::from_utf8(typed).map_err(|_| ClientError::Input(io::Error::other("it is no text of UTF-8")))
}

#[cfg(unix)]
mod terminal {
    //! The terminal that the program was started at, wherever its input and output go.

    use std::{
        fs::File,
        io::{BufReader, Read, Write},
    };

    use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};

    use super::{ClientError, Result, line, typed};

    fn open(instead: &'static str) -> Result<File> {
        File::options().read(true).write(true).open("/dev/tty").map_err(|_| ClientError::NoTerminal(instead))
    }

    fn show(mut terminal: &File, text: &str) -> Result<()> {
        terminal.write_all(text.as_bytes()).map_err(ClientError::Input)
    }

    /// Asks for a line.
    pub fn shown(prompt: &str, instead: &'static str) -> Result<String> {
        let terminal = open(instead)?;
        show(&terminal, prompt)?;
        line(&mut BufReader::new(&terminal))?.ok_or(ClientError::Interrupted)
    }

    /// Asks for a line that isn't shown.
    pub fn hidden(prompt: &str, instead: &'static str) -> Result<String> {
        let terminal = open(instead)?;
        let quiet = Quiet::begin(&terminal)?;
        show(&terminal, prompt)?;
        let typed = typed(BufReader::new(&terminal).bytes());
        drop(quiet);
        show(&terminal, "\n")?;
        typed
    }

    /// A terminal that shows nothing of what is typed; as it was before once this is dropped. Signals are keys meanwhile, so
    /// that none of them ends the program and leaves the terminal so.
    struct Quiet<'t> {
        terminal: &'t File,
        before: Termios,
    }

    impl<'t> Quiet<'t> {
        fn begin(terminal: &'t File) -> Result<Self> {
            let before = tcgetattr(terminal).map_err(|error| ClientError::Input(error.into()))?;
            let mut modes = before.clone();
            modes.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG);
            modes.special_codes[SpecialCodeIndex::VMIN] = 1;
            modes.special_codes[SpecialCodeIndex::VTIME] = 0;
            tcsetattr(terminal, OptionalActions::Flush, &modes).map_err(|error| ClientError::Input(error.into()))?;
            Ok(Self { terminal, before })
        }
    }

    impl Drop for Quiet<'_> {
        fn drop(&mut self) {
            // A terminal that went away has nothing to be put back.
            _ = tcsetattr(self.terminal, OptionalActions::Now, &self.before);
        }
    }
}

#[cfg(not(unix))]
mod terminal {
    //! Elsewhere nobody is asked: what is needed comes in options and over standard input.

    use super::{ClientError, Result};

    /// Asks for a line.
    pub fn shown(_: &str, instead: &'static str) -> Result<String> {
        Err(ClientError::NoTerminal(instead))
    }

    /// Asks for a line that isn't shown.
    pub fn hidden(_: &str, instead: &'static str) -> Result<String> {
        Err(ClientError::NoTerminal(instead))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(keys: &str) -> Option<String> {
        typed(keys.bytes().map(Ok)).ok()
    }

    #[test]
    fn what_is_typed_ends_with_enter_and_can_be_mended() {
        assert_eq!(read("secret\n").unwrap(), "secret");
        assert_eq!(read("secret\rmore").unwrap(), "secret");
        assert_eq!(read("\n").unwrap(), "");
        assert_eq!(read("secrex\u{7f}t\n").unwrap(), "secret");
        assert_eq!(read("secré\u{8}et\n").unwrap(), "secret");
        assert_eq!(read("\u{7f}\u{7f}a€\u{7f}\u{7f}b\n").unwrap(), "b");
        assert_eq!(read("wrong\u{15}right\n").unwrap(), "right");
    }

    #[test]
    fn whoever_stops_typing_has_answered_nothing() {
        for keys in ["", "secret", "secret\u{3}\n", "\u{4}"] {
            assert_eq!(read(keys), None, "{keys:?}");
        }
        assert!(typed([Ok(0xff), Ok(b'\n')].into_iter()).is_err());
    }

    #[test]
    fn a_line_comes_without_its_end() {
        let mut input = &b" secret \r\n\n492039"[..];
        assert_eq!(line(&mut input).unwrap().unwrap(), " secret ");
        assert_eq!(line(&mut input).unwrap().unwrap(), "");
        assert_eq!(line(&mut input).unwrap().unwrap(), "492039");
        assert_eq!(line(&mut input).unwrap(), None);
        assert!(line(&mut &b"\xff\n"[..]).is_err());
    }
}
