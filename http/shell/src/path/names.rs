//! What paths name otherwise than by an id that is read like all ids: by a name, a number, a digest; and ids under more than one
//! name.

use std::str::FromStr;

use domain::{
    Email,
    access_key::AccessKeyId,
    authority::ORGANIZATION_NOT_FOUND,
    git::{
        COMMIT_NOT_FOUND, Fingerprint, ObjectId, PULL_NOT_FOUND, Principal, PullNumber, REPOSITORY_NOT_FOUND,
        RepositoryName, SECRET_FINDING_NOT_FOUND,
    },
    id::{ArtifactId, AttachmentId, LfsLockId, MailMessageId, MailThreadId, OrgId, ResourceId, UserId},
    mail::{ALIAS_NOT_FOUND, DOMAIN_NOT_FOUND, DRAFT_NOT_FOUND, DomainName, FILE_NOT_FOUND, THREAD_NOT_FOUND},
    notify::ResourceType,
    pipelines::{
        artifacts::ARTIFACT_NOT_FOUND,
        environments::{ENVIRONMENT_NOT_FOUND, EnvironmentName},
    },
    storage::BucketAddress,
    vault::{DeviceId, VaultId},
};
use store::pipelines::JobFile;

use super::{PathParameter, concat_example};

/// An alias of a mailbox.
pub struct AliasAddress(pub Email);

/// A conversation of a mailbox, where its own endpoints name it.
pub struct ConversationId(pub MailThreadId);

/// A file of a message: the number of its part.
pub struct FilePart(pub u32);

/// A message that is being written in a mailbox.
pub struct DraftId(pub MailMessageId);

/// A file of a draft.
pub struct DraftFileId(pub AttachmentId);

/// Who sends mail: any text, since a bad address is a fault of its own.
pub struct SenderAddress(pub String);

/// The id of a resource that is a database.
pub struct DatabaseId(pub ResourceId);

macro_rules! named {
    ($($named:ty = $name:literal, $description:literal, $example:expr, $not_found:expr, $read:expr;)*) => {$(
        impl PathParameter for $named {
            const NAME: &'static str = $name;
            const DESCRIPTION: &'static str = $description;
            const EXAMPLE: &'static str = $example;
            const NOT_FOUND: &'static str = $not_found;

            fn read(text: &str) -> Option<Self> {
                $read(text)
            }
        }
    )*};
}

/// What a text says by itself.
fn parsed<T: FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

named! {
    OrgId = "orgId", "The organization.", concat_example(OrgId::PREFIX), ORGANIZATION_NOT_FOUND, parsed;
    AccessKeyId = "accessKeyId", "An access key.", "TRPAK7QW2MZ5N3XD4RHB", "Access key not found.", parsed;
    VaultId = "vaultId", "A vault: 22 base64url characters.", "Zm9vYmFyYmF6cXV4cXV1eA", "That vault isn't yours.", parsed;
    DeviceId = "deviceId", "A device: 22 base64url characters.", "ZGV2aWNlZGV2aWNlZGV2aQ", "That device isn't in your vault.", parsed;
    ResourceType = "resourceType", "`org`, `project`, `agent`, `calendar`, `mailbox` or `space`.", "project",
        "Unknown kind of resource.", Self::from_name;
    DatabaseId = "databaseId", "A database: the `resourceId` of its record.", concat_example(ResourceId::PREFIX),
        "Database not found", |text| parsed(text).map(Self);
    BucketAddress = "resourceId", "A bucket, or the project (`prj_…`) that has it.", concat_example(ResourceId::PREFIX),
        "Bucket not found", |text| Self::parse(text).ok();
    ResourceId = "resourceId", "A repository, by its id.", concat_example(ResourceId::PREFIX), REPOSITORY_NOT_FOUND, parsed;
    RepositoryName = "name", "A repository: its name, regardless of case.", "web-app", REPOSITORY_NOT_FOUND,
        |text| Self::parse("name", text).ok();
    Principal = "principal", "The id of a person or of a team.", concat_example(UserId::PREFIX), "Grant not found", parsed;
    ObjectId = "sha", "A commit: its 40 hexadecimal digits.", "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0", COMMIT_NOT_FOUND, parsed;
    PullNumber = "number", "A pull request of the repository: its number.", "7", PULL_NOT_FOUND, parsed;
    LfsLockId = "lockId", "A lock.", concat_example(LfsLockId::PREFIX), "Lock not found", parsed;
    Fingerprint = "fingerprint", "A secret that was found: its fingerprint, 32 hexadecimal digits.",
        "5f2b8c1d9e0a4b7c8d6e3f1a2b4c5d6e", SECRET_FINDING_NOT_FOUND, parsed;
    EnvironmentName = "environment", "An environment of the repository: its name, regardless of case.", "production",
        ENVIRONMENT_NOT_FOUND, |text| Self::parse("environment", text).ok();
    ArtifactId = "artifactId", "An artifact of a run.", "art_01jd7rt4m5e9fv2w8x3c6k0hqz", ARTIFACT_NOT_FOUND, parsed;
    DomainName = "domain", "A domain of the organization, regardless of case.", "acme.example", DOMAIN_NOT_FOUND,
        |text: &str| parsed(&text.to_ascii_lowercase());
    AliasAddress = "address", "An alias.", "sales@acme.example", ALIAS_NOT_FOUND, |text| parsed(text).map(Self);
    ConversationId = "mailThreadId", "A conversation in the mailbox.", concat_example(MailThreadId::PREFIX), THREAD_NOT_FOUND,
        |text| parsed(text).map(Self);
    FilePart = "part", "A file of the message: the number of its part.", "2", FILE_NOT_FOUND, |text| parsed(text).map(Self);
    DraftId = "draftId", "A draft of the mailbox.", concat_example(MailMessageId::PREFIX), DRAFT_NOT_FOUND,
        |text| parsed(text).map(Self);
    DraftFileId = "attachmentId", "A file of the draft.", concat_example(AttachmentId::PREFIX), FILE_NOT_FOUND,
        |text| parsed(text).map(Self);
    SenderAddress = "sender", "An e-mail address.", "bob@example.org", THREAD_NOT_FOUND, |text: &str| Some(Self(text.to_owned()));
    JobFile = "fileId", "An artifact or a cache.", "art_01jd7rt4m5e9fv2w8x3c6k0hqz", "Upload not found.", parsed;
}
