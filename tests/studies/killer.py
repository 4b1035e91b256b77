"""As `sitecustomize`: a worker that is given one certain run dies of it, as if out of memory."""

import os
import signal
import sys


def _install() -> None:
    import equipoise.studies.worker as worker

    run = worker._run

    def deadly(task, folder, every):
        if (task.problem, task.agent, task.seed) == ("river", "toc", 1):
            os.kill(os.getpid(), signal.SIGKILL)
        return run(task, folder, every)

    worker._run = deadly


if "--multiprocessing-fork" in sys.orig_argv:
    _install()
