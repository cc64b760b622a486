"""Forensics over past traffic: which answers carry another's text, and which secrets have to be rotated.

All of it works on Arrow batches of `batches.EXCHANGES`; `cli/scan.py` loads this package late, as Arrow is heavy.
"""
