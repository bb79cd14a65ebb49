"""The GENI report: four variants alone, and every pair of them at one bottleneck."""
