//! From a reader through a dissector into an analyzer.

use crate::{Damage, Dissected, Dissector, Frame, Reader};

/// An analyzer: it is given each frame once, in file order, and keeps what it needs.
///
/// Both arguments are borrowed for the call only. What is kept must be state per connection, never per frame,
/// so that memory does not grow with the file.
pub trait Sink {
    /// The next frame and what was found in it.
    fn frame(&mut self, frame: &Frame<'_>, found: &Dissected<'_>);
}

/// Reads all frames of `reader` into `sink`; `Some` if the file is damaged (all frames before the damage were used).
///
/// `dissector` and `sink` may be used again for the next file: fragments and connections then go on.
pub fn run(reader: &mut Reader, dissector: &mut Dissector, sink: &mut impl Sink) -> Option<Damage> {
    while let Some(frame) = reader.next_frame() {
        let found = dissector.dissect(&frame);
        sink.frame(&frame, &found);
    }
    reader.damage().cloned()
}
