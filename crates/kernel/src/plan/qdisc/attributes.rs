//! Netlink attributes of queue disciplines whose options are all numbers, and their values, under the kernel's names
//! [Linux pkt_sched.h: one enum for each discipline].

pub(super) const TCA_CODEL_TARGET: u16 = 1;
pub(super) const TCA_CODEL_LIMIT: u16 = 2;
pub(super) const TCA_CODEL_INTERVAL: u16 = 3;
pub(super) const TCA_CODEL_ECN: u16 = 4;
pub(super) const TCA_CODEL_CE_THRESHOLD: u16 = 5;

pub(super) const TCA_FQ_CODEL_TARGET: u16 = 1;
pub(super) const TCA_FQ_CODEL_LIMIT: u16 = 2;
pub(super) const TCA_FQ_CODEL_INTERVAL: u16 = 3;
pub(super) const TCA_FQ_CODEL_ECN: u16 = 4;
pub(super) const TCA_FQ_CODEL_FLOWS: u16 = 5;
pub(super) const TCA_FQ_CODEL_QUANTUM: u16 = 6;
pub(super) const TCA_FQ_CODEL_CE_THRESHOLD: u16 = 7;
pub(super) const TCA_FQ_CODEL_DROP_BATCH_SIZE: u16 = 8;
pub(super) const TCA_FQ_CODEL_MEMORY_LIMIT: u16 = 9;
pub(super) const TCA_FQ_CODEL_CE_THRESHOLD_SELECTOR: u16 = 10;
pub(super) const TCA_FQ_CODEL_CE_THRESHOLD_MASK: u16 = 11;

pub(super) const TCA_PIE_TARGET: u16 = 1;
pub(super) const TCA_PIE_LIMIT: u16 = 2;
pub(super) const TCA_PIE_TUPDATE: u16 = 3;
pub(super) const TCA_PIE_ALPHA: u16 = 4;
pub(super) const TCA_PIE_BETA: u16 = 5;
pub(super) const TCA_PIE_ECN: u16 = 6;
pub(super) const TCA_PIE_BYTEMODE: u16 = 7;
pub(super) const TCA_PIE_DQ_RATE_ESTIMATOR: u16 = 8;

pub(super) const TCA_FQ_PIE_LIMIT: u16 = 1;
pub(super) const TCA_FQ_PIE_FLOWS: u16 = 2;
pub(super) const TCA_FQ_PIE_TARGET: u16 = 3;
pub(super) const TCA_FQ_PIE_TUPDATE: u16 = 4;
pub(super) const TCA_FQ_PIE_ALPHA: u16 = 5;
pub(super) const TCA_FQ_PIE_BETA: u16 = 6;
pub(super) const TCA_FQ_PIE_QUANTUM: u16 = 7;
pub(super) const TCA_FQ_PIE_MEMORY_LIMIT: u16 = 8;
pub(super) const TCA_FQ_PIE_ECN_PROB: u16 = 9;
pub(super) const TCA_FQ_PIE_ECN: u16 = 10;
pub(super) const TCA_FQ_PIE_BYTEMODE: u16 = 11;
pub(super) const TCA_FQ_PIE_DQ_RATE_ESTIMATOR: u16 = 12;

pub(super) const TCA_CAKE_BASE_RATE64: u16 = 2;
pub(super) const TCA_CAKE_DIFFSERV_MODE: u16 = 3;
pub(super) const TCA_CAKE_FLOW_MODE: u16 = 5;
pub(super) const TCA_CAKE_OVERHEAD: u16 = 6;
pub(super) const TCA_CAKE_RTT: u16 = 7;
pub(super) const TCA_CAKE_TARGET: u16 = 8;
pub(super) const TCA_CAKE_MPU: u16 = 14;

/// Values of `TCA_CAKE_FLOW_MODE` and of `TCA_CAKE_DIFFSERV_MODE`.
pub(super) const CAKE_FLOW_NONE: u32 = 0;
pub(super) const CAKE_FLOW_FLOWS: u32 = 4;
pub(super) const CAKE_DIFFSERV_BESTEFFORT: u32 = 3;
