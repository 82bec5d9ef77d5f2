//! Approvals: who is asked, what each answer does, and what they wait for.

use super::*;
use crate::nodes::Pair;

impl Desk {
    /// Has the status that waits for an approval ask for one.
    async fn asks(&self, rule: Value) {
        let mut whole = json!({ "statusId": "waiting_for_approval", "approvedTo": "waiting_for_support", "declinedTo": "cancelled" });
        whole.as_object_mut().expect("a rule").extend(rule.as_object().expect("fields").clone());
        self.configure(|config| config["requestTypes"][0]["approvals"] = json!([whole])).await;
    }

    /// The issue that a request is.
    async fn shown(&self, request: &str) -> Value {
        self.ada.client.get(&self.issue(request)).send().await.expect(200).json["issue"].clone()
    }

    /// A request that waits for an approval: its path, and the approval's id.
    async fn waiting(&self) -> (String, String) {
        let path = self.request(&self.eve.client, "A keyboard").await;
        self.transition(&path, "approve").await;
        let id = self.shown(&path).await["approvals"][0]["id"].as_str().expect("an id").to_owned();
        (path, id)
    }

    /// What somebody decides as a member.
    async fn decides(&self, person: &Person, (request, id): (&str, &str), decision: &str) -> Answer {
        let path = format!("{}/approvals/{id}", self.issue(request));
        person.client.post(&path).json(&json!({ "decision": decision })).send().await
    }

    async fn keys(&self, person: &Person, jql: &str) -> Vec<Value> {
        let path = format!("{}/issues/search", self.org);
        let found = person.client.post(&path).json(&json!({ "jql": jql })).send().await.expect(200);
        found.list("/issues").iter().map(|issue| issue["key"].clone()).collect()
    }
}

#[tokio::test]
async fn everybody_has_to_approve_where_all_are_needed_and_the_request_goes_on_with_the_last() {
    let desk = Desk::new().await;
    let (bob, cid) = (desk.member("bob", "developer").await, desk.member("cid", "developer").await);
    desk.asks(json!({ "approvers": { "userIds": [bob.user_id, cid.user_id] }, "needed": "all" })).await;
    let (path, id) = desk.waiting().await;
    let asked = desk.shown(&path).await;
    let approval = &asked["approvals"][0];
    assert_eq!((&approval["statusId"], &approval["needed"]), (&json!("waiting_for_approval"), &json!("all")));
    assert_eq!((&approval["state"], &approval["decisions"]), (&json!("pending"), &json!([])));
    assert_eq!(approval["approvers"].as_array().map(Vec::len), Some(2));
    let told = async || {
        let notices = bob.client.get("/v1/me/notifications").send().await.expect(200);
        let is_asked =
            |it: &Value| it["event"] == "issue.assigned" && it["title"] == "HELP-1 waits for your approval: A keyboard";
        notices.list("/notices").iter().any(is_asked).then_some(())
    };
    desk.server.eventually("bob is told", told).await;
    for (person, jql, found) in [
        (&bob, "approvals = myPending()", 1),
        (&bob, "approvals = pending()", 1),
        (&bob, "approvals = approved()", 0),
        (&desk.ada, "approvals = myApproval()", 0),
        (&desk.ada, "approvals = pendingBy(bob)", 1),
        (&desk.ada, "approvals = approver(cid)", 1),
        (&desk.ada, "approvals is empty", 0),
    ] {
        assert_eq!(desk.keys(person, jql).await.len(), found, "{jql}");
    }
    let stranger = desk.decides(&desk.ada, (&path, &id), "approved").await;
    stranger.expect_error(403, "not_approver", "You aren't asked to approve this.");
    let first = desk.decides(&bob, (&path, &id), "approved").await.expect(200);
    assert_eq!(
        (first.str("/issue/statusId"), first.str("/issue/approvals/0/state")),
        ("waiting_for_approval", "pending")
    );
    desk.decides(&bob, (&path, &id), "declined").await.expect_error(409, "already_decided", "You have decided this.");
    assert!(desk.keys(&bob, "approvals = myPending()").await.is_empty());
    let last = desk.decides(&cid, (&path, &id), "approved").await.expect(200);
    assert_eq!(
        (last.str("/issue/statusId"), last.str("/issue/approvals/0/state")),
        ("waiting_for_support", "approved")
    );
    assert_eq!(last.json["issue"]["approvals"][0]["decidedAt"], desk.server.clock.now().as_millis());
    desk.decides(&cid, (&path, &id), "approved").await.expect_error(409, "already_decided", "This approval is over.");
    assert_eq!(desk.keys(&desk.ada, "approvals = approved()").await, ["HELP-1"]);
    let history = desk.ada.client.get(&format!("{}/history", desk.issue(&path))).send().await.expect(200);
    let changes: Vec<(&Value, &Value)> =
        history.list("/changes").iter().map(|it| (&it["field"], &it["cause"])).collect();
    let wanted = [
        (&json!("approvals"), &json!("person")),
        (&json!("status"), &json!("automation")),
        (&json!("approvals"), &json!("person")),
        (&json!("approvals"), &json!("person")),
        (&json!("status"), &json!("person")),
    ];
    assert_eq!(changes, wanted);
}

#[tokio::test]
async fn one_who_declines_ends_it_and_the_first_answer_decides_where_one_is_needed() {
    let desk = Desk::new().await;
    let (bob, cid) = (desk.member("bob", "developer").await, desk.member("cid", "developer").await);
    let both = json!({ "userIds": [bob.user_id, cid.user_id] });
    for (needed, decision, status, state) in [
        ("all", "declined", "cancelled", "declined"),
        ("one", "declined", "cancelled", "declined"),
        ("one", "approved", "waiting_for_support", "approved"),
    ] {
        desk.asks(json!({ "approvers": both, "needed": needed })).await;
        let (path, id) = desk.waiting().await;
        let decided = desk.decides(&cid, (&path, &id), decision).await.expect(200);
        assert_eq!((decided.str("/issue/statusId"), decided.str("/issue/approvals/0/state")), (status, state));
        assert_eq!(decided.list("/issue/approvals/0/decisions").len(), 1);
        desk.decides(&bob, (&path, &id), decision).await.expect_error(409, "already_decided", "This approval is over.");
    }
}

#[tokio::test]
async fn nothing_goes_past_an_approval_and_another_way_withdraws_it() {
    let desk = Desk::new().await;
    let bob = desk.member("bob", "developer").await;
    desk.asks(json!({ "approvers": { "userIds": [bob.user_id] }, "needed": "one" })).await;
    desk.configure(|config| config["waiting"] = json!(["waiting_for_approval"])).await;
    let (path, id) = desk.waiting().await;
    let ways = format!("{}/transitions", desk.issue(&path));
    let past = desk.ada.client.post(&ways).json(&json!({ "transitionId": "answer" })).send().await.expect(409);
    assert_eq!((past.str("/code"), past.str("/blocked/0/type")), ("transition_blocked", "approval"));
    let listed = desk.ada.client.get(&ways).send().await.expect(200);
    let is_blocked = |id: &str| {
        let way = listed.list("/transitions").iter().find(|it| it["id"] == id).expect("a way");
        way["blocked"] != json!([])
    };
    assert_eq!((is_blocked("answer"), is_blocked("cancel")), (true, false));
    let say = json!({ "body": "Please hurry" });
    desk.eve.client.post(&format!("{path}/comments")).json(&say).send().await.expect(201);
    assert_eq!(desk.shown(&path).await["statusId"], "waiting_for_approval", "words don't approve");
    desk.transition(&path, "cancel").await;
    let left = desk.shown(&path).await;
    assert_eq!((&left["approvals"][0]["state"], &left["approvals"][0]["decisions"]), (&json!("declined"), &json!([])));
    desk.decides(&bob, (&path, &id), "approved").await.expect_error(409, "already_decided", "This approval is over.");
    desk.decides(&bob, (&path, "apv_01jd7rt4m5e9fv2w8x3c6k0hqz"), "approved").await.expect_error(
        404,
        "not_found",
        "Approval not found.",
    );
}

#[tokio::test]
async fn customers_approve_through_the_help_center_and_read_only_what_is_theirs() {
    let desk = Desk::new().await;
    let (bob, cid) = (desk.server.person("bob").await, desk.server.person("cid").await);
    desk.asks(json!({ "approvers": { "userIds": [bob.user_id] }, "needed": "one" })).await;
    let other = desk.request(&desk.eve.client, "Another one").await;
    let (path, id) = desk.waiting().await;
    let detail = desk.eve.client.get(&path).send().await.expect(200);
    let wanted = json!([{ "id": id, "status": "Waiting for approval", "state": "pending", "needed": "one", "decided": 0,
                          "approvers": ["bob"] }]);
    assert_eq!(detail.json["request"]["approvals"], wanted);
    assert_eq!(detail.json["request"]["waitingForYou"], false);
    assert_eq!(bob.client.get(&path).send().await.expect(200).json["request"]["waitingForYou"], true);
    bob.client.get(&other).send().await.expect_error(404, "not_found", "Request not found.");
    let listed = bob.client.get(&format!("{}/requests", desk.portal)).send().await.expect(200);
    assert_eq!(listed.list("/requests").len(), 1);
    let decide = async |person: &Person, body: Value| {
        person.client.post(&format!("{path}/approvals/{id}")).json(&body).send().await
    };
    let yes = json!({ "decision": "approved", "comment": "Within the budget" });
    decide(&cid, yes.clone()).await.expect_error(404, "not_found", "Request not found.");
    decide(&desk.eve, yes.clone()).await.expect_error(403, "not_approver", "You aren't asked to approve this.");
    assert_eq!(decide(&bob, yes.clone()).await.expect(200).json, json!({ "ok": true }));
    decide(&bob, yes).await.expect_error(409, "already_decided", "This approval is over.");
    let seen = desk.eve.client.get(&path).send().await.expect(200);
    assert_eq!(
        (seen.str("/request/approvals/0/state"), seen.str("/request/status")),
        ("approved", "Waiting for support")
    );
    assert_eq!((seen.str("/comments/0/body"), seen.str("/comments/0/author")), ("Within the budget", "bob"));
    let listed = bob.client.get(&format!("{}/requests?status=all", desk.portal)).send().await.expect(200);
    assert_eq!(listed.list("/requests").len(), 1, "who was asked goes on reading it");
}

#[tokio::test]
async fn teams_the_lead_and_whoever_is_responsible_are_asked_but_not_the_reporter() {
    let desk = Desk::new().await;
    let (bob, cid) = (desk.member("bob", "developer").await, desk.member("cid", "developer").await);
    let team = desk.ada.client.post(&format!("{}/teams", desk.org)).json(&json!({ "name": "Buyers" })).send().await;
    let team = team.expect(201).str("/team/teamId").to_owned();
    for person in [&bob, &cid] {
        let (path, body) = (format!("{}/teams/{team}/members", desk.org), json!({ "userId": person.user_id }));
        desk.ada.client.post(&path).json(&body).send().await.expect_success();
    }
    let raise = async || {
        let path = desk.request(&bob.client, "A chair").await;
        let ways = format!("{}/transitions", desk.issue(&path));
        (path, desk.ada.client.post(&ways).json(&json!({ "transitionId": "approve" })).send().await)
    };
    desk.asks(json!({ "approvers": { "teamIds": [team], "field": "assignee" }, "needed": "all" })).await;
    let (_, asked) = raise().await;
    assert_eq!(asked.expect(200).json["issue"]["approvals"][0]["approvers"], json!([cid.user_id]));
    desk.asks(json!({ "approvers": { "teamIds": [team] }, "needed": "all", "reporterMay": true })).await;
    let (_, asked) = raise().await;
    assert_eq!(asked.expect(200).list("/issue/approvals/0/approvers").len(), 2);
    desk.asks(json!({ "approvers": { "lead": true, "field": "reporter" }, "needed": "all" })).await;
    let (path, nobody) = raise().await;
    nobody.expect_error(409, "transition_blocked", "Nobody can approve this.");
    assert_eq!(desk.shown(&path).await["statusId"], "waiting_for_support", "it is refused, not skipped");
}

#[tokio::test]
async fn what_asks_for_an_approval_names_what_is_there() {
    let desk = Desk::new().await;
    let path = format!("{}/issues/spaces/HELP", desk.org);
    let mut config = desk.ada.client.get(&path).send().await.expect(200).json["space"]["config"].clone();
    let rule = |status: &str, to: &str, approvers: Value| json!({ "statusId": status, "approvedTo": to, "declinedTo": "cancelled", "needed": "one", "approvers": approvers });
    let people = |count: usize| json!({ "userIds": vec![desk.eve.user_id.clone(); count] });
    config["servicedesk"]["requestTypes"][0]["approvals"] = json!([
        rule("waiting_for_approval", "waiting_for_support", people(50)),
        rule("waiting_for_approval", "resolved", json!({})),
        rule("nowhere", "waiting_for_support", people(51)),
    ]);
    let refused = desk.ada.client.patch(&path).json(&json!({ "config": config })).send().await;
    let at = |rest: &str| format!("config.servicedesk.requestTypes[0].approvals{rest}");
    let paths = [
        at("[1].statusId"),
        at("[1].approvedTo"),
        at("[1].approvers"),
        at("[2].statusId"),
        at("[2].approvedTo"),
        at("[2].declinedTo"),
        at("[2].approvers"),
    ];
    refused.expect_problems(&paths.each_ref().map(String::as_str));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_decisions_at_the_same_moment_each_counts() {
    let desk = Desk::new().await;
    let mut people = Vec::new();
    for name in ["bob", "cid", "dan", "eli"] {
        people.push(desk.member(name, "developer").await);
    }
    let ids: Vec<&str> = people.iter().map(|person| person.user_id.as_str()).collect();
    desk.asks(json!({ "approvers": { "userIds": ids }, "needed": "all" })).await;
    for _ in 0..5 {
        let (path, id) = desk.waiting().await;
        let decide = people.iter().map(|person| desk.decides(person, (&path, &id), "approved"));
        for answer in futures::future::join_all(decide).await {
            answer.expect(200);
        }
        let shown = desk.shown(&path).await;
        assert_eq!(
            (&shown["statusId"], &shown["approvals"][0]["state"]),
            (&json!("waiting_for_support"), &json!("approved"))
        );
        assert_eq!(shown["approvals"][0]["decisions"].as_array().map(Vec::len), Some(4));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_decisions_through_two_nodes_both_count() {
    let Some(pair) = Pair::start(&[]).await else { return };
    let [left, right] = pair.clients();
    let (ada, eve) = (left.register("ada").await, left.register("eve").await);
    let (ada, eve) = (left.sign_in(&ada, "account", "web").await, left.sign_in(&eve, "account", "web").await);
    let org = format!("/v1/orgs/{}", ada.org("Acme").await);
    let me = async |client: &Client| client.get("/v1/me").send().await.expect(200).str("/user/userId").to_owned();
    let (one, other) = (me(&ada).await, me(&eve).await);
    let space = json!({ "key": "HELP", "name": "Help", "template": "service" });
    let made = ada.post(&format!("{org}/issues/spaces")).json(&space).send().await.expect(201);
    let mut config = made.json["space"]["config"].clone();
    config["servicedesk"]["portal"] = json!({ "enabled": true, "access": "any" });
    config["servicedesk"]["requestTypes"][0]["approvals"] = json!([{
        "statusId": "waiting_for_approval", "approvedTo": "waiting_for_support", "declinedTo": "cancelled", "needed": "all",
        "approvers": { "userIds": [one, other] }, "reporterMay": true,
    }]);
    ada.patch(&format!("{org}/issues/spaces/HELP")).json(&json!({ "config": config })).send().await.expect(200);
    let slug = ada.get(&org).send().await.expect(200).str("/org/slug").to_owned();
    let portal = format!("/v1/portal/issues/{slug}/HELP/requests");
    for _ in 0..10 {
        let raise = json!({ "requestType": "get_help", "summary": "A keyboard" });
        let key = ada.post(&portal).json(&raise).send().await.expect(201).str("/key").to_owned();
        let issue = format!("{org}/issues/{key}");
        let asked =
            ada.post(&format!("{issue}/transitions")).json(&json!({ "to": "waiting_for_approval" })).send().await;
        let approval = format!("{portal}/{key}/approvals/{}", asked.expect(200).str("/issue/approvals/0/id"));
        let yes = json!({ "decision": "approved" });
        let (left, right) =
            (ada.post(&approval).json(&yes).send(), eve.at(right.base()).post(&approval).json(&yes).send());
        let (left, right) = tokio::join!(left, right);
        left.expect(200);
        right.expect(200);
        let shown = ada.get(&issue).send().await.expect(200);
        assert_eq!(
            (shown.str("/issue/statusId"), shown.str("/issue/approvals/0/state")),
            ("waiting_for_support", "approved")
        );
        assert_eq!(shown.list("/issue/approvals/0/decisions").len(), 2);
    }
}
