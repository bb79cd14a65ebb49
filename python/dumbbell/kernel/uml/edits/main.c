	os_set_pdeathsig();
	i = personality(0xffffffff);
	if (i >= 0 && !(i & ADDR_NO_RANDOMIZE) && personality(i | ADDR_NO_RANDOMIZE) >= 0)
		execv("/proc/self/exe", argv);

	set_stklim();

