"""What will be launched: scripts, units, compose files and manifests, read and never run."""
