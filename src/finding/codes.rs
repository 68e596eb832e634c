//! The one table of codes. Codes are stable and never reused.

use std::fmt;

use serde::{Serialize, Serializer};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; never fails.
    Note,
    /// Likely harm in some uses; fails with `--fail-on warning`.
    Warning,
    /// Harm; fails.
    Error,
}

macro_rules! codes {
    ($($code:ident $name:literal $severity:ident $summary:literal;)*) => {
        /// A finding's code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $summary] $code,)*
        }

        impl Code {
            /// All codes in order.
            pub const ALL: &'static [Self] = &[$(Self::$code,)*];

            /// `PA101`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$code => stringify!($code),)* }
            }

            /// `worker-streams-identical`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$code => $name,)* }
            }

            /// The severity that it has unless circumstances lower it.
            pub const fn severity(self) -> Severity {
                match self { $(Self::$code => Severity::$severity,)* }
            }

            /// One line for lists.
            pub const fn summary(self) -> &'static str {
                match self { $(Self::$code => $summary,)* }
            }

            /// The page that `pipeaudit explain` shows.
            pub const fn page(self) -> &'static str {
                match self { $(Self::$code => include_str!(concat!("explain/", stringify!($code), ".md")),)* }
            }
        }
    };
}

codes! {
    PA101 "worker-streams-identical" Error "two workers of one loader draw the same random numbers";
    PA102 "rank-streams-identical" Error "two ranks of a distributed job draw the same random numbers";
    PA103 "epoch-streams-repeat" Error "a worker draws the same random numbers in two epochs";
    PA104 "streams-overlap" Error "streams meet elsewhere: at another position, in another worker of another epoch, or in another source";
    PA105 "sample-streams-repeat" Error "a generator is reset for each sample";
    PA106 "libraries-share-a-stream" Warning "two libraries of one worker draw from the same state";
    PA201 "applied-ratio-skew" Error "a transform is applied more or less often than declared";
    PA202 "worker-skew" Error "workers draw from different distributions";
    PA203 "parameter-skew" Error "a parameter is not drawn as declared";
    PA301 "runs-differ" Error "two runs with one seed deliver different samples";
    PA302 "worker-count-dependent" Note "the outputs depend on the number of workers";
    PA303 "order-differs" Error "two runs with one seed deliver the same samples in another order";
    PA304 "seed-ignored" Error "another seed gives the same streams";
    PA401 "order-repeats" Error "a shuffling loader gives the same order in two epochs";
    PA402 "samples-duplicated" Error "a sample is delivered more than once in an epoch";
    PA403 "samples-missing" Error "samples are never delivered in a whole epoch";
    PA404 "random-evaluation" Warning "a loader that does not shuffle draws random numbers";
    PA501 "threads-oversubscribed" Warning "the workers' library threads fight for the cores";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
