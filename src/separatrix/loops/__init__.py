"""Every loop over rows, coordinates or kernel entries: its Python reference here, its C twin in native/.

The reference is the text to read, the oracle of the test, and what runs where nothing was compiled.
"""
