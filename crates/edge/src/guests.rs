//! How many connections each address has open.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use protocol::limits;

use crate::network;

/// How many connections each address has open.
#[derive(Clone, Default)]
pub(crate) struct Guests(Arc<Mutex<HashMap<IpAddr, usize>>>);

/// One connection of an address, for as long as it lives.
pub(crate) struct Guest {
    guests: Guests,
    network: IpAddr,
}

impl Guests {
    /// Counts a connection; `None` when its address has too many.
    pub(crate) fn admit(&self, address: IpAddr) -> Option<Guest> {
        let network = network::of(address);
        let mut open = self.0.lock();
        let count = open.entry(network).or_insert(0);
        if !address.is_loopback() && *count >= limits::CONNECTIONS_PER_ADDRESS_MAX {
            return None;
        }
        *count += 1;
        Some(Guest { guests: self.clone(), network })
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let mut open = self.guests.0.lock();
        if let Some(count) = open.get_mut(&self.network) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.network);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn an_address_may_have_fifty_connections_and_its_neighbours_as_many() {
        let guests = Guests::default();
        let admit = |text: &str| guests.admit(address(text));
        let mut open: Vec<Guest> = (0..60).map_while(|_| admit("192.0.2.7")).collect();
        assert_eq!(open.len(), limits::CONNECTIONS_PER_ADDRESS_MAX);
        assert!(admit("192.0.2.7").is_none());
        assert!(admit("192.0.2.8").is_some());
        open.pop();
        assert!(admit("192.0.2.7").is_some(), "a place is free as soon as one has ended");
        open.clear();
        assert!(guests.0.lock().is_empty(), "nobody is remembered for nothing");
    }

    #[test]
    fn the_addresses_of_one_ipv6_network_are_counted_together() {
        let guests = Guests::default();
        let from = |host: usize| guests.admit(address(&format!("2001:db8:0:1::{host:x}")));
        let open: Vec<Guest> = (0..100).map_while(from).collect();
        assert_eq!(open.len(), limits::CONNECTIONS_PER_ADDRESS_MAX);
        assert!(guests.admit(address("2001:db8:0:2::1")).is_some(), "another network");
    }

    #[test]
    fn this_machine_may_have_as_many_as_there_are() {
        let guests = Guests::default();
        for local in ["127.0.0.1", "::1"] {
            let open: Vec<Guest> = (0..200).map_while(|_| guests.admit(address(local))).collect();
            assert_eq!(open.len(), 200);
        }
    }
}
