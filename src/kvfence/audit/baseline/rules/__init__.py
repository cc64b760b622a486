"""What the gate can find, a page a module; which fact belongs to which is in `direction.py`."""
