"""Is there a hyperplane with every point strictly on its side? A search that ends in a proof either way.

`search` runs the plan: Newton steps (`newton`), linear programs on the rows that matter (`programs`, `touching`), and
exact arithmetic (`simplex`, `faces`, `repair`) where floats cannot tell or a proof in rationals is asked for.
"""
