"""Secrets in past prompts and answers: which they are, where they stood, never what they say.

Hyperscan looks at all of a text for whatever might be one; Kingfisher's rules and our own look at what it points to.
Nothing here writes a file, opens a connection or validates anything. A value lives in memory as long as its window.
"""
