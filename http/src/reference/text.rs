//! Text on the page.

/// Text that stands in a page or in an attribute.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// An anchor's name.
pub(super) fn slug(text: &str) -> String {
    let plain = |character: char| if character.is_ascii_alphanumeric() { character.to_ascii_lowercase() } else { '-' };
    text.chars().map(plain).collect()
}

/// The little Markdown that descriptions use: paragraphs, and `code`.
pub(super) fn paragraphs(text: &str) -> String {
    let paragraphs = text.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty());
    paragraphs.map(|paragraph| format!("<p>{}</p>", line(paragraph))).collect::<Vec<_>>().concat()
}

/// One line with `code` in it.
pub(super) fn line(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts
        .map(|(place, part)| if place % 2 == 1 { format!("<code>{}</code>", escape(part)) } else { escape(part) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_description_becomes_markup() {
        assert_eq!(paragraphs("a <b> & `<c>`\n\nd"), "<p>a &lt;b&gt; &amp; <code>&lt;c&gt;</code></p><p>d</p>");
    }
}
