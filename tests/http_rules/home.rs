//! What a browser finds at `/`, and where links in messages lead.

use reqwest::Method;

use crate::harness::{Answer, Client, Server};

/// What a browser says it takes.
const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

async fn browse(client: &Client, path: &str) -> Answer {
    client.get(path).header("accept", BROWSER).send().await
}

#[tokio::test]
async fn a_browser_finds_a_page_that_says_what_this_is_and_leads_on() {
    let server = Server::start().await;
    let client = server.client();
    let page = browse(&client, "/").await.expect(200);
    assert!(page.header("content-type").is_some_and(|kind| kind.starts_with("text/html")));
    assert!(page.header("content-security-policy").is_some_and(|policy| policy.starts_with("default-src 'none'")));
    assert!(page.text.contains("Troupe"));
    for link in ["/docs", "/console", "/docs/co-editing", "/v1/openapi.json"] {
        assert!(page.text.contains(&format!("href=\"{link}\"")), "{link}");
        client.get(link).send().await.expect(200);
    }
    let head = client.request(Method::HEAD, "/").header("accept", BROWSER).send().await.expect(200);
    assert_eq!(head.text, "");
}

#[tokio::test]
async fn a_program_reads_at_the_root_what_it_always_did() {
    let server = Server::start().await;
    for accept in [None, Some("*/*"), Some("application/json"), Some("text/plain")] {
        let request = server.client().get("/");
        let request = if let Some(accept) = accept { request.header("accept", accept) } else { request };
        assert_eq!(request.send().await.expect(404).json["code"], "no_route", "{accept:?}");
    }
}

#[tokio::test]
async fn what_links_lead_to_names_the_thing_and_its_address_and_tells_nothing_of_it() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let org_id = ada.client.org("Secret plans").await;
    let body = serde_json::json!({ "title": "Redundancies" });
    let made = ada.client.post(&format!("/v1/orgs/{org_id}/pages")).json(&body).send().await.expect(201);
    let page_id = made.str("/page/pageId");
    let nobody = server.client();
    for (path, kind) in [
        (format!("/orgs/{org_id}"), "Organization"),
        (format!("/orgs/{org_id}/pages/{page_id}"), "Notes page"),
        (format!("/orgs/{org_id}/pages/{page_id}?comment=pgc_01jd7rt4m5e9fv2w8x3c6k0hqz"), "Notes page"),
        (format!("/orgs/{org_id}/issues/WEB-12"), "Issue"),
        (format!("/orgs/{org_id}/notify/escalations/esc_01jd7rt4m5e9fv2w8x3c6k0hqz"), "Escalation"),
        (format!("/orgs/{org_id}/notify/protocols/ptc_01jd7rt4m5e9fv2w8x3c6k0hqz"), "Notification protocol"),
    ] {
        let shown = browse(&nobody, &path).await.expect(200);
        let (address, _) = path.split_once('?').unwrap_or((&path, ""));
        assert!(shown.text.contains(kind), "{path}: {}", shown.text);
        assert!(shown.text.contains(&format!("{}/v1{address}", server.url)), "{path}: {}", shown.text);
        assert!(!shown.text.contains("Secret") && !shown.text.contains("Redundancies"), "{}", shown.text);
        let made_up = path.replace(&org_id, "org_01jd7rt4m5e9fv2w8x3c6k0hqz");
        let other = browse(&nobody, &made_up).await.expect(200);
        assert_eq!(
            other.text.replace("org_01jd7rt4m5e9fv2w8x3c6k0hqz", &org_id),
            shown.text,
            "what is there reads no other"
        );
    }
    for path in ["/orgs/nonsense", "/orgs/org_01jd7rt4m5e9fv2w8x3c6k0hqz/pages/<script>", "/orgs/a/b"] {
        browse(&nobody, path).await.expect(404);
    }
}
