//! The only file that draws progress: on standard error, on a terminal, for work longer than half a second.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::source::simulate::Progress;

const PATIENCE: Duration = Duration::from_millis(500);

/// A bar that appears once work has taken longer than half a second.
pub struct Bar {
    begun: Instant,
    total: u64,
    done: u64,
    bar: Option<ProgressBar>,
}

impl Bar {
    /// For `total` samples.
    pub fn new(total: u64) -> Self {
        Self { begun: Instant::now(), total, done: 0, bar: None }
    }
}

impl Progress for Bar {
    fn advance(&mut self, samples: u64) {
        self.done += samples;
        if let Some(bar) = &self.bar {
            bar.set_position(self.done);
        } else if self.begun.elapsed() > PATIENCE {
            let bar = ProgressBar::with_draw_target(Some(self.total), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{bar:32} {percent:>3} %  {pos} of {len} samples, {eta} left");
            bar.set_style(style.expect("the template is well formed"));
            bar.set_position(self.done);
            self.bar = Some(bar);
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
