"""Canaries in prompts that are somebody's own: bury a marker, ask for it back, take it out of the answer.

Nothing here talks to an endpoint, and a canary imports the standard library only: an application's tests and its live
calls import this. `in_tests` imports pytest, and `metrics` the client library of Prometheus, where they are wanted.
"""
