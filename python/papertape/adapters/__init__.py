"""Agents of other projects, run by Papertape as they are."""
