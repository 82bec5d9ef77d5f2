use domain::pipelines::logs::LOG_LINE_LEN_MAX;

use super::{
    open::{COLOURS_LEN_MAX, WORD_LEN_MAX},
    *,
};

const MARKER: &str = "0123456789abcdef0123456789abcdef";

fn heard(chunks: &[&str]) -> (Vec<Heard>, Listener) {
    let mut listener = Listener::new(MARKER, ["hunter2".to_owned()], false);
    let mut all = Vec::new();
    for chunk in chunks {
        listener.take(chunk.as_bytes(), &mut |one| all.push(one));
    }
    listener.finish(&mut |one| all.push(one));
    (all, listener)
}

fn lines(chunks: &[&str]) -> String {
    let line = |heard| if let Heard::Line(line) = heard { Some(line) } else { None };
    heard(chunks).0.into_iter().filter_map(line).collect::<Vec<_>>().join("|")
}

#[test]
fn lines_are_whole_however_they_come_and_without_secrets() {
    assert_eq!(lines(&["on", "e\r\ntw", "o hunter2\n", "", "th", "ree"]), "one|two ***|three");
    assert_eq!(lines(&["\n\n"]), "|");
}

#[test]
fn a_line_that_is_too_long_becomes_several() {
    for (len, count) in [(LINE_LEN_MAX - 1, 2), (LINE_LEN_MAX, 2), (LINE_LEN_MAX + 1, 3)] {
        assert_eq!(lines(&[&"x".repeat(len - 1), "z\ny"]).split('|').count(), count, "{len}");
    }
}

#[test]
fn only_the_worker_marks_steps() {
    let begin = Mark::Begin(3).line(MARKER);
    let end = Mark::End(3).line(MARKER);
    let (all, _) = heard(&[&format!("{begin}\nno end{end}\n##[0000]step 4 end\n")]);
    let line = |text: &str| Heard::Line(text.to_owned());
    assert_eq!(all, [line(&begin), line("no end"), line(&end), Heard::End(3), line("##[0000]step 4 end")]);
}

#[test]
fn masks_hold_from_where_they_are_asked_for() {
    assert_eq!(lines(&["a swordfish\n::add-mask::swordfish\na swordfish\n"]), "a swordfish|a ***");
    let mask = Mark::Mask("word 2".to_owned()).line(MARKER);
    assert_eq!(lines(&[&format!("{mask}\nword 2\n")]), "***");
}

#[test]
fn commands_are_followed_until_they_are_stopped() {
    assert_eq!(lines(&["::group::One\n::endgroup::\n::debug::x\n"]), "##[group]One|##[endgroup]");
    let stopped = "::stop-commands::word\n::error::a\n::word::\n::error::b\n";
    assert_eq!(lines(&[stopped]), "::stop-commands::word|::error::a|::word::|##[error]b");
    let (all, listener) = heard(&["::set-output name=a::1\n::set-env name=a::1\n"]);
    assert!(all.contains(&Heard::Said(Said::Output { name: "a".to_owned(), value: "1".to_owned() })));
    assert!(all.contains(&Heard::Said(Said::Refused)));
    let levels: Vec<_> = listener.annotations().iter().map(|it| it.level.as_str()).collect();
    assert_eq!(levels, ["warning", "error"]);
}

#[test]
fn remarks_are_as_many_and_as_long_as_they_may_be() {
    let long = format!("::error file=f,line=3,title=t::{}hunter2\n", "m".repeat(ANNOTATION_MESSAGE_LEN_MAX));
    let (_, listener) = heard(&[&long]);
    let first = &listener.annotations()[0];
    assert_eq!(
        (first.message.len(), first.line, first.file.as_deref()),
        (ANNOTATION_MESSAGE_LEN_MAX, Some(3), Some("f"))
    );
    for (count, kept) in [(49, 49), (50, 50), (51, 50)] {
        assert_eq!(heard(&[&"::notice::a hunter2\n".repeat(count)]).1.annotations().len(), kept);
    }
    assert_eq!(heard(&["::notice::a hunter2\n"]).1.annotations()[0].message, "a ***");
}

/// Bytes that are read at once, as the supervisor does.
const READ_LEN: usize = 64 * 1024;

/// What is heard of bytes that come so many at once.
fn read(bytes: &[u8], len: usize) -> Vec<Heard> {
    let mut listener = Listener::new(MARKER, ["hunter2".to_owned()], false);
    let mut all = Vec::new();
    bytes.chunks(len).for_each(|chunk| listener.take(chunk, &mut |one| all.push(one)));
    listener.finish(&mut |one| all.push(one));
    all
}

/// The lines as one text; none is longer than it may be.
fn joined(heard: &[Heard]) -> String {
    let line = |heard: &Heard| if let Heard::Line(line) = heard { Some(line.clone()) } else { None };
    let lines: Vec<String> = heard.iter().filter_map(line).collect();
    assert!(lines.iter().all(|line| line.chars().count() <= LOG_LINE_LEN_MAX));
    lines.concat()
}

/// Long lines with this text at each place near those at which lines are cut: what came before it, and what is heard of the line.
fn around_cuts(text: &str, check: impl Fn(usize, &str)) {
    let margin = COLOURS_LEN_MAX + 64;
    for border in [LINE_LEN_MAX, 2 * LINE_LEN_MAX, LINE_LEN_MAX + margin] {
        for before in border - text.len() - 1..=border + 1 {
            let line = format!("{}{text}{}", "x".repeat(before), "y".repeat(3 * LINE_LEN_MAX));
            check(before, &joined(&read(line.as_bytes(), READ_LEN)));
        }
    }
}

#[test]
fn no_secret_is_shown_in_halves_wherever_a_line_is_cut() {
    for secret in ["hunter2", "aHVudGVyM", "68756e74657232", "hun\u{1b}[31mter2"] {
        around_cuts(secret, |before, heard| {
            let (xs, ys) = (&heard[..before], heard.trim_start_matches('x'));
            assert_eq!(xs.trim_start_matches('x'), "", "{secret} behind {before}");
            let masked = ys.trim_end_matches('y');
            assert!(["***", "******"].contains(&masked), "{secret} behind {before}: {masked}");
            assert_eq!(ys.len() - masked.len(), 3 * LINE_LEN_MAX);
        });
    }
}

#[test]
fn no_character_is_cut() {
    for character in ["é", "€", "🎉"] {
        around_cuts(character, |before, heard| {
            let wanted = format!("{}{character}{}", "x".repeat(before), "y".repeat(3 * LINE_LEN_MAX));
            assert!(heard == wanted, "{character} behind {before}");
        });
    }
    // Bytes that are no text come as such.
    let heard = joined(&read(&vec![0x80; 2 * LINE_LEN_MAX], READ_LEN));
    assert!(heard.chars().all(|character| character == '\u{fffd}') && heard.chars().count() == 2 * LINE_LEN_MAX);
}

#[test]
fn the_end_of_a_step_is_heard_wherever_its_last_line_is_cut() {
    let end = Mark::End(3).line(MARKER);
    for len in [READ_LEN, 4096, 1021] {
        for border in [LINE_LEN_MAX, LINE_LEN_MAX + COLOURS_LEN_MAX, LINE_LEN_MAX + COLOURS_LEN_MAX + end.len()] {
            for before in border - end.len() - 2..=border + 2 {
                let heard = read(format!("{}{end}\nnext\n", "x".repeat(before)).as_bytes(), len);
                assert_eq!(heard.iter().filter(|heard| **heard == Heard::End(3)).count(), 1, "behind {before}");
                assert_eq!(joined(&heard), format!("{}{end}next", "x".repeat(before)), "behind {before}");
                assert!(heard.contains(&Heard::Line(end.clone())) && heard.contains(&Heard::Line("next".to_owned())));
            }
        }
    }
}

#[test]
fn long_commands_and_marks_are_taken_whole() {
    let long = "0123456789".repeat(LINE_LEN_MAX / 5);
    let lines = format!("::add-mask::{long}\n-{long}-\n");
    assert_eq!(joined(&read(lines.as_bytes(), READ_LEN)), "-***-");
    let lines = format!("{}\n-{long}-\n", Mark::Mask(long.clone()).line(MARKER));
    assert_eq!(joined(&read(lines.as_bytes(), READ_LEN)), "-***-");
    let heard = read(format!("::set-output name=a::{long}\n").as_bytes(), READ_LEN);
    assert!(heard.contains(&Heard::Said(Said::Output { name: "a".to_owned(), value: long })));
    // A line that only looks like one is a line.
    let line = format!("::other::{}", "x".repeat(2 * LINE_LEN_MAX));
    assert_eq!(joined(&read(line.as_bytes(), READ_LEN)), line);
}

#[test]
fn a_command_that_is_too_long_fails_its_step_and_nothing_of_it_is_shown() {
    let end = Mark::End(3).line(MARKER);
    for (len, is_refused) in [(WORD_LEN_MAX - 1, false), (WORD_LEN_MAX, false), (WORD_LEN_MAX + READ_LEN, true)] {
        let command = "::debug::";
        let lines = format!("{command}{}{end}\nnext", "s".repeat(len - command.len()));
        let heard = read(lines.as_bytes(), READ_LEN);
        assert_eq!(heard.contains(&Heard::Said(Said::Refused)), is_refused, "{len}");
        let remark = format!("##[error]A command has at most {WORD_LEN_MAX} bytes.");
        assert_eq!(joined(&heard), format!("{}{end}next", if is_refused { &remark } else { "" }), "{len}");
        assert!(heard.contains(&Heard::End(3)));
    }
}

#[test]
fn of_long_progress_the_last_state_is_shown() {
    let states: Vec<String> = (0..40_000).map(|done| format!("{done} of 40000\r")).collect();
    let progress = states.concat();
    let heard = joined(&read(format!("{progress}\nnext").as_bytes(), READ_LEN));
    assert_eq!(heard, "39999 of 40000next");
}

#[test]
fn what_only_a_terminal_reads_neither_stays_nor_hides_a_secret() {
    assert_eq!(lines(&["\u{1b}[2Khunter2 hun\u{1b}[31mter2 is\u{8} it\n"]), "*** *** is it");
    assert_eq!(lines(&["1%\r50%\r100%\r\n\u{1b}[31mred\u{1b}[0m\n"]), "100%|\u{1b}[31mred\u{1b}[0m");
}
