"""`python -m ehrbench` is the same program as `ehrbench`."""

from ehrbench.cli import main

if __name__ == "__main__":
    main()
