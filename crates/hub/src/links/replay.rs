//! Reading again what a service said, and trying the way in with a sample.

use std::sync::Arc;

use connector_api::{ConnectorError, Inbound};
use protocol::id::Uid;
use store::{LinkRow, PackedDelivery, RawDelivery};

use super::hook::{self, from_raw};
use super::intake::Delivery;
use super::registry::{Links, Running};
use crate::error::{Error, Result};
use crate::relay::intake::Received;

impl Links {
    /// What a kept request says, read as if it came when it came: the service's clock has moved on, and
    /// its signature is as old as it is.
    pub(crate) fn read_again(&self, link: &Arc<LinkRow>, raw: RawDelivery) -> Result<Vec<Inbound>> {
        let (running, name) = (self.client_of(link)?, &link.name);
        let (request, received) = from_raw(raw).ok_or(Error::Conflict(
            "what was kept of this delivery is damaged and cannot be read again".to_owned(),
        ))?;
        let reply = running.connector.receive(&request, received).map_err(|error| match error {
            ConnectorError::BadSignature => Error::Conflict(format!(
                "the signature of this delivery does not fit the secret of {name} any more: it was \
                 signed with another one"
            )),
            other => hook::refused(other),
        })?;
        Ok(reply.batch.inbound)
    }

    /// Takes in again what a service said, as something new.
    pub(crate) async fn take_again(
        &self,
        link: &Arc<LinkRow>,
        mut inbound: Vec<Inbound>,
        raw: RawDelivery,
        id: Uid,
    ) -> Result<Vec<Received>> {
        let running = self.client_of(link)?;
        for one in &mut inbound {
            // What is known by its keys would be the same thing once more.
            one.transport_key = format!("replay:{id}:{}", one.transport_key);
            one.semantic_key = None;
        }
        let raw = Some(PackedDelivery::new(raw.headers, &raw.body));
        let delivery = Delivery { inbound, raw, ..Delivery::default() };
        Ok(self.intake.commit(&running.link, delivery).await?.received)
    }

    /// Sends a sample through the way in: signed, verified, mapped and committed like any delivery.
    pub(crate) async fn try_sample(&self, link: &Arc<LinkRow>) -> Result<Vec<Received>> {
        let (running, name) = (self.client_of(link)?, &link.name);
        let now = self.intake.now();
        let sample = running.connector.sample(now).map_err(|error| match error {
            ConnectorError::Unsupported { .. } => Error::Conflict(format!(
                "{} gives no sample; waystation link check {name} asks it whether the credentials work",
                running.link.service
            )),
            other => Error::Conflict(format!("{name} cannot make a sample: {other}")),
        })?;
        let reply = running.connector.receive(&sample, now).map_err(|error| match error {
            ConnectorError::BadSignature => Error::Conflict(format!(
                "{name} does not accept a delivery that it signed itself: add the link again"
            )),
            other => hook::refused(other),
        })?;
        let committed = self.take_reply(&running, reply, &sample, true).await?;
        Ok(committed.map(|committed| committed.received).unwrap_or_default())
    }

    /// The link with its client: the one that runs here, or one for this question alone.
    fn client_of(&self, link: &Arc<LinkRow>) -> Result<Running> {
        let running = self.running_named(Some(&link.workspace), &link.name).pop();
        if let Some(running) = running.filter(|running| running.link.version == link.version) {
            return Ok(running);
        }
        if !link.is_live {
            return Err(Error::Conflict(format!(
                "the source {} is an archive without an account; waystation link add {} connects one",
                link.name, link.service
            )));
        }
        let connector = self.connect(link).map_err(|error| Error::Conflict(error.to_string()))?;
        Ok(Running { link: Arc::clone(link), connector, bells: Arc::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_was_kept_is_read_as_it_came() {
        let raw = RawDelivery {
            headers: r#"{"method":"POST","headers":[["a","b"]],"query":[],"received_ms":7}"#
                .to_owned(),
            body: b"{}".to_vec(),
        };
        let (request, received) = from_raw(raw).unwrap();
        assert_eq!(received.as_ms(), 7);
        assert_eq!((request.header("a"), request.body.as_slice()), (Some("b"), &b"{}"[..]));
        assert!(from_raw(RawDelivery { headers: "x".to_owned(), body: Vec::new() }).is_none());
    }
}
