//! Where the vectors are, how they are read, and the account of what was reproduced.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use serde_json::Value;

/// The folder of the vectors: `PIPEAUDIT_VECTORS`, or the repository's own.
pub fn folder() -> PathBuf {
    std::env::var_os("PIPEAUDIT_VECTORS")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/vectors"), PathBuf::from)
}

/// One file of vectors.
pub fn load(name: &str) -> Value {
    let path = folder().join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The elements of a list.
pub fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().unwrap_or_else(|| panic!("`{name}` is not a list in {}", cut(value)))
}

/// A text.
pub fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("`{name}` is not a text in {}", cut(value)))
}

/// A count.
pub fn count(value: &Value, name: &str) -> usize {
    let count = value[name].as_u64().unwrap_or_else(|| panic!("`{name}` is not a count in {}", cut(value)));
    usize::try_from(count).expect("a count fits in memory")
}

/// An integer that stands as a decimal string.
pub fn parsed<T: std::str::FromStr>(value: &Value, name: &str) -> T {
    let text = text(value, name);
    text.parse().unwrap_or_else(|_| panic!("`{name}` is no fitting number in {}", cut(value)))
}

/// A float64 that stands as the hexadecimal digits of its bits.
pub fn float64(bits: &str) -> f64 {
    f64::from_bits(u64::from_str_radix(bits, 16).unwrap_or_else(|_| panic!("`{bits}` are no float64 bits")))
}

/// The float argument `name`, which stands as bits under `name_f64`.
pub fn float_argument(value: &Value, name: &str) -> f64 {
    float64(text(value, &format!("{name}_f64")))
}

/// The bits of a float64 as the vectors have them.
pub fn bits64(value: f64) -> String {
    format!("{:016x}", value.to_bits())
}

/// The bits of a float32 as the vectors have them.
pub fn bits32(value: f32) -> String {
    format!("{:08x}", value.to_bits())
}

/// The hexadecimal digits of bytes.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A value's text, cut to what fits on a screen.
pub fn cut(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(400) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// The account of one test: what was reproduced, what was not, and what is not covered.
pub struct Account {
    name: &'static str,
    reproduced: BTreeMap<String, usize>,
    wrong: Vec<String>,
    uncovered: BTreeMap<String, usize>,
}

impl Account {
    /// An empty account.
    pub fn new(name: &'static str) -> Self {
        Self { name, reproduced: BTreeMap::new(), wrong: Vec::new(), uncovered: BTreeMap::new() }
    }

    /// Compares one vector of `kind`; `case` names it.
    pub fn compare(&mut self, kind: &str, case: impl FnOnce() -> String, got: &Value, expected: &Value) {
        if got == expected {
            *self.reproduced.entry(kind.to_owned()).or_default() += 1;
        } else {
            let case = case();
            self.wrong.push(format!("{kind}: {case}\n  got      {}\n  expected {}", cut(got), cut(expected)));
        }
    }

    /// Notes a vector that nothing here can reproduce.
    pub fn not_covered(&mut self, what: impl Into<String>) {
        *self.uncovered.entry(what.into()).or_default() += 1;
    }

    /// Prints the account, also where the test passes, and fails where a vector was not reproduced.
    pub fn close(self) {
        let total: usize = self.reproduced.values().sum();
        let mut lines = format!("{}: {total} reproduced, {} not\n", self.name, self.wrong.len());
        for (what, times) in &self.uncovered {
            let _ = writeln!(lines, "{}: not covered: {what} ({times} times)", self.name);
        }
        // Past the capturing of the test harness: what is left out is never hidden.
        let _ = std::io::stderr().write_all(lines.as_bytes());
        for (kind, times) in &self.reproduced {
            println!("{}: {kind}: {times} reproduced", self.name);
        }
        let shown = self.wrong.iter().take(5).cloned().collect::<Vec<_>>().join("\n");
        assert!(self.wrong.is_empty(), "{} of {} vectors differ\n{shown}", self.wrong.len(), total + self.wrong.len());
    }
}

/// Fails where a file lacks one of the sections that the tests read, and lists those that they do not read.
pub fn sections(document: &Value, name: &'static str, read: &[&str]) {
    let mut account = Account::new(name);
    for section in read {
        account.compare("section", || (*section).to_owned(), &document[section].is_array().into(), &true.into());
    }
    for section in document.as_object().expect("a file of vectors is an object").keys() {
        if section != "meta" && !read.contains(&section.as_str()) {
            account.not_covered(format!("section {section}"));
        }
    }
    account.close();
}
