"""What stands for a missing value."""

MISSING = ("", "NA", "na", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None", "?", ".", "\\N")
