//! A trail to tamper with, on either engine, and a way to its tables behind the hub's back.

use protocol::Timestamp;
use protocol::audit::{Checkpoint, to_hex};
use ring::rand::SystemRandom;
use store::{AuditEntry, AuditRow, Engine, SealRow, Settings, Store, StoreError};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use waystation_hub::audit::{
    Commitment, Report, SealKey, Sealer, TrustedKeys, Verification, verify,
};

/// The moment at which every trail begins.
pub(crate) const NOON_MS: i64 = 1_771_329_600_000;

/// Which program makes entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    /// One from before details were committed to.
    Older,
    /// This one.
    Current,
}

/// Numbers that look random and are the same in every run.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap()
    }

    pub(crate) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
}

/// A way to the tables that knows no rules.
pub(crate) enum Database {
    Sqlite(rusqlite::Connection),
    Postgres(Box<postgres::Client>),
}

impl Database {
    pub(crate) fn run(&mut self, sql: &str) {
        let sql = format!("BEGIN; {sql}; COMMIT");
        match self {
            Self::Sqlite(connection) => connection.execute_batch(&sql).unwrap(),
            Self::Postgres(client) => client.batch_execute(&sql).unwrap(),
        }
    }

    pub(crate) fn blob(&self, bytes: &[u8]) -> String {
        match self {
            Self::Sqlite(_) => format!("X'{}'", to_hex(bytes)),
            Self::Postgres(_) => format!("'\\x{}'::bytea", to_hex(bytes)),
        }
    }
}

pub(crate) fn text(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

/// A store with its sealer, and what tampers with it.
pub(crate) struct Trail {
    pub(crate) runtime: Runtime,
    pub(crate) store: Store,
    pub(crate) sealer: Sealer,
    pub(crate) keys: TrustedKeys,
    pub(crate) database: Database,
    pub(crate) entries: Vec<AuditRow>,
    pub(crate) seals: Vec<SealRow>,
    /// Numbers inside the sealed range that no entry has.
    pub(crate) gaps: Vec<i64>,
    pub(crate) folder: TempDir,
}

impl Trail {
    /// An empty trail.
    pub(crate) fn new(engine: Engine) -> Self {
        let runtime = Runtime::new().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (settings, database) = match engine {
            Engine::Sqlite => {
                let settings = Settings::Sqlite { folder: folder.path().to_owned(), readers: 2 };
                (settings, None)
            }
            Engine::Postgres => {
                let url = testkit::postgres::fresh_database();
                let client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
                let database = Database::Postgres(Box::new(client));
                (Settings::Postgres { url, connections: 3 }, Some(database))
            }
        };
        let store = Store::open(&settings).unwrap();
        let database = database.unwrap_or_else(|| {
            let connection = rusqlite::Connection::open(store.file().unwrap()).unwrap();
            connection.execute_batch("PRAGMA synchronous = OFF").unwrap();
            Database::Sqlite(connection)
        });
        let folder_of_keys = folder.path().join("keys");
        let key = SealKey::open(&folder_of_keys, &SystemRandom::new()).unwrap();
        let mut keys = TrustedKeys::default();
        keys.add_folder(&folder_of_keys).unwrap();
        let sealer = Sealer::new(store.clone(), key);
        let (entries, seals, gaps) = (Vec::new(), Vec::new(), Vec::new());
        Self { runtime, store, sealer, keys, database, entries, seals, gaps, folder }
    }

    /// A trail of a few hundred entries under a dozen seals, with gaps, and five entries not sealed yet.
    /// The first of them were made by an older program.
    pub(crate) fn grown(engine: Engine) -> Self {
        let mut trail = Self::new(engine);
        let mut dice = Dice::new(1);
        for seal in 0..12 {
            let program = if seal < 3 { Program::Older } else { Program::Current };
            trail.add_entries_of(program, &mut dice, 15 + seal);
            // What a rolled-back change leaves behind on PostgreSQL.
            let newest = trail.newest_id();
            trail.database.run(&format!(
                "DELETE FROM audit WHERE id IN ({}, {})",
                newest - 3,
                newest - 7
            ));
            trail.gaps.extend([newest - 7, newest - 3]);
            trail.seal(seal);
        }
        trail.add_entries(&mut dice, 5);
        trail.entries = trail.read(|tx| tx.audit_between(i64::MIN, i64::MAX, 10_000));
        trail.entries.truncate(trail.entries.len() - 5);
        trail.seals = trail.read(|tx| tx.seals_after(0, 1_000));
        trail.database.run(
            "CREATE TABLE kept_audit AS SELECT * FROM audit;
             CREATE TABLE kept_seal AS SELECT * FROM audit_seal",
        );
        trail
    }

    /// Undoes whatever was done to the tables.
    pub(crate) fn restore(&mut self) {
        self.database.run(
            "DELETE FROM audit; INSERT INTO audit SELECT * FROM kept_audit;
             DELETE FROM audit_seal; INSERT INTO audit_seal SELECT * FROM kept_seal",
        );
    }

    pub(crate) fn add_entries(&self, dice: &mut Dice, count: i64) {
        self.add_entries_of(Program::Current, dice, count);
    }

    pub(crate) fn add_entries_of(&self, program: Program, dice: &mut Dice, count: i64) {
        let seed = dice.next();
        let work = move |tx: &mut store::Tx<'_>| {
            let mut dice = Dice::new(seed);
            (0..count).try_for_each(|number| add_entry(tx, program, &mut dice, number))
        };
        self.runtime.block_on(self.store.write(work)).unwrap();
    }

    pub(crate) fn seal(&self, second: i64) -> usize {
        let now = Timestamp::from_ms(NOON_MS + second * 1_000);
        self.runtime.block_on(self.sealer.seal_once(now)).unwrap()
    }

    pub(crate) fn read<T: Send + 'static>(
        &self,
        work: impl Fn(&mut store::Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> T {
        self.runtime.block_on(self.store.read(work)).unwrap()
    }

    fn newest_id(&self) -> i64 {
        self.read(|tx| Ok(tx.audit_ids_between(0, i64::MAX, 10_000)?.pop().unwrap()))
    }

    pub(crate) fn seal_over(&self, entry: i64) -> &SealRow {
        self.seals.iter().find(|seal| seal.last_id >= entry).unwrap()
    }

    pub(crate) fn verify(&self) -> Report {
        self.verify_with(None, None)
    }

    pub(crate) fn verify_with(&self, checkpoint: Option<Checkpoint>, from: Option<i64>) -> Report {
        let verification = Verification { keys: self.keys.clone(), from, checkpoint };
        self.runtime.block_on(verify(&self.store, &verification, |_| {})).unwrap()
    }

    pub(crate) fn checkpoint(&self) -> Checkpoint {
        let note =
            waystation_hub::audit::checkpoint(&self.store, self.sealer.key(), "example.org/audit");
        let note = self.runtime.block_on(note).unwrap().unwrap();
        waystation_hub::audit::open_checkpoint(&note, &self.keys).unwrap()
    }
}

impl Drop for Trail {
    fn drop(&mut self) {
        self.store.close();
    }
}

fn add_entry(
    tx: &mut store::Tx<'_>,
    program: Program,
    dice: &mut Dice,
    number: i64,
) -> Result<(), StoreError> {
    let bytes: Vec<u8> = (0..112).map(|_| dice.next().to_le_bytes()[0]).collect();
    let object = format!("thread-{}", dice.below(50));
    let detail = Some("a line\nfor an auditor").filter(|_| number % 3 == 0);
    let salt: &[u8; 16] = bytes[80..96].try_into().unwrap();
    let committed = detail.filter(|_| program == Program::Current);
    tx.insert_audit(&AuditEntry {
        at: Timestamp::from_ms(NOON_MS + number),
        workspace: dice.pick(&["home", "tenant \"ü\"", "o'hara"]),
        actor: dice.pick(&["ada", "grace", "barbara"]),
        role: dice.pick(&["worker", "operator"]),
        session: dice.pick(&["", "s-1", "s-2"]),
        jti: &format!("jti-{}", dice.below(1_000)),
        request_id: &bytes[..16],
        action: dice.pick(&["post_message", "list_threads"]),
        object: if number % 4 == 0 { "" } else { &object },
        outcome: dice.pick(&["ok", "FORBIDDEN"]),
        request: &bytes[16..48],
        response: &bytes[48..80],
        salt,
        detail,
        detail_commitment: committed.map(|text| Commitment::detail(salt, text).0),
    })
}
