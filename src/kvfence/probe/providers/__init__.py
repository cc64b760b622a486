"""Several vendors of one model: who they are, from a file, and the same campaign over each, one after the other."""
