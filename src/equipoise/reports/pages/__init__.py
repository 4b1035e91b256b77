"""Sections, and what is written from them: the page, the tables and the figures."""
