"""Bodies of requests and responses as the APIs have them: whichever log kept them, they are read here, once."""
