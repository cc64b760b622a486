"""Families of attention, one a file: what a token or a request costs in each."""
