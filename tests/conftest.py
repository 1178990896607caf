"""Tests of signals start processes, which are to find signals as a terminal gives them, whoever runs the tests."""

from __future__ import annotations

import signal

# `nohup` ignores SIGHUP, and a shell SIGINT for what is in the background; both are inherited by what is started.
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
