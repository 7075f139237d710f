"""min over (w, b) of the total weight of rows on the wrong side: exactly, or between two bounds.

`points` merges identical rows, `climbing` finds a good hyperplane, `enumeration` tries every one where there are few
columns, `cover` removes rows until the rest separates, as few as possible, by the `conflicts` among them, `budget`
counts the work, and `learner` runs the plan.
"""
