"""Small things that every package uses: extras, lazy imports, input within bounds, words, folders of runs."""
