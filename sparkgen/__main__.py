"""Entry point: run a command; whatever happens becomes a message and an exit code, never a traceback.

Exit codes: 0 done, 1 problems or a difference found, 2 wrong usage or an internal error, 130 interrupted.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Callable
from typing import NoReturn

# Set by the shell's completion script, which wants words and no work.
_COMPLETION = "_SPARKGEN_COMPLETE"
_INTERRUPTED = 130


def main() -> NoReturn:
    """Run the command line of this process."""
    # Collecting is wasted on a short run that makes few cycles: 500 documents take 2 MB more without it.
    gc.disable()
    _open_closed_streams()
    sys.exit(run(sys.argv[1:]))


def _open_closed_streams() -> None:
    """Give streams that were closed (`>&-`) their descriptors back: no file of ours takes their place.

    Reading ends at once, writing to standard output fails, and nobody hears standard error.
    """
    streams = (("stdin", "r", os.O_RDONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_WRONLY))
    for name, mode, flags in streams:
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, flags)
            setattr(sys, name, open(descriptor, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code."""
    from sparkgen.errors import SparkgenError  # noqa: PLC0415 - an import that fails is an internal error too

    try:
        return _run(arguments)
    except SparkgenError as error:
        _say(f"sparkgen: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        _say("sparkgen: interrupted")
        return _INTERRUPTED
    except MemoryError:
        _say("sparkgen: out of memory; render fewer documents at once")
        return 2
    except Exception as error:  # noqa: BLE001 - the last line of defence: a person never sees a traceback
        return _internal(error)


def _run(arguments: list[str]) -> int:
    from sparkgen.cli import plain_arguments  # noqa: PLC0415 - see above

    plain = plain_arguments.parse(arguments)
    if plain is None or _COMPLETION in os.environ:
        return _run_typer(arguments)
    command, values = plain
    return command.run(values)


def _run_typer(arguments: list[str]) -> int:
    from sparkgen.cli import output  # noqa: PLC0415 - see above
    from sparkgen.cli.app import program  # noqa: PLC0415 - typer is most of the time of a start

    with output.through_here():
        return _called(program(), arguments)


def _called(app: Callable[..., object], arguments: list[str]) -> int:
    code: object
    try:
        code = app(arguments, prog_name="sparkgen", standalone_mode=False)
    except Exception as error:
        # Wrong usage, as typer reports it. By its shape and not its type: typer moved and renamed these
        # types.
        show, code = getattr(error, "show", None), getattr(error, "exit_code", None)
        if show is None or code is None:
            if type(error).__name__ == "Abort":  # typer's word for an interrupted prompt
                raise KeyboardInterrupt from error
            raise
        show()
    if code == _INTERRUPTED:
        raise KeyboardInterrupt
    return code if isinstance(code, int) else 0


def _internal(error: Exception) -> int:
    if os.environ.get("SPARKGEN_DEBUG"):
        import traceback  # noqa: PLC0415 - only for whoever looks for the cause

        traceback.print_exception(error)
    from sparkgen.errors import REPORT_IT, reason_of  # noqa: PLC0415 - see above

    _say(
        f"sparkgen: internal error ({reason_of(error)}), probably not a mistake in your document. {REPORT_IT}"
    )
    return 2


def _say(text: str) -> None:
    from sparkgen.cli import output  # noqa: PLC0415 - see above
    from sparkgen.errors import SparkgenError  # noqa: PLC0415

    with contextlib.suppress(OSError, SparkgenError, SystemExit):  # perhaps nobody listens any more
        output.fail(text)


if __name__ == "__main__":
    main()
