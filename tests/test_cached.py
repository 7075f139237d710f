"""Properties that are computed once: without a lock that a fork would take along."""

import threading

from separatrix.cached import cached_property


class Slow:
    def __init__(self):
        self.computed = 0
        self.meeting = threading.Barrier(2)

    @cached_property
    def value(self):
        """What it is."""
        self.computed += 1
        return object()

    @cached_property
    def met(self):
        return self.meeting.wait(20)


def test_it_is_computed_once():
    slow = Slow()
    assert slow.value is slow.value
    assert slow.computed == 1
    assert Slow.value.__doc__ == "What it is."


def test_two_objects_do_not_wait_for_each_other():
    first, second = Slow(), Slow()
    first.meeting = second.meeting  # each is computed only if the other one is at the same time
    thread = threading.Thread(target=lambda: second.met)
    thread.start()
    assert first.met in (0, 1)
    thread.join()
