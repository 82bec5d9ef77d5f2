//! Networks, as operators write them: `192.0.2.0/24`, or one address.

use std::{net::IpAddr, str::FromStr};

/// Addresses that begin alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    /// How many bits are alike.
    bits: u8,
}

/// The text is no network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotANetwork;

impl Network {
    /// Whether the address is one of its own.
    pub fn has(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                let apart = own.to_bits() ^ other.to_bits();
                apart.leading_zeros() >= u32::from(self.bits)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let apart = own.to_bits() ^ other.to_bits();
                apart.leading_zeros() >= u32::from(self.bits)
            }
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = NotANetwork;

    fn from_str(text: &str) -> Result<Self, NotANetwork> {
        let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address.parse().map_err(|_| NotANetwork)?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(most), |bits| bits.parse().map_err(|_| NotANetwork))?;
        if bits <= most { Ok(Self { address, bits }) } else { Err(NotANetwork) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_has_what_begins_as_it_does() {
        for (network, address, has) in [
            ("127.0.0.0/8", "127.255.0.1", true),
            ("127.0.0.0/8", "128.0.0.1", false),
            ("192.0.2.7", "192.0.2.7", true),
            ("192.0.2.7", "192.0.2.6", false),
            ("0.0.0.0/0", "203.0.113.9", true),
            ("0.0.0.0/0", "2001:db8::1", false),
            ("127.0.0.0/8", "::ffff:127.0.0.1", true),
            ("2001:db8::/32", "2001:db8:ffff::1", true),
            ("2001:db8::/32", "2001:db9::1", false),
            ("::1", "::1", true),
        ] {
            let network: Network = network.parse().expect("a network");
            assert_eq!(network.has(address.parse().expect("an address")), has, "{network:?} {address}");
        }
    }

    #[test]
    fn what_is_no_network_is_not_read() {
        for text in ["", "localhost", "127.0.0.1/33", "::1/129", "127.0.0.1/", "127.0.0.1/-1", "127.0.0/8"] {
            assert_eq!(text.parse::<Network>(), Err(NotANetwork), "{text}");
        }
    }
}
