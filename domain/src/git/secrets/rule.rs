//! What kinds of secrets are looked for.

use crate::app::names;

names! {
    /// A rule by which secrets are found (contract C 2.2).
    SecretRule {
        AwsAccessKey = "aws_access_key",
        AwsSecretKey = "aws_secret_key",
        StripeKey = "stripe_key",
        PrivateKey = "private_key",
        ServiceToken = "service_token",
        GithubToken = "github_token",
    }
}

impl SecretRule {
    /// What people call such a secret.
    pub const fn label(self) -> &'static str {
        match self {
            Self::AwsAccessKey => "AWS access key ID",
            Self::AwsSecretKey => "AWS secret access key",
            Self::StripeKey => "Stripe live key",
            Self::PrivateKey => "Private key",
            Self::ServiceToken => "Troupe token",
            Self::GithubToken => "GitHub token",
        }
    }
}
