"""The HTTP API: one module per kind of thing it serves, one error shape, one thread hop per step."""
