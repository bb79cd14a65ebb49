//! The list of queue disciplines, in the order of the tables in the docs. The macro declares the module and the
//! registry row.

macro_rules! disciplines {
    ($($module:ident)+) => {
        $(mod $module;)+

        /// All rows of the registry.
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
