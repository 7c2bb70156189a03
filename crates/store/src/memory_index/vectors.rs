//! Vectors of an area, side by side in memory: loaded when they are first asked for, and walked whole.

use std::collections::HashMap;

use rusqlite::{Connection, params};

use super::request::Vector;
use crate::error::Result;

/// Bytes that the vectors of all areas may take. Beyond it the oldest are found by words alone.
pub(super) const BYTES_MAX: usize = 512 * 1024 * 1024;

/// The vectors of one area that were made in one way.
#[derive(Debug, Default)]
pub(super) struct Vectors {
    embedding: String,
    width: usize,
    keys: Vec<i64>,
    threads: Vec<i64>,
    values: Vec<i8>,
    /// One over the length of each, so that long vectors are not nearer.
    scales: Vec<f32>,
    places: HashMap<i64, usize>,
}

impl Vectors {
    /// Loads the vectors of an area that were made as this one was, the newest first, up to so many
    /// bytes.
    pub(super) fn load(
        connection: &Connection,
        area: i64,
        like: &Vector,
        bytes_max: usize,
    ) -> Result<Self> {
        let mut vectors =
            Self { embedding: like.embedding.clone(), width: like.values.len(), ..Self::default() };
        let mut select = connection.prepare_cached(
            "SELECT key, thread, vector FROM doc WHERE area = ?1 AND embedding = ?2 ORDER BY key DESC",
        )?;
        let mut rows = select.query(params![area, like.embedding])?;
        while let Some(row) = rows.next()? {
            if vectors.values.len() + vectors.width > bytes_max {
                tracing::warn!(area, "not every vector fits into memory; the oldest are left out");
                break;
            }
            let bytes: Vec<u8> = row.get(2)?;
            let values: Vec<i8> = bytes.iter().map(|byte| byte.cast_signed()).collect();
            vectors.push(row.get(0)?, row.get(1)?, &values);
        }
        Ok(vectors)
    }

    /// Whether they can be compared with this one.
    pub(super) fn are_like(&self, vector: &Vector) -> bool {
        self.embedding == vector.embedding && self.width == vector.values.len()
    }

    /// Bytes they take.
    pub(super) fn bytes(&self) -> usize {
        self.values.len()
    }

    /// Adds one, if it was made in the same way.
    pub(super) fn add(&mut self, key: i64, thread: i64, vector: &Vector) {
        if self.are_like(vector) {
            self.push(key, thread, &vector.values);
        }
    }

    fn push(&mut self, key: i64, thread: i64, values: &[i8]) {
        if values.len() != self.width || self.width == 0 || self.places.contains_key(&key) {
            return;
        }
        self.places.insert(key, self.keys.len());
        self.keys.push(key);
        self.threads.push(thread);
        self.scales.push(scale(values));
        self.values.extend_from_slice(values);
    }

    /// Takes one out; the last one takes its place.
    pub(super) fn remove(&mut self, key: i64) {
        let Some(place) = self.places.remove(&key) else { return };
        let last = self.keys.len() - 1;
        self.keys.swap_remove(place);
        self.threads.swap_remove(place);
        self.scales.swap_remove(place);
        if place != last {
            let from = last * self.width;
            self.values.copy_within(from..from + self.width, place * self.width);
            if let Some(moved) = self.keys.get(place) {
                self.places.insert(*moved, place);
            }
        }
        self.values.truncate(last * self.width);
    }

    /// The nearest, with how near each is; only of these threads, where memories belong to threads.
    pub(super) fn nearest(
        &self,
        to: &Vector,
        threads: Option<&[i64]>,
        count: usize,
    ) -> Vec<(f32, i64)> {
        if self.width == 0 || count == 0 || !self.are_like(to) {
            return Vec::new();
        }
        let own = scale(&to.values);
        let mut best = Best::new(count);
        let all = self.values.chunks_exact(self.width).zip(&self.keys).zip(&self.threads);
        for (((values, key), thread), scale) in all.zip(&self.scales) {
            let may = *thread == 0 || threads.is_none_or(|own| own.binary_search(thread).is_ok());
            if may {
                #[expect(clippy::cast_precision_loss, reason = "sums stay far below 2^24 here")]
                let near = dot(values, &to.values) as f32 * scale * own;
                best.offer(near, *key);
            }
        }
        best.sorted()
    }
}

/// The best so far: those below the worst of a full list are passed over at once.
struct Best {
    count: usize,
    worst: f32,
    found: Vec<(f32, i64)>,
}

impl Best {
    fn new(count: usize) -> Self {
        Self { count, worst: 0.0, found: Vec::with_capacity(2 * count) }
    }

    fn offer(&mut self, near: f32, key: i64) {
        if near <= self.worst {
            return;
        }
        self.found.push((near, key));
        if self.found.len() >= 2 * self.count {
            self.cut();
        }
    }

    fn cut(&mut self) {
        self.found.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        self.found.truncate(self.count);
        if self.found.len() == self.count {
            self.worst = self.found.last().map_or(0.0, |(near, _)| *near);
        }
    }

    fn sorted(mut self) -> Vec<(f32, i64)> {
        self.cut();
        self.found
    }
}

/// The sum of products. Eight sums over parts of thirty-two become vector instructions.
fn dot(a: &[i8], b: &[i8]) -> i32 {
    let product = |(a, b): (&i8, &i8)| i32::from(*a) * i32::from(*b);
    let ((a_parts, a_rest), (b_parts, b_rest)) = (a.as_chunks::<32>(), b.as_chunks::<32>());
    let mut sums = [0_i32; 8];
    for (a, b) in a_parts.iter().zip(b_parts) {
        let ((a, _), (b, _)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
        for (a, b) in a.iter().zip(b) {
            for (sum, pair) in sums.iter_mut().zip(a.iter().zip(b)) {
                *sum += product(pair);
            }
        }
    }
    sums.iter().sum::<i32>() + a_rest.iter().zip(b_rest).map(product).sum::<i32>()
}

fn scale(values: &[i8]) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "sums stay far below 2^24 here")]
    let length = (dot(values, values) as f32).sqrt();
    if length > 0.0 { 1.0 / length } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(values: &[i8]) -> Vector {
        Vector { embedding: "test".to_owned(), values: values.to_vec() }
    }

    #[test]
    fn the_nearest_come_first_and_what_is_gone_stays_gone() {
        let mut all = Vectors { embedding: "test".to_owned(), width: 2, ..Vectors::default() };
        all.add(2, 0, &vector(&[100, 0]));
        all.add(4, 0, &vector(&[70, 70]));
        all.add(6, 9, &vector(&[1, 100]));
        let keys = |all: &Vectors, threads: Option<&[i64]>| -> Vec<i64> {
            all.nearest(&vector(&[0, 127]), threads, 5).into_iter().map(|(_, key)| key).collect()
        };
        assert_eq!(keys(&all, None), [6, 4]);
        assert_eq!(keys(&all, Some(&[7])), [4], "the thread is another");
        all.remove(2);
        all.remove(6);
        assert_eq!(keys(&all, None), [4]);
        all.add(8, 0, &Vector { embedding: "other".to_owned(), values: vec![0, 127] });
        assert_eq!(keys(&all, None), [4], "made in another way");
    }
}
