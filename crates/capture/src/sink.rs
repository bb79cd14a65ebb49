//! Passes the frames of a reader through a dissector to an analyzer.

use crate::{Damage, Dissected, Dissector, Frame, Reader};

/// An analyzer. It receives each frame once, in file order.
///
/// Both arguments are borrowed for the call. An analyzer keeps state per connection, not per frame, so that memory does
/// not grow with the file.
pub trait Sink {
    /// Processes the next frame.
    fn frame(&mut self, frame: &Frame<'_>, found: &Dissected<'_>);
}

/// Passes all frames of `reader` to `sink`. Returns the damage of a damaged file; the frames before it were used.
///
/// `dissector` and `sink` can be used again for the next file; fragments and connections then continue.
pub fn run(reader: &mut Reader, dissector: &mut Dissector, sink: &mut impl Sink) -> Option<Damage> {
    while let Some(frame) = reader.next_frame() {
        let found = dissector.dissect(&frame);
        sink.frame(&frame, &found);
    }
    reader.damage().cloned()
}
