"""Signs that an answer was made without its context though its status was 200. One sign a file; none is a proof."""
