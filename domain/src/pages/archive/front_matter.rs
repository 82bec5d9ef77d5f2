//! The lines between `---` and `---` at the top of a file.
//!
//! Ours are JSON on one line behind a key, which is YAML too. They begin with `troupe: 1`, the number of this format.

use std::fmt::{Display, Write};

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::{ArchivedPage, names::clean};
use crate::{
    Error, Problem, Result,
    pages::{PageKind, icon_check, position, title_check},
    problems::Problems,
};

/// Begins and ends front matter.
const FENCE: &str = "---";
/// The key that marks front matter as ours.
const MARK: &str = "troupe";
/// The number of this format.
const FORMAT: &str = "1";

/// The page's front matter and Markdown.
pub(super) fn write(page: &ArchivedPage) -> String {
    let mut text = format!("{FENCE}\n{MARK}: {FORMAT}\n");
    let mut line = |key: &str, value: Option<&dyn Display>| {
        if let Some(value) = value {
            // Writing to a String can't fail.
            let _ = writeln!(text, "{key}: {value}");
        }
    };
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    line("id", page.id.as_ref().map(|id| id as &dyn Display));
    line("title", Some(&quoted(&page.title)));
    line("kind", Some(&page.kind));
    line("icon", page.icon.as_deref().map(quoted).as_ref().map(|icon| icon as &dyn Display));
    line("fullWidth", page.full_width.as_ref().map(|wide| wide as &dyn Display));
    line("position", page.position.as_ref().map(|position| position as &dyn Display));
    for (key, json) in [("schema", &page.schema), ("views", &page.views), ("properties", &page.properties)] {
        // Between its tokens JSON may have line ends; within them it has none.
        line(key, json.as_ref().map(|json| json.replace(['\n', '\r'], " ")).as_ref().map(|json| json as &dyn Display));
    }
    text.push_str(FENCE);
    text.push_str("\n\n");
    text.push_str(&page.content.markdown);
    text
}

/// The page that a file's text says. `named` is the title that its name says.
pub(super) fn read(file: &str, text: &str, named: &str) -> Result<ArchivedPage> {
    let text_only = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some((lines, body)) = split(text_only) else { return Ok(plain(text_only, named)) };
    let mark = lines.first().and_then(|line| line.split_once(':')).filter(|(key, _)| *key == MARK);
    match mark.map(|(_, format)| format.trim()) {
        None => {
            let title =
                lines.iter().find_map(|line| line.strip_prefix("title:")).map(unquoted).filter(|it| !it.is_empty());
            Ok(plain(text_only, title.as_deref().unwrap_or(named)))
        }
        Some(FORMAT) => ours(file, &lines[1..], body, named),
        Some(_) => Err(Error::invalid(file, "Was exported by a newer version of the program.")),
    }
}

fn plain(text: &str, title: &str) -> ArchivedPage {
    let mut page = ArchivedPage::empty(clean(title));
    text.clone_into(&mut page.content.markdown);
    page
}

/// A title as others' YAML has it: bare or in quotes.
fn unquoted(value: &str) -> String {
    let value = value.trim();
    let inner = ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
    serde_json::from_str(value).unwrap_or_else(|_| inner.unwrap_or(value).to_owned())
}

/// The lines of the front matter, and what stands below it; none for a text without.
fn split(text: &str) -> Option<(Vec<&str>, &str)> {
    let mut rest = text;
    let mut next = || {
        let (line, below) = rest.split_once('\n')?;
        rest = below;
        Some((line.strip_suffix('\r').unwrap_or(line), below))
    };
    if next()?.0 != FENCE {
        return None;
    }
    let mut lines = Vec::new();
    loop {
        // A file may end with the fence.
        let Some((line, below)) = next() else { return (rest == FENCE).then_some((lines, "")) };
        if line == FENCE {
            return Some((lines, below));
        }
        lines.push(line);
    }
}

fn ours(file: &str, lines: &[&str], body: &str, named: &str) -> Result<ArchivedPage> {
    let mut page = ArchivedPage::empty(named);
    let body = body.strip_prefix("\r\n").or(body.strip_prefix('\n')).unwrap_or(body);
    body.clone_into(&mut page.content.markdown);
    let mut problems = Problems::new();
    for line in lines.iter().filter(|line| !line.trim().is_empty()) {
        let read = line.split_once(':').ok_or_else(|| unreadable(file, line));
        let read = read.and_then(|(key, value)| field(file, &mut page, key.trim(), value.trim()));
        problems.keep(read)?;
    }
    problems.into_result()?;
    Ok(page)
}

/// Reads one line of ours. Keys that this version doesn't know say nothing to it.
fn field(file: &str, page: &mut ArchivedPage, key: &str, value: &str) -> Result<()> {
    let wrong = || unreadable(file, key);
    match key {
        "id" => page.id = Some(value.parse().map_err(|_| wrong())?),
        "title" => page.title = at(file, key, title_check(key, &json::<String>(value).ok_or_else(wrong)?))?,
        "kind" => page.kind = PageKind::from_name(value).ok_or_else(wrong)?,
        "icon" => page.icon = at(file, key, icon_check(key, &json::<String>(value).ok_or_else(wrong)?))?,
        "fullWidth" => page.full_width = Some(json(value).ok_or_else(wrong)?),
        "position" => {
            let number = value.parse().ok().filter(|number| position::is_usable(*number));
            page.position = Some(number.ok_or_else(wrong)?);
        }
        "schema" => page.schema = Some(json::<Box<RawValue>>(value).ok_or_else(wrong)?.get().to_owned()),
        "views" => page.views = Some(json::<Box<RawValue>>(value).ok_or_else(wrong)?.get().to_owned()),
        "properties" => page.properties = Some(json::<Box<RawValue>>(value).ok_or_else(wrong)?.get().to_owned()),
        _ => {}
    }
    Ok(())
}

fn json<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_str(text).ok()
}

fn unreadable(file: &str, what: &str) -> Error {
    let what: String = what.chars().take(40).collect();
    Error::invalid(file, format!("Its front matter can't be read at \"{what}\"."))
}

/// Has the problems of a field name the file.
fn at<T>(file: &str, key: &str, checked: Result<T>) -> Result<T> {
    checked.map_err(|error| match error {
        Error::Invalid { problems } => Error::Invalid {
            problems: problems
                .into_iter()
                .map(|problem| Problem { path: file.to_owned(), message: format!("{key}: {}", problem.message) })
                .collect(),
        },
        other => other,
    })
}
