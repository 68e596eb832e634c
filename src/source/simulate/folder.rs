//! Finds the images below a folder.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Folders below folders that are followed: enough for any dataset, and an end to loops.
const MAX_DEPTH: usize = 64;

/// Images, and how many other files there are.
#[derive(Debug)]
pub struct Found {
    /// In sorted order.
    pub images: Vec<PathBuf>,
    /// Files that are no PNG or JPEG by their names, or no files.
    pub others: u64,
}

/// The PNG and JPEG files below `folder`, by their file names' endings, in sorted order. Links to folders are not
/// followed.
///
/// # Errors
/// Where the folder, or one below it, cannot be read, or there is no image.
pub fn images(folder: &Path) -> Result<Found> {
    let metadata = fs::metadata(folder).map_err(|error| {
        let message = match error.kind() {
            std::io::ErrorKind::NotFound => format!("no such folder: {}", folder.display()),
            _ => format!("cannot read folder {}: {error}", folder.display()),
        };
        Error::usage(message)
            .help("give --images a folder of PNG or JPEG files, or leave it out to use the embedded images")
    })?;
    if !metadata.is_dir() {
        return Err(Error::usage(format!("{} is a file, not a folder", folder.display()))
            .help("give --images the folder that holds the image"));
    }
    let mut found = Vec::new();
    let mut others = 0;
    walk(folder, 0, &mut found, &mut others)?;
    if found.is_empty() {
        let others = if others == 0 { String::new() } else { format!(" (other files: {others})") };
        return Err(Error::not_audited(format!("no PNG or JPEG image in {}{others}", folder.display()))
            .help("regular files count whose names end in .png, .jpg or .jpeg; folders below are searched too"));
    }
    found.sort();
    Ok(Found { images: found, others })
}

fn walk(folder: &Path, depth: usize, found: &mut Vec<PathBuf>, others: &mut u64) -> Result<()> {
    let unreadable = |error: std::io::Error| {
        Error::not_audited(format!("cannot read folder {}: {error}", folder.display()))
            .help("make it readable for this user, or move it out of the folder given to --images")
    };
    if depth > MAX_DEPTH {
        return Err(Error::not_audited(format!("folders nested deeper than {MAX_DEPTH} at {}", folder.display()))
            .help("give --images a folder nearer to the images"));
    }
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let path = entry.path();
        let kind = entry.file_type().map_err(unreadable)?;
        if kind.is_dir() {
            walk(&path, depth + 1, found, others)?;
        } else if is_image(&path) && (kind.is_file() || fs::metadata(&path).map_or(true, |m| m.is_file())) {
            found.push(path);
        } else {
            *others += 1;
        }
    }
    Ok(())
}

fn is_image(path: &Path) -> bool {
    path.extension()
        .and_then(|extension| extension.to_str())
        .is_some_and(|extension| ["png", "jpg", "jpeg"].iter().any(|known| extension.eq_ignore_ascii_case(known)))
}
