//! HTML of messages and signatures, without what runs, spies or pretends.

use ammonia::Builder;

/// Schemes of links; `cid` names a picture of the message itself.
const SCHEMES: [&str; 5] = ["http", "https", "mailto", "tel", "cid"];

/// The HTML that may be shown on our origin: no script, form, frame or style, and no picture from elsewhere, which would tell
/// its sender that the message is read.
pub fn clean_html(html: &str) -> String {
    let is_remote = |value: &str| !value.trim_start().to_ascii_lowercase().starts_with("cid:");
    let mut builder = Builder::default();
    builder.url_schemes(SCHEMES.into_iter().collect()).id_prefix(Some("mail-")).attribute_filter(
        move |element, attribute, value| {
            let is_blocked = element == "img" && matches!(attribute, "src" | "srcset") && is_remote(value);
            (!is_blocked).then(|| value.into())
        },
    );
    builder.clean(html).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_spies_or_pretends_is_taken_out() {
        for html in [
            "<script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "<img src='https://spy.example/p.gif'>",
            "<a href='javascript:alert(1)'>x</a>",
            "<form action='https://evil.example'><input name=password></form>",
            "<iframe src='https://evil.example'></iframe>",
            "<style>@import 'https://spy.example'</style>",
            "<div style='position:fixed'>x</div>",
            "<svg><script>alert(1)</script></svg>",
            "<meta http-equiv=refresh content='0;url=https://evil.example'>",
        ] {
            let clean = clean_html(html);
            for bad in ["script", "onerror", "spy.example", "evil.example", "style", "<form", "<input", "<svg", "<meta"]
            {
                assert!(!clean.contains(bad), "{html}: {clean}");
            }
        }
    }

    #[test]
    fn text_links_and_pictures_of_the_message_stay() {
        let clean = clean_html("<p><b>Hi</b> <a href=\"https://example.org/\">there</a> <img src=\"cid:dot\"></p>");
        assert!(clean.contains("<b>Hi</b>") && clean.contains("href=\"https://example.org/\""), "{clean}");
        assert!(clean.contains("src=\"cid:dot\""), "{clean}");
    }
}
