"""`python -m papertape`: the program."""

import os
import sys

from papertape.binary import environment, find_binary
from papertape.errors import BinaryNotFoundError


def main() -> None:
    try:
        binary = str(find_binary())
    except BinaryNotFoundError as error:
        sys.exit(f"error: {error}")
    os.execve(binary, [binary, *sys.argv[1:]], environment())  # noqa: S606 - no shell is wanted


if __name__ == "__main__":
    main()
