//! Which network addresses are public, so that a request on somebody's behalf cannot reach inside.
//!
//! The standard library calls `::ffff:127.0.0.1`, `64:ff9b::7f00:1` and `2002:7f00:1::` neither
//! loopback nor private, though packets to them may arrive there. So every form that carries an
//! IPv4 address inside an IPv6 one is unwrapped before it is judged.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IPv4 blocks of the IANA special-purpose registry that are not on the public internet.
const RESERVED_V4: [(Ipv4Addr, u32); 15] = [
    (Ipv4Addr::UNSPECIFIED, 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

/// IPv6 blocks inside `2000::/3` that are not on the public internet. Teredo is part of the first.
const RESERVED_V6: [(Ipv6Addr, u32); 3] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0x0db8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

/// Global unicast: everything outside of it is local, multicast or not assigned.
const GLOBAL_V6: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// Whether the address is on the public internet.
pub fn is_public(address: IpAddr) -> bool {
    match unwrapped(address) {
        IpAddr::V4(v4) => !RESERVED_V4.iter().any(|block| within_v4(v4, *block)),
        IpAddr::V6(v6) => {
            within_v6(v6, GLOBAL_V6) && !RESERVED_V6.iter().any(|block| within_v6(v6, *block))
        }
    }
}

/// Whether packets to the address surely stay on this machine: 127.0.0.0/8, `::1` and the mapped
/// form. NAT64 and 6to4 forms do not count, because they leave for a gateway first.
pub fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

/// The IPv4 address that a v4-mapped, v4-compatible, NAT64 or 6to4 address carries, or the address.
pub fn unwrapped(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => embedded_v4(v6).map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let (high, low) = match address.segments() {
        // `::` and `::1` are addresses of their own, not compatible forms of 0.0.0.0 and 0.0.0.1.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => return None,
        // In order: compatible and mapped, translated (SIIT), NAT64, 6to4.
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x0064, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => (high, low),
        _ => return None,
    };
    Some(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)))
}

fn within_v4(address: Ipv4Addr, (base, prefix_bits): (Ipv4Addr, u32)) -> bool {
    (address.to_bits() ^ base.to_bits()).leading_zeros() >= prefix_bits
}

fn within_v6(address: Ipv6Addr, (base, prefix_bits): (Ipv6Addr, u32)) -> bool {
    (address.to_bits() ^ base.to_bits()).leading_zeros() >= prefix_bits
}

#[cfg(test)]
mod tests {
    use super::*;

    const INSIDE: &[&str] = &[
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "10.255.255.255",
        "100.64.0.1",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.254",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.8",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.1.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.7",
        "203.0.113.9",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:169.254.169.254",
        "::127.0.0.1",
        "::10.0.0.1",
        "::ffff:0:127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1",
        "2002:7f00:1::",
        "2002:a9fe:a9fe::1",
        "2002:c0a8:101::1",
        "2001::1",
        "2001:10::1",
        "2001:db8::1",
        "3fff::1",
        "100::1",
        "5f00::1",
        "fc00::1",
        "fd12:3456:789a::1",
        "fe80::1",
        "fec0::1",
        "ff02::1",
        "4000::1",
    ];

    const OUTSIDE: &[&str] = &[
        "1.1.1.1",
        "8.8.8.8",
        "100.63.255.255",
        "100.128.0.1",
        "172.15.255.255",
        "172.32.0.1",
        "192.0.1.1",
        "198.17.255.255",
        "198.20.0.1",
        "223.255.255.255",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",
        "2002:808:808::1",
        "2001:200::1",
        "2001:4860:4860::8888",
        "2606:4700:4700::1111",
        "2a00:1450:4001:81b::200e",
    ];

    #[test]
    fn addresses_inside_are_not_public() {
        for text in INSIDE {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn addresses_outside_are_public() {
        for text in OUTSIDE {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn only_what_stays_on_this_machine_is_loopback() {
        for text in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            assert!(is_loopback(text.parse().unwrap()), "{text}");
        }
        for text in ["10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"] {
            assert!(!is_loopback(text.parse().unwrap()), "{text}");
        }
    }
}
