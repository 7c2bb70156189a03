//! Reading a page up to a size.

use connector_api::Page;
use protocol::limits::outbound as limits;

/// A page that grows.
#[derive(Debug)]
pub(crate) struct Reading {
    page: Page,
    bytes_left: usize,
}

impl Reading {
    /// Begins with what is short.
    pub(crate) fn new(page: Page) -> Self {
        Self { page, bytes_left: limits::PAGE_BYTES_MAX }
    }

    /// The text of the page.
    pub(crate) fn body(&mut self, text: &str) {
        self.page.body = self.taken(text);
    }

    /// What it is filed under.
    pub(crate) fn label(&mut self, label: &str) {
        if !label.is_empty() && self.page.labels.len() < limits::PAGE_COMMENTS_MAX {
            self.page.labels.push(label.to_owned());
        }
    }

    /// What somebody said about it.
    pub(crate) fn comment(&mut self, who: &str, text: &str) {
        if self.page.comments.len() >= limits::PAGE_COMMENTS_MAX {
            self.page.is_cut = true;
            return;
        }
        let text = self.taken(text);
        if !text.is_empty() {
            self.page.comments.push((who.to_owned(), text));
        }
    }

    /// The page; `total` is how many comments there are.
    pub(crate) fn finish(mut self, total: usize) -> Page {
        self.page.is_cut |= total > limits::PAGE_COMMENTS_MAX;
        self.page
    }

    fn taken(&mut self, text: &str) -> String {
        let mut end = text.len().min(self.bytes_left);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        self.page.is_cut |= end < text.len();
        self.bytes_left -= end;
        text.get(..end).unwrap_or_default().to_owned()
    }
}
