"""The private names left alone everywhere are harmless on every library object that carries them.

The table is the review: name → modules whose objects carry it, over all reviewed Python versions. A new carrier,
in a new Python or after a change here, fails the test until somebody looked at what it holds there.
"""

from __future__ import annotations

import subprocess
import sys

from litany_runtime.policy import names
from policy_runner import ROOT

REVIEWED = {
    "_add": "fractions",
    "_address": "asyncio.selector_events",
    "_buffer": "asyncio.selector_events asyncio.streams asyncio.unix_events bz2 gzip lzma",
    "_cache": "logging",
    "_check": "tarfile tempfile",
    "_children": "asyncio.tasks xml.etree.ElementTree",
    "_closed": "asyncio.base_events asyncio.base_subprocess asyncio.sslproto asyncio.streams email.feedparser logging",
    "_count": "asyncio.locks queue threading",
    "_counter": "concurrent.futures.thread",
    "_current": "hmac",
    "_data": "configparser os xml.etree.ElementTree",
    "_delete": "tempfile threading",
    "_depth": "pprint",
    "_dict": "configparser",
    "_end": "xml.etree.ElementTree",
    "_file": "tempfile zipfile",
    "_format": "asyncio.queues logging pprint",
    "_get": "asyncio.queues configparser enum queue",
    "_hash": "collections.abc pathlib pathlib._local",
    "_init": "asyncio.queues queue zipfile",
    "_inner": "hmac",
    "_ip": "ipaddress",
    "_last": "email.feedparser xml.etree.ElementTree",
    "_left": "zipfile",
    "_length": "gzip",
    "_level": "argparse",
    "_limit": "asyncio.streams asyncio.subprocess",
    "_line": "traceback",
    "_lines": "email.feedparser email.header pathlib traceback",
    "_load": "tarfile",
    "_lock": "asyncio.locks asyncio.unix_events sched threading zipfile",
    "_log": "logging",
    "_map": "selectors",
    "_max_size": "tempfile",
    "_maxsize": "asyncio.queues",
    "_message": "unittest.case",
    "_name": "asyncio.tasks configparser csv email.headerregistry logging threading typing",
    "_next": "zipfile zipfile._path",
    "_open": "logging logging.handlers",
    "_options": "configparser",
    "_outer": "hmac",
    "_owner": "threading",
    "_params": "email.headerregistry",
    "_parser": "configparser xml.etree.ElementTree",
    "_path": "pathlib pathlib._local tarfile",
    "_pos": "_compression bz2 gzip lzma zipfile",
    "_prefix": "difflib",
    "_queue": "asyncio.queues queue sched",
    "_registry": "weakref",
    "_remove": "_weakrefset weakref",
    "_result": "_asyncio asyncio.base_futures asyncio.futures concurrent.futures._base",
    "_rng": "tempfile",
    "_root": "pathlib pathlib._local xml.etree.ElementTree",
    "_run": "asyncio.base_events asyncio.events",
    "_size": "_compression gzip",
    "_source": "ast",
    "_stack": "pathlib._abc",
    "_start": "asyncio.base_subprocess asyncio.unix_events xml.etree.ElementTree",
    "_state": "_asyncio asyncio.base_futures asyncio.futures asyncio.locks asyncio.runners asyncio.sslproto asyncio.tasks asyncio.timeouts concurrent.futures._base threading",
    "_stop": "threading",
    "_tail": "pathlib pathlib._local xml.etree.ElementTree",
    "_task": "asyncio.streams asyncio.timeouts",
    "_tasks": "asyncio.taskgroups",
    "_timeout": "threading",
    "_validate": "csv",
    "_value": "asyncio.locks threading",
    "_width": "argparse pprint",
}

PROGRAM = """
import json, sys
sys.path[:0] = [sys.argv[1] + "/runtime", sys.argv[1] + "/stubs"]
from litany_runtime import policy
from litany_runtime.policy import names, private_names
policy.prepare()
carriers = private_names.carriers()
print(json.dumps({n: sorted(carriers[n]) for n in names.REVIEWED_PRIVATE if n in carriers}))
"""


def test_every_carrier_of_a_name_left_alone_was_reviewed() -> None:
    import json

    done = subprocess.run(
        [sys.executable, "-I", "-c", PROGRAM, str(ROOT)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    for name, modules in json.loads(done.stdout).items():
        new = set(modules) - set(REVIEWED.get(name, "").split())
        assert not new, f"{name} is carried by {new}: look at what it holds there, then list it"


def test_no_name_that_leads_out_is_left_alone() -> None:
    leading = {
        "_flavour",
        "_parser_module",
        "_bootstrap",
        "_convert_",
        "_member_map_",
        "_selector",
        "_ssock",
        "_target",
        "_args",
        "_callback",
        "_callbacks",
        "_loop",
        "_os",
        "_sys",
        "_module",
        "_accessor",
        "_handlers",
    }
    assert not leading & names.REVIEWED_PRIVATE
