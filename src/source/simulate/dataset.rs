//! The dataset of the built-in pipeline: embedded images, or a folder of PNG and JPEG files.
//!
//! A bad image is an error that names the file, never a skipped sample. Decoded images are kept up to a fixed budget;
//! what is over it is decoded again each time, as a real dataset does.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::decode::{self, Decoded};
use crate::error::{Error, Result};
use crate::transform::Image;

/// Bytes of decoded pixels that are kept.
const CACHE_BUDGET: usize = 64 << 20;

const EMBEDDED: [(&str, &[u8]); 8] = [
    ("scene0.png", include_bytes!("../../../fixtures/images/scene0.png")),
    ("scene1.png", include_bytes!("../../../fixtures/images/scene1.png")),
    ("scene2.png", include_bytes!("../../../fixtures/images/scene2.png")),
    ("scene3.png", include_bytes!("../../../fixtures/images/scene3.png")),
    ("scene4.png", include_bytes!("../../../fixtures/images/scene4.png")),
    ("scene5.png", include_bytes!("../../../fixtures/images/scene5.png")),
    ("scene6.png", include_bytes!("../../../fixtures/images/scene6.png")),
    ("scene7.png", include_bytes!("../../../fixtures/images/scene7.png")),
];

/// Samples of the embedded dataset: each image several times, as a small folder of pictures would be used.
pub const EMBEDDED_SAMPLES: u64 = 64;

enum Bytes {
    Memory,
    Embedded(&'static [u8]),
    File(PathBuf),
}

struct Entry {
    name: String,
    bytes: Bytes,
    size: (u32, u32),
    cached: OnceLock<Arc<Image>>,
}

/// Images by index. Where it has more samples than images, index `i` is image `i` modulo their number.
pub struct Dataset {
    entries: Vec<Entry>,
    samples: u64,
    max_pixels: u64,
    cached_bytes: AtomicUsize,
    remarks: Vec<String>,
}

impl Dataset {
    /// The embedded images.
    ///
    /// # Errors
    /// Where `samples` is 0.
    pub fn embedded(samples: Option<u64>) -> Result<Self> {
        let entries = EMBEDDED.iter().map(|(name, bytes)| ((*name).to_owned(), Bytes::Embedded(bytes))).collect();
        Self::new(entries, Some(samples.unwrap_or(EMBEDDED_SAMPLES)), u64::MAX)
    }

    /// The PNG and JPEG files below `folder`, in sorted order. Every image in use is decoded once here, so that a bad
    /// one is found before anything runs. `max_pixels` is the most that one image may have.
    ///
    /// # Errors
    /// Where the folder or an image cannot be read or holds nothing to use.
    pub fn folder(folder: &Path, samples: Option<u64>, max_pixels: u64) -> Result<Self> {
        let found = super::folder::images(folder)?;
        let entries = found
            .images
            .into_iter()
            .map(|path| {
                let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
                (name, Bytes::File(path))
            })
            .collect();
        let mut dataset = Self::new(entries, samples, max_pixels)?;
        match found.others {
            0 => {}
            1 => dataset.remarks.push("1 file that is no PNG or JPEG is not used".to_owned()),
            others => dataset.remarks.push(format!("{others} files that are no PNG or JPEG are not used")),
        }
        Ok(dataset)
    }

    /// Images that are decoded already, each one sample.
    ///
    /// # Errors
    /// Where there is none.
    pub fn decoded(images: Vec<(String, Image)>) -> Result<Self> {
        if images.is_empty() {
            return Err(Error::not_audited("a dataset of no images").help("give it one image at least"));
        }
        let entry = |(name, image): (String, Image)| Entry {
            name,
            bytes: Bytes::Memory,
            size: (image.width, image.height),
            cached: OnceLock::from(Arc::new(image)),
        };
        let entries: Vec<_> = images.into_iter().map(entry).collect();
        let samples = entries.len() as u64;
        Ok(Self { entries, samples, max_pixels: u64::MAX, cached_bytes: AtomicUsize::new(0), remarks: Vec::new() })
    }

    fn new(entries: Vec<(String, Bytes)>, samples: Option<u64>, max_pixels: u64) -> Result<Self> {
        let found = entries.len() as u64;
        let samples = samples.unwrap_or(found);
        let mut remarks = Vec::new();
        if samples < found {
            remarks.push(format!(
                "{samples} of the {found} images are used, the first in sorted order (--samples {samples})"
            ));
        }
        let entries = entries.into_iter().take(samples.min(found) as usize);
        let entries =
            entries.map(|(name, bytes)| Entry { name, bytes, size: (0, 0), cached: OnceLock::new() }).collect();
        let mut dataset = Self { entries, samples, max_pixels, cached_bytes: AtomicUsize::new(0), remarks };
        dataset.decode_all()?;
        Ok(dataset)
    }

    /// Decodes every image once, on all cores; the first bad one in sorted order is the error.
    fn decode_all(&mut self) -> Result<()> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(self.entries.len().max(1));
        let next = AtomicUsize::new(0);
        let first_bad = AtomicUsize::new(usize::MAX);
        let work = || {
            let mut seen = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                if at >= self.entries.len() || at > first_bad.load(Ordering::Relaxed) {
                    return seen;
                }
                let outcome = self.decode(at).map(|decoded| {
                    let size = (decoded.image.width, decoded.image.height);
                    self.keep(at, decoded.image);
                    (size, decoded.conversion)
                });
                if outcome.is_err() {
                    first_bad.fetch_min(at, Ordering::Relaxed);
                }
                seen.push((at, outcome));
            }
        };
        let mut seen: Vec<_> = std::thread::scope(|scope| {
            let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            handles.into_iter().flat_map(|handle| handle.join().expect("a decoding thread does not panic")).collect()
        });
        seen.sort_by_key(|(at, _)| *at);
        let mut conversions: BTreeMap<&'static str, (u64, String)> = BTreeMap::new();
        for (at, outcome) in seen {
            let (size, conversion) = outcome?;
            self.entries[at].size = size;
            if let Some(conversion) = conversion {
                let first = self.entries[at].name.clone();
                conversions.entry(conversion).or_insert((0, first)).0 += 1;
            }
        }
        self.remarks.extend(conversions.into_iter().map(|(conversion, (count, first))| {
            let images = if count == 1 { "image is" } else { "images are" };
            format!("{count} {images} {conversion} (first: {first})")
        }));
        Ok(())
    }

    fn decode(&self, at: usize) -> Result<Decoded> {
        let entry = &self.entries[at];
        match &entry.bytes {
            Bytes::Memory => unreachable!("an image in memory is always cached"),
            Bytes::Embedded(bytes) => decode::decode(&entry.name, bytes, self.max_pixels),
            Bytes::File(path) => decode::decode_file(path, self.max_pixels),
        }
    }

    fn keep(&self, at: usize, image: Image) -> Arc<Image> {
        let image = Arc::new(image);
        let bytes = image.data.len();
        if self.cached_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes <= CACHE_BUDGET {
            return Arc::clone(self.entries[at].cached.get_or_init(|| image));
        }
        self.cached_bytes.fetch_sub(bytes, Ordering::Relaxed);
        image
    }

    /// The image of a sample.
    ///
    /// # Errors
    /// Where the file changed since it was first read.
    pub fn get(&self, index: u64) -> Result<Arc<Image>> {
        let at = self.position(index);
        if let Some(image) = self.entries[at].cached.get() {
            return Ok(Arc::clone(image));
        }
        let image = self.decode(at)?.image;
        if (image.width, image.height) != self.entries[at].size {
            return Err(Error::not_audited(format!("image {} changed while it was audited", self.entries[at].name))
                .help("audit a folder that nothing writes to"));
        }
        Ok(self.keep(at, image))
    }

    /// Width and height of a sample's image.
    pub fn size(&self, index: u64) -> (u32, u32) {
        self.entries[self.position(index)].size
    }

    /// The name of a sample's image, relative to its folder.
    pub fn name(&self, index: u64) -> &str {
        &self.entries[self.position(index)].name
    }

    fn position(&self, index: u64) -> usize {
        (index % self.entries.len() as u64) as usize
    }

    /// Number of samples.
    pub fn len(&self) -> u64 {
        self.samples
    }

    /// Whether there is none, which no constructor allows.
    pub fn is_empty(&self) -> bool {
        self.samples == 0
    }

    /// Number of images.
    pub fn images(&self) -> usize {
        self.entries.len()
    }

    /// What is worth saying once: colour modes that were converted, images that are not used.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }
}
