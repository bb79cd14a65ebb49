"""The study ``ns2-cbr``: an ns-2 report on TCP variants against CBR traffic."""
