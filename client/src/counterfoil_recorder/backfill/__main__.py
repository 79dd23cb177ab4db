import sys

from counterfoil_recorder.backfill.command import main

if __name__ == "__main__":
    sys.exit(main())
