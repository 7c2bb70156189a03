//! Colours, where there is a terminal that has them.

/// Paints text, or leaves it as it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    is_on: bool,
}

impl Paint {
    /// As the terminal behind stdout wants it.
    pub(crate) fn of_stdout() -> Self {
        Self { is_on: crate::surroundings::wants_colour() }
    }

    /// As the terminal behind stderr wants it.
    pub(crate) fn of_stderr() -> Self {
        Self { is_on: crate::surroundings::wants_colour_on_stderr() }
    }

    /// No colours.
    pub(crate) const fn plain() -> Self {
        Self { is_on: false }
    }

    /// What is well, or new.
    pub(crate) fn good(self, text: &str) -> String {
        self.with("32", text)
    }

    /// What is wrong, or gone.
    pub(crate) fn bad(self, text: &str) -> String {
        self.with("31", text)
    }

    /// What somebody should look at.
    pub(crate) fn warning(self, text: &str) -> String {
        self.with("33", text)
    }

    /// What says where one is.
    pub(crate) fn place(self, text: &str) -> String {
        self.with("36", text)
    }

    /// What matters more.
    pub(crate) fn strong(self, text: &str) -> String {
        self.with("1", text)
    }

    /// What matters less.
    pub(crate) fn quiet(self, text: &str) -> String {
        self.with("2", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.is_on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}
