//! Colours of the report: the only place that writes terminal escapes, and only where colour was asked for.

/// Puts colours on, or leaves texts as they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint(pub(super) bool);

impl Paint {
    fn with(self, codes: &str, text: &str) -> String {
        if self.0 && !text.is_empty() { format!("\u{1b}[{codes}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    pub(super) fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    pub(super) fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    pub(super) fn bad(self, text: &str) -> String {
        self.with("1;31", text)
    }

    pub(super) fn doubtful(self, text: &str) -> String {
        self.with("1;33", text)
    }

    pub(super) fn good(self, text: &str) -> String {
        self.with("1;32", text)
    }

    pub(super) fn quiet(self, text: &str) -> String {
        self.with("1;36", text)
    }
}
