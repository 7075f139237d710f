"""Ctrl-C at any instruction: what it leaves is tried for each of them."""

import dis
import sys

LOOKED_AFTER = ("CALL", "RESUME", "JUMP_BACKWARD")  # instructions


def interrupted_at(step, modules, call):
    """Whether Ctrl-C came: after so many calls and jumps back of these modules' own code in this thread.

    There Python looks for signals; not between a lock of C's and what a with statement does with it.
    """
    left, last, files = [step], [""], {module.__file__ for module in modules}

    def trace(frame, event, argument):
        if frame.f_code.co_filename not in files:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            left[0] -= last[0].startswith(LOOKED_AFTER)
            last[0] = dis.opname[frame.f_code.co_code[frame.f_lasti]]
            if left[0] < 0:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False
