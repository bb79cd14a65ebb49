//! The kernel's discipline that corresponds to a row of the registry: data that the kernel's back ends read
//! [Linux sch_*.c, pkt_sched.h].

/// A discipline of the kernel. A scenario's parameters have the names of `tc`'s options.
#[derive(Clone, Copy, Debug)]
pub struct KernelQdisc {
    /// Its names in the kernel (`TCA_KIND`).
    pub kinds: &'static [&'static str],
    /// The form of its options.
    pub options: KernelOptions,
    /// Parameters of the row for which the kernel has one value: name, value.
    pub only: &'static [(&'static str, &'static str)],
    /// Offsets of the counters of packets that were dropped because the queue was full, in its statistics structure
    /// (`TCA_STATS_APP`); None: each drop is one.
    pub overlimit: Option<&'static [usize]>,
    /// True if it separates the connections of a flow.
    pub separates_connections: bool,
}

impl KernelQdisc {
    /// A discipline without options that drops only if the queue is full, for `..KernelQdisc::EMPTY`.
    pub const EMPTY: KernelQdisc = KernelQdisc {
        kinds: &[],
        options: KernelOptions::Attributes(&[]),
        only: &[],
        overlimit: None,
        separates_connections: false,
    };
}

/// The form of a discipline's options.
#[derive(Clone, Copy, Debug)]
pub enum KernelOptions {
    /// `tc_fifo_qopt`: the first kind has a limit in packets, the second one in bytes.
    Fifo,
    /// `tc_red_qopt`.
    Red,
    /// `tc_sfq_qopt_v1`.
    Sfq,
    /// None: its classes have a quantum.
    Drr,
    /// Attributes, some of which are derived from several parameters.
    Cake,
    /// An attribute for each parameter.
    Attributes(&'static [KernelAttribute]),
}

/// A netlink attribute that has the value of one parameter.
#[derive(Clone, Copy, Debug)]
pub struct KernelAttribute {
    /// Its number (`TCA_...`).
    pub number: u16,
    /// The parameter.
    pub param: &'static str,
    /// How the parameter's value is written.
    pub form: AttributeForm,
}

/// How a parameter's value is written to an attribute of 32 bits.
#[derive(Clone, Copy, Debug)]
pub enum AttributeForm {
    /// A limit in packets.
    Packets,
    /// A duration in microseconds.
    Micros,
    /// A duration in microseconds; no attribute for a word.
    MicrosUnlessWord,
    /// 0 or 1.
    Flag,
    /// An integer.
    Int,
    /// A size in bytes.
    Bytes,
    /// A number without a fraction.
    Whole,
    /// A probability in percent, rounded.
    Percent,
    /// For this choice an attribute of 8 bits: its value, and `tc`'s text of it. No attribute for other choices.
    Choice(&'static str, u8, &'static str),
}

/// Constructors of attributes, for the rows.
macro_rules! forms {
    ($($name:ident $form:ident)+) => {
        $(pub(crate) const fn $name(number: u16, param: &'static str) -> KernelAttribute {
            KernelAttribute { number, param, form: AttributeForm::$form }
        })+
    };
}

forms! {
    packets Packets
    micros Micros
    micros_unless_word MicrosUnlessWord
    flag Flag
    int Int
    bytes Bytes
    whole Whole
    percent Percent
}

pub(crate) const fn choice(
    number: u16,
    param: &'static str,
    word: &'static str,
    value: u8,
    text: &'static str,
) -> KernelAttribute {
    KernelAttribute { number, param, form: AttributeForm::Choice(word, value, text) }
}
