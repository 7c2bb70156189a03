//! Which sentences say most: closeness to what all of them speak of, what speaks for each by itself, and
//! no repeating (maximal marginal relevance).

use std::collections::{BTreeMap, BTreeSet};

/// How much a sentence's own worth counts against how much it repeats what is chosen already.
const LAMBDA: f64 = 0.7;
/// Words that say nothing by themselves.
const STOP_WORDS: [&str; 44] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "can", "do", "for", "from", "has",
    "have", "i", "if", "in", "is", "it", "its", "no", "not", "of", "on", "or", "so", "that", "the",
    "their", "then", "there", "they", "this", "to", "was", "we", "were", "when", "which", "with",
    "would", "you", "your",
];

/// A sentence that may be chosen.
#[derive(Clone, Debug)]
pub(crate) struct Candidate<'a> {
    /// Its text.
    pub(crate) text: &'a str,
    /// What speaks for it by itself; closeness adds from 0 to 1.
    pub(crate) bonus: f64,
    /// The room it takes.
    pub(crate) bytes: usize,
}

/// The numbers of the best candidates that fit into the room, the best first.
pub(crate) fn choose(candidates: &[Candidate<'_>], mut room: usize) -> Vec<usize> {
    let vectors = vectors(candidates);
    let centre = centre(&vectors);
    let worth: Vec<f64> = vectors
        .iter()
        .zip(candidates)
        .map(|(vector, candidate)| dot(vector, &centre) + candidate.bonus)
        .collect();
    let mut repeats = vec![0.0_f64; candidates.len()];
    let mut chosen = Vec::new();
    let mut left: BTreeSet<usize> = (0..candidates.len()).collect();
    while !left.is_empty() {
        let value = |index: &usize| {
            let (worth, repeats) = (worth.get(*index), repeats.get(*index));
            LAMBDA * worth.copied().unwrap_or(0.0)
                - (1.0 - LAMBDA) * repeats.copied().unwrap_or(0.0)
        };
        // Of equals the first one wins, so that the answer is always the same.
        let best = left
            .iter()
            .copied()
            .reduce(|best, next| if value(&next) > value(&best) { next } else { best });
        let Some(best) = best else { break };
        left.remove(&best);
        let Some(candidate) = candidates.get(best) else { continue };
        if candidate.bytes > room {
            continue;
        }
        room -= candidate.bytes;
        chosen.push(best);
        let Some(taken) = vectors.get(best) else { continue };
        for (vector, repeats) in vectors.iter().zip(&mut repeats) {
            *repeats = repeats.max(dot(vector, taken));
        }
    }
    chosen
}

/// A sparse vector of length 1, sorted by word.
type Vector = Vec<(u32, f64)>;

#[expect(clippy::cast_precision_loss, reason = "counts of words are small")]
fn vectors(candidates: &[Candidate<'_>]) -> Vec<Vector> {
    let mut words: BTreeMap<String, u32> = BTreeMap::new();
    let bags: Vec<BTreeMap<u32, f64>> = candidates
        .iter()
        .map(|candidate| {
            let mut bag = BTreeMap::new();
            for word in stems(candidate.text) {
                let next = u32::try_from(words.len()).unwrap_or(u32::MAX);
                *bag.entry(*words.entry(word).or_insert(next)).or_insert(0.0) += 1.0;
            }
            bag
        })
        .collect();
    let mut in_how_many = BTreeMap::new();
    for word in bags.iter().flat_map(BTreeMap::keys) {
        *in_how_many.entry(*word).or_insert(0.0) += 1.0;
    }
    let all = bags.len() as f64;
    let weighed = |bag: BTreeMap<u32, f64>| {
        let idf = |word: &u32| (1.0 + all / in_how_many.get(word).copied().unwrap_or(1.0)).ln();
        let mut vector: Vector =
            bag.into_iter().map(|(word, count)| (word, count * idf(&word))).collect();
        normalise(&mut vector);
        vector
    };
    bags.into_iter().map(weighed).collect()
}

fn centre(vectors: &[Vector]) -> Vector {
    let mut sum: BTreeMap<u32, f64> = BTreeMap::new();
    for (word, weight) in vectors.iter().flatten() {
        *sum.entry(*word).or_insert(0.0) += weight;
    }
    let mut centre: Vector = sum.into_iter().collect();
    normalise(&mut centre);
    centre
}

fn normalise(vector: &mut Vector) {
    let length = vector.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
    if length > 0.0 {
        for (_, weight) in vector.iter_mut() {
            *weight /= length;
        }
    }
}

fn dot(a: &Vector, b: &Vector) -> f64 {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    let mut sum = 0.0;
    while let (Some((word_a, weight_a)), Some((word_b, weight_b))) = (a.peek(), b.peek()) {
        match word_a.cmp(word_b) {
            std::cmp::Ordering::Less => drop(a.next()),
            std::cmp::Ordering::Greater => drop(b.next()),
            std::cmp::Ordering::Equal => {
                sum += weight_a * weight_b;
                a.next();
                b.next();
            }
        }
    }
    sum
}

/// The words of a sentence that say something, each in one spelling.
fn stems(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    let says_something = |word: &String| word.len() > 1 && !STOP_WORDS.contains(&word.as_str());
    words.filter(says_something).map(|word| {
        let stem = word.strip_suffix("ing").or(word.strip_suffix("ed")).or(word.strip_suffix('s'));
        stem.filter(|stem| stem.len() > 3).map_or(word.clone(), str::to_owned)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Candidate<'_> {
        Candidate { text, bonus: 0.0, bytes: text.len() }
    }

    #[test]
    fn what_all_speak_of_comes_first_and_nothing_is_said_twice() {
        let candidates = [
            of("The login page crashes on Safari."),
            of("The login page crashes on Safari."),
            of("Login crashes when the session cookie is missing."),
            of("Lunch was fine."),
        ];
        let chosen = choose(&candidates, 90);
        assert_eq!(chosen.first(), Some(&0));
        assert!(chosen.contains(&2) && !chosen.contains(&1), "{chosen:?}");
        assert_eq!(choose(&candidates, 90), chosen);
        assert!(choose(&candidates, 5).is_empty() && choose(&[], 100).is_empty());
    }

    #[test]
    fn a_bonus_wins_over_closeness() {
        let mut decision = of("Ship on Friday.");
        decision.bonus = 5.0;
        let candidates = [of("The cart total is wrong."), of("Cart totals wrong again."), decision];
        assert_eq!(choose(&candidates, 16), [2]);
    }
}
