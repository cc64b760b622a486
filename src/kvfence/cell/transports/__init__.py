"""How bytes of pages and messages get from one worker to another."""
