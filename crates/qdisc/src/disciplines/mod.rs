//! The list of queue disciplines, in the order of the tables in the docs.

/// Applies a macro to the list. Modules, the registry and the tests in `tests/disciplines/` are made from it.
#[doc(hidden)]
#[macro_export]
macro_rules! with_disciplines {
    ($apply:ident) => {
        $apply! {
            droptail
            red
            blue
            codel
            pie
            pi2
            dualpi2
            sfq
            drr
            prio
            fq_codel
            fq_pie
            cake
            tbf
        }
    };
}

macro_rules! modules_and_rows {
    ($($module:ident)+) => {
        $(mod $module;)+

        /// All rows of the registry.
        pub(crate) const ROWS: &[crate::Discipline] = &[$($module::ROW),+];
    };
}

with_disciplines!(modules_and_rows);
