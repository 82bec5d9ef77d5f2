//! What buckets are told besides their files: CORS, tags and lifecycle rules. One stored form serves REST and S3.

use actors::{resources::ChangeResource, storage::PutBucketRules};
use domain::{
    Timestamp,
    storage::{
        CorsMethod, CorsRule, CorsRules, FILE_TAGS, LifecycleRule, LifecycleRules, RESOURCE_TAGS, RuleFilter, Tag, Tags,
    },
};
use hyper::StatusCode;
use s3s::{S3Error, S3ErrorCode, S3Request, S3Response, S3Result, dto, s3_error};
use store::storage::{BucketRules, StoredBucket};

use crate::{
    access::Need,
    error::{invalid, not_implemented, refusal},
    object::{millis, timestamp},
    service::Door,
    visit::Visit,
};

impl Door {
    async fn rules_put(&self, visit: &Visit, bucket: &StoredBucket, rules: BucketRules) -> S3Result<()> {
        let command = ChangeResource(PutBucketRules { id: bucket.id(), rules });
        let context = visit.context(self.options.request_timeout);
        self.actors.resource_book.ask(&bucket.seen.org_id, command, context).await.map_err(refusal)?;
        Ok(())
    }

    /// `GetBucketCors`.
    pub(crate) async fn bucket_cors(
        &self,
        request: S3Request<dto::GetBucketCorsInput>,
    ) -> S3Result<S3Response<dto::GetBucketCorsOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let bucket = self.bucket(&visit, &request.input.bucket, Need::Settings).await?;
        let rules = self.store.bucket_cors(bucket.seen.no).await.map_err(refusal)?;
        if rules.as_slice().is_empty() {
            return Err(s3_error!(NoSuchCORSConfiguration, "The CORS configuration does not exist"));
        }
        let cors_rules = Some(rules.as_slice().iter().map(cors_shown).collect());
        Ok(S3Response::new(dto::GetBucketCorsOutput { cors_rules }))
    }

    /// `PutBucketCors`.
    pub(crate) async fn bucket_cors_put(
        &self,
        request: S3Request<dto::PutBucketCorsInput>,
    ) -> S3Result<S3Response<dto::PutBucketCorsOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let bucket = self.bucket(&visit, &request.input.bucket, Need::Change).await?;
        let rules = request.input.cors_configuration.cors_rules;
        if rules.is_empty() {
            return Err(S3Error::new(S3ErrorCode::MalformedXML));
        }
        let rules = rules.into_iter().map(cors_read).collect::<S3Result<Vec<_>>>()?;
        let rules = CorsRules::check(rules).map_err(|error| {
            let refused = refusal(error);
            S3Error::with_message(S3ErrorCode::InvalidRequest, refused.message().unwrap_or_default().to_owned())
        })?;
        self.rules_put(&visit, &bucket, BucketRules::Cors(rules)).await?;
        Ok(S3Response::new(dto::PutBucketCorsOutput::default()))
    }

    /// `DeleteBucketCors`.
    pub(crate) async fn bucket_cors_delete(
        &self,
        request: S3Request<dto::DeleteBucketCorsInput>,
    ) -> S3Result<S3Response<dto::DeleteBucketCorsOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let bucket = self.bucket(&visit, &request.input.bucket, Need::Change).await?;
        self.rules_put(&visit, &bucket, BucketRules::Cors(CorsRules::default())).await?;
        Ok(S3Response::with_status(dto::DeleteBucketCorsOutput::default(), StatusCode::NO_CONTENT))
    }

    /// `GetBucketTagging`.
    pub(crate) async fn bucket_tags(
        &self,
        request: S3Request<dto::GetBucketTaggingInput>,
    ) -> S3Result<S3Response<dto::GetBucketTaggingOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let bucket = self.bucket(&visit, &request.input.bucket, Need::Settings).await?;
        let tags = self.store.bucket_tags(bucket.seen.no).await.map_err(refusal)?;
        if tags.is_empty() {
            return Err(s3_error!(NoSuchTagSet, "The TagSet does not exist"));
        }
        Ok(S3Response::new(dto::GetBucketTaggingOutput { tag_set: tags_shown(&tags) }))
    }

    /// `PutBucketTagging`.
    pub(crate) async fn bucket_tags_put(
        &self,
        request: S3Request<dto::PutBucketTaggingInput>,
    ) -> S3Result<S3Response<dto::PutBucketTaggingOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let bucket = self.bucket(&visit, &request.input.bucket, Need::Change).await?;
        let tags = request.input.tagging.tag_set.into_iter().map(tag_read).collect();
        let tags = Tags::check("tags", tags, RESOURCE_TAGS);
        let tags = tags.map_err(|error| s3_error!(InvalidTag, "{}", refusal(error).message().unwrap_or_default()))?;
        self.rules_put(&visit, &bucket, BucketRules::Tags(tags)).await?;
        let output = dto::PutBucketTaggingOutput::default();
        Ok(S3Response::with_status(output, StatusCode::NO_CONTENT))
    }

    /// `DeleteBucketTagging`.
    pub(crate) async fn bucket_tags_delete(
        &self,
        request: S3Request<dto::DeleteBucketTaggingInput>,
    ) -> S3Result<S3Response<dto::DeleteBucketTaggingOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let bucket = self.bucket(&visit, &request.input.bucket, Need::Change).await?;
        self.rules_put(&visit, &bucket, BucketRules::Tags(Tags::default())).await?;
        Ok(S3Response::with_status(dto::DeleteBucketTaggingOutput::default(), StatusCode::NO_CONTENT))
    }

    /// `GetBucketLifecycleConfiguration`.
    pub(crate) async fn bucket_lifecycle(
        &self,
        request: S3Request<dto::GetBucketLifecycleConfigurationInput>,
    ) -> S3Result<S3Response<dto::GetBucketLifecycleConfigurationOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let bucket = self.bucket(&visit, &request.input.bucket, Need::Settings).await?;
        let rules = self.store.bucket_lifecycle(bucket.seen.no).await.map_err(refusal)?;
        if rules.as_slice().is_empty() {
            return Err(s3_error!(NoSuchLifecycleConfiguration, "The lifecycle configuration does not exist"));
        }
        let rules = Some(rules.as_slice().iter().map(rule_shown).collect());
        Ok(S3Response::new(dto::GetBucketLifecycleConfigurationOutput { rules, ..Default::default() }))
    }

    /// `PutBucketLifecycleConfiguration`.
    pub(crate) async fn bucket_lifecycle_put(
        &self,
        request: S3Request<dto::PutBucketLifecycleConfigurationInput>,
    ) -> S3Result<S3Response<dto::PutBucketLifecycleConfigurationOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let bucket = self.bucket(&visit, &request.input.bucket, Need::Change).await?;
        let rules = request.input.lifecycle_configuration.map(|configuration| configuration.rules).unwrap_or_default();
        if rules.is_empty() {
            return Err(S3Error::new(S3ErrorCode::MalformedXML));
        }
        let rules = rules.into_iter().map(rule_read).collect::<S3Result<Vec<_>>>()?;
        let rules = LifecycleRules::check(rules).map_err(refusal)?;
        self.rules_put(&visit, &bucket, BucketRules::Lifecycle(rules)).await?;
        Ok(S3Response::new(dto::PutBucketLifecycleConfigurationOutput::default()))
    }

    /// `DeleteBucketLifecycle`.
    pub(crate) async fn bucket_lifecycle_delete(
        &self,
        request: S3Request<dto::DeleteBucketLifecycleInput>,
    ) -> S3Result<S3Response<dto::DeleteBucketLifecycleOutput>> {
        let visit = Visit::of(&request.extensions)?;
        let bucket = self.bucket(&visit, &request.input.bucket, Need::Change).await?;
        self.rules_put(&visit, &bucket, BucketRules::Lifecycle(LifecycleRules::default())).await?;
        Ok(S3Response::with_status(dto::DeleteBucketLifecycleOutput::default(), StatusCode::NO_CONTENT))
    }
}

fn cors_shown(rule: &CorsRule) -> dto::CORSRule {
    let some = |texts: &Vec<String>| (!texts.is_empty()).then(|| texts.clone());
    dto::CORSRule {
        allowed_headers: some(&rule.headers),
        allowed_methods: rule.methods.iter().map(|method| method.as_str().to_owned()).collect(),
        allowed_origins: rule.origins.clone(),
        expose_headers: some(&rule.expose),
        id: None,
        max_age_seconds: rule.max_age.and_then(|age| i32::try_from(age).ok()),
    }
}

fn cors_read(rule: dto::CORSRule) -> S3Result<CorsRule> {
    let method = |name: &String| {
        CorsMethod::from_name(name).ok_or_else(|| {
            s3_error!(InvalidRequest, "Found unsupported HTTP method in CORS config. Unsupported method is {name}")
        })
    };
    let age = |age| u32::try_from(age).map_err(|_| invalid("MaxAgeSeconds is 0 or more."));
    Ok(CorsRule {
        origins: rule.allowed_origins,
        methods: rule.allowed_methods.iter().map(method).collect::<S3Result<_>>()?,
        headers: rule.allowed_headers.unwrap_or_default(),
        expose: rule.expose_headers.unwrap_or_default(),
        max_age: rule.max_age_seconds.map(age).transpose()?,
    })
}

fn tags_shown(tags: &Tags) -> Vec<dto::Tag> {
    let shown = |(key, value): (&str, &str)| dto::Tag { key: Some(key.to_owned()), value: Some(value.to_owned()) };
    tags.iter().map(shown).collect()
}

fn tag_read(tag: dto::Tag) -> Tag {
    Tag { key: tag.key.unwrap_or_default(), value: tag.value.unwrap_or_default() }
}

fn number<T: TryFrom<i64>>(number: i64) -> S3Result<T> {
    T::try_from(number).map_err(|_| invalid("A number of a lifecycle rule is out of range."))
}

fn rule_read(rule: dto::LifecycleRule) -> S3Result<LifecycleRule> {
    if rule.transitions.is_some_and(|it| !it.is_empty())
        || rule.noncurrent_version_transitions.is_some_and(|it| !it.is_empty())
    {
        return Err(not_implemented("transitions to other storage classes"));
    }
    let enabled = match rule.status.as_str() {
        "Enabled" => true,
        "Disabled" => false,
        _ => return Err(S3Error::new(S3ErrorCode::MalformedXML)),
    };
    let expiration = rule.expiration.unwrap_or_default();
    let old = rule.noncurrent_version_expiration.unwrap_or_default();
    let upload = rule.abort_incomplete_multipart_upload.and_then(|abort| abort.days_after_initiation);
    Ok(LifecycleRule {
        id: rule.id.unwrap_or_default(),
        enabled,
        filter: filter_read(rule.filter, rule.prefix)?,
        expire_days: expiration.days.map(|days| number(days.into())).transpose()?,
        expire_at: expiration.date.map(|date| Timestamp(millis(&date))),
        expire_markers: expiration.expired_object_delete_marker == Some(true),
        old_version_days: old.noncurrent_days.map(|days| number(days.into())).transpose()?,
        old_versions_kept: old.newer_noncurrent_versions.map(|count| number(count.into())).transpose()?,
        abort_upload_days: upload.map(|days| number(days.into())).transpose()?,
    })
}

fn filter_read(filter: Option<dto::LifecycleRuleFilter>, prefix: Option<String>) -> S3Result<RuleFilter> {
    let filter = filter.unwrap_or_default();
    let and = filter.and.unwrap_or_default();
    let tags = filter.tag.into_iter().chain(and.tags.unwrap_or_default()).map(tag_read).collect();
    let tags = Tags::check("tags", tags, FILE_TAGS).map_err(refusal)?;
    let over = filter.object_size_greater_than.or(and.object_size_greater_than);
    let under = filter.object_size_less_than.or(and.object_size_less_than);
    Ok(RuleFilter {
        prefix: filter.prefix.or(and.prefix).or(prefix).unwrap_or_default(),
        tags,
        size_over: over.map(number).transpose()?,
        size_under: under.map(number).transpose()?,
    })
}

fn rule_shown(rule: &LifecycleRule) -> dto::LifecycleRule {
    let small = |number: Option<u32>| number.and_then(|number| i32::try_from(number).ok());
    let has_end = rule.expire_days.is_some() || rule.expire_at.is_some() || rule.expire_markers;
    let expiration = has_end.then(|| dto::LifecycleExpiration {
        date: rule.expire_at.map(timestamp),
        days: small(rule.expire_days),
        expired_object_delete_marker: rule.expire_markers.then_some(true),
    });
    let has_old = rule.old_version_days.is_some() || rule.old_versions_kept.is_some();
    let old = has_old.then(|| dto::NoncurrentVersionExpiration {
        newer_noncurrent_versions: small(rule.old_versions_kept),
        noncurrent_days: small(rule.old_version_days),
    });
    let status = if rule.enabled { dto::ExpirationStatus::ENABLED } else { dto::ExpirationStatus::DISABLED };
    dto::LifecycleRule {
        abort_incomplete_multipart_upload: rule
            .abort_upload_days
            .map(|_| dto::AbortIncompleteMultipartUpload { days_after_initiation: small(rule.abort_upload_days) }),
        expiration,
        filter: Some(filter_shown(&rule.filter)),
        id: Some(rule.id.clone()).filter(|id| !id.is_empty()),
        noncurrent_version_expiration: old,
        noncurrent_version_transitions: None,
        prefix: None,
        status: dto::ExpirationStatus::from_static(status),
        transitions: None,
    }
}

fn filter_shown(filter: &RuleFilter) -> dto::LifecycleRuleFilter {
    let size = |size: Option<u64>| size.and_then(|size| i64::try_from(size).ok());
    let (prefix, mut tags) = (Some(filter.prefix.clone()), tags_shown(&filter.tags));
    let (over, under) = (size(filter.size_over), size(filter.size_under));
    let conditions = tags.len() + usize::from(over.is_some()) + usize::from(under.is_some());
    let has_prefix = !filter.prefix.is_empty();
    if conditions + usize::from(has_prefix) <= 1 {
        let prefix = prefix.filter(|_| conditions == 0);
        return dto::LifecycleRuleFilter {
            prefix,
            tag: tags.pop(),
            object_size_greater_than: over,
            object_size_less_than: under,
            ..Default::default()
        };
    }
    let and = dto::LifecycleRuleAndOperator {
        object_size_greater_than: over,
        object_size_less_than: under,
        prefix: prefix.filter(|_| has_prefix),
        tags: (!tags.is_empty()).then_some(tags),
    };
    dto::LifecycleRuleFilter { and: Some(and), ..Default::default() }
}
