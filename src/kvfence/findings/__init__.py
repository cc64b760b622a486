"""What a check found, where it stands, and how verdicts combine. No format lives here."""
