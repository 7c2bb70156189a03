//! The documents a text cites, numbered as they come.

use protocol::relay::Citation;

use super::flavour::safe_url;

/// The citations of one text.
#[derive(Debug)]
pub(super) struct Refs<'a> {
    citations: &'a [Citation],
    /// The ids in the order of their numbers.
    order: Vec<String>,
}

impl<'a> Refs<'a> {
    pub(super) fn new(citations: &'a [Citation]) -> Self {
        Self { citations, order: Vec::new() }
    }

    /// The number of a document, and its address if it has one.
    pub(super) fn cite(&mut self, id: &str) -> (usize, Option<String>) {
        let index = self.order.iter().position(|known| known == id).unwrap_or_else(|| {
            self.order.push(id.to_owned());
            self.order.len() - 1
        });
        (index + 1, self.citation(id).and_then(url))
    }

    /// The documents that are known, by their numbers: title and address.
    pub(super) fn sources(&self) -> Vec<(usize, String, Option<String>)> {
        let known = |(index, id): (usize, &String)| {
            let citation = self.citation(id)?;
            let title =
                if citation.title.trim().is_empty() { &citation.id } else { &citation.title };
            Some((index + 1, title.clone(), url(citation)))
        };
        self.order.iter().enumerate().filter_map(known).collect()
    }

    fn citation(&self, id: &str) -> Option<&'a Citation> {
        self.citations.iter().find(|citation| citation.id == id)
    }
}

fn url(citation: &Citation) -> Option<String> {
    citation.url.as_deref().and_then(safe_url)
}
