"""``python -m separatrix`` is the command ``separatrix``."""

from separatrix.cli import main

if __name__ == "__main__":
    main()
