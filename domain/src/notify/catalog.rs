//! The 66 types of events that people are told of (contract A 6): where each belongs, what it is called, and how people are
//! told of it who never chose.

use super::channel::{Channel, Channels};
use crate::App;

/// A type of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventType {
    /// Its name in the contract, such as `account.new_sign_in`.
    pub kind: &'static str,
    /// The app that it belongs to.
    pub app: App,
    /// What settings call it.
    pub label: &'static str,
    /// What settings say of it.
    pub description: &'static str,
    /// The channels of whoever never chose others.
    pub channels: Channels,
    /// Whether it may interrupt quiet hours, where these allow what is urgent.
    pub urgent: bool,
    /// Whether it never texts or calls.
    pub texts_off: bool,
    /// Whether the rules of protocols may list it.
    pub in_protocols: bool,
}

impl EventType {
    /// The type of this name.
    pub fn find(kind: &str) -> Option<&'static Self> {
        EVENTS.iter().find(|event| event.kind == kind)
    }

    /// Every type, in the contract's order.
    pub fn all() -> &'static [Self] {
        EVENTS
    }

    /// The channels that a person may choose for it.
    pub fn allowed(&self) -> Channels {
        if self.texts_off { Channels::ALL - Channels::TEXTS } else { Channels::ALL }
    }

    const fn urgent(self) -> Self {
        Self { urgent: true, ..self }
    }

    const fn no_texts(self) -> Self {
        Self { texts_off: true, ..self }
    }

    const fn in_protocols(self) -> Self {
        Self { in_protocols: true, ..self }
    }
}

const fn event(
    kind: &'static str,
    app: App,
    label: &'static str,
    description: &'static str,
    channels: Channels,
) -> EventType {
    EventType { kind, app, label, description, channels, urgent: false, texts_off: false, in_protocols: false }
}

/// Worth knowing when one looks.
const LISTED: Channels = Channels::of(&[Channel::Inapp]);
/// Worth a look at the phone.
const PUSHED: Channels = Channels::of(&[Channel::Push, Channel::Inapp]);
/// Worth keeping.
const MAILED: Channels = Channels::of(&[Channel::Email, Channel::Inapp]);
/// Worth both.
const TOLD: Channels = Channels::of(&[Channel::Email, Channel::Push, Channel::Inapp]);
/// Somebody must act now.
const ALARMED: Channels = Channels::of(&[Channel::Email, Channel::Sms, Channel::Push, Channel::Inapp]);

#[rustfmt::skip]
static EVENTS: &[EventType] = &[
    event("deployment.ready", App::Cloud, "Deployment ready", "A deployment went live.", PUSHED).in_protocols(),
    event("deployment.failed", App::Cloud, "Deployment failed", "A deployment didn't go live.", TOLD).in_protocols(),
    event("issue.sla_breached", App::Tasks, "SLA breached", "A request ran past the time that it was promised in.", TOLD).urgent().in_protocols(),
    event("maps.incident", App::Maps, "Incident nearby", "Something happened near a place that you watch.", PUSHED).in_protocols(),
    event("maps.flight", App::Maps, "Flight update", "A flight that you follow changed.", PUSHED).in_protocols(),
    event("assistant.briefing", App::Assistant, "Briefing", "Your briefing is ready.", PUSHED).no_texts().in_protocols(),
    event("assistant.task_done", App::Assistant, "Task done", "The assistant finished a task.", PUSHED).no_texts(),
    event("assistant.task_failed", App::Assistant, "Task failed", "The assistant couldn't finish a task.", PUSHED).no_texts(),
    event("assistant.task_waiting", App::Assistant, "Task waiting", "The assistant needs an answer to go on.", PUSHED),
    event("assistant.code_waiting", App::Assistant, "Code session waiting", "A code session needs an answer to go on.", PUSHED),
    event("assistant.code_failed", App::Assistant, "Code session failed", "A code session stopped with an error.", PUSHED).no_texts(),
    event("assistant.code_done", App::Assistant, "Code session done", "A code session finished its work.", PUSHED).no_texts(),
    event("account.new_sign_in", App::Account, "New sign-in", "Somebody signed in to your account from a new place or device.", TOLD).urgent().in_protocols(),
    event("sharing.offered", App::Account, "Shared with you", "Somebody offers to share something with you.", TOLD).no_texts(),
    event("sharing.changed", App::Account, "Sharing changed", "What somebody shares with you changed or ended.", PUSHED).no_texts(),
    event("sharing.activity", App::Account, "Activity in what is shared", "Somebody used or changed what you share.", LISTED).no_texts(),
    event("domain.verified", App::Cloud, "Domain verified", "A domain is verified and ready.", MAILED).in_protocols(),
    event("domain.failed", App::Cloud, "Domain failed", "A domain couldn't be verified, or no longer is.", TOLD).in_protocols(),
    event("secret.rotation_due", App::Cloud, "Secret due for rotation", "A secret is as old as it may get.", MAILED).in_protocols(),
    event("issue.assigned", App::Tasks, "Issue assigned", "An issue was assigned to you.", TOLD).in_protocols(),
    event("issue.mentioned", App::Tasks, "Mentioned in an issue", "Somebody mentioned you in an issue.", TOLD).in_protocols(),
    event("calendar.invite_unanswered", App::Mail, "Invitation unanswered", "An invitation still waits for your answer.", PUSHED).in_protocols(),
    event("calendar.meeting_soon", App::Mail, "Meeting soon", "A meeting is about to start.", PUSHED).urgent().in_protocols(),
    event("page.mentioned", App::Brain, "Mentioned on a page", "Somebody mentioned you on a page.", TOLD).in_protocols(),
    event("mail.vip", App::Mail, "Mail from a VIP", "Somebody on your VIP list wrote to you.", PUSHED).urgent().in_protocols(),
    event("maps.watch", App::Maps, "Watch on the map", "Something that you watch on the map moved or changed.", PUSHED).in_protocols(),
    event("maps.findmy", App::Maps, "Find my", "A person or thing that you look for was found.", PUSHED).no_texts(),
    event("maps.eta", App::Maps, "Arrival", "Somebody who shares the way with you is about to arrive.", PUSHED).no_texts(),
    event("maps.findmy_sound", App::Maps, "Play a sound", "Somebody looks for this device and has it play a sound.", PUSHED).urgent().no_texts(),
    event("office.mention", App::Docs, "Mentioned in a document", "Somebody mentioned you in a document.", TOLD).in_protocols(),
    event("video.captions", App::Drive, "Captions ready", "The captions of a video are ready.", LISTED).no_texts().in_protocols(),
    event("food.receipt", App::Food, "Receipt read", "A receipt was read into your pantry.", LISTED).no_texts().in_protocols(),
    event("food.use_soon", App::Food, "Use soon", "Something in your pantry should be used soon.", PUSHED).no_texts().in_protocols(),
    event("vehicles.car_alert", App::Vehicles, "Car alert", "A car reports a fault or a warning.", PUSHED).urgent(),
    event("vehicles.automation", App::Vehicles, "Automation ran", "An automation of a car ran, or couldn't.", LISTED).no_texts(),
    event("vehicles.unlocked", App::Vehicles, "Left unlocked", "A car stands unlocked.", PUSHED).urgent(),
    event("vehicles.rain", App::Vehicles, "Open in the rain", "Rain is coming, and a car has a window or its roof open.", PUSHED),
    event("vehicles.charge", App::Vehicles, "Charging", "Charging started, stopped or finished.", PUSHED).no_texts(),
    event("vehicles.plug_in", App::Vehicles, "Plug in", "A car should be plugged in.", PUSHED).no_texts(),
    event("vehicles.battery_low", App::Vehicles, "Battery low", "A car's battery is low.", PUSHED),
    event("vehicles.sentry", App::Vehicles, "Sentry", "A car's sentry noticed something.", PUSHED).urgent(),
    event("vehicles.moved", App::Vehicles, "Moved", "A parked car was moved.", PUSHED).urgent(),
    event("vehicles.drive", App::Vehicles, "Drive", "A drive started or ended.", LISTED).no_texts(),
    event("vehicles.speeding", App::Vehicles, "Speeding", "A car went faster than you allow.", PUSHED).no_texts(),
    event("vehicles.harsh", App::Vehicles, "Harsh driving", "A car was braked, turned or accelerated harshly.", LISTED).no_texts(),
    event("vehicles.geofence", App::Vehicles, "Geofence", "A car came to a place that you marked, or left it.", PUSHED).no_texts(),
    event("vehicles.climate_safety", App::Vehicles, "Too hot or too cold inside", "It is getting dangerously hot or cold in a car.", ALARMED).urgent(),
    event("vehicles.tyre", App::Vehicles, "Tyre pressure", "A tyre's pressure is wrong.", PUSHED),
    event("vehicles.software", App::Vehicles, "Software update", "An update of a car's software is ready or done.", LISTED).no_texts(),
    event("vehicles.command", App::Vehicles, "Command failed", "A car didn't do what it was told.", PUSHED).no_texts(),
    event("vehicles.access", App::Vehicles, "Access changed", "Who may use a car changed.", TOLD),
    event("vehicles.connection", App::Vehicles, "Connection lost", "The connection to a car's maker was lost.", MAILED).no_texts(),
    event("vehicles.maintenance", App::Vehicles, "Maintenance due", "A car is due for maintenance.", MAILED).no_texts(),
    event("agent.job_done", App::Assistant, "Agent finished", "An agent finished its job.", PUSHED).in_protocols(),
    event("agent.job_failed", App::Assistant, "Agent failed", "An agent couldn't finish its job.", TOLD).in_protocols(),
    event("pipeline.failed", App::Git, "Pipeline failed", "A run of a pipeline failed.", TOLD).in_protocols(),
    event("pipeline.approval", App::Git, "Approval needed", "A run of a pipeline waits for an approval.", TOLD).in_protocols(),
    event("security.git_key", App::Git, "Git credential created", "Somebody created a credential for git.", TOLD).urgent().in_protocols(),
    event("security.git_clone", App::Git, "Repository cloned", "Somebody cloned a repository for the first time.", MAILED).in_protocols(),
    event("security.repo_access", App::Git, "Repository access changed", "Who may use a repository changed.", MAILED).in_protocols(),
    event("ops.alarm", App::Admin, "Alarm", "Something that is watched over needs somebody to act.", ALARMED).urgent().in_protocols(),
    event("marketing.approval", App::Marketing, "Approval needed", "A campaign waits for an approval.", TOLD).in_protocols(),
    event("marketing.journey", App::Marketing, "Journey", "A journey stopped, or somebody in it needs attention.", LISTED).no_texts().in_protocols(),
    event("vehicles.spend", App::Vehicles, "Spending", "What a car costs came to the amount that you set.", MAILED).no_texts(),
    event("messaging.report", App::Messaging, "Message reported", "Somebody reported a message.", TOLD).in_protocols(),
    event("feedback.bug", App::Admin, "Bug reported", "Somebody reported a bug.", MAILED).in_protocols(),
];

#[cfg(test)]
mod tests {
    use super::*;

    const LISTED_IN_SETTINGS: &str = "deployment.ready, deployment.failed, issue.sla_breached, maps.incident, \
        maps.flight, assistant.briefing, assistant.task_done, assistant.task_failed, assistant.task_waiting, \
        assistant.code_waiting, assistant.code_failed, assistant.code_done, account.new_sign_in, sharing.offered, \
        sharing.changed, sharing.activity, domain.verified, domain.failed, secret.rotation_due, issue.assigned, \
        issue.mentioned, calendar.invite_unanswered, calendar.meeting_soon, page.mentioned, mail.vip, maps.watch, \
        maps.findmy, maps.eta, maps.findmy_sound, office.mention, video.captions, food.receipt, food.use_soon, \
        vehicles.car_alert, vehicles.automation, vehicles.unlocked, vehicles.rain, vehicles.charge, vehicles.plug_in, \
        vehicles.battery_low, vehicles.sentry, vehicles.moved, vehicles.drive, vehicles.speeding, vehicles.harsh, \
        vehicles.geofence, vehicles.climate_safety, vehicles.tyre, vehicles.software, vehicles.command, \
        vehicles.access, vehicles.connection, vehicles.maintenance, agent.job_done, agent.job_failed, \
        pipeline.failed, pipeline.approval, security.git_key, security.git_clone, security.repo_access, ops.alarm, \
        marketing.approval, marketing.journey, vehicles.spend, messaging.report, feedback.bug";
    const LISTED_IN_PROTOCOLS: &str = "issue.sla_breached, deployment.ready, deployment.failed, maps.incident, \
        maps.flight, assistant.briefing, account.new_sign_in, domain.verified, domain.failed, secret.rotation_due, \
        issue.assigned, issue.mentioned, calendar.invite_unanswered, calendar.meeting_soon, page.mentioned, mail.vip, \
        maps.watch, office.mention, video.captions, food.receipt, food.use_soon, agent.job_done, agent.job_failed, \
        pipeline.failed, pipeline.approval, security.git_key, security.git_clone, security.repo_access, ops.alarm, \
        marketing.approval, marketing.journey, messaging.report, feedback.bug";

    #[test]
    fn the_types_are_the_contracts() {
        let kinds: Vec<_> = EventType::all().iter().map(|event| event.kind).collect();
        assert_eq!(kinds, LISTED_IN_SETTINGS.split(", ").collect::<Vec<_>>());
        assert_eq!(kinds.len(), 66);
    }

    #[test]
    fn protocols_may_list_what_the_contract_lets_them() {
        let mut allowed: Vec<_> = LISTED_IN_PROTOCOLS.split(", ").collect();
        allowed.sort_unstable();
        let mut kinds: Vec<_> =
            EventType::all().iter().filter(|event| event.in_protocols).map(|event| event.kind).collect();
        kinds.sort_unstable();
        assert_eq!(kinds, allowed);
    }

    #[test]
    fn nobody_is_texted_by_what_never_texts() {
        for event in EventType::all() {
            assert!((event.channels - event.allowed()).is_empty(), "{}", event.kind);
            assert!(event.channels.contains(Channel::Inapp), "{}", event.kind);
            assert!(event.app != App::Home, "{}: home means every app", event.kind);
        }
    }

    #[test]
    fn a_type_is_found_by_its_name() {
        assert_eq!(EventType::find("ops.alarm").map(|event| event.app), Some(App::Admin));
        assert_eq!(EventType::find("ops.alarms"), None);
    }
}
