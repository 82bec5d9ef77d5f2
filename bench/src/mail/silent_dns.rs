//! A server of names that knows none, so that no look-up leaves this machine.

use std::{
    net::{SocketAddr, UdpSocket},
    thread,
};

use crate::report::Result;

/// Bytes of a question.
const QUESTION_LEN: usize = 12;

/// Starts it; it ends with this process.
pub fn start() -> Result<SocketAddr> {
    let socket = UdpSocket::bind(("127.0.0.1", 0))?;
    let address = socket.local_addr()?;
    thread::spawn(move || {
        let mut buffer = [0; 1_500];
        while let Ok((len, from)) = socket.recv_from(&mut buffer) {
            if len < QUESTION_LEN {
                continue;
            }
            let answer = none(&buffer[..len]);
            if socket.send_to(&answer, from).is_err() {
                return;
            }
        }
    });
    Ok(address)
}

/// The answer that there is no such name: the question with the marks of an answer, and nothing behind it.
fn none(question: &[u8]) -> Vec<u8> {
    let name_len = question[QUESTION_LEN..].iter().position(|byte| *byte == 0).unwrap_or_default();
    let end = (QUESTION_LEN + name_len + 5).min(question.len());
    let mut answer = question[..end].to_vec();
    // A response, recursion available, NXDOMAIN; one question and no records.
    (answer[2], answer[3]) = (0x81, 0x83);
    answer[4..QUESTION_LEN].copy_from_slice(&[0, 1, 0, 0, 0, 0, 0, 0]);
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_the_question_and_nothing_else() {
        let question = b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x01\x01a\x00\x00\x10\x00\x01\x00\x00\x29\x04\xd0";
        let expected = b"\x12\x34\x81\x83\x00\x01\x00\x00\x00\x00\x00\x00\x01a\x00\x00\x10\x00\x01";
        assert_eq!(none(question), expected);
    }
}
