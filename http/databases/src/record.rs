//! The record of a resource, on the wire.

use domain::{
    Timestamp,
    resource::{Resource, account_number},
};
use serde::Serialize;
use utoipa::ToSchema;

/// What a database has in common with other resources.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "orgId": "org_01jd7rt4m5e9fv2w8x3c6k0hqz", "resourceId": "res_01jd7rt4m5e9fv2w8x3c6k0hqz", "type": "database",
    "name": "Sessions", "status": "active", "createdAt": 1_767_225_600_000_i64, "updatedAt": 1_767_225_600_000_i64,
    "createdBy": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz", "location": "main", "region": "us-east-1",
    "arn": "arn:aws:dynamodb:us-east-1:123456789012:table/Sessions", "physicalName": "Sessions-3c6k0hqz"
}))]
pub(super) struct DatabaseRecord {
    /// The organization.
    org_id: String,
    /// The database's id.
    resource_id: String,
    /// Always `database`.
    #[serde(rename = "type")]
    resource_type: &'static str,
    /// What it is called.
    name: String,
    /// `creating`, `active`, `deleting` or `error`.
    status: &'static str,
    /// When it was made.
    created_at: i64,
    /// When its name, status or settings last changed.
    updated_at: i64,
    /// The person who made it, or who made the key that did.
    created_by: String,
    /// The project that it is attached to.
    #[serde(skip_serializing_if = "Option::is_none")]
    project_id: Option<String>,
    /// Where it is kept.
    location: String,
    /// The region that it says it is in.
    region: String,
    /// The table's name in Amazon's form.
    arn: String,
    /// A name that no other organization's table has.
    physical_name: String,
}

impl From<Resource> for DatabaseRecord {
    fn from(resource: Resource) -> Self {
        let account = account_number(resource.org_id);
        Self {
            org_id: resource.org_id.to_string(),
            resource_id: resource.id.to_string(),
            resource_type: resource.resource_type.as_str(),
            arn: format!("arn:aws:dynamodb:{}:{account}:table/{}", resource.region, resource.name),
            name: resource.name,
            status: resource.status.as_str(),
            created_at: Timestamp::as_millis(resource.created_at),
            updated_at: resource.updated_at.as_millis(),
            created_by: resource.created_by.to_string(),
            project_id: resource.project_id.map(|id| id.to_string()),
            location: resource.location,
            region: resource.region,
            physical_name: resource.physical_name,
        }
    }
}
