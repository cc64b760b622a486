"""Canaries in prompts that are somebody's own: bury a marker, ask for it back, take it out of the answer.

Nothing here talks to an endpoint, and nothing here imports more than the standard library: an application's tests and
its live calls import this.
"""
