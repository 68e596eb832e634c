//! `pipeaudit --version`, and with `--verbose` the library versions that are reproduced bit for bit.

use crate::commands::sink::Sink;
use crate::error::Result;
use crate::exit::Exit;

const REPRODUCED: &str = "\
reproduced bit for bit (x86-64, torch's AVX2 kernels, one thread):
  torch 2.15.0        CPU generator, DataLoader's seeding and sampling
  torchvision 0.29.2  RandomCrop, flips, ColorJitter on PIL images (transforms v1)
  Pillow 13.0.0       the pixels of those, modes L, RGB and RGBA, from decoded pixels on
  numpy 2.1.3         RandomState, Generator (PCG64, Philox, MT19937), SeedSequence
  CPython 3.11        random.Random
known to differ elsewhere:
  torch before 1.9 does not seed NumPy in workers
  torch kernels without fused multiply-add (ATEN_CPU_CAPABILITY=default, some ARM builds): about one factor in five
  differs in its last bit
  transforms v2 draws nothing for a crop in a direction that fits exactly, v1 does
  JPEG decoders may differ by 1 in a pixel value
";

/// Shows it.
///
/// # Errors
/// Where standard output cannot be written.
pub fn run(verbose: bool) -> Result<Exit> {
    let mut text = format!("pipeaudit {}\n", env!("CARGO_PKG_VERSION"));
    if verbose {
        text.push_str(REPRODUCED);
    }
    Sink::Standard.write(&text)?;
    Ok(Exit::Clean)
}
