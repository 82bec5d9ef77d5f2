//! Live activities of the iPhone app.

use actors::notify::inbox::{PutLiveActivity, RemoveLiveActivity};
use domain::{
    App, Error,
    id::OrgId,
    notify::{
        ID_LEN, LIVE_APPS, LiveEnvironment, RUNNING_MAX, TOKEN_LEN, app_check, is_bundle_id, is_flight, no_vehicles,
    },
    problems::Problems,
};
use http_shell::{
    answer::{Json, NoContent},
    body::{Body, RequestBody},
    error::Result,
    query::{Query, RequestQuery},
    state::State,
    wire::Done,
};
use serde::{Deserialize, Serialize};
use store::notify::{LiveActivity, LiveActivityAttrs, LiveActivityKey};
use utoipa::{IntoParams, ToSchema};

use super::{
    NotifyPerson,
    door::{ActivityId, InstallId, IphonePerson},
};

/// What the `activityId` of a registration says that starts activities.
const START: &str = "start";

/// A registered token of a live activity. The token is never shown.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "kind": "activity", "installId": "6F9619FF-8B86-D011-B42D-00C04FC964FF", "appId": "maps",
    "activityId": "1C0A6E1F-9A53-4C0E-8F43-0C3B9C7B2A11", "environment": "production",
    "orgId": "org_01jd7rt4m5e9fv2w8x3c6k0hqz", "hex": "3c6444", "watchId": "watch-1", "local": false,
    "createdAt": 1_767_225_600_000_i64, "updatedAt": 1_767_225_600_000_i64
}))]
pub(crate) struct LiveActivityRegistration {
    /// `start` for a token that starts activities, `activity` for one that updates one.
    kind: &'static str,
    /// The install id of the phone.
    install_id: String,
    /// The app there.
    app_id: &'static str,
    /// The activity; `start` for a token that starts activities.
    activity_id: String,
    /// `production` or `development`
    environment: &'static str,
    /// The organization that the activity belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    org_id: Option<String>,
    /// The flight that it shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    hex: Option<String>,
    /// The watch that it shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    watch_id: Option<String>,
    /// Whether the app started it itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    local: Option<bool>,
    /// The flights whose activities run on the phone.
    #[serde(skip_serializing_if = "Option::is_none")]
    running: Option<Vec<String>>,
    /// Since when it is registered.
    created_at: i64,
    /// When it last registered.
    updated_at: i64,
}

impl From<LiveActivity> for LiveActivityRegistration {
    fn from(activity: LiveActivity) -> Self {
        let (created_at, updated_at) = (activity.created_at.as_millis(), activity.updated_at.as_millis());
        let start = Self {
            kind: "start",
            install_id: activity.key.install_id,
            app_id: activity.key.app.as_str(),
            activity_id: activity.key.activity_id.unwrap_or_else(|| START.to_owned()),
            environment: activity.environment.as_str(),
            org_id: None,
            hex: None,
            watch_id: None,
            local: None,
            running: None,
            created_at,
            updated_at,
        };
        match activity.attrs {
            LiveActivityAttrs::Start { running, .. } => Self { running: Some(running), ..start },
            LiveActivityAttrs::Activity { org_id, hex, watch_id, local } => {
                Self { kind: "activity", org_id: Some(org_id.to_string()), hex: Some(hex), watch_id, local, ..start }
            }
        }
    }
}

/// The live activities.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LiveActivitiesAnswer {
    /// The one that registered last first.
    live_activities: Vec<LiveActivityRegistration>,
}

/// Your live activities
#[utoipa::path(get, path = "/v1/me/notifications/live-activities")]
pub(crate) async fn notify_live_list(person: NotifyPerson, state: State) -> Result<Json<LiveActivitiesAnswer>> {
    let mut found = state.store.live_activities(person.user_id()).await?;
    found.reverse();
    let live_activities = found.into_iter().map(LiveActivityRegistration::from).collect();
    Ok(Json(LiveActivitiesAnswer { live_activities }))
}

fn app_is_live(app: App, path: &str, problems: &mut Problems) {
    problems.require(LIVE_APPS.contains(&app), path, "Use one of: maps, home, vehicles.");
}

fn token_check(token: &str, bundle_id: &str, problems: &mut Problems) {
    let fits = TOKEN_LEN.contains(&token.len()) && token.bytes().all(|byte| byte.is_ascii_graphic());
    problems.require(fits, "token", "Use 1 to 4096 characters of ASCII.");
    problems.require(is_bundle_id(bundle_id), "bundleId", "Use 1 to 155 letters, digits, dots and hyphens.");
}

const FLIGHT: &str = "Use six characters of hexadecimal, with ~ before them where it applies.";

/// An app that wants live activities started.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "token": "80a1b2c3d4e5f60718293a4b5c6d7e8f", "appId": "maps", "environment": "production",
    "bundleId": "com.example.maps", "running": ["3c6444", "~a1b2c3"], "cars": false
}))]
pub(crate) struct LiveStartPut {
    /// The push-to-start token: 1 to 4,096 characters.
    token: String,
    /// The app that is signed in: `maps`, `home` or `vehicles`.
    #[schema(value_type = String, example = "maps")]
    app_id: App,
    /// `production` or `development`
    #[schema(value_type = String, example = "production")]
    environment: LiveEnvironment,
    /// The app's name with Apple.
    bundle_id: String,
    /// The flights whose activities run on the phone: up to 20.
    running: Option<Vec<String>>,
    /// Whether it wants activities of cars.
    cars: Option<bool>,
}

impl RequestBody for LiveStartPut {
    fn check(&self, problems: &mut Problems) {
        app_is_live(self.app_id, "appId", problems);
        token_check(&self.token, &self.bundle_id, problems);
        let running = self.running.as_deref().unwrap_or_default();
        problems.require(running.len() <= RUNNING_MAX, "running", "At most 20 flights fit.");
        for (at, flight) in running.iter().enumerate() {
            problems.require(is_flight(flight), format!("running[{at}]"), FLIGHT);
        }
    }
}

/// Register the iPhone app's push-to-start token
#[utoipa::path(put, path = "/v1/me/notifications/live-activities/start/{installId}", responses(
    (status = 400, description = "appId does not match the signed-in app"),
))]
pub(crate) async fn notify_live_start_put(
    person: IphonePerson,
    InstallId(install_id): InstallId,
    body: Body<LiveStartPut>,
    state: State,
) -> Result<Json<Done>> {
    let sent = body.into_inner();
    app_check(sent.app_id, person.app())?;
    let command = PutLiveActivity {
        sign_in_id: person.sign_in_id(),
        key: LiveActivityKey { user_id: person.user_id(), install_id, app: sent.app_id, activity_id: None },
        environment: sent.environment,
        bundle_id: sent.bundle_id,
        token: sent.token,
        attrs: LiveActivityAttrs::Start { running: sent.running.unwrap_or_default(), cars: sent.cars },
    };
    state.actors.inbox.ask(&person.user_id(), command, person.context()).await?;
    Ok(Json(Done::new()))
}

/// The app.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(rename_all = "camelCase")]
pub(crate) struct LiveStartQuery {
    /// The app that is signed in: `maps`, `home` or `vehicles`.
    #[param(value_type = String)]
    app_id: App,
}

impl RequestQuery for LiveStartQuery {
    fn check(&self, problems: &mut Problems) {
        app_is_live(self.app_id, "appId", problems);
    }
}

/// Remove the iPhone app's push-to-start token
#[utoipa::path(delete, path = "/v1/me/notifications/live-activities/start/{installId}", responses(
    (status = 400, description = "appId does not match the signed-in app"),
))]
pub(crate) async fn notify_live_start_delete(
    person: IphonePerson,
    InstallId(install_id): InstallId,
    Query(LiveStartQuery { app_id }): Query<LiveStartQuery>,
    state: State,
) -> Result<NoContent> {
    app_check(app_id, person.app())?;
    let key = LiveActivityKey { user_id: person.user_id(), install_id, app: app_id, activity_id: None };
    state.actors.inbox.ask(&person.user_id(), RemoveLiveActivity(key), person.context()).await?;
    Ok(NoContent)
}

/// A live activity that runs.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "token": "80a1b2c3d4e5f60718293a4b5c6d7e8f", "appId": "maps", "environment": "production",
    "bundleId": "com.example.maps", "installId": "6F9619FF-8B86-D011-B42D-00C04FC964FF",
    "orgId": "org_01jd7rt4m5e9fv2w8x3c6k0hqz", "hex": "3c6444", "watchId": "watch-1", "local": false
}))]
pub(crate) struct LiveActivityPut {
    /// The activity's update token: 1 to 4,096 characters.
    token: String,
    /// The app that is signed in: `maps`, `home` or `vehicles`.
    #[schema(value_type = String, example = "maps")]
    app_id: App,
    /// `production` or `development`
    #[schema(value_type = String, example = "production")]
    environment: LiveEnvironment,
    /// The app's name with Apple.
    bundle_id: String,
    /// The install id of the phone.
    install_id: String,
    /// The organization, in which the person needs the `maps:read` permission.
    org_id: String,
    /// The flight: six characters of hexadecimal, `~` before them where it applies.
    hex: String,
    /// The watch that it shows: 1 to 64 characters.
    watch_id: Option<String>,
    /// Whether the app started it itself.
    local: Option<bool>,
}

impl RequestBody for LiveActivityPut {
    fn check(&self, problems: &mut Problems) {
        app_is_live(self.app_id, "appId", problems);
        token_check(&self.token, &self.bundle_id, problems);
        let fits = |text: &str| ID_LEN.contains(&text.chars().count()) && !text.chars().any(char::is_control);
        problems.require(fits(&self.org_id), "orgId", "Use 1 to 64 characters.");
        problems.require(self.watch_id.as_deref().is_none_or(fits), "watchId", "Use 1 to 64 characters.");
        problems.require(is_flight(&self.hex), "hex", FLIGHT);
    }
}

/// The Live Activity was registered.
#[derive(Serialize, ToSchema)]
pub(crate) struct LiveActivityDone {
    /// Always true.
    ok: bool,
    /// For an activity that shows a watch: whether it is that watch's newest on this install. An older one was replaced,
    /// and the app may end it.
    #[serde(skip_serializing_if = "Option::is_none")]
    current: Option<bool>,
}

/// Register the update token of a running flight activity
#[utoipa::path(put, path = "/v1/me/notifications/live-activities/{activityId}", responses(
    (status = 400, description = "appId does not match the signed-in app\n\nInvalid install ID\n\nInvalid activity ID"),
    (status = 403, description = "This needs the maps:read permission."),
    (status = 404, description = "Vehicles isn't available here."),
))]
pub(crate) async fn notify_live_activity_put(
    person: IphonePerson,
    ActivityId(activity_id): ActivityId,
    body: Body<LiveActivityPut>,
    state: State,
) -> Result<Json<LiveActivityDone>> {
    let sent = body.into_inner();
    app_check(sent.app_id, person.app())?;
    let InstallId(install_id) = InstallId::parse(&sent.install_id)?;
    let org_id = sent.org_id.parse::<OrgId>().map_err(|_| no_vehicles())?;
    let key =
        LiveActivityKey { user_id: person.user_id(), install_id, app: sent.app_id, activity_id: Some(activity_id) };
    let command = PutLiveActivity {
        sign_in_id: person.sign_in_id(),
        key,
        environment: sent.environment,
        bundle_id: sent.bundle_id,
        token: sent.token,
        attrs: LiveActivityAttrs::Activity { org_id, hex: sent.hex, watch_id: sent.watch_id, local: sent.local },
    };
    let current = state.actors.inbox.ask(&person.user_id(), command, person.context()).await?;
    Ok(Json(LiveActivityDone { ok: true, current }))
}

/// Which install of which app.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(rename_all = "camelCase")]
pub(crate) struct LiveActivityQuery {
    /// The install id of the phone.
    install_id: String,
    /// The app that is signed in: `maps`, `home` or `vehicles`.
    #[param(value_type = String)]
    app_id: App,
}

impl RequestQuery for LiveActivityQuery {
    fn check(&self, problems: &mut Problems) {
        app_is_live(self.app_id, "appId", problems);
    }
}

/// Remove the update token of a flight activity
#[utoipa::path(delete, path = "/v1/me/notifications/live-activities/{activityId}", responses(
    (status = 400, description = "appId does not match the signed-in app\n\nInvalid install ID\n\nInvalid activity ID"),
))]
pub(crate) async fn notify_live_activity_delete(
    person: IphonePerson,
    ActivityId(activity_id): ActivityId,
    Query(query): Query<LiveActivityQuery>,
    state: State,
) -> Result<NoContent, Error> {
    app_check(query.app_id, person.app())?;
    let InstallId(install_id) = InstallId::parse(&query.install_id)?;
    let key =
        LiveActivityKey { user_id: person.user_id(), install_id, app: query.app_id, activity_id: Some(activity_id) };
    state.actors.inbox.ask(&person.user_id(), RemoveLiveActivity(key), person.context()).await?;
    Ok(NoContent)
}
