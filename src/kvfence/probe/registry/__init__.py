"""A memory of every marker ever planted, in an SQLite file that campaigns share. Nothing is judged here."""
