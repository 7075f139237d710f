"""One algorithm a file, and the driver that runs them; they know nothing of estimators or of how rows are stored."""
