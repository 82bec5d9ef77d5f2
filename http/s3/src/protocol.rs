//! The operations that are served, on one page. `s3s` answers the others with `NotImplemented`.

use std::sync::Arc;

use async_trait::async_trait;
use s3s::{S3, S3Request, S3Response, S3Result, dto};

use crate::service::Door;

/// What `s3s` hands requests to.
pub(crate) struct Protocol(pub Arc<Door>);

/// Each operation with the function of [`Door`] that does it.
macro_rules! operations {
    ($($operation:ident($input:ident) -> $output:ident = $function:ident,)*) => {
        #[async_trait]
        impl S3 for Protocol {
            $(async fn $operation(&self, request: S3Request<dto::$input>) -> S3Result<S3Response<dto::$output>> {
                self.0.$function(request).await
            })*
        }
    };
}

operations! {
    list_buckets(ListBucketsInput) -> ListBucketsOutput = buckets_list,
    create_bucket(CreateBucketInput) -> CreateBucketOutput = bucket_create,
    delete_bucket(DeleteBucketInput) -> DeleteBucketOutput = bucket_delete,
    head_bucket(HeadBucketInput) -> HeadBucketOutput = bucket_head,
    get_bucket_location(GetBucketLocationInput) -> GetBucketLocationOutput = bucket_location,
    get_bucket_versioning(GetBucketVersioningInput) -> GetBucketVersioningOutput = bucket_versioning,
    put_bucket_versioning(PutBucketVersioningInput) -> PutBucketVersioningOutput = bucket_versioning_put,
    get_bucket_acl(GetBucketAclInput) -> GetBucketAclOutput = bucket_acl,
    get_object_acl(GetObjectAclInput) -> GetObjectAclOutput = object_acl,
    put_bucket_acl(PutBucketAclInput) -> PutBucketAclOutput = bucket_acl_put,
    put_object_acl(PutObjectAclInput) -> PutObjectAclOutput = object_acl_put,
    put_object(PutObjectInput) -> PutObjectOutput = object_put,
    delete_object(DeleteObjectInput) -> DeleteObjectOutput = object_delete,
    delete_objects(DeleteObjectsInput) -> DeleteObjectsOutput = objects_delete,
    get_object_attributes(GetObjectAttributesInput) -> GetObjectAttributesOutput = object_attributes,
    get_object_tagging(GetObjectTaggingInput) -> GetObjectTaggingOutput = object_tags,
    put_object_tagging(PutObjectTaggingInput) -> PutObjectTaggingOutput = object_tags_put,
    delete_object_tagging(DeleteObjectTaggingInput) -> DeleteObjectTaggingOutput = object_tags_delete,
    list_objects(ListObjectsInput) -> ListObjectsOutput = objects_list,
    list_objects_v2(ListObjectsV2Input) -> ListObjectsV2Output = objects_list_v2,
    list_object_versions(ListObjectVersionsInput) -> ListObjectVersionsOutput = versions_list,
    create_multipart_upload(CreateMultipartUploadInput) -> CreateMultipartUploadOutput = upload_create,
    upload_part(UploadPartInput) -> UploadPartOutput = upload_part,
    complete_multipart_upload(CompleteMultipartUploadInput) -> CompleteMultipartUploadOutput = upload_complete,
    abort_multipart_upload(AbortMultipartUploadInput) -> AbortMultipartUploadOutput = upload_abort,
    list_parts(ListPartsInput) -> ListPartsOutput = parts_list,
    list_multipart_uploads(ListMultipartUploadsInput) -> ListMultipartUploadsOutput = uploads_list,
    upload_part_copy(UploadPartCopyInput) -> UploadPartCopyOutput = part_copy,
    copy_object(CopyObjectInput) -> CopyObjectOutput = object_copy,
    get_bucket_cors(GetBucketCorsInput) -> GetBucketCorsOutput = bucket_cors,
    put_bucket_cors(PutBucketCorsInput) -> PutBucketCorsOutput = bucket_cors_put,
    delete_bucket_cors(DeleteBucketCorsInput) -> DeleteBucketCorsOutput = bucket_cors_delete,
    get_bucket_tagging(GetBucketTaggingInput) -> GetBucketTaggingOutput = bucket_tags,
    put_bucket_tagging(PutBucketTaggingInput) -> PutBucketTaggingOutput = bucket_tags_put,
    delete_bucket_tagging(DeleteBucketTaggingInput) -> DeleteBucketTaggingOutput = bucket_tags_delete,
    get_bucket_lifecycle_configuration(GetBucketLifecycleConfigurationInput) -> GetBucketLifecycleConfigurationOutput = bucket_lifecycle,
    put_bucket_lifecycle_configuration(PutBucketLifecycleConfigurationInput) -> PutBucketLifecycleConfigurationOutput = bucket_lifecycle_put,
    delete_bucket_lifecycle(DeleteBucketLifecycleInput) -> DeleteBucketLifecycleOutput = bucket_lifecycle_delete,
    get_bucket_policy(GetBucketPolicyInput) -> GetBucketPolicyOutput = bucket_policy,
    put_bucket_policy(PutBucketPolicyInput) -> PutBucketPolicyOutput = bucket_policy_put,
    delete_bucket_policy(DeleteBucketPolicyInput) -> DeleteBucketPolicyOutput = bucket_policy_delete,
    get_bucket_policy_status(GetBucketPolicyStatusInput) -> GetBucketPolicyStatusOutput = bucket_policy_status,
    get_public_access_block(GetPublicAccessBlockInput) -> GetPublicAccessBlockOutput = public_access_block,
    put_public_access_block(PutPublicAccessBlockInput) -> PutPublicAccessBlockOutput = public_access_block_put,
    delete_public_access_block(DeletePublicAccessBlockInput) -> DeletePublicAccessBlockOutput = public_access_block_delete,
}

/// What operators see of operations, by their names.
pub(crate) const OPERATIONS: &[&str] = &[
    "AbortMultipartUpload",
    "CompleteMultipartUpload",
    "CopyObject",
    "CreateBucket",
    "CreateMultipartUpload",
    "DeleteBucket",
    "DeleteBucketCors",
    "DeleteBucketLifecycle",
    "DeleteBucketPolicy",
    "DeleteBucketTagging",
    "DeleteObject",
    "DeleteObjectTagging",
    "DeleteObjects",
    "DeletePublicAccessBlock",
    "GetBucketAcl",
    "GetBucketCors",
    "GetBucketLifecycleConfiguration",
    "GetBucketLocation",
    "GetBucketPolicy",
    "GetBucketPolicyStatus",
    "GetBucketTagging",
    "GetBucketVersioning",
    "GetObjectAcl",
    "GetObjectAttributes",
    "GetObjectTagging",
    "GetPublicAccessBlock",
    "HeadBucket",
    "ListBuckets",
    "ListMultipartUploads",
    "ListObjectVersions",
    "ListObjects",
    "ListObjectsV2",
    "ListParts",
    "PostObject",
    "PutBucketAcl",
    "PutBucketCors",
    "PutBucketLifecycleConfiguration",
    "PutBucketPolicy",
    "PutBucketTagging",
    "PutBucketVersioning",
    "PutObject",
    "PutObjectAcl",
    "PutObjectTagging",
    "PutPublicAccessBlock",
    "UploadPart",
    "UploadPartCopy",
];
