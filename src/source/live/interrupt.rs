//! Ctrl-C as a flag that long loops look at: one atomic count, so that a second Ctrl-C can mean "at once".

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use crate::error::{Error, Result};

/// How often the user asked to stop. Clones share the count.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    asked: Arc<AtomicU32>,
}

impl Interrupt {
    /// The flag of this process, raised by Ctrl-C, by SIGTERM and by a terminal that closes. The handler is installed
    /// by the first call; before it, Ctrl-C ends the process as usual.
    ///
    /// # Errors
    /// Where the operating system refuses the handler.
    pub fn of_process() -> Result<Self> {
        static INSTALLED: OnceLock<std::result::Result<Interrupt, String>> = OnceLock::new();
        let installed = INSTALLED.get_or_init(|| {
            let interrupt = Self::default();
            let raised = interrupt.clone();
            ctrlc::set_handler(move || raised.raise()).map_err(|error| error.to_string())?;
            Ok(interrupt)
        });
        installed.clone().map_err(|error| Error::not_audited(format!("cannot watch for Ctrl-C: {error}")))
    }

    /// Asks to stop; asked twice, at once.
    pub fn raise(&self) {
        self.asked.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether to stop.
    pub fn is_raised(&self) -> bool {
        self.asked.load(Ordering::Relaxed) > 0
    }

    /// Whether to stop without waiting for anything.
    pub fn is_urgent(&self) -> bool {
        self.asked.load(Ordering::Relaxed) > 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_request_is_urgent_and_clones_share_it() {
        let interrupt = Interrupt::default();
        let other = interrupt.clone();
        assert!(!interrupt.is_raised());
        other.raise();
        assert!(interrupt.is_raised() && !interrupt.is_urgent());
        other.raise();
        assert!(interrupt.is_urgent());
    }
}
