//! The connections of a workload, for each transport.

use crate::flows::FlowInfo;
use crate::flows::connection::Side;
use crate::network::{Arrived, Network};
use crate::tcp_meter::{Connected, Metered};
use dumbbell_units::Time;

/// A connection that carries transfers from the data sender, which opens it, to the data receiver.
pub(crate) trait Carrier: Connected + Send {
    /// The data sender's end.
    type Sender: Metered;
    /// Makes connections.
    type Factory: Factory<Self> + Send;
    /// True if a connection carries several transfers at a time.
    const SHARED: bool;

    fn sender(&self) -> &Self::Sender;
    /// Payload of a full packet, bytes.
    fn full_payload(&self) -> u64;
    /// The data sender connects.
    fn open(&mut self, factory: &Self::Factory, now: Time);
    /// A transfer begins; `row`: its index in the run's list.
    fn begin(&mut self, bytes: u64, row: usize);
    /// No transfer follows: the connection ends after those that are under way.
    fn close(&mut self);
    /// Both applications stop: the running transfers remain incomplete.
    fn abandon(&mut self, now: Time);
    /// Processes a packet at one end. True if that end has nothing to send but ACKs.
    fn on_packet(&mut self, packet: Arrived, side: Side, net: &Network) -> bool;
    fn on_timer(&mut self, side: Side, now: Time);
    /// Sends all that one end has ready; returns when its timer expires.
    fn send(&mut self, side: Side, info: &FlowInfo, number: u32, net: &mut Network) -> Option<Time>;
    /// The same at a data receiver that has nothing to send but ACKs.
    fn send_acks(&mut self, info: &FlowInfo, number: u32, net: &mut Network) -> Option<Time> {
        self.send(Side::Receiver, info, number, net)
    }
    /// The row of a transfer that is complete; each is returned once.
    fn take_completed(&mut self) -> Option<usize>;
    /// True if a transfer can begin.
    fn is_usable(&self) -> bool;
    /// True once neither end sends any more.
    fn is_over(&self) -> bool;
}

/// Makes the connections of a flow.
pub(crate) trait Factory<C: ?Sized> {
    /// A connection that is not open.
    fn connection(&mut self) -> C;
    /// Name of the congestion control variant.
    fn variant(&self) -> &'static str;
    /// Payload of a full packet of a new connection, bytes.
    fn full_payload(&self) -> u64;
}
