//! Whether mail from an address passes the SPF of a domain (RFC 7208), as receivers find out.

use std::net::IpAddr;

use futures::FutureExt;
use mail_auth::{MessageAuthenticator, SpfResult, spf::verify::SpfParameters};

use super::{Dns, NoAnswer, within};

impl Dns {
    /// Whether mail of the domain passes from all of these addresses, which `host` has. False where there are none.
    pub async fn spf_passes(&self, domain: &str, host: &str, addresses: &[IpAddr]) -> Result<bool, NoAnswer> {
        // Two records are an error to whoever reads them (RFC 7208 4.5).
        let records = self.texts(domain).await?.iter().filter(|text| domain::mail::is_spf(text)).count();
        if records != 1 || addresses.is_empty() {
            return Ok(false);
        }
        let sender = format!("postmaster@{domain}");
        for address in addresses {
            let question = async {
                let reader = MessageAuthenticator(self.resolver()?.clone());
                let mail_from = SpfParameters::verify_mail_from(*address, host, host, &sender);
                let verdict = reader.verify_spf(mail_from).await;
                match verdict.result() {
                    SpfResult::TempError => Err(NoAnswer(format!("SPF of {domain}: no answer"))),
                    result => Ok(result == SpfResult::Pass),
                }
            };
            if !within(question.boxed()).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
