//! What the disk allows: a raw append, and a plain file whose writer shares one fdatasync.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::sync::{mpsc, oneshot};

use crate::drive::Poster;
use crate::stats::{self, Load};

/// About what a post puts on the disk.
const RECORD_BYTES: usize = 600;
const BATCH_MAX: usize = 256;

/// Appends 4 KiB and waits for the disk, again and again.
pub(crate) fn raw_appends(folder: &Path, time: Duration) -> Result<Load> {
    let path = folder.join("raw");
    let mut file = File::create(&path)?;
    let page = [7_u8; 4096];
    let began = stats::now();
    let mut load = Load::default();
    while began.elapsed() < time {
        let sent = stats::now();
        file.write_all(&page)?;
        file.sync_data()?;
        load.millis.push(stats::since(sent) * 1e3);
    }
    load.count = load.millis.len();
    load.seconds = stats::since(began);
    std::fs::remove_file(&path)?;
    Ok(load)
}

struct Record {
    bytes: Vec<u8>,
    done: oneshot::Sender<()>,
}

/// A plain file with one writer: it appends what waits, calls fdatasync once, and answers all.
pub(crate) struct GroupFile {
    queue: mpsc::Sender<Record>,
    writer: JoinHandle<Result<()>>,
}

impl GroupFile {
    pub(crate) fn start(folder: &Path) -> Result<Self> {
        let mut file = File::create(folder.join("plain"))?;
        let (queue, mut records) = mpsc::channel::<Record>(4096);
        let writer = std::thread::spawn(move || {
            let (mut batch, mut bytes) = (Vec::new(), Vec::new());
            while records.blocking_recv_many(&mut batch, BATCH_MAX) > 0 {
                while batch.len() < BATCH_MAX
                    && let Ok(record) = records.try_recv()
                {
                    batch.push(record);
                }
                bytes.clear();
                for record in &batch {
                    bytes.extend_from_slice(&record.bytes);
                }
                file.write_all(&bytes)?;
                file.sync_data()?;
                for record in batch.drain(..) {
                    if record.done.send(()).is_err() {
                        // A client that has stopped does not wait for its last answer.
                    }
                }
            }
            Ok(())
        });
        Ok(Self { queue, writer })
    }

    pub(crate) fn posters(&self, clients: usize) -> Vec<FilePoster> {
        (0..clients).map(|_| FilePoster(self.queue.clone())).collect()
    }

    pub(crate) fn stop(self) -> Result<()> {
        drop(self.queue);
        self.writer.join().map_err(|_| anyhow::anyhow!("the file's writer broke off"))?
    }
}

pub(crate) struct FilePoster(mpsc::Sender<Record>);

impl Poster for FilePoster {
    async fn post(&mut self) -> Result<()> {
        let (done, answer) = oneshot::channel();
        let record = Record { bytes: vec![b'r'; RECORD_BYTES], done };
        self.0.send(record).await.ok().context("the file's writer has ended")?;
        Ok(answer.await?)
    }
}
