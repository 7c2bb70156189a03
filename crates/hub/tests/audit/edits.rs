//! Single edits behind the hub's back, each with what a verification must say of it.

use protocol::audit::{Entry, Seal, hashes_of, root};
use store::{AuditRow, SealRow};
use waystation_hub::audit::{Commitment, Problem};

use crate::trail::{Database, Dice, Trail, text};

/// What a verification must say.
#[derive(Debug)]
pub(crate) enum Expected {
    /// Exactly this.
    Problem(Problem),
    /// That an entry of this number, or of one beside it that was free anyway, is missing.
    Missing(i64),
}

impl Expected {
    pub(crate) fn is_met_by(&self, found: Option<&Problem>) -> bool {
        match (self, found) {
            (Self::Problem(expected), Some(found)) => expected == found,
            (Self::Missing(id), Some(Problem::EntryMissing { first, last, .. })) => {
                // At most two numbers beside each other are free in a grown trail.
                (*first..=*last).contains(id) && last - first <= 2
            }
            _ => false,
        }
    }
}

type Edit = fn(&mut Trail, &mut Dice) -> Expected;

/// Every kind of edit, by name.
pub(crate) const EDITS: &[(&str, Edit)] = &[
    ("flip a byte of an entry", flip_entry),
    ("flip a byte of an entry", flip_entry),
    ("flip a byte of an entry", flip_entry),
    ("move a letter to the next column", move_letter),
    ("rewrite a detail", rewrite_detail),
    ("rewrite a detail and take its salt", rewrite_detail_without_salt),
    ("rewrite a detail and its salt", rewrite_detail_and_salt),
    ("take a commitment to a detail away", take_commitment),
    ("take a detail and its commitment away", take_detail_and_commitment),
    ("flip a byte of a commitment to a detail", flip_commitment),
    ("commit to another detail", commit_anew),
    ("give an entry a detail", give_detail),
    ("give an entry a detail and a commitment", give_detail_and_commitment),
    ("renumber an entry", renumber_entry),
    ("delete an entry", delete_entry),
    ("insert an entry", insert_entry),
    ("swap two entries", swap_entries),
    ("flip a byte of a seal", flip_seal),
    ("flip a byte of a seal", flip_seal),
    ("renumber a seal", renumber_seal),
    ("delete a seal", delete_seal),
    ("swap the bodies of two seals", swap_seals),
    ("cut the entries' tail", cut_entries),
    ("forge an entry and its seal", forge_seal),
];

fn altered(trail: &Trail, entry: i64) -> Expected {
    Expected::Problem(Problem::EntryAltered { entry, seal: trail.seal_over(entry).id })
}

fn inserted(trail: &Trail, entry: i64) -> Expected {
    Expected::Problem(Problem::EntryInserted { entry, seal: trail.seal_over(entry).id })
}

fn pick_entry(trail: &Trail, dice: &mut Dice) -> AuditRow {
    dice.pick(&trail.entries)
}

fn flip_bytes(dice: &mut Dice, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let at = dice.below(bytes.len());
    bytes[at] ^= 1 << dice.below(8);
    bytes
}

fn flip_text(dice: &mut Dice, value: &str) -> String {
    let mut letters: Vec<char> = value.chars().collect();
    if letters.is_empty() {
        return "x".to_owned();
    }
    let at = dice.below(letters.len());
    letters[at] = char::from_u32(u32::from(letters[at]) ^ 1).unwrap();
    letters.into_iter().collect()
}

fn flip_entry(trail: &mut Trail, dice: &mut Dice) -> Expected {
    let row = pick_entry(trail, dice);
    let (column, value) = match dice.below(12) {
        0 => ("at_ms", (row.at.as_ms() ^ (1 << dice.below(40))).to_string()),
        1 => ("workspace", text(&flip_text(dice, &row.workspace))),
        2 => ("actor", text(&flip_text(dice, &row.actor))),
        3 => ("role", text(&flip_text(dice, &row.role))),
        4 => ("session", text(&flip_text(dice, &row.session))),
        5 => ("jti", text(&flip_text(dice, &row.jti))),
        6 => ("request_id", trail.database.blob(&flip_bytes(dice, &row.request_id))),
        7 => ("action", text(&flip_text(dice, &row.action))),
        8 => ("object", text(&flip_text(dice, &row.object))),
        9 => ("outcome", text(&flip_text(dice, &row.outcome))),
        10 => ("request", trail.database.blob(&flip_bytes(dice, &row.request))),
        _ => ("response", trail.database.blob(&flip_bytes(dice, &row.response))),
    };
    if matches!(trail.database, Database::Sqlite(_)) && column == "jti" {
        // SQLite keeps text that is no text; PostgreSQL refuses it.
        trail
            .database
            .run(&format!("UPDATE audit SET jti = CAST(X'ff' AS TEXT) WHERE id = {}", row.id));
        let seal = trail.seal_over(row.id).id;
        return Expected::Problem(Problem::EntryUnreadable { entry: row.id, seal });
    }
    trail.database.run(&format!("UPDATE audit SET {column} = {value} WHERE id = {}", row.id));
    altered(trail, row.id)
}

fn move_letter(trail: &mut Trail, dice: &mut Dice) -> Expected {
    let row = pick_entry(trail, dice);
    let mut actor = row.actor.clone();
    let role = format!("{}{}", actor.pop().unwrap(), row.role);
    let (actor, role) = (text(&actor), text(&role));
    trail
        .database
        .run(&format!("UPDATE audit SET actor = {actor}, role = {role} WHERE id = {}", row.id));
    altered(trail, row.id)
}

fn detail_altered(trail: &Trail, entry: i64) -> Expected {
    Expected::Problem(Problem::DetailAltered { entry, seal: trail.seal_over(entry).id })
}

/// An entry whose detail is committed to.
fn pick_committed(trail: &Trail, dice: &mut Dice) -> AuditRow {
    let is_committed = |row: &&AuditRow| row.detail_commitment.is_some();
    let committed: Vec<AuditRow> = trail.entries.iter().filter(is_committed).cloned().collect();
    dice.pick(&committed)
}

/// An entry that was made without a detail, since details are committed to.
fn pick_plain(trail: &Trail, dice: &mut Dice) -> AuditRow {
    let first = trail.entries.iter().position(|row| row.detail_commitment.is_some()).unwrap();
    let later = trail.entries.iter().skip(first);
    let plain: Vec<AuditRow> = later.filter(|row| row.detail.is_none()).cloned().collect();
    dice.pick(&plain)
}

fn change(trail: &mut Trail, id: i64, values: &str) {
    trail.database.run(&format!("UPDATE audit SET {values} WHERE id = {id}"));
}

const APPROVED: &str = r#"{"reason":"approved"}"#;

fn commitment_to(trail: &Trail, salt: &[u8], detail: &str) -> String {
    let commitment = Commitment::detail(salt.try_into().unwrap(), detail);
    trail.database.blob(&commitment.0)
}

fn rewrite_detail(trail: &mut Trail, dice: &mut Dice) -> Expected {
    let id = pick_committed(trail, dice).id;
    change(trail, id, &format!("detail = {}", text(APPROVED)));
    detail_altered(trail, id)
}

fn rewrite_detail_without_salt(trail: &mut Trail, dice: &mut Dice) -> Expected {
    let id = pick_committed(trail, dice).id;
    change(trail, id, &format!("salt = NULL, detail = {}", text(APPROVED)));
    detail_altered(trail, id)
}

fn rewrite_detail_and_salt(trail: &mut Trail, dice: &mut Dice) -> Expected {
    let id = pick_committed(trail, dice).id;
    let salt = trail.database.blob(&[7; 16][..dice.below(17)]);
    change(trail, id, &format!("salt = {salt}, detail = {}", text(APPROVED)));
    detail_altered(trail, id)
}

fn take_commitment(trail: &mut Trail, dice: &mut Dice) -> Expected {
    let id = pick_committed(trail, dice).id;
    change(trail, id, &format!("detail_commitment = NULL, detail = {}", text(APPROVED)));
    altered(trail, id)
}

fn take_detail_and_commitment(trail: &mut Trail, dice: &mut Dice) -> Expected {
    let id = pick_committed(trail, dice).id;
    change(trail, id, "detail_commitment = NULL, detail = NULL");
    altered(trail, id)
}

fn flip_commitment(trail: &mut Trail, dice: &mut Dice) -> Expected {
    let row = pick_committed(trail, dice);
    let flipped = flip_bytes(dice, &row.detail_commitment.unwrap());
    let flipped = trail.database.blob(&flipped);
    change(trail, row.id, &format!("detail_commitment = {flipped}"));
    altered(trail, row.id)
}

fn commit_anew(trail: &mut Trail, dice: &mut Dice) -> Expected {
    let row = pick_committed(trail, dice);
    let commitment = commitment_to(trail, &row.salt.unwrap(), APPROVED);
    let values = format!("detail = {}, detail_commitment = {commitment}", text(APPROVED));
    change(trail, row.id, &values);
    altered(trail, row.id)
}

fn give_detail(trail: &mut Trail, dice: &mut Dice) -> Expected {
    let id = pick_plain(trail, dice).id;
    change(trail, id, &format!("detail = {}", text(APPROVED)));
    Expected::Problem(Problem::DetailAdded { entry: id, seal: trail.seal_over(id).id })
}

fn give_detail_and_commitment(trail: &mut Trail, dice: &mut Dice) -> Expected {
    let row = pick_entry(trail, dice);
    let commitment = commitment_to(trail, &row.salt.unwrap(), "another");
    change(trail, row.id, &format!("detail = 'another', detail_commitment = {commitment}"));
    altered(trail, row.id)
}

fn renumber_entry(trail: &mut Trail, dice: &mut Dice) -> Expected {
    let old = pick_entry(trail, dice).id;
    let new = dice.pick(&[-7, 0, 1_000_000, i64::MAX]);
    trail.database.run(&format!("UPDATE audit SET id = {new} WHERE id = {old}"));
    if new < old { inserted(trail, new) } else { Expected::Missing(old) }
}

fn delete_entry(trail: &mut Trail, dice: &mut Dice) -> Expected {
    let id = pick_entry(trail, dice).id;
    trail.database.run(&format!("DELETE FROM audit WHERE id = {id}"));
    Expected::Missing(id)
}

fn insert_entry(trail: &mut Trail, dice: &mut Dice) -> Expected {
    let like = pick_entry(trail, dice).id;
    let id = if dice.below(5) == 0 { -1 } else { dice.pick(&trail.gaps) };
    trail.database.run(&format!(
        "INSERT INTO audit SELECT {id}, at_ms, workspace, actor, role, session, jti, request_id,
             action, object, outcome, request, response, salt, detail, detail_commitment
         FROM audit WHERE id = {like}"
    ));
    inserted(trail, id)
}

fn swap_entries(trail: &mut Trail, dice: &mut Dice) -> Expected {
    let (first, second) = loop {
        let pair = (pick_entry(trail, dice).id, pick_entry(trail, dice).id);
        if pair.0 < pair.1 {
            break pair;
        }
    };
    trail.database.run(&format!(
        "UPDATE audit SET id = -1 WHERE id = {first};
         UPDATE audit SET id = {first} WHERE id = {second};
         UPDATE audit SET id = {second} WHERE id = -1"
    ));
    let seal = trail.seal_over(first).id;
    if seal == trail.seal_over(second).id {
        return Expected::Problem(Problem::OrderChanged { entry: first, belongs_to: second, seal });
    }
    altered(trail, first)
}

fn flip_seal(trail: &mut Trail, dice: &mut Dice) -> Expected {
    let seal = dice.pick(&trail.seals);
    let database = &trail.database;
    let (column, value) = match dice.below(10) {
        0 => ("first_id", (seal.first_id ^ (1 << dice.below(60))).to_string()),
        // Other low bits could give the number of another seal's last entry, which is unique.
        1 => ("last_id", (seal.last_id ^ (1 << (12 + dice.below(40)))).to_string()),
        2 => ("entries", (seal.entries ^ (1 << dice.below(62))).to_string()),
        3 => ("sealed_ms", (seal.sealed.as_ms() ^ (1 << dice.below(40))).to_string()),
        4 => ("leaves", database.blob(&flip_bytes(dice, &seal.leaves))),
        5 => ("root", database.blob(&flip_bytes(dice, &seal.root))),
        6 => ("previous", database.blob(&flip_bytes(dice, &seal.previous))),
        7 => ("hash", database.blob(&flip_bytes(dice, &seal.hash))),
        8 => ("key_id", text(&flip_text(dice, &seal.key_id))),
        _ => ("signature", database.blob(&flip_bytes(dice, &seal.signature))),
    };
    let id = seal.id;
    trail.database.run(&format!("UPDATE audit_seal SET {column} = {value} WHERE id = {id}"));
    match column {
        "leaves" => Expected::Problem(Problem::LeavesAltered { seal: id }),
        "root" => Expected::Problem(Problem::RootAltered { seal: id }),
        "previous" => Expected::Problem(Problem::ChainBroken { seal: id }),
        "signature" => Expected::Problem(Problem::SignatureWrong { seal: id }),
        _ => Expected::Problem(Problem::HashMismatch { seal: id }),
    }
}

fn renumber_seal(trail: &mut Trail, dice: &mut Dice) -> Expected {
    let old = dice.pick(&trail.seals).id;
    let new = dice.pick(&[-7, 0, 1_000_000, i64::MAX]);
    trail.database.run(&format!("UPDATE audit_seal SET id = {new} WHERE id = {old}"));
    Expected::Problem(if new < old {
        Problem::SealInserted { seal: new }
    } else {
        Problem::SealMissing { seal: old }
    })
}

fn delete_seal(trail: &mut Trail, dice: &mut Dice) -> Expected {
    // The last one leaves entries that look as if they were not sealed yet: see the checkpoint tests.
    let seal = trail.seals[dice.below(trail.seals.len() - 1)].id;
    trail.database.run(&format!("DELETE FROM audit_seal WHERE id = {seal}"));
    Expected::Problem(Problem::SealMissing { seal })
}

fn swap_seals(trail: &mut Trail, dice: &mut Dice) -> Expected {
    let first = trail.seals[dice.below(trail.seals.len() - 1)].id;
    let second = first + 1;
    trail.database.run(&format!(
        "UPDATE audit_seal SET id = -1 WHERE id = {first};
         UPDATE audit_seal SET id = {first} WHERE id = {second};
         UPDATE audit_seal SET id = {second} WHERE id = -1"
    ));
    Expected::Problem(Problem::ChainBroken { seal: first })
}

fn cut_entries(trail: &mut Trail, dice: &mut Dice) -> Expected {
    let first = pick_entry(trail, dice).id;
    trail.database.run(&format!("DELETE FROM audit WHERE id >= {first}"));
    let seal = trail.seal_over(first);
    // Everything up to the end of the seal is gone; the first of it is named by its lower end.
    let before = trail.entries.iter().rfind(|row| row.id < first).map_or(0, |row| row.id);
    let low = if first == seal.first_id { first } else { before + 1 };
    let high = if first == seal.first_id { first } else { seal.last_id };
    let low = if first == seal.last_id { first } else { low };
    Expected::Problem(Problem::EntryMissing { first: low, last: high, seal: seal.id })
}

/// Everything that can be done without the private key.
fn forge_seal(trail: &mut Trail, dice: &mut Dice) -> Expected {
    let row = pick_entry(trail, dice);
    let seal = trail.seal_over(row.id).clone();
    let forged = Entry {
        id: row.id,
        at_ms: row.at.as_ms(),
        workspace: &row.workspace,
        actor: "mallory",
        role: &row.role,
        session: &row.session,
        jti: &row.jti,
        request_id: &row.request_id,
        action: &row.action,
        object: &row.object,
        outcome: &row.outcome,
        request: &row.request,
        response: &row.response,
        detail: row.detail_commitment.as_deref(),
    };
    let under_seal = |entry: &&AuditRow| trail.seal_over(entry.id).id == seal.id;
    let index = trail.entries.iter().filter(under_seal).position(|entry| entry.id == row.id);
    let mut leaves = hashes_of(&seal.leaves).unwrap().to_vec();
    leaves[index.unwrap()] = forged.hash();
    let root = root(&leaves);
    let hash = hash_with_root(&seal, &root);
    let (leaves, root, hash) = (leaves.concat(), root, hash);
    let database = &mut trail.database;
    let sql = format!(
        "UPDATE audit SET actor = 'mallory' WHERE id = {};
         UPDATE audit_seal SET leaves = {}, root = {}, hash = {} WHERE id = {}",
        row.id,
        database.blob(&leaves),
        database.blob(&root),
        database.blob(&hash),
        seal.id
    );
    database.run(&sql);
    Expected::Problem(Problem::SignatureWrong { seal: seal.id })
}

fn hash_with_root(seal: &SealRow, root: &[u8]) -> [u8; 32] {
    Seal {
        id: seal.id,
        first_id: seal.first_id,
        last_id: seal.last_id,
        entries: seal.entries,
        sealed_ms: seal.sealed.as_ms(),
        root,
        previous: &seal.previous,
        key_id: &seal.key_id,
    }
    .hash()
}
