//! The queue disciplines: one file and one row of this list each. The order is that of the tables.

macro_rules! disciplines {
    ($($module:ident)+) => {
        $(mod $module;)+

        /// Every row of the registry.
        pub(crate) const ROWS: &[crate::Discipline] = &[$($module::ROW),+];
    };
}

disciplines! {
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
