"""What a running server says of itself over HTTP: one engine a file, and one door through which all is asked."""
