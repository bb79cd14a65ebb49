"""Linux in virtual time (User-mode Linux): the back end, and the build of its kernels."""
