	iov.iov_len = 1 << 16;
	if (ptrace(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &iov) == 0
	    && iov.iov_len > FP_SIZE * sizeof(unsigned long)) {
		os_warn("this CPU's vector registers are too many: %zu bytes\n", iov.iov_len);
		os_kill_ptraced_process(pid, 1);
		exit(1);
	}
	if (ptrace(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &iov) == 0)
