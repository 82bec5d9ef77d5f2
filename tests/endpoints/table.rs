//! The table.

/// Whom an endpoint answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// Anyone.
    Anyone,
    /// Whoever has a ticket in the query.
    TicketHolder,
    /// Whoever has an address that the server signed.
    AddressHolder,
    /// Whoever has an address with a secret in it, or signs what they send.
    SecretHolder,
    /// A runner, with its secret.
    Runner,
    /// A job that a runner has, with its token.
    Job,
    /// Any person and any key.
    Caller,
    /// Any person, and no key.
    Person,
    /// A person on the authenticator app's own sign-in; everybody else reads this.
    Authenticator(&'static str),
    /// A person on a phone's sign-in; other people read this.
    MobileApp(&'static str),
    /// A person on an iPhone's sign-in; other people read this, or that they need the mobile app.
    IphoneApp(&'static str),
    /// A person on the command line, with a part in the organization of the path and a second factor that was just shown;
    /// everybody else reads this.
    CommandLine(&'static str),
    /// Whoever has a part in the organization of the path.
    Member,
    /// Whoever has a part in the organization of the path, and this scope there.
    Scope(&'static str),
    /// Whoever has this scope in the platform's organization.
    Platform(&'static str),
    /// Whoever is signed in to the operators' console.
    Console,
    /// Git, on the command line or with a key, for whoever has this scope: it is answered in texts.
    Git(&'static str),
    /// The same for Git LFS, which is answered in JSON.
    GitLfs(&'static str),
}

impl Who {
    /// Whether nobody has to be signed in.
    pub const fn is_open(self) -> bool {
        matches!(
            self,
            Self::Anyone | Self::TicketHolder | Self::AddressHolder | Self::SecretHolder | Self::Runner | Self::Job
        )
    }
}

/// What an endpoint takes as its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    Nothing,
    /// JSON of at most so many bytes; this is what somebody who sends more reads.
    Json(usize, &'static str),
    /// Bytes as they are.
    Bytes,
    /// A form.
    Form,
}

/// A line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub method: &'static str,
    pub path: &'static str,
    pub who: Who,
    pub takes: Takes,
}

const KB: usize = 1024;
const TOO_LARGE: &str = "The request is too large.";
/// JSON of at most 1 MB, where the contract says nothing else.
const JSON: Takes = Takes::Json(1024 * KB, TOO_LARGE);
const BACKUP: Who = Who::Authenticator("The authenticator backup opens only in the Authenticator app.");
const VAULT: Who = Who::Authenticator("Passwords opens only in the Authenticator app.");

const COMMAND_LINE: Who = Who::CommandLine("Sign in with the command line to create git credentials.");

const MOBILE: Who = Who::MobileApp("Register devices from the mobile app.");
const IPHONE: Who = Who::IphoneApp("Register Live Activities from the iPhone app.");

const INFRA: Who = Platform("platform:infra");

macro_rules! rows {
    ($($method:ident $path:literal $who:expr, $takes:expr;)*) => {
        &[$(Row { method: stringify!($method), path: $path, who: $who, takes: $takes },)*]
    };
}

use Takes::{Bytes, Form, Json, Nothing};
use Who::{
    AddressHolder, Anyone, Caller, Console, Git, GitLfs, Job, Member, Person, Platform, Runner, Scope, SecretHolder,
    TicketHolder,
};

/// Every endpoint.
#[rustfmt::skip]
pub const ROWS: &[Row] = rows! {
    POST   "/v1/auth/register"                              Anyone, JSON;
    POST   "/v1/auth/sign-in"                               Anyone, JSON;
    POST   "/v1/auth/sign-out"                              Person, Nothing;
    POST   "/v1/auth/step-up"                               Person, JSON;

    GET    "/v1/me"                                         Person, Nothing;
    PATCH  "/v1/me"                                         Person, JSON;
    POST   "/v1/me/password"                                Person, JSON;
    POST   "/v1/me/otp"                                     Person, Nothing;
    POST   "/v1/me/otp/confirm"                             Person, JSON;
    DELETE "/v1/me/otp"                                     Person, Nothing;
    GET    "/v1/me/sign-ins"                                Person, Nothing;
    DELETE "/v1/me/sign-ins/{signInId}"                     Person, Nothing;
    GET    "/v1/me/live"                                    Person, Nothing;

    GET    "/v1/me/authenticator/vault"                     BACKUP, Nothing;
    PUT    "/v1/me/authenticator/vault"                     BACKUP, Json(260 * KB, "The backup is too large.");
    DELETE "/v1/me/authenticator/vault"                     BACKUP, Nothing;

    GET    "/v1/me/vault"                                   VAULT, Nothing;
    POST   "/v1/me/vault"                                   VAULT, Json(16 * KB, TOO_LARGE);
    DELETE "/v1/me/vault"                                   VAULT, Nothing;
    GET    "/v1/me/vault/log"                               VAULT, Nothing;
    PUT    "/v1/me/vault/keyset"                            VAULT, Json(8 * KB, TOO_LARGE);
    POST   "/v1/me/vault/reset/cancel"                      VAULT, Nothing;
    GET    "/v1/me/vault/vaults/{vaultId}/index"            VAULT, Nothing;
    GET    "/v1/me/vault/vaults/{vaultId}/items"            VAULT, Nothing;
    POST   "/v1/me/vault/vaults/{vaultId}/items"            VAULT, Json(4096 * KB, "Send fewer changes at once.");
    PUT    "/v1/me/vault/devices/{deviceId}"                VAULT, Json(4 * KB, TOO_LARGE);
    DELETE "/v1/me/vault/devices/{deviceId}"                VAULT, Nothing;

    GET    "/v1/me/notifications"                           Person, Nothing;
    GET    "/v1/me/notifications/count"                     Person, Nothing;
    POST   "/v1/me/notifications/read"                      Person, JSON;
    POST   "/v1/me/notifications/read-all"                  Person, JSON;
    GET    "/v1/me/notifications/devices"                   Person, Nothing;
    PUT    "/v1/me/notifications/devices/{deviceId}"        MOBILE, JSON;
    DELETE "/v1/me/notifications/devices/{deviceId}"        MOBILE, Nothing;
    GET    "/v1/me/notifications/live-activities"           Person, Nothing;
    PUT    "/v1/me/notifications/live-activities/start/{installId}"      IPHONE, JSON;
    DELETE "/v1/me/notifications/live-activities/start/{installId}"      IPHONE, Nothing;
    PUT    "/v1/me/notifications/live-activities/{activityId}"           IPHONE, JSON;
    DELETE "/v1/me/notifications/live-activities/{activityId}"           IPHONE, Nothing;
    GET    "/v1/me/notifications/settings"                  Person, Nothing;
    PUT    "/v1/me/notifications/settings/prefs"            Person, JSON;
    PUT    "/v1/me/notifications/settings/events/{type}"    Person, JSON;
    POST   "/v1/me/notifications/test"                      Person, JSON;
    GET    "/v1/me/notifications/{noticeId}/deliveries"     Person, Nothing;
    DELETE "/v1/me/notifications/{noticeId}"                Person, Nothing;
    POST   "/v1/me/notifications/{noticeId}/ack"            Person, Nothing;
    POST   "/v1/me/phone"                                   Person, JSON;
    POST   "/v1/me/phone/confirm"                           Person, JSON;
    POST   "/v1/hooks/notify/sms"                           SecretHolder, Form;
    POST   "/v1/hooks/notify/voice/{deliveryId}/{token}"    SecretHolder, Form;
    POST   "/v1/hooks/notify/status/{deliveryId}/{token}"   SecretHolder, Form;
    GET    "/v1/orgs/{orgId}/notify/escalations"            Scope("org:read"), Nothing;
    GET    "/v1/orgs/{orgId}/notify/escalations/{escalationId}"             Scope("org:read"), Nothing;
    POST   "/v1/orgs/{orgId}/notify/escalations/{escalationId}/ack"         Scope("org:read"), Nothing;
    POST   "/v1/orgs/{orgId}/notify/escalations/{escalationId}/snooze"      Scope("org:read"), JSON;
    POST   "/v1/orgs/{orgId}/notify/escalations/{escalationId}/hand-over"   Scope("org:read"), JSON;
    POST   "/v1/orgs/{orgId}/notify/escalations/{escalationId}/resolve"     Scope("org:read"), Nothing;
    POST   "/v1/orgs/{orgId}/notify/protocols/{protocolId}/test"            Scope("org:write"), Nothing;

    GET    "/v1/orgs"                                       Caller, Nothing;
    POST   "/v1/orgs"                                       Person, JSON;
    GET    "/v1/orgs/{orgId}"                               Scope("org:read"), Nothing;
    PATCH  "/v1/orgs/{orgId}"                               Scope("org:write"), JSON;
    DELETE "/v1/orgs/{orgId}"                               Member, Nothing;
    GET    "/v1/orgs/{orgId}/members"                       Scope("members:read"), Nothing;
    POST   "/v1/orgs/{orgId}/members"                       Scope("members:write"), JSON;
    PATCH  "/v1/orgs/{orgId}/members/{userId}"              Scope("members:write"), JSON;
    DELETE "/v1/orgs/{orgId}/members/{userId}"              Member, Nothing;
    GET    "/v1/orgs/{orgId}/invites"                       Scope("members:read"), Nothing;
    POST   "/v1/orgs/{orgId}/invites"                       Scope("members:write"), JSON;
    DELETE "/v1/orgs/{orgId}/invites/{inviteId}"            Scope("members:write"), Nothing;
    POST   "/v1/invites/{token}/accept"                     Person, Nothing;
    GET    "/v1/orgs/{orgId}/teams"                         Scope("members:read"), Nothing;
    POST   "/v1/orgs/{orgId}/teams"                         Scope("members:write"), JSON;
    GET    "/v1/orgs/{orgId}/teams/{teamId}"                Scope("members:read"), Nothing;
    PATCH  "/v1/orgs/{orgId}/teams/{teamId}"                Scope("members:write"), JSON;
    DELETE "/v1/orgs/{orgId}/teams/{teamId}"                Scope("members:write"), Nothing;
    POST   "/v1/orgs/{orgId}/teams/{teamId}/members"             Scope("members:write"), JSON;
    DELETE "/v1/orgs/{orgId}/teams/{teamId}/members/{userId}"    Scope("members:write"), Nothing;
    GET    "/v1/orgs/{orgId}/keys"                          Scope("keys:read"), Nothing;
    POST   "/v1/orgs/{orgId}/keys"                          Scope("keys:write"), JSON;
    DELETE "/v1/orgs/{orgId}/keys/{keyId}"                  Scope("keys:write"), Nothing;
    GET    "/v1/orgs/{orgId}/access-keys"                   Scope("keys:read"), Nothing;
    POST   "/v1/orgs/{orgId}/access-keys"                   Scope("keys:write"), JSON;
    DELETE "/v1/orgs/{orgId}/access-keys/{accessKeyId}"     Scope("keys:write"), Nothing;
    GET    "/v1/orgs/{orgId}/audit"                         Scope("audit:read"), Nothing;

    GET    "/v1/orgs/{orgId}/notify/protocols/templates"    Member, Nothing;
    GET    "/v1/orgs/{orgId}/notify/protocols"              Scope("org:read"), Nothing;
    POST   "/v1/orgs/{orgId}/notify/protocols"              Scope("org:write"), JSON;
    GET    "/v1/orgs/{orgId}/notify/protocols/{protocolId}" Scope("org:read"), Nothing;
    PATCH  "/v1/orgs/{orgId}/notify/protocols/{protocolId}" Scope("org:write"), JSON;
    DELETE "/v1/orgs/{orgId}/notify/protocols/{protocolId}" Scope("org:write"), Nothing;
    GET    "/v1/orgs/{orgId}/notify/protocols/{protocolId}/preview" Scope("org:write"), Nothing;
    PUT    "/v1/orgs/{orgId}/notify/protocols/{protocolId}/attachments/{resourceType}/{resourceId}" Scope("org:write"), JSON;
    DELETE "/v1/orgs/{orgId}/notify/protocols/{protocolId}/attachments/{resourceType}/{resourceId}" Scope("org:write"), Nothing;
    GET    "/v1/orgs/{orgId}/notify/rotas"                  Scope("org:read"), Nothing;
    POST   "/v1/orgs/{orgId}/notify/rotas"                  Scope("org:write"), JSON;
    GET    "/v1/orgs/{orgId}/notify/rotas/{rotaId}"         Scope("org:read"), Nothing;
    PATCH  "/v1/orgs/{orgId}/notify/rotas/{rotaId}"         Scope("org:write"), JSON;
    DELETE "/v1/orgs/{orgId}/notify/rotas/{rotaId}"         Scope("org:write"), Nothing;
    GET    "/v1/orgs/{orgId}/notify/rotas/{rotaId}/on-call" Scope("org:read"), Nothing;
    POST   "/v1/orgs/{orgId}/notify/rotas/{rotaId}/overrides" Scope("org:write"), JSON;
    DELETE "/v1/orgs/{orgId}/notify/rotas/{rotaId}/overrides/{overrideId}" Scope("org:write"), Nothing;
    GET    "/v1/me/notifications/web-push"                  Person, Nothing;
    GET    "/v1/orgs/{orgId}/notify/hooks"                  Scope("org:read"), Nothing;
    POST   "/v1/orgs/{orgId}/notify/hooks"                  Scope("org:write"), JSON;
    DELETE "/v1/orgs/{orgId}/notify/hooks/{hookId}"         Scope("org:write"), Nothing;
    POST   "/v1/hooks/ops/{hookId}/{hookToken}"             SecretHolder, JSON;

    GET    "/v1/orgs/{orgId}/databases"                      Scope("resources:read"), Nothing;
    POST   "/v1/orgs/{orgId}/databases"                      Scope("resources:write"), JSON;
    GET    "/v1/orgs/{orgId}/databases/{databaseId}"         Scope("resources:read"), Nothing;
    PATCH  "/v1/orgs/{orgId}/databases/{databaseId}"         Scope("resources:write"), JSON;
    DELETE "/v1/orgs/{orgId}/databases/{databaseId}"         Scope("resources:write"), Nothing;
    POST   "/v1/orgs/{orgId}/databases/{databaseId}/indexes" Scope("resources:write"), JSON;
    DELETE "/v1/orgs/{orgId}/databases/{databaseId}/indexes/{indexName}" Scope("resources:write"), Nothing;
    POST   "/v1/orgs/{orgId}/databases/{databaseId}/scan"    Scope("resources:read"), JSON;
    POST   "/v1/orgs/{orgId}/databases/{databaseId}/query"   Scope("resources:read"), JSON;
    PUT    "/v1/orgs/{orgId}/databases/{databaseId}/items"   Scope("resources:write"), Takes::Json(800 * KB, "The item is larger than DynamoDB's 400 KB limit.");
    POST   "/v1/orgs/{orgId}/databases/{databaseId}/items/get" Scope("resources:read"), JSON;
    POST   "/v1/orgs/{orgId}/databases/{databaseId}/items/update" Scope("resources:write"), Takes::Json(800 * KB, TOO_LARGE);
    POST   "/v1/orgs/{orgId}/databases/{databaseId}/items/delete" Scope("resources:write"), JSON;
    POST   "/v1/orgs/{orgId}/databases/{databaseId}/items/batch-delete" Scope("resources:write"), JSON;
    POST   "/v1/orgs/{orgId}/databases/{databaseId}/items/import" Scope("resources:write"), Takes::Json(6144 * KB, TOO_LARGE);
    GET    "/v1/orgs/{orgId}/pages"                         Scope("knowledge:read"), Nothing;
    POST   "/v1/orgs/{orgId}/pages"                         Scope("knowledge:write"), JSON;
    GET    "/v1/orgs/{orgId}/pages/export"                  Scope("knowledge:read"), Nothing;
    POST   "/v1/orgs/{orgId}/pages/import"                  Scope("knowledge:write"), Bytes;
    GET    "/v1/orgs/{orgId}/pages/imports/{importId}"      Scope("knowledge:write"), Nothing;
    DELETE "/v1/orgs/{orgId}/pages/imports/{importId}"      Scope("knowledge:write"), Nothing;
    GET    "/v1/orgs/{orgId}/pages/{pageId}"                Scope("knowledge:read"), Nothing;
    PATCH  "/v1/orgs/{orgId}/pages/{pageId}"                Scope("knowledge:write"), JSON;
    DELETE "/v1/orgs/{orgId}/pages/{pageId}"                Scope("knowledge:write"), Nothing;
    GET    "/v1/orgs/{orgId}/pages/{pageId}/export"         Scope("knowledge:read"), Nothing;
    PUT    "/v1/orgs/{orgId}/pages/{pageId}/content"        Scope("knowledge:write"), Takes::Json(1041 * KB, "Pages can be up to 1 MB.");
    GET    "/v1/orgs/{orgId}/pages/{pageId}/versions"       Scope("knowledge:read"), Nothing;
    GET    "/v1/orgs/{orgId}/pages/{pageId}/versions/{version}" Scope("knowledge:read"), Nothing;
    POST   "/v1/orgs/{orgId}/pages/{pageId}/versions/{version}/restore" Scope("knowledge:write"), Nothing;
    GET    "/v1/orgs/{orgId}/pages/{pageId}/comments"       Scope("knowledge:read"), Nothing;
    POST   "/v1/orgs/{orgId}/pages/{pageId}/comments"       Scope("knowledge:write"), JSON;
    PATCH  "/v1/orgs/{orgId}/pages/{pageId}/comments/{commentId}" Scope("knowledge:write"), JSON;
    DELETE "/v1/orgs/{orgId}/pages/{pageId}/comments/{commentId}" Scope("knowledge:write"), Nothing;
    GET    "/v1/orgs/{orgId}/pages/search"                  Scope("knowledge:read"), Nothing;
    GET    "/v1/orgs/{orgId}/pages/{pageId}/rows"           Scope("knowledge:read"), Nothing;

    GET    "/v1/orgs/{orgId}/pages/{pageId}/collab"         Scope("knowledge:read"), Nothing;
    GET    "/v1/sockets/pages/{pageId}"                     TicketHolder, Nothing;
    GET    "/v1/sockets/live"                               TicketHolder, Nothing;
    GET    "/v1/orgs/{orgId}/pages/live"                    Scope("knowledge:read"), Nothing;
    GET    "/v1/sockets/pages-of/{orgId}"                   TicketHolder, Nothing;

    GET    "/v1/platform/actors"                            INFRA, Nothing;
    GET    "/v1/platform/actors/{kind}"                     INFRA, Nothing;
    GET    "/v1/platform/actors/{kind}/{actorKey}"          INFRA, Nothing;
    POST   "/v1/platform/actors/{kind}/{actorKey}/{act}"    INFRA, Nothing;
    GET    "/v1/platform/crashes"                           INFRA, Nothing;
    GET    "/v1/platform/slow"                              INFRA, Nothing;
    GET    "/v1/platform/nodes"                             INFRA, Nothing;
    GET    "/v1/platform/timers"                            INFRA, Nothing;
    GET    "/v1/platform/outbox"                            INFRA, Nothing;
    GET    "/v1/platform/deliveries"                        INFRA, Nothing;
    GET    "/v1/platform/dead-letters"                      INFRA, Nothing;
    POST   "/v1/platform/dead-letters/{deadLetterSeq}/repeat" INFRA, Nothing;
    POST   "/v1/platform/dead-letters/{deadLetterSeq}/drop" INFRA, Nothing;
    GET    "/v1/platform/jobs"                              INFRA, Nothing;
    POST   "/v1/platform/jobs/{jobSeq}/cancel"              INFRA, Nothing;

    GET    "/console"                                       Anyone, Nothing;
    GET    "/console/files/{file}"                          Anyone, Nothing;
    GET    "/console/session"                               Console, Nothing;
    POST   "/console/session"                               Anyone, Json(16 * KB, TOO_LARGE);
    DELETE "/console/session"                               Console, Nothing;
    GET    "/console/live"                                  Console, Nothing;
    GET    "/console/api/{path}"                            Console, Nothing;
    POST   "/console/api/{path}"                            Console, Nothing;

    GET    "/v1/orgs/{orgId}/storage"                       Scope("resources:read"), Nothing;
    POST   "/v1/orgs/{orgId}/storage"                       Scope("resources:write"), JSON;
    GET    "/v1/orgs/{orgId}/storage/{resourceId}"          Scope("resources:read"), Nothing;
    PATCH  "/v1/orgs/{orgId}/storage/{resourceId}"          Scope("resources:write"), JSON;
    GET    "/v1/orgs/{orgId}/storage/{resourceId}/lifecycle" Scope("resources:read"), Nothing;
    PUT    "/v1/orgs/{orgId}/storage/{resourceId}/lifecycle" Scope("resources:write"), Json(4096 * KB, TOO_LARGE);
    GET    "/v1/orgs/{orgId}/storage/{resourceId}/cors"     Scope("resources:read"), Nothing;
    PUT    "/v1/orgs/{orgId}/storage/{resourceId}/cors"     Scope("resources:write"), Json(4096 * KB, TOO_LARGE);
    GET    "/v1/orgs/{orgId}/storage/{resourceId}/tags"     Scope("resources:read"), Nothing;
    PUT    "/v1/orgs/{orgId}/storage/{resourceId}/tags"     Scope("resources:write"), JSON;
    GET    "/v1/orgs/{orgId}/storage/{resourceId}/objects"  Scope("resources:read"), Nothing;
    POST   "/v1/orgs/{orgId}/storage/{resourceId}/objects/move"          Scope("resources:write"), Json(4096 * KB, TOO_LARGE);
    POST   "/v1/orgs/{orgId}/storage/{resourceId}/objects/copy"          Scope("resources:write"), Json(4096 * KB, TOO_LARGE);
    POST   "/v1/orgs/{orgId}/storage/{resourceId}/objects/delete" Scope("resources:write"), Json(4096 * KB, TOO_LARGE);
    POST   "/v1/orgs/{orgId}/storage/{resourceId}/folders" Scope("resources:write"), JSON;
    POST   "/v1/orgs/{orgId}/storage/{resourceId}/uploads" Scope("resources:write"), JSON;
    GET    "/v1/orgs/{orgId}/storage/{resourceId}/uploads/multipart" Scope("resources:read"), Nothing;
    GET    "/v1/orgs/{orgId}/storage/{resourceId}/uploads/multipart/parts" Scope("resources:read"), Nothing;
    GET    "/v1/orgs/{orgId}/storage/{resourceId}/object"   Scope("resources:read"), Nothing;
    PUT    "/v1/orgs/{orgId}/storage/{resourceId}/object"   Scope("resources:write"), Bytes;
    PATCH  "/v1/orgs/{orgId}/storage/{resourceId}/object"   Scope("resources:write"), JSON;
    DELETE "/v1/orgs/{orgId}/storage/{resourceId}/object"   Scope("resources:write"), Nothing;
    GET    "/v1/orgs/{orgId}/storage/{resourceId}/object/versions"       Scope("resources:read"), Nothing;
    POST   "/v1/orgs/{orgId}/storage/{resourceId}/object/versions/delete" Scope("resources:write"), JSON;
    POST   "/v1/orgs/{orgId}/storage/{resourceId}/object/restore"        Scope("resources:write"), JSON;
    GET    "/v1/orgs/{orgId}/storage/{resourceId}/download" Scope("resources:read"), Nothing;
    GET    "/v1/orgs/{orgId}/storage/{resourceId}/deleted"  Scope("resources:read"), Nothing;
    DELETE "/v1/orgs/{orgId}/storage/{resourceId}"          Scope("resources:write"), Nothing;
    POST   "/v1/orgs/{orgId}/storage/{resourceId}/uploads/multipart"     Scope("resources:write"), JSON;
    POST   "/v1/orgs/{orgId}/storage/{resourceId}/uploads/multipart/parts" Scope("resources:write"), JSON;
    POST   "/v1/orgs/{orgId}/storage/{resourceId}/uploads/multipart/complete" Scope("resources:write"), JSON;
    POST   "/v1/orgs/{orgId}/storage/{resourceId}/uploads/multipart/abort" Scope("resources:write"), JSON;
    GET    "/v1/storage/files/{resourceId}"                 AddressHolder, Nothing;
    PUT    "/v1/storage/files/{resourceId}"                 AddressHolder, Bytes;

    GET    "/v1/orgs/{orgId}/git-credentials"               COMMAND_LINE, Nothing;
    POST   "/v1/orgs/{orgId}/git-credentials"               COMMAND_LINE, JSON;
    DELETE "/v1/orgs/{orgId}/git-credentials/{keyId}"       COMMAND_LINE, Nothing;
    GET    "/v1/orgs/{orgId}/repos"                         Scope("git:read"), Nothing;
    POST   "/v1/orgs/{orgId}/repos"                         Scope("git:write"), JSON;
    GET    "/v1/orgs/{orgId}/repos/{name}"                  Scope("git:read"), Nothing;
    PATCH  "/v1/orgs/{orgId}/repos/{name}"                  Scope("git:admin"), JSON;
    DELETE "/v1/orgs/{orgId}/repos/{name}"                  Scope("git:admin"), Nothing;
    POST   "/v1/orgs/{orgId}/repos/{name}/restore"          Scope("git:admin"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/access"           Scope("git:read"), Nothing;
    PUT    "/v1/orgs/{orgId}/repos/{name}/access/{principal}"    Scope("git:admin"), JSON;
    DELETE "/v1/orgs/{orgId}/repos/{name}/access/{principal}"    Scope("git:admin"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/pushes"           Scope("git:read"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/branches"         Scope("git:read"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/branches/divergence"   Scope("git:read"), Nothing;
    POST   "/v1/orgs/{orgId}/repos/{name}/branches"         Scope("git:write"), JSON;
    PATCH  "/v1/orgs/{orgId}/repos/{name}/branches"         Scope("git:write"), JSON;
    DELETE "/v1/orgs/{orgId}/repos/{name}/branches"         Scope("git:write"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/tags"             Scope("git:read"), Nothing;
    DELETE "/v1/orgs/{orgId}/repos/{name}/tags"             Scope("git:write"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/commits"          Scope("git:read"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/commits/{sha}"    Scope("git:read"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/compare"          Scope("git:read"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/diff"             Scope("git:read"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/tree"             Scope("git:read"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/file"             Scope("git:read"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/blame"            Scope("git:read"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/contents/raw"     Scope("git:read"), Nothing;
    POST   "/v1/orgs/{orgId}/repos/{name}/contents"         Scope("git:write"), Json(72 * 1024 * KB, "Web commits can change up to 1000 files and 50 MB of content. Push larger changes with git.");
    POST   "/v1/orgs/{orgId}/repos/{name}/contents/uploads" Scope("git:write"), JSON;
    PUT    "/v1/repos/files/{resourceId}"                   AddressHolder, Bytes;
    POST   "/v1/orgs/{orgId}/repos/{name}/contents/archive" Scope("git:read"), JSON;
    GET    "/v1/repos/files/{resourceId}"                   AddressHolder, Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/rules"            Scope("git:read"), Nothing;
    POST   "/v1/orgs/{orgId}/repos/{name}/rules"            Scope("git:admin"), JSON;
    POST   "/v1/orgs/{orgId}/repos/{name}/rules/explain"    Scope("git:read"), JSON;
    GET    "/v1/orgs/{orgId}/repos/{name}/rules/{ruleId}"   Scope("git:read"), Nothing;
    PATCH  "/v1/orgs/{orgId}/repos/{name}/rules/{ruleId}"   Scope("git:admin"), JSON;
    DELETE "/v1/orgs/{orgId}/repos/{name}/rules/{ruleId}"   Scope("git:admin"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/secret-findings"  Scope("git:read"), Nothing;
    POST   "/v1/orgs/{orgId}/repos/{name}/secret-findings/{fingerprint}/allow"    Scope("git:write"), JSON;
    DELETE "/v1/orgs/{orgId}/repos/{name}/secret-findings/{fingerprint}/allow"    Scope("git:write"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/commits/{sha}/statuses"    Scope("git:read"), Nothing;
    POST   "/v1/orgs/{orgId}/repos/{name}/commits/{sha}/statuses"    Scope("git:write"), JSON;
    GET    "/v1/orgs/{orgId}/repos/{name}/pulls"            Scope("git:read"), Nothing;
    POST   "/v1/orgs/{orgId}/repos/{name}/pulls"            Scope("git:write"), JSON;
    GET    "/v1/orgs/{orgId}/repos/{name}/pulls/{number}"   Scope("git:read"), Nothing;
    PATCH  "/v1/orgs/{orgId}/repos/{name}/pulls/{number}"   Scope("git:write"), JSON;
    GET    "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/commits"        Scope("git:read"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/files"   Scope("git:read"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/reviewers"   Scope("git:read"), Nothing;
    PUT    "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/reviewers"   Scope("git:write"), JSON;
    GET    "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/reviews"   Scope("git:read"), Nothing;
    POST   "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/reviews"   Scope("git:read"), JSON;
    PUT    "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/reviews/{reviewId}/dismissal"   Scope("git:write"), JSON;
    GET    "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/threads"   Scope("git:read"), Nothing;
    POST   "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/threads"   Scope("git:read"), JSON;
    POST   "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/threads/{threadId}/replies"   Scope("git:read"), JSON;
    POST   "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/threads/{threadId}/resolve"   Scope("git:read"), Nothing;
    DELETE "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/threads/{threadId}/resolve"   Scope("git:read"), Nothing;
    PATCH  "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/threads/{threadId}/comments/{pullCommentId}"   Scope("git:read"), JSON;
    DELETE "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/threads/{threadId}/comments/{pullCommentId}"   Scope("git:read"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/timeline"   Scope("git:read"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/mergeability"   Scope("git:read"), Nothing;
    POST   "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/merge"          Scope("git:write"), JSON;
    POST   "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/update"         Scope("git:write"), JSON;
    GET    "/git/{owner}/{repository}/info/refs"            Git("git:read"), Nothing;
    POST   "/git/{owner}/{repository}/git-upload-pack"      Git("git:read"), Bytes;
    POST   "/git/{owner}/{repository}/git-receive-pack"     Git("git:write"), Bytes;
    POST   "/git/{owner}/{repository}/info/lfs/objects/batch"    GitLfs("git:read"), JSON;
    GET    "/v1/repos/lfs/{resourceId}"                     AddressHolder, Nothing;
    PUT    "/v1/repos/lfs/{resourceId}"                     AddressHolder, Bytes;
    GET    "/git/{owner}/{repository}/info/lfs/locks"       GitLfs("git:read"), Nothing;
    POST   "/git/{owner}/{repository}/info/lfs/locks"       GitLfs("git:write"), JSON;
    POST   "/git/{owner}/{repository}/info/lfs/locks/verify"     GitLfs("git:write"), JSON;
    POST   "/git/{owner}/{repository}/info/lfs/locks/{lockId}/unlock"    GitLfs("git:write"), JSON;

    GET    "/v1/blobs/{key}"                                AddressHolder, Nothing;
    PUT    "/v1/blobs/{key}"                                AddressHolder, Bytes;

    POST   "/v1/runner/checkout" Job, JSON;
    POST   "/v1/runner/logs" Job, Json(16 * 1024 * KB, TOO_LARGE);
    POST   "/v1/runner/cache/restore" Job, JSON;
    POST   "/v1/runner/cache/save" Job, JSON;
    POST   "/v1/runner/cache/commit" Job, JSON;
    POST   "/v1/runner/artifacts/upload" Job, JSON;
    POST   "/v1/runner/artifacts/commit" Job, JSON;
    POST   "/v1/runner/artifacts/download" Job, JSON;
    GET    "/v1/runner/files/{fileId}" AddressHolder, Nothing;
    PUT    "/v1/runner/files/{fileId}" AddressHolder, Bytes;
    GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/jobs/{jobId}/log" Scope("git:read"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/jobs/{jobId}/log/raw" Scope("git:read"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/jobs/{jobId}/log/live" Scope("git:read"), Nothing;
    GET    "/v1/sockets/jobs/{jobId}/log" TicketHolder, Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/live" Scope("git:read"), Nothing;
    GET    "/v1/sockets/pipelines-of/{repositoryId}" TicketHolder, Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/logs" Scope("git:read"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/artifacts" Scope("git:read"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/artifacts/{artifactId}" Scope("git:read"), Nothing;
    DELETE "/v1/orgs/{orgId}/repos/{name}/pipelines/artifacts/{artifactId}" Scope("git:write"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/caches" Scope("git:read"), Nothing;
    DELETE "/v1/orgs/{orgId}/repos/{name}/pipelines/caches" Scope("git:write"), Nothing;
    GET    "/v1/orgs/{orgId}/pipelines/secrets" Scope("env:read"), Nothing;
    GET    "/v1/orgs/{orgId}/pipelines/secrets/{secret}" Scope("env:read"), Nothing;
    PUT    "/v1/orgs/{orgId}/pipelines/secrets/{secret}" Scope("env:write"), JSON;
    DELETE "/v1/orgs/{orgId}/pipelines/secrets/{secret}" Scope("env:write"), Nothing;
    GET    "/v1/orgs/{orgId}/pipelines/variables" Scope("env:read"), Nothing;
    GET    "/v1/orgs/{orgId}/pipelines/variables/{variable}" Scope("env:read"), Nothing;
    PUT    "/v1/orgs/{orgId}/pipelines/variables/{variable}" Scope("env:write"), JSON;
    DELETE "/v1/orgs/{orgId}/pipelines/variables/{variable}" Scope("env:write"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/secrets" Scope("env:read"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/secrets/{secret}" Scope("env:read"), Nothing;
    PUT    "/v1/orgs/{orgId}/repos/{name}/pipelines/secrets/{secret}" Scope("env:write"), JSON;
    DELETE "/v1/orgs/{orgId}/repos/{name}/pipelines/secrets/{secret}" Scope("env:write"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/variables" Scope("env:read"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/variables/{variable}" Scope("env:read"), Nothing;
    PUT    "/v1/orgs/{orgId}/repos/{name}/pipelines/variables/{variable}" Scope("env:write"), JSON;
    DELETE "/v1/orgs/{orgId}/repos/{name}/pipelines/variables/{variable}" Scope("env:write"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/secrets" Scope("env:read"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/secrets/{secret}" Scope("env:read"), Nothing;
    PUT    "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/secrets/{secret}" Scope("env:write"), JSON;
    DELETE "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/secrets/{secret}" Scope("env:write"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/variables" Scope("env:read"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/variables/{variable}" Scope("env:read"), Nothing;
    PUT    "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/variables/{variable}" Scope("env:write"), JSON;
    DELETE "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}/variables/{variable}" Scope("env:write"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/workflows" Scope("git:read"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/workflows/{file}" Scope("git:read"), Nothing;
    PUT    "/v1/orgs/{orgId}/repos/{name}/pipelines/workflows/{file}" Scope("git:write"), JSON;
    POST   "/v1/orgs/{orgId}/repos/{name}/pipelines/workflows/{file}/dispatches" Scope("git:write"), JSON;
    POST   "/v1/orgs/{orgId}/repos/{name}/pipelines/check" Scope("git:read"), Json(4 * 1024 * KB, TOO_LARGE);
    GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/why" Scope("git:read"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/runs" Scope("git:read"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}" Scope("git:read"), Nothing;
    DELETE "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}" Scope("git:write"), Nothing;
    POST   "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/cancel" Scope("git:write"), JSON;
    POST   "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/rerun" Scope("git:write"), JSON;
    GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/jobs/{jobId}" Scope("git:read"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/approvals" Scope("git:read"), Nothing;
    POST   "/v1/orgs/{orgId}/repos/{name}/pipelines/runs/{runId}/approvals" Scope("git:write"), JSON;
    GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/environments" Scope("git:read"), Nothing;
    GET    "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}" Scope("git:read"), Nothing;
    PUT    "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}" Scope("git:admin"), JSON;
    DELETE "/v1/orgs/{orgId}/repos/{name}/pipelines/environments/{environment}" Scope("git:admin"), Nothing;
    GET    "/v1/orgs/{orgId}/pipelines/runners" Scope("git:admin"), Nothing;
    POST   "/v1/orgs/{orgId}/pipelines/runners/token" Scope("git:admin"), JSON;
    PATCH  "/v1/orgs/{orgId}/pipelines/runners/{runnerId}" Scope("git:admin"), JSON;
    DELETE "/v1/orgs/{orgId}/pipelines/runners/{runnerId}" Scope("git:admin"), Nothing;
    GET    "/v1/orgs/{orgId}/pipelines/queue" Scope("git:admin"), Nothing;
    POST   "/v1/runner/register" Anyone, JSON;
    POST   "/v1/runner/poll" Runner, JSON;
    GET    "/v1/runner/job" Job, Nothing;
    POST   "/v1/runner/status" Job, Json(8 * 1024 * KB, TOO_LARGE);
    POST   "/v1/runner/complete" Job, Json(8 * 1024 * KB, TOO_LARGE);

    GET    "/"                                              Anyone, Nothing;
    GET    "/orgs/{orgId}"                                  Anyone, Nothing;
    GET    "/orgs/{orgId}/pages/{pageId}"                   Anyone, Nothing;
    GET    "/orgs/{orgId}/notify/escalations/{escalationId}" Anyone, Nothing;
    GET    "/orgs/{orgId}/notify/protocols/{protocolId}"    Anyone, Nothing;
    GET    "/docs"                                          Anyone, Nothing;
    GET    "/docs/co-editing"                               Anyone, Nothing;
    GET    "/v1/openapi.json"                               Anyone, Nothing;
};
