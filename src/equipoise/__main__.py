"""`python -m equipoise`: the same program as `equipoise`."""

from equipoise.cli import main

if __name__ == "__main__":
    main()
