"""From the scores of a model to what is said of a row: its probabilities, and the class they decide on."""
