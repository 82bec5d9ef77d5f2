//! Reading CSV (RFC 4180), in the way of Jira.

use super::{COLUMNS_MAX, SourceFile, SourceIssue, columns::Column, refused, unguarded};
use crate::Result;

/// Reads a file whose first line has the headers.
///
/// # Errors
/// 400 at `content` for a file without a summary's column, with too many columns, or with a quote that is never closed.
pub fn from_csv(content: &str) -> Result<SourceFile> {
    let delimiter = delimiter(content);
    if let Some(line) = open_quote(content, delimiter) {
        return Err(refused(format!("The quote in line {line} is never closed.")));
    }
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(content.as_bytes());
    let headers = reader.headers().map_err(|error| refused(unreadable(&error)))?.clone();
    if headers.len() > COLUMNS_MAX {
        return Err(refused(format!("A file can have {COLUMNS_MAX} columns.")));
    }
    let columns: Vec<Column> = headers.iter().map(Column::of).collect();
    if !columns.contains(&Column::Summary) {
        return Err(refused("The file has no column 'Summary'."));
    }
    let mut file = SourceFile::default();
    for (header, _) in headers.iter().zip(&columns).filter(|(_, column)| **column == Column::Unknown) {
        let header = header.trim().to_owned();
        if !file.unknown.contains(&header) {
            file.unknown.push(header);
        }
    }
    for record in reader.records() {
        let record = record.map_err(|error| refused(unreadable(&error)))?;
        let mut issue = SourceIssue::default();
        let cells = columns.iter().zip(record.iter()).filter(|(_, cell)| !cell.trim().is_empty());
        cells.for_each(|(column, cell)| column.put(&mut issue, unguarded(cell)));
        issue.names.retain(|name| !name.is_empty());
        file.issues.push(issue);
    }
    Ok(file)
}

fn unreadable(error: &csv::Error) -> String {
    match error.position() {
        Some(place) => format!("Line {} can't be read.", place.line()),
        None => "The file can't be read.".to_owned(),
    }
}

/// What stands between the cells: a comma, a semicolon or a tab, whichever the line of the headers has most of.
fn delimiter(content: &str) -> u8 {
    let line = content.lines().next().unwrap_or_default();
    let mut is_quoted = false;
    let mut counts = [(b',', 0_usize), (b';', 0), (b'\t', 0)];
    for byte in line.bytes() {
        is_quoted ^= byte == b'"';
        for (delimiter, count) in &mut counts {
            *count += usize::from(!is_quoted && byte == *delimiter);
        }
    }
    let most = counts.iter().map(|(_, count)| *count).max().unwrap_or(0);
    counts.iter().find(|(_, count)| *count == most).map_or(b',', |(delimiter, _)| *delimiter)
}

/// The line of a quote that is never closed.
fn open_quote(content: &str, delimiter: u8) -> Option<usize> {
    let mut bytes = content.bytes().peekable();
    let (mut line, mut opened, mut at_start) = (1, None, true);
    while let Some(byte) = bytes.next() {
        line += usize::from(byte == b'\n');
        match (opened, byte) {
            (Some(_), b'"') if bytes.peek() == Some(&b'"') => {
                bytes.next();
            }
            (Some(_), b'"') => opened = None,
            (Some(_), _) => {}
            (None, b'"') if at_start => opened = Some(line),
            (None, _) => at_start = byte == delimiter || byte == b'\n' || byte == b'\r',
        }
        if opened.is_some() {
            at_start = false;
        }
    }
    opened
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    fn read(content: &str) -> SourceFile {
        from_csv(content).expect("a file")
    }

    fn refusal(content: &str) -> String {
        match from_csv(content) {
            Err(Error::Invalid { problems }) => problems[0].message.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn columns_that_repeat_are_lists_and_rows_may_be_ragged() {
        let file = read("Summary,Labels,Labels,Mood,Comment,Comment\nOne,a,b c,fine,x,y\nTwo\n,,\n\"a\"\"b\n,c\",d\n");
        let labels: Vec<_> = file.issues.iter().map(|it| it.labels.join("+")).collect();
        assert_eq!(labels, ["a+b+c", "", "", "d"]);
        assert_eq!(file.issues[0].comments.len(), 2);
        assert_eq!((file.issues[2].summary.as_str(), file.issues[3].summary.as_str()), ("", "a\"b\n,c"));
        assert_eq!(file.unknown, ["Mood"]);
    }

    #[test]
    fn the_line_of_the_headers_says_what_stands_between_cells() {
        for content in
            ["Summary;Key\nOne, two;A-1\n", "Summary\tKey\nOne, two\tA-1\n", "Key,Summary\nA-1,\"One, two\"\n"]
        {
            let file = read(content);
            assert_eq!(
                (file.issues[0].summary.as_str(), file.issues[0].names.join("")),
                ("One, two", "A-1".to_owned())
            );
        }
        assert_eq!(read("\"a,b,c\";Summary\nx;One\n").issues[0].summary, "One");
    }

    #[test]
    fn what_isnt_a_file_is_refused_with_its_line() {
        assert_eq!(refusal("Summary\nOne\n\"Two\nThree\n"), "The quote in line 3 is never closed.");
        assert_eq!(refusal("\"Summary"), "The quote in line 1 is never closed.");
        assert_eq!(refusal("Name\nOne\n"), "The file has no column 'Summary'.");
        let wide = |count: usize| format!("Summary{}\n", ",x".repeat(count - 1));
        assert!(from_csv(&wide(499)).is_ok() && from_csv(&wide(500)).is_ok());
        assert_eq!(refusal(&wide(501)), "A file can have 500 columns.");
        assert_eq!(read("Summary\nit's 5\" long\n").issues[0].summary, "it's 5\" long");
    }
}
