//! YAML to a tree with places: version 1.2, core schema, so that `on` is a text and `yes` too.

use std::{collections::HashMap, sync::Arc};

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span, StrInput, Tag};

use super::problem::WorkflowProblem;
use crate::pipelines::expressions::Value;

/// Bytes of a file, at most.
pub const YAML_LEN_MAX: usize = 512 * 1024;
/// Scalars, sequences and mappings of a file once its aliases stand for what they name, at most.
pub const YAML_NODES_MAX: usize = 100_000;
/// How deep sequences and mappings may stand in each other.
pub const YAML_DEPTH_MAX: usize = 100;

const WITHOUT_NUL: &str = "A workflow file is a text, without NUL";

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Characters before it.
    pub index: usize,
    /// Its line, from 1.
    pub line: usize,
    /// Its character in the line, from 1.
    pub column: usize,
}

impl From<Marker> for Place {
    fn from(marker: Marker) -> Self {
        Self { index: marker.index(), line: marker.line(), column: marker.col() + 1 }
    }
}

/// A part of a file.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub place: Place,
    pub kind: NodeKind,
    /// Nodes in it, and itself.
    size: usize,
    /// Levels below it.
    height: usize,
}

/// What a part of a file is. Shared, so that an alias costs a place and a pointer.
#[derive(Clone, Debug)]
pub(super) enum NodeKind {
    /// Null, a boolean, a number or a text.
    Scalar(Value),
    Sequence(Arc<[Node]>),
    Mapping(Arc<[(Node, Node)]>),
}

impl Node {
    fn scalar(value: Value, place: Place) -> Self {
        Self { place, kind: NodeKind::Scalar(value), size: 1, height: 0 }
    }

    /// The node as a text, where it is a scalar.
    pub fn text(&self) -> Option<Arc<str>> {
        match &self.kind {
            NodeKind::Scalar(Value::Number(number)) => Some(Value::Number(*number).to_text()),
            NodeKind::Scalar(value) => Some(value.to_text()),
            NodeKind::Sequence(_) | NodeKind::Mapping(_) => None,
        }
    }

    /// The parts of a sequence; none of anything else.
    pub fn items(&self) -> &[Self] {
        match &self.kind {
            NodeKind::Sequence(items) => items,
            _ => &[],
        }
    }

    /// The parts of a mapping; none of anything else.
    pub fn entries(&self) -> &[(Self, Self)] {
        match &self.kind {
            NodeKind::Mapping(entries) => entries,
            _ => &[],
        }
    }

    /// The value of a mapping's key.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find(|(name, _)| name.text().as_deref() == Some(key)).map(|(_, value)| value)
    }
}

type Read<T> = Result<T, WorkflowProblem>;

/// Reads a file, which is one document.
pub(super) fn read(text: &str) -> Read<Node> {
    if text.len() > YAML_LEN_MAX {
        return Err(WorkflowProblem::error(format!("A workflow file has at most {YAML_LEN_MAX} bytes"), None));
    }
    if let Some(index) = text.find('\0') {
        let before = &text[..index];
        let column = before.chars().rev().take_while(|it| *it != '\n').count() + 1;
        let place = Place { index, line: before.matches('\n').count() + 1, column };
        return Err(WorkflowProblem::error(WITHOUT_NUL, Some(place)));
    }
    let text_characters = text.chars().collect();
    let parser = Parser::new_from_str(text);
    Reader { parser, characters: text_characters, anchors: HashMap::new(), nodes: 0, depth: 0 }.document()
}

struct Reader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    characters: Vec<char>,
    anchors: HashMap<usize, Node>,
    nodes: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Read<(Event<'a>, Span)> {
        match self.parser.next_event() {
            Some(event) => event.map_err(|error| not_yaml(&error)),
            None => Err(WorkflowProblem::error("The file ends too early", None)),
        }
    }

    fn document(&mut self) -> Read<Node> {
        let start = Place { index: 0, line: 1, column: 1 };
        let mut root = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamEnd => return Ok(root.unwrap_or_else(|| Node::scalar(Value::Null, start))),
                Event::DocumentStart(_) if root.is_some() => {
                    return Err(WorkflowProblem::error("A workflow file is one document", Some(span.start.into())));
                }
                Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd | Event::Nothing => {}
                event => root = Some(self.node(event, span)?),
            }
        }
    }

    fn node(&mut self, event: Event<'a>, span: Span) -> Read<Node> {
        let place = span.start.into();
        self.count(1, place)?;
        let (node, anchor) = match event {
            Event::Alias(anchor) => return self.alias(anchor, place),
            Event::Scalar(text, style, anchor, tag) => {
                if text.contains('\0') {
                    return Err(WorkflowProblem::error(WITHOUT_NUL, Some(place)));
                }
                let value = scalar(&text, style, tag.as_deref());
                let value = value.map_err(|message| WorkflowProblem::error(message, Some(place)))?;
                let place = match style {
                    ScalarStyle::Literal | ScalarStyle::Folded => self.header(place),
                    ScalarStyle::Plain if text.is_empty() => self.behind_colon(place),
                    _ => place,
                };
                (Node::scalar(value, place), anchor)
            }
            Event::SequenceStart(anchor, _) => (self.nested(place, Self::sequence)?, anchor),
            Event::MappingStart(anchor, _) => (self.nested(place, Self::mapping)?, anchor),
            _ => return Err(WorkflowProblem::error("A value was expected", Some(place))),
        };
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    /// Where the `|` or `>` of a block stands, whose text begins at a place.
    fn header(&self, text: Place) -> Place {
        let before = self.characters.get(..text.index).unwrap_or(&self.characters);
        let end = before.iter().rposition(|it| !it.is_whitespace()).map_or(0, |at| at + 1);
        let start = before[..end].iter().rposition(|it| *it == '\n').map_or(0, |at| at + 1);
        let line = &before[start..end];
        let is_header = |at: &usize| {
            let rest = line[*at..].iter().skip(1).skip_while(|it| matches!(it, '+' | '-' | '0'..='9'));
            matches!(line[*at], '|' | '>') && rest.copied().find(|it| !it.is_whitespace()).is_none_or(|it| it == '#')
        };
        let Some(at) = (0..line.len()).find(is_header) else { return text };
        let lines_between = self.characters[end..text.index.max(end)].iter().filter(|it| **it == '\n').count();
        Place { index: start + at, line: text.line.saturating_sub(lines_between), column: at + 1 }
    }

    /// Where nothing stands behind a colon: at what follows it in brackets, else at the colon's end.
    fn behind_colon(&self, mut place: Place) -> Place {
        if self.characters.get(place.index) == Some(&':') {
            place.index += 1;
            place.column += 1;
        }
        let blanks = self.characters.get(place.index..).unwrap_or_default().iter().take_while(|it| **it == ' ').count();
        if matches!(self.characters.get(place.index + blanks), Some(',' | '}' | ']')) {
            place.index += blanks;
            place.column += blanks;
        }
        place
    }

    /// Counts nodes before they are there.
    fn count(&mut self, nodes: usize, place: Place) -> Read<()> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > YAML_NODES_MAX {
            let message = format!("A workflow file has at most {YAML_NODES_MAX} values, those of aliases counted");
            return Err(WorkflowProblem::error(message, Some(place)));
        }
        Ok(())
    }

    fn depth_check(&self, more: usize, place: Place) -> Read<()> {
        if self.depth + more <= YAML_DEPTH_MAX {
            return Ok(());
        }
        Err(WorkflowProblem::error(format!("A workflow file is nested at most {YAML_DEPTH_MAX} deep"), Some(place)))
    }

    /// What an alias names. An anchor is known once what it stands at is complete, so that nothing contains itself.
    fn alias(&mut self, anchor: usize, place: Place) -> Read<Node> {
        let Some(node) = self.anchors.get(&anchor).cloned() else {
            return Err(WorkflowProblem::error("An alias names what it is a part of", Some(place)));
        };
        self.count(node.size, place)?;
        self.depth_check(node.height, place)?;
        Ok(node)
    }

    fn nested(&mut self, place: Place, read: fn(&mut Self, Place) -> Read<Node>) -> Read<Node> {
        self.depth_check(1, place)?;
        self.depth += 1;
        let node = read(self, place);
        self.depth -= 1;
        node
    }

    fn sequence(&mut self, place: Place) -> Read<Node> {
        let mut items = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if event == Event::SequenceEnd {
                break;
            }
            items.push(self.node(event, span)?);
        }
        let size = 1 + items.iter().map(|item| item.size).sum::<usize>();
        let height = 1 + items.iter().map(|item| item.height).max().unwrap_or(0);
        Ok(Node { place, kind: NodeKind::Sequence(items.into()), size, height })
    }

    fn mapping(&mut self, place: Place) -> Read<Node> {
        let mut entries = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if event == Event::MappingEnd {
                break;
            }
            let key = self.node(event, span)?;
            if key.text().is_none() {
                return Err(WorkflowProblem::error("A key must be a text", Some(key.place)));
            }
            let (event, span) = self.next()?;
            let value = self.node(event, span)?;
            entries.push((key, value));
        }
        let size = 1 + entries.iter().map(|(key, value)| key.size + value.size).sum::<usize>();
        let height = 1 + entries.iter().map(|(_, value)| value.height).max().unwrap_or(0);
        // A block mapping stands where its first key does.
        let place =
            entries.first().map_or(place, |(key, _)| if key.place.index < place.index { key.place } else { place });
        Ok(Node { place, kind: NodeKind::Mapping(entries.into()), size, height })
    }
}

fn not_yaml(error: &ScanError) -> WorkflowProblem {
    WorkflowProblem::error(format!("The file is no YAML: {}", error.info()), Some((*error.marker()).into()))
}

/// A scalar by its tag, or by how it is written.
fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, String> {
    let text_value = || Value::text(text);
    let Some(tag) = tag else {
        return Ok(if style == ScalarStyle::Plain { plain(text) } else { text_value() });
    };
    let fits = |value: Value, fits: fn(&Value) -> bool| {
        if fits(&value) { Ok(value) } else { Err(format!("'{text}' isn't what its tag says")) }
    };
    match (tag.is_yaml_core_schema(), tag.suffix.as_str()) {
        (true, "str") => Ok(text_value()),
        (true, "null") => fits(plain(text), |value| matches!(value, Value::Null)),
        (true, "bool") => fits(plain(text), |value| matches!(value, Value::Boolean(_))),
        (true, "int" | "float") => fits(plain(text), |value| matches!(value, Value::Number(_))),
        _ if tag.handle == "!" && tag.suffix.is_empty() => Ok(text_value()),
        _ => Err(format!("Unknown tag: {}{}", tag.handle, tag.suffix)),
    }
}

/// A scalar without quotes, by the core schema.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Boolean(true),
        "false" | "False" | "FALSE" => Value::Boolean(false),
        ".nan" | ".NaN" | ".NAN" => Value::Number(f64::NAN),
        _ => number(text).map_or_else(|| Value::text(text), Value::Number),
    }
}

fn number(text: &str) -> Option<f64> {
    if text.starts_with("0x") || text.starts_with("0o") {
        return Some(Value::text(text).to_number()).filter(|number| !number.is_nan());
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Some(if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY });
    }
    let is_plain = unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && unsigned.bytes().all(|it| matches!(it, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'));
    if is_plain { text.parse().ok() } else { None }
}
