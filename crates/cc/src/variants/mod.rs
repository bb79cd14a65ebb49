//! The variants: one file or folder and one row of this list each. The order is that of the tables and of the plots' looks.

macro_rules! variants {
    ($($module:ident { $($row:ident),+ })+) => {
        $(mod $module;)+

        /// Every row of the registry.
        pub(crate) const ROWS: &[crate::Variant] = &[$($($module::$row),+),+];
    };
}

variants! {
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
