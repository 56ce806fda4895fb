"""Tests of the pages, the cards and the socket."""
