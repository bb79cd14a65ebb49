"""Code that users bring: variants, queue disciplines and rules for bit rates, behind one gate."""
