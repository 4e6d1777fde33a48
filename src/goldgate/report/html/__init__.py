"""A page as HTML: one file that shows everything, loads nothing, and takes nothing from data for markup."""
