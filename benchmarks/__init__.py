"""separatrix against its rivals, and what it costs beside them: see docs/benchmarks.md.

``problems`` are solved to a common objective, evaluated outside all contestants (``adapters``); ``everyday`` jobs are
timed as they are. ``python -m benchmarks`` or ``separatrix bench`` runs both.
"""
