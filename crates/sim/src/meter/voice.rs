//! The packets of a voice call, from their sending to their playout. The simulator and the kernel back ends share it.

use dumbbell_apps::VoicePlan;
use dumbbell_apps::voice::{self, VoiceFate, VoicePacket};
use dumbbell_plan::FlowResult;
use dumbbell_trace::Table;
use dumbbell_trace::tables::VoiceTable;

/// See the top of this file. Times are ns of the run.
#[derive(Clone, Debug)]
pub struct VoiceMeter {
    plan: VoicePlan,
    /// All packets of the call, by sending time: the jitter buffer depends on the first one.
    packets: Vec<VoicePacket>,
}

impl VoiceMeter {
    /// A call that has not begun.
    #[must_use]
    pub fn new(plan: VoicePlan) -> VoiceMeter {
        VoiceMeter { plan, packets: Vec::new() }
    }

    /// A packet is sent, later than the ones before.
    pub fn sent(&mut self, now: u64) {
        self.packets.push(VoicePacket { sent: now, arrived: None });
    }

    /// The first copy of the packet that was sent at `sent` arrives.
    pub fn arrived(&mut self, sent: u64, now: u64) {
        if let Ok(n) = self.packets.binary_search_by_key(&sent, |packet| packet.sent) {
            self.packets[n].arrived.get_or_insert(now);
        }
    }

    /// Fills in the results of the packets sent from `from` on, for a flow that ends at `end`.
    pub fn fill(&self, from: u64, end: u64, result: &mut FlowResult) {
        let (metrics, _) = voice::rate(&self.plan, &self.packets, from, end);
        let Some(m) = metrics else { return };
        result.jitter_ms = m.jitter_ms.into();
        result.late_packets = Some(m.late);
        result.playout_loss = m.loss.into();
        result.burst_ratio = m.burst_ratio.into();
        result.mouth_to_ear_ms = m.mouth_to_ear_ms.into();
        result.r_factor = m.r.into();
        result.mos = m.mos.into();
    }

    /// Returns the series of a flow that ends at `end`.
    #[must_use]
    pub fn table(&self, end: u64, name: &str) -> Table {
        let (_, fates) = voice::rate(&self.plan, &self.packets, 0, end);
        let mut table = VoiceTable::default();
        for (packet, (fate, playout)) in self.packets.iter().zip(fates) {
            let Some(fate) = fate else { continue };
            table.t_ns.push(packet.sent);
            let arrived = packet.arrived.filter(|_| fate != VoiceFate::Lost);
            table.delay_ns.push(arrived.map_or(f64::NAN, |at| (at - packet.sent) as f64));
            table.playout_ns.push(playout);
            table.fate.push(fate as u8);
        }
        table.into_table(name)
    }
}
