//! What services said. A thing is known again by the id of its delivery and by what happened, so it is
//! kept once, however often and whichever way it is said.

use protocol::limits::links::HOOK_BYTES_MAX;
use protocol::relay::DeliveryOutcome;
use protocol::{DeliveryId, ThreadId, Timestamp};

use crate::error::{Result, StoreError};
use crate::threads::limit_param;
use crate::tx::Tx;
use crate::value::Row;

/// What came, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawDelivery {
    /// The request without its body: JSON.
    pub headers: String,
    /// The body.
    pub body: Vec<u8>,
}

/// The same as it is kept. Requests say the same few addresses over and over, so they shrink to a third;
/// packing is done before the transaction, which everybody waits for.
#[derive(Clone, Debug)]
pub struct PackedDelivery {
    headers: String,
    body: Vec<u8>,
    body_bytes: usize,
}

impl PackedDelivery {
    /// Makes a body as small as it is kept.
    pub fn new(headers: String, body: &[u8]) -> Self {
        let mut packed = vec![0; lz4_flex::block::get_maximum_output_size(body.len())];
        let length = lz4_flex::block::compress_into(body, &mut packed);
        // It is written and dropped at once: it need not shrink to fit.
        packed.truncate(length.expect("there is room for the worst"));
        Self { headers, body: packed, body_bytes: body.len() }
    }
}

/// A body as it came, from what was kept of it and how long it was.
fn unpack(body: Vec<u8>, body_bytes: Option<i64>) -> Result<Vec<u8>> {
    const CORRUPT: StoreError = StoreError::Corrupt { what: "delivery" };
    let Some(bytes) = body_bytes else { return Ok(body) };
    // Room is made for as much as it says: never for more than a service may send.
    let bytes = usize::try_from(bytes).ok().filter(|bytes| *bytes <= HOOK_BYTES_MAX);
    let bytes = bytes.ok_or(CORRUPT)?;
    lz4_flex::block::decompress(&body, bytes).map_err(|_| CORRUPT)
}

/// Something a service said, to be kept.
#[derive(Clone, Copy, Debug)]
pub struct NewDelivery<'a> {
    /// Its id.
    pub id: DeliveryId,
    /// Its workspace.
    pub workspace: &'a str,
    /// The link it came through.
    pub link_row: i64,
    /// The service's name for what happened.
    pub event: &'a str,
    /// The digest of the delivery's own id.
    pub transport_key: &'a [u8],
    /// The digest of what happened.
    pub semantic_key: Option<&'a [u8]>,
    /// What became of it.
    pub outcome: DeliveryOutcome,
    /// When it came.
    pub at: Timestamp,
    /// The message it became: the thread's row, and the number.
    pub place: Option<(i64, i64)>,
    /// What the service calls the thing itself.
    pub remote_id: Option<&'a str>,
    /// What came, where it is kept.
    pub raw: Option<&'a PackedDelivery>,
}

/// Something a service said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryRow {
    /// Its row number.
    pub row: i64,
    /// Its id.
    pub id: DeliveryId,
    /// Its workspace.
    pub workspace: String,
    /// The link it came through.
    pub link_row: i64,
    /// The service's name for what happened.
    pub event: String,
    /// What became of it.
    pub outcome: DeliveryOutcome,
    /// How often it came.
    pub copies: i64,
    /// When it came first.
    pub received: Timestamp,
    /// The message it became: the thread, its row, and the number.
    pub place: Option<(ThreadId, i64, i64)>,
    /// What the service calls the thing itself.
    pub remote_id: Option<String>,
    /// Whether what came is still kept.
    pub has_body: bool,
}

/// Which deliveries to list.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeliveryFilter {
    /// The link they came through.
    pub link_row: i64,
    /// Only those of which this became.
    pub outcome: Option<DeliveryOutcome>,
    /// Only those before this row of an earlier page.
    pub before: Option<i64>,
    /// How many.
    pub limit: usize,
}

/// The columns of a delivery, in the order in which [`delivery_row`] reads them.
macro_rules! select_deliveries {
    ($rest:literal) => {
        concat!(
            "SELECT d.id, d.uid, d.workspace, d.link, d.event, d.outcome, d.copies, d.received_ms,
                    d.thread, d.seq, (SELECT t.uid FROM thread t WHERE t.id = d.thread),
                    d.remote_id, CAST(CASE WHEN d.body IS NULL THEN 0 ELSE 1 END AS BIGINT)
             FROM delivery d ",
            $rest
        )
    };
}

/// The fact that says up to which delivery the bytes are gone.
const BODIES_FORGOTTEN: &str = "delivery_bodies_forgotten_upto";

impl Tx<'_> {
    /// Keeps something a service said. The caller has looked for it with [`Tx::count_copy`]; where
    /// another hub was faster meanwhile, the whole transaction is run again.
    pub fn insert_delivery(&mut self, new: &NewDelivery<'_>) -> Result<()> {
        self.execute(
            "INSERT INTO delivery (uid, workspace, link, event, transport_key, semantic_key, outcome,
                 copies, received_ms, thread, seq, remote_id, headers, body, body_bytes)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
            &[
                new.id.as_bytes().into(),
                new.workspace.into(),
                new.link_row.into(),
                new.event.into(),
                new.transport_key.into(),
                new.semantic_key.into(),
                new.outcome.code().into(),
                new.at.as_ms().into(),
                new.place.map(|(thread, _)| thread).into(),
                new.place.map(|(_, seq)| seq).into(),
                new.remote_id.into(),
                new.raw.map(|raw| raw.headers.as_str()).into(),
                new.raw.map(|raw| raw.body.as_slice()).into(),
                new.raw.and_then(|raw| i64::try_from(raw.body_bytes).ok()).into(),
            ],
        )?;
        Ok(())
    }

    /// Finds what is said again, by either key, and counts it. `None` where it is new.
    pub fn count_copy(
        &mut self,
        link_row: i64,
        transport_key: &[u8],
        semantic_key: Option<&[u8]>,
    ) -> Result<Option<DeliveryRow>> {
        // Nearly everything is new: that is seen with one question.
        let is_known = self.query_one(
            "SELECT 1 WHERE EXISTS (SELECT 1 FROM delivery WHERE link = ?1 AND transport_key = ?2)
                 OR EXISTS (SELECT 1 FROM delivery WHERE link = ?1 AND semantic_key = ?3)",
            &[link_row.into(), transport_key.into(), semantic_key.into()],
            |_| Ok(()),
        )?;
        if is_known.is_none() {
            return Ok(None);
        }
        let mut known = self.query_one(
            select_deliveries!("WHERE d.link = ?1 AND d.transport_key = ?2"),
            &[link_row.into(), transport_key.into()],
            delivery_row,
        )?;
        if let (None, Some(semantic_key)) = (&known, semantic_key) {
            known = self.query_one(
                select_deliveries!("WHERE d.link = ?1 AND d.semantic_key = ?2"),
                &[link_row.into(), semantic_key.into()],
                delivery_row,
            )?;
        }
        if let Some(known) = &mut known {
            known.copies += 1;
            self.execute(
                "UPDATE delivery SET copies = copies + 1 WHERE id = ?1",
                &[known.row.into()],
            )?;
        }
        Ok(known)
    }

    /// A delivery by its id.
    pub fn delivery(&mut self, id: DeliveryId) -> Result<Option<DeliveryRow>> {
        let sql = select_deliveries!("WHERE d.uid = ?1");
        self.query_one(sql, &[id.as_bytes().into()], delivery_row)
    }

    /// What came, byte for byte; `None` where it was not kept, or is no longer.
    pub fn raw_delivery(&mut self, row: i64) -> Result<Option<RawDelivery>> {
        let raw = self.query_one(
            "SELECT headers, body, body_bytes FROM delivery WHERE id = ?1",
            &[row.into()],
            |row| Ok((row.opt_text(0)?, row.opt_blob(1)?, row.opt_int(2)?)),
        )?;
        let Some((Some(headers), Some(body), body_bytes)) = raw else { return Ok(None) };
        Ok(Some(RawDelivery { headers, body: unpack(body, body_bytes)? }))
    }

    /// A page of what a service said, the newest first.
    pub fn deliveries(&mut self, filter: &DeliveryFilter) -> Result<Vec<DeliveryRow>> {
        self.query(
            select_deliveries!(
                "WHERE d.link = ?1 AND (CAST(?2 AS BIGINT) < 0 OR d.outcome = ?2) AND d.id < ?3
                 ORDER BY d.id DESC LIMIT ?4"
            ),
            &[
                filter.link_row.into(),
                filter.outcome.map_or(-1, DeliveryOutcome::code).into(),
                filter.before.unwrap_or(i64::MAX).into(),
                limit_param(filter.limit),
            ],
            delivery_row,
        )
    }

    /// The message that something at a service became, the newest: the thread's row, and the number.
    pub fn message_of_remote(
        &mut self,
        link_row: i64,
        remote_id: &str,
    ) -> Result<Option<(i64, i64)>> {
        self.query_one(
            "SELECT thread, seq FROM delivery
             WHERE link = ?1 AND remote_id = ?2 AND remote_id IS NOT NULL AND thread IS NOT NULL
             ORDER BY id DESC LIMIT 1",
            &[link_row.into(), remote_id.into()],
            |row| Ok((row.int(0)?, row.int(1)?)),
        )
    }

    /// Whether we posted something ourselves, by what the service calls it.
    pub fn is_posted(&mut self, link_row: i64, remote_id: &str) -> Result<bool> {
        let found = self.query_one(
            "SELECT 1 FROM posted WHERE link = ?1 AND remote_id = ?2",
            &[link_row.into(), remote_id.into()],
            |_| Ok(()),
        )?;
        Ok(found.is_some())
    }

    /// The row of the thread of a workspace for which we posted something.
    pub fn thread_of_posted(
        &mut self,
        workspace: &str,
        link_row: i64,
        remote_id: &str,
    ) -> Result<Option<i64>> {
        self.query_one(
            "SELECT p.thread FROM posted p JOIN thread t ON t.id = p.thread
             WHERE p.link = ?1 AND p.remote_id = ?2 AND t.workspace = ?3",
            &[link_row.into(), remote_id.into(), workspace.into()],
            |row| row.int(0),
        )
    }

    /// When the oldest that is still known came.
    pub fn oldest_delivery(&mut self) -> Result<Option<Timestamp>> {
        self.query_one("SELECT received_ms FROM delivery ORDER BY id LIMIT 1", &[], |row| {
            Ok(Timestamp::from_ms(row.int(0)?))
        })
    }

    /// Drops the bytes of what came before a moment, of at most so many deliveries, and remembers how
    /// far it came. Answers how many it looked at, and how many lost their bytes.
    pub fn forget_bodies(&mut self, before: Timestamp, limit: usize) -> Result<(usize, u64)> {
        let after = self.bodies_forgotten_upto()?;
        let (mut upto, mut looked) = (after, 0);
        self.each(
            "SELECT id, received_ms FROM delivery WHERE id > ?1 ORDER BY id LIMIT ?2",
            &[after.into(), limit_param(limit)],
            |row| {
                let is_old = row.int(1)? < before.as_ms();
                if is_old {
                    upto = row.int(0)?;
                    looked += 1;
                }
                Ok(is_old)
            },
        )?;
        if looked == 0 {
            return Ok((0, 0));
        }
        let dropped = self.execute(
            "UPDATE delivery SET headers = NULL, body = NULL
             WHERE id > ?1 AND id <= ?2 AND body IS NOT NULL",
            &[after.into(), upto.into()],
        )?;
        self.set_fact(BODIES_FORGOTTEN, &upto.to_string())?;
        Ok((looked, dropped))
    }

    fn bodies_forgotten_upto(&mut self) -> Result<i64> {
        let known = self.fact(BODIES_FORGOTTEN)?;
        Ok(known.and_then(|text| text.parse().ok()).unwrap_or(0))
    }

    /// Forgets what came before a moment altogether, at most so much; answers how much.
    pub fn forget_deliveries(&mut self, before: Timestamp, limit: usize) -> Result<u64> {
        // Rows grow with time, so the oldest stand first; those that are too young end the walk.
        self.execute(
            "DELETE FROM delivery WHERE received_ms < ?1
               AND id IN (SELECT id FROM delivery ORDER BY id LIMIT ?2)",
            &[before.as_ms().into(), limit_param(limit)],
        )
    }

    /// Forgets what came through a link, at most so much; answers how much.
    pub fn purge_deliveries(&mut self, link_row: i64, limit: usize) -> Result<u64> {
        self.execute(
            "DELETE FROM delivery
             WHERE id IN (SELECT id FROM delivery WHERE link = ?1 ORDER BY id LIMIT ?2)",
            &[link_row.into(), limit_param(limit)],
        )
    }
}

fn delivery_row(row: &Row<'_>) -> Result<DeliveryRow> {
    const CORRUPT: StoreError = StoreError::Corrupt { what: "delivery" };
    let thread = row.opt_blob(10)?.as_deref().and_then(ThreadId::from_bytes);
    let (thread_row, seq) = (row.opt_int(8)?, row.opt_int(9)?);
    Ok(DeliveryRow {
        row: row.int(0)?,
        id: DeliveryId::from_bytes(&row.blob(1)?).ok_or(CORRUPT)?,
        workspace: row.text(2)?,
        link_row: row.int(3)?,
        event: row.text(4)?,
        outcome: DeliveryOutcome::from_code(row.int(5)?).ok_or(CORRUPT)?,
        copies: row.int(6)?,
        received: Timestamp::from_ms(row.int(7)?),
        place: thread.zip(thread_row).zip(seq).map(|((id, row), seq)| (id, row, seq)),
        remote_id: row.opt_text(11)?,
        has_body: row.int(12)? != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_out_as_it_was() {
        let url = "https://api.github.com/repos/acme/shop/issues/1/comments,";
        for body in [String::new(), "x".to_owned(), url.repeat(200), "🦀\0".repeat(9)] {
            let PackedDelivery { body: packed, body_bytes, .. } =
                PackedDelivery::new("{}".to_owned(), body.as_bytes());
            assert!(packed.len() < body.len() / 10 || body.len() < 1_000);
            let bytes = i64::try_from(body_bytes).ok();
            assert_eq!(unpack(packed.clone(), bytes).unwrap(), body.as_bytes());
            if body_bytes > 0 {
                assert!(unpack(packed, Some(0)).is_err(), "too long for what it says");
            }
        }
        assert_eq!(unpack(b"plain".to_vec(), None).unwrap(), b"plain", "kept before packing");
        assert!(unpack(b"not packed".to_vec(), Some(40)).is_err());
        assert!(unpack(b"x".to_vec(), Some(i64::MAX)).is_err(), "nobody can have sent so much");
    }
}
