static unsigned long long dumbbell_state;
static int dumbbell_seeded;

static int __init dumbbell_seed_setup(char *line, int *add)
{
	dumbbell_state = strtoull(line, NULL, 0);
	dumbbell_seeded = 1;
	*add = 0;
	return 0;
}

__uml_setup("dumbbell_seed=", dumbbell_seed_setup,
"dumbbell_seed=<n>\n"
"    Draw all randomness from a generator started with n.\n\n"
);

/* SplitMix64, 8 bytes a step. */
static ssize_t dumbbell_random(unsigned char *buf, size_t len)
{
	unsigned long long z = 0;
	size_t i;

	for (i = 0; i < len; i++, z >>= 8) {
		if (i % 8 == 0) {
			z = dumbbell_state += 0x9e3779b97f4a7c15ULL;
			z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
			z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
			z ^= z >> 31;
		}
		buf[i] = z;
	}
	return len;
}

ssize_t os_getrandom(void *buf, size_t len, unsigned int flags)
{
	if (dumbbell_seeded)
		return dumbbell_random(buf, len);
