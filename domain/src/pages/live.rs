//! Who is seen on the tree's live socket (contract B 4.6, `GET /live`).

/// Characters of a tab's name.
const TAB_LEN: std::ops::RangeInclusive<usize> = 8..=64;
/// Characters of a device's name.
const DEVICE_LEN_MAX: usize = 60;

/// Whether a tab may be named so: 8 to 64 letters, digits, `_` and `-`.
pub fn tab_holds(text: &str) -> bool {
    TAB_LEN.contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// Whether a device may be named so: up to 60 characters after trimming, none of them a control character.
pub fn device_holds(text: &str) -> bool {
    let text = text.trim();
    text.chars().count() <= DEVICE_LEN_MAX && !text.contains(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tab_has_8_to_64_word_characters() {
        for (len, holds) in [(7, false), (8, true), (9, true), (63, true), (64, true), (65, false)] {
            assert_eq!(tab_holds(&"a".repeat(len)), holds, "{len}");
        }
        assert!(tab_holds("Tab_1-ab"));
        for text in ["tab 1234", "tab.1234", "täb12345", ""] {
            assert!(!tab_holds(text), "{text}");
        }
    }

    #[test]
    fn a_device_has_up_to_60_characters() {
        for (len, holds) in [(0, true), (59, true), (60, true), (61, false)] {
            assert_eq!(device_holds(&"ä".repeat(len)), holds, "{len}");
        }
        assert!(device_holds(&format!("  {}  ", "a".repeat(60))));
        assert!(!device_holds("a\u{7}b"));
    }
}
