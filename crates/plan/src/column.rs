//! Columns of the results. Each is declared once, beside its field in [`crate::FlowResult`], [`crate::QueueResult`] or
//! [`crate::Transfer`]: merges, tables, comparisons, axes and the documentation read the declaration.
//!
//! ```text
//! #[merge(Sum, Router)]                 over connections and over hosts; every column of a flow needs it
//! #[column(unit = Share, better = Less, margin = "10 %", summary = (20, "drops %"))]      each part where it applies
//! pub drop_rate: Optional,
//! ```

use crate::optional::Optional;
use crate::result::Name;
use serde::Serialize;

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A text.
    Text,
    /// A number.
    Number,
    /// A whole number, 0 or more.
    Count,
}

/// The unit of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Unit {
    /// No unit: a number of things, a ratio, a score.
    #[serde(rename = "")]
    None,
    /// Bits in a second.
    #[serde(rename = "bit/s")]
    BitPerS,
    /// Milliseconds.
    #[serde(rename = "ms")]
    Ms,
    /// Seconds.
    #[serde(rename = "s")]
    S,
    /// Bytes.
    #[serde(rename = "bytes")]
    Bytes,
    /// Packets or segments.
    #[serde(rename = "packets")]
    Packets,
    /// A share from 0 to 1, which tables and axes show in percent.
    #[serde(rename = "share")]
    Share,
}

impl Unit {
    /// The end of the names of columns with this unit; empty if they have none.
    #[must_use]
    pub fn suffix(self) -> &'static str {
        match self {
            Unit::BitPerS => "_bps",
            Unit::Ms => "_ms",
            Unit::S => "_s",
            Unit::Bytes => "_bytes",
            Unit::Packets => "_packets",
            Unit::None | Unit::Share => "",
        }
    }
}

/// The better direction of a metric, where this is clear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// A larger value is better.
    More,
    /// A smaller value is better.
    Less,
}

/// The value of a flow that has several connections, each with its own meter: those of a real program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Connections {
    /// The sum over all connections.
    Sum,
    /// The value of the connection that has sent most.
    Main,
}

/// The machine that has a flow's value, where each end of the flow and a router between them are machines of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hosts {
    /// The machine of the data sender.
    Sender,
    /// The machine at which the data arrive; the sender's for echoes.
    Receiver,
    /// The router, which observes every packet; without one, the ends.
    Router,
    /// The router for TCP, the sender's machine for other transports.
    TcpRouter,
}

/// A column in the summaries of the command line, of notebooks and of reports: means over repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Summaries have their columns in the order of these numbers.
    pub place: u8,
    /// Heading, with the unit that is shown.
    pub heading: &'static str,
    /// True if the column is left out where all values are zero, as on most links.
    pub where_any: bool,
}

/// The declaration of a column.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Column {
    /// Name of the column.
    pub name: &'static str,
    /// Type of the values.
    pub kind: Kind,
    /// True if there may be no value.
    pub nullable: bool,
    /// Unit of the values.
    pub unit: Unit,
    /// Definition of the values.
    pub doc: &'static str,
    /// The better direction, where this is clear.
    pub better: Option<Better>,
    /// The difference that matters unless a comparison is given another: a part of the larger mean, of headline metrics.
    pub margin: Option<&'static str>,
    /// Smallest and largest possible value, where the unit and the type don't state them: a share is from 0 to 1, a
    /// number of things, a time, a size and a rate are at least 0.
    pub bounds: Option<(f64, f64)>,
    /// Place in summaries, if it has one.
    pub summary: Option<Summary>,
    /// Merge over connections and over hosts, of a flow's columns.
    pub merge: Option<(Connections, Hosts)>,
}

impl Column {
    /// What a column is unless its declaration says otherwise.
    pub(crate) const PLAIN: Column = Column {
        name: "",
        kind: Kind::Text,
        nullable: false,
        unit: Unit::None,
        doc: "",
        better: None,
        margin: None,
        bounds: None,
        summary: None,
        merge: None,
    };
}

/// The columns of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FrameColumns {
    /// Name of the frame.
    pub name: &'static str,
    /// The columns in their order.
    pub columns: &'static [Column],
}

/// A type of values that a column may have.
pub(crate) trait Value {
    const KIND: Kind;
    const NULLABLE: bool = false;
}

macro_rules! values {
    ($($type:ty: $kind:ident $nullable:literal;)+) => {$(
        impl Value for $type {
            const KIND: Kind = Kind::$kind;
            const NULLABLE: bool = $nullable;
        }
    )+};
}

values! {
    String: Text false;
    Name: Text false;
    Option<String>: Text true;
    f64: Number false;
    Optional: Number true;
    Option<f64>: Number true;
    u64: Count false;
    Option<u64>: Count true;
}

/// Declares the columns of a frame: a struct with a documented field for each, and their descriptions. See the top of
/// this file.
macro_rules! columns {
    // The columns of a flow: each has its merge.
    (merged $(#[$attribute:meta])* pub struct $name:ident {$(
        $(#[doc = $doc:literal])+
        #[merge($connections:ident, $hosts:ident)]
        $(#[column($($key:ident = $value:tt),+)])?
        pub $column:ident: $type:ty,
    )+}) => {
        columns! {
            $(#[$attribute])* pub struct $name {$(
                $(#[doc = $doc])+
                #[column(merge = ($connections, $hosts) $(, $($key = $value),+)?)]
                pub $column: $type,
            )+}
        }

        impl $name {
            /// Adds another connection of the same flow, which has sent less.
            pub fn add_connection(&mut self, other: &$name) {
                $(columns!(@add $connections self.$column, other.$column);)+
            }
        }
    };
    ($(#[$attribute:meta])* pub struct $name:ident {$(
        $(#[doc = $doc:literal])+
        $(#[column($($key:ident = $value:tt),+)])?
        pub $column:ident: $type:ty,
    )+}) => {
        $(#[$attribute])*
        pub struct $name {
            $($(#[doc = $doc])+ pub $column: $type,)+
        }

        impl $name {
            /// The declarations of the columns, in their order.
            pub const COLUMNS: &'static [Column] = &[$({
                let plain = Column {
                    name: stringify!($column),
                    kind: <$type as Value>::KIND,
                    nullable: <$type as Value>::NULLABLE,
                    doc: concat!($($doc, "\n"),+),
                    ..Column::PLAIN
                };
                Column { $($($key: columns!(@$key $value),)+)? ..plain }
            }),+];
        }
    };
    (@unit $unit:ident) => { Unit::$unit };
    (@better $better:ident) => { Some(Better::$better) };
    (@margin $margin:literal) => { Some($margin) };
    (@bounds ($least:literal, $largest:literal)) => { Some(($least, $largest)) };
    (@summary ($place:literal, $heading:literal)) => {
        Some(Summary { place: $place, heading: $heading, where_any: false })
    };
    (@summary ($place:literal, $heading:literal, where_any)) => {
        Some(Summary { place: $place, heading: $heading, where_any: true })
    };
    (@merge ($connections:ident, $hosts:ident)) => { Some((Connections::$connections, Hosts::$hosts)) };
    (@add Sum $mine:expr, $its:expr) => { $mine += $its };
    (@add Main $mine:expr, $its:expr) => {};
}
pub(crate) use columns;
