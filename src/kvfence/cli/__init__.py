"""The program: options in, one frozen value down, exit codes out."""
