//! The list of variants: each has its module (a file or folder) and its row or rows of the registry. Tables and the
//! looks in plots follow this order.

/// Applies a macro to the list. Modules, the registry and the tests in `tests/variants/` are made from it.
#[doc(hidden)]
#[macro_export]
macro_rules! with_variants {
    ($apply:ident) => {
        $apply! {
            reno { TAHOE, RENO, NEWRENO, SACK }
            vegas { ROW }
            veno { ROW }
            westwood { ROW }
            bic { ROW }
            cubic { ROW }
            highspeed { ROW }
            scalable { ROW }
            htcp { ROW }
            hybla { ROW }
            illinois { ROW }
            yeah { ROW }
            compound { ROW }
            lp { ROW }
            ledbat { ROW }
            ledbat_plus_plus { ROW }
            cdg { ROW }
            nv { ROW }
            dctcp { ROW }
            prague { ROW }
            copa { ROW }
            sprout { ROW }
            verus { ROW }
            bbr1 { ROW }
            bbr3 { ROW }
            fixed { ROW }
        }
    };
}

macro_rules! modules_and_rows {
    ($($module:ident { $($row:ident),+ })+) => {
        $(mod $module;)+

        /// Every row of the registry.
        pub(crate) const ROWS: &[$crate::Variant] = &[$($($module::$row),+),+];
    };
}

with_variants!(modules_and_rows);
