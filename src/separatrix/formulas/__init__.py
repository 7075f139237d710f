"""What has a formula: naive Bayes, centroids, least squares."""
