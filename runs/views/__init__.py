"""The pages: a view reads a form, calls one function, renders or redirects."""
