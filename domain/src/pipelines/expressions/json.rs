//! JSON to values and back.
//!
//! Read by hand, because numbers have to be those that JavaScript reads, the order of names has to stay, and what is made is
//! counted while it is made.

use std::{fmt::Write as _, sync::Arc};

use super::{
    budget::Budget,
    fault::FaultKind,
    number,
    value::{Object, Value},
};

/// How deep arrays and objects of `fromJSON` may stand in each other.
pub const JSON_DEPTH_MAX: usize = 100;

impl Value {
    /// Reads a text of JSON, by the rules of `fromJSON`.
    pub fn read_json(text: &str) -> Result<Self, FaultKind> {
        read(text, &mut Budget::new())
    }

    /// Prints the value as `toJSON` does, on several lines.
    pub fn print_json(&self) -> Result<String, FaultKind> {
        print(self, &mut Budget::new())
    }
}

/// Reads a text that is one value.
pub(super) fn read(text: &str, budget: &mut Budget) -> Result<Value, FaultKind> {
    let mut reader = Reader { text, at: 0, depth: 0, budget };
    let value = reader.value()?;
    reader.skip_space();
    if reader.at < text.len() { Err(FaultKind::NotJson("something follows the value")) } else { Ok(value) }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    budget: &'a mut Budget,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// The next byte, if it is that one, and what is blank before it.
    fn take(&mut self, byte: u8) -> bool {
        self.skip_space();
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn value(&mut self) -> Result<Value, FaultKind> {
        self.skip_space();
        self.budget.take(0)?;
        match self.peek() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => self.text().map(Value::from),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.word(),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Value, FaultKind>) -> Result<Value, FaultKind> {
        self.at += 1;
        self.depth += 1;
        if self.depth > JSON_DEPTH_MAX {
            return Err(FaultKind::NotJson("it is nested too deep"));
        }
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn array(&mut self) -> Result<Value, FaultKind> {
        let mut items = Vec::new();
        if self.take(b']') {
            return Ok(Value::array(items));
        }
        loop {
            items.push(self.value()?);
            if self.take(b']') {
                return Ok(Value::array(items));
            }
            self.comma()?;
        }
    }

    fn object(&mut self) -> Result<Value, FaultKind> {
        let mut object = Object::default();
        if self.take(b'}') {
            return Ok(Value::Object(Arc::new(object)));
        }
        loop {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return Err(FaultKind::NotJson("a name in quotes was expected"));
            }
            let name = self.text()?;
            self.budget.take(0)?;
            if !self.take(b':') {
                return Err(FaultKind::NotJson("a colon was expected"));
            }
            let value = self.value()?;
            object.insert(name.into(), value);
            if self.take(b'}') {
                return Ok(Value::Object(Arc::new(object)));
            }
            self.comma()?;
        }
    }

    fn comma(&mut self) -> Result<(), FaultKind> {
        if self.take(b',') { Ok(()) } else { Err(FaultKind::NotJson("a comma was expected")) }
    }

    fn word(&mut self) -> Result<Value, FaultKind> {
        let words = [("null", Value::Null), ("true", Value::Boolean(true)), ("false", Value::Boolean(false))];
        let rest = self.text.get(self.at..).unwrap_or_default();
        let word = words.into_iter().find(|(word, _)| rest.starts_with(word));
        let (word, value) = word.ok_or(FaultKind::NotJson("a value was expected"))?;
        self.at += word.len();
        Ok(value)
    }

    fn number(&mut self) -> Result<Value, FaultKind> {
        let rest = &self.text[self.at..];
        let len = rest.bytes().take_while(|it| matches!(it, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')).count();
        let number = &rest[..len];
        let is_number = is_json_number(number);
        self.at += len;
        number.parse().ok().filter(|_| is_number).map(Value::Number).ok_or(FaultKind::NotJson("a number is malformed"))
    }

    /// A text in quotes.
    fn text(&mut self) -> Result<String, FaultKind> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let plain = rest.find(|it| matches!(it, '"' | '\\' | '\0'..='\u{1f}'));
            let plain = &rest[..plain.ok_or(FaultKind::NotJson("a text doesn't end"))?];
            self.budget.take_bytes(plain.len())?;
            text.push_str(plain);
            self.at += plain.len() + 1;
            match rest.as_bytes().get(plain.len()) {
                Some(b'"') => return Ok(text),
                Some(b'\\') => text.push(self.escaped()?),
                _ => return Err(FaultKind::NotJson("a text has a control character")),
            }
        }
    }

    fn escaped(&mut self) -> Result<char, FaultKind> {
        let escape = self.peek();
        self.at += 1;
        Ok(match escape {
            Some(plain @ (b'"' | b'\\' | b'/')) => char::from(plain),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.code_point(),
            _ => return Err(FaultKind::NotJson("an escape is unknown")),
        })
    }

    /// A character by its number, or by the numbers of its two halves.
    fn code_point(&mut self) -> Result<char, FaultKind> {
        let first = self.unit()?;
        let is_half = |unit: &u16| (0xd800..0xe000).contains(unit);
        let mut units = vec![first];
        if is_half(&first) && self.text.get(self.at..).is_some_and(|rest| rest.starts_with("\\u")) {
            self.at += 2;
            units.push(self.unit()?);
        }
        let mut characters = char::decode_utf16(units);
        match (characters.next(), characters.next()) {
            (Some(Ok(character)), None) => Ok(character),
            _ => Err(FaultKind::NotJson("a text has half a character")),
        }
    }

    fn unit(&mut self) -> Result<u16, FaultKind> {
        let digits = self.text.get(self.at..self.at + 4);
        let digits = digits.filter(|digits| digits.bytes().all(|it| it.is_ascii_hexdigit()));
        self.at += 4;
        let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
        unit.ok_or(FaultKind::NotJson("an escape is malformed"))
    }
}

/// Whether the text is a number of JSON: no sign but `-`, no needless zero in front, digits on both sides of the point.
fn is_json_number(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = text.split_once(['e', 'E']).map_or((text, None), |(it, rest)| (it, Some(rest)));
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(it, rest)| (it, Some(rest)));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    is_digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(is_digits)
        && exponent.is_none_or(|it| is_digits(it.strip_prefix(['+', '-']).unwrap_or(it)))
}

/// Prints a value on several lines, with two spaces for each level.
pub(super) fn print(value: &Value, budget: &mut Budget) -> Result<String, FaultKind> {
    let mut printed = String::new();
    print_below(value, 0, &mut printed, budget)?;
    Ok(printed)
}

fn print_below(value: &Value, level: usize, printed: &mut String, budget: &mut Budget) -> Result<(), FaultKind> {
    let start = printed.len();
    match value {
        Value::Null => printed.push_str("null"),
        Value::Number(number) if !number.is_finite() => printed.push_str("null"),
        Value::Number(number) => printed.push_str(&number::print(*number)),
        Value::Boolean(value) => printed.push_str(if *value { "true" } else { "false" }),
        Value::Text(text) => print_text(text, printed),
        Value::Array(array) if array.items().is_empty() => printed.push_str("[]"),
        Value::Object(object) if object.entries().len() == 0 => printed.push_str("{}"),
        Value::Array(array) => {
            for (at, item) in array.items().iter().enumerate() {
                printed.push_str(if at == 0 { "[" } else { "," });
                new_line(level + 1, printed, budget)?;
                print_below(item, level + 1, printed, budget)?;
            }
            new_line(level, printed, budget)?;
            printed.push(']');
            return Ok(());
        }
        Value::Object(object) => {
            for (at, (name, value)) in object.entries().enumerate() {
                printed.push_str(if at == 0 { "{" } else { "," });
                new_line(level + 1, printed, budget)?;
                budget.take_bytes(name.len())?;
                print_text(name, printed);
                printed.push_str(": ");
                print_below(value, level + 1, printed, budget)?;
            }
            new_line(level, printed, budget)?;
            printed.push('}');
            return Ok(());
        }
    }
    budget.take_bytes(printed.len() - start)
}

fn new_line(level: usize, printed: &mut String, budget: &mut Budget) -> Result<(), FaultKind> {
    budget.take_bytes(level * 2 + 2)?;
    printed.push('\n');
    for _ in 0..level {
        printed.push_str("  ");
    }
    Ok(())
}

fn print_text(text: &str, printed: &mut String) {
    printed.push('"');
    for character in text.chars() {
        match character {
            '"' => printed.push_str("\\\""),
            '\\' => printed.push_str("\\\\"),
            '\u{8}' => printed.push_str("\\b"),
            '\u{c}' => printed.push_str("\\f"),
            '\n' => printed.push_str("\\n"),
            '\r' => printed.push_str("\\r"),
            '\t' => printed.push_str("\\t"),
            '\0'..='\u{1f}' => drop(write!(printed, "\\u{:04x}", u32::from(character))),
            _ => printed.push(character),
        }
    }
    printed.push('"');
}
