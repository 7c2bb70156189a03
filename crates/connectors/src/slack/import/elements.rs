//! The elements of a JSON list, one by one: a file of any size is never held whole.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

use protocol::limits::slack as limits;
use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};
use serde_json::Value;

/// Why the reading of a list ended early.
#[derive(Debug)]
pub(super) enum Ended<E> {
    /// It is not a list of JSON, or too large; what came before was handed over.
    Unreadable(String),
    /// Whoever takes the elements said so.
    Stopped(E),
}

/// Hands over every element of a list.
pub(super) fn for_each<E>(
    reader: impl Read,
    mut take: impl FnMut(Value) -> Result<(), E>,
) -> Result<(), Ended<E>> {
    let budget = Rc::new(Cell::new(limits::EXPORT_ELEMENT_BYTES_MAX));
    let metered = Metered {
        inner: reader,
        element: Rc::clone(&budget),
        whole: limits::EXPORT_ENTRY_BYTES_MAX,
    };
    let mut stopped = None;
    let list = List { budget, take: &mut take, stopped: &mut stopped };
    let mut json = serde_json::Deserializer::from_reader(io::BufReader::new(metered));
    let read = list.deserialize(&mut json).and_then(|()| json.end());
    match (stopped, read) {
        (Some(error), _) => Err(Ended::Stopped(error)),
        (None, Err(error)) => Err(Ended::Unreadable(error.to_string())),
        (None, Ok(())) => Ok(()),
    }
}

/// A reader that ends with an error where an element, or everything, is too large.
struct Metered<R> {
    inner: R,
    element: Rc<Cell<u64>>,
    whole: u64,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        let bytes = u64::try_from(count).unwrap_or(u64::MAX);
        match (self.element.get().checked_sub(bytes), self.whole.checked_sub(bytes)) {
            (Some(element), Some(whole)) => {
                self.element.set(element);
                self.whole = whole;
                Ok(count)
            }
            (None, _) => Err(io::Error::other("an element is too large")),
            (_, None) => Err(io::Error::other("it is too large")),
        }
    }
}

struct List<'a, T, E> {
    budget: Rc<Cell<u64>>,
    take: &'a mut T,
    stopped: &'a mut Option<E>,
}

impl<'de, T: FnMut(Value) -> Result<(), E>, E> DeserializeSeed<'de> for List<'_, T, E> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: FnMut(Value) -> Result<(), E>, E> Visitor<'de> for List<'_, T, E> {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        while let Some(element) = elements.next_element::<Value>()? {
            self.budget.set(limits::EXPORT_ELEMENT_BYTES_MAX);
            if let Err(error) = (self.take)(element) {
                *self.stopped = Some(error);
                return Err(A::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<Value>, Result<(), Ended<()>>) {
        let mut taken = Vec::new();
        let ended = for_each(text.as_bytes(), |element| {
            taken.push(element);
            Ok(())
        });
        (taken, ended)
    }

    #[test]
    fn what_comes_before_a_mistake_is_taken() {
        let (taken, ended) = read("[1, {\"a\": 2}, oops, 4]");
        assert_eq!(taken.len(), 2);
        assert!(matches!(ended, Err(Ended::Unreadable(_))));
    }

    #[test]
    fn an_element_without_end_is_refused() {
        let endless = io::repeat(b'x');
        let ended = for_each(b"[\"".chain(endless), |_| Ok::<_, ()>(()));
        assert!(matches!(ended, Err(Ended::Unreadable(reason)) if reason.contains("too large")));
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for text in ["{}", "", "7", "[1] 2"] {
            assert!(matches!(read(text).1, Err(Ended::Unreadable(_))), "{text}");
        }
    }

    #[test]
    fn whoever_takes_may_stop() {
        let ended = for_each(b"[1, 2]".as_slice(), |_| Err("enough"));
        assert!(matches!(ended, Err(Ended::Stopped("enough"))));
    }
}
