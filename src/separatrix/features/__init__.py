"""Feature maps: x → phi(x), so that a linear model of phi(x) is one with a kernel, or close to it.

Each knows the kernel it stands for (``kernel_``) and says how far phi(x).phi(z) can be from k(x, z) (``error_``).
"""

from separatrix.features.fourier import Fourier
from separatrix.features.landmarks import Landmarks, Nystroem
from separatrix.features.polynomial import Polynomial

__all__ = ["Fourier", "Landmarks", "Nystroem", "Polynomial"]
