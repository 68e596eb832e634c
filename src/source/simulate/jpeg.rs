//! Walks the segments of a JPEG file, to tell a whole one from one that was cut off.

use std::io::{BufRead, Read};

/// Colour components of a JPEG that runs to its end marker; `None` where it ends before.
///
/// Markers are `FF xx`; all but those that stand alone carry a length; entropy-coded data follows each start of scan, in
/// which `FF 00` is a byte and `FF D0` to `FF D7` are restarts (ITU-T T.81, annex B).
pub fn components<R: BufRead>(reader: &mut R) -> Option<u8> {
    let mut components = 0;
    let mut marker = next_marker(reader)?;
    loop {
        match marker {
            0xD9 => return Some(components),
            0x01 | 0xD0..=0xD8 => marker = next_marker(reader)?,
            _ => {
                let body = segment(reader)?;
                // Start of frame, whatever its coding: C0 to CF but tables, extensions and arithmetic conditioning.
                if matches!(marker, 0xC0..=0xCF) && !matches!(marker, 0xC4 | 0xC8 | 0xCC) {
                    components = *body.get(5)?;
                }
                marker = next_marker(reader)?;
            }
        }
    }
}

/// The next marker; entropy-coded data before it is passed over.
fn next_marker<R: BufRead>(reader: &mut R) -> Option<u8> {
    loop {
        let passed = reader.skip_until(0xFF).ok()?;
        if passed == 0 {
            return None;
        }
        let mut code = 0xFF;
        while code == 0xFF {
            code = byte(reader)?;
        }
        if code != 0 {
            return Some(code);
        }
    }
}

fn segment<R: Read>(reader: &mut R) -> Option<Vec<u8>> {
    let length = u16::from_be_bytes([byte(reader)?, byte(reader)?]);
    let mut body = vec![0; usize::from(length.checked_sub(2)?)];
    reader.read_exact(&mut body).ok()?;
    Some(body)
}

fn byte<R: Read>(reader: &mut R) -> Option<u8> {
    let mut byte = [0];
    reader.read_exact(&mut byte).ok()?;
    Some(byte[0])
}
