"""How slow the machine is at the moment: a bar of time is for an idle one, and a busy one takes longer for all."""

import time

IDLE_SECONDS = 0.010  # of the processor for `_work`, on the idle machine that bars of time are for


def slowness():
    """What the processor takes for a fixed piece of work, in units of what an idle machine takes; at least 1."""
    began = time.thread_time()
    _work()
    return max(1.0, (time.thread_time() - began) / IDLE_SECONDS)


def _work():
    total = 0
    for i in range(200_000):
        total += i * i % 7
    return total
