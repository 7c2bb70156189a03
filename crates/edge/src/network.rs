//! Whom an address belongs to, for what is counted by address.

use std::net::{IpAddr, Ipv6Addr};

use protocol::limits;

/// What one customer has at least: an address of IPv4, or a network of IPv6, of which each address may
/// be used as well as any other.
pub(crate) fn of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let mask = u128::MAX << (Ipv6Addr::BITS - limits::IPV6_NETWORK_BITS);
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & mask))
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(address: &str) -> String {
        of(address.parse().unwrap()).to_string()
    }

    #[test]
    fn half_an_address_of_ipv6_and_all_of_ipv4_say_whose_it_is() {
        assert_eq!(network("192.0.2.7"), "192.0.2.7");
        assert_eq!(network("::ffff:192.0.2.7"), "192.0.2.7");
        assert_eq!(network("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(network("2001:db8:1:2:ffff::1"), "2001:db8:1:2::");
        assert_eq!(network("2001:db8:1:3::1"), "2001:db8:1:3::");
    }
}
