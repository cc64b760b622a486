"""One file a log format: how its records are known, and what in them is what. Bytes are not read here."""
