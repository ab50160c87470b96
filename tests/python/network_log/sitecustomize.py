"""On PYTHONPATH it makes a process, and those it starts, write down each attempt to reach a machine.

The file is the one that NETWORK_LOG names: a line per host name looked up and per address connected
to, whether or not that works. What is asked of a Unix socket stays on the machine and is left out.
"""

import os
import sys

LOOKED_AT = (
    *("socket.connect", "socket.sendto", "socket.sendmsg"),
    *("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"),
)


def _watch(event, arguments):
    if event not in LOOKED_AT:
        return
    asked = arguments[1] if event.startswith(("socket.c", "socket.s")) else arguments[0]
    if asked is None or (event.startswith(("socket.c", "socket.s")) and not isinstance(asked, tuple)):
        return
    file = os.open(os.environ["NETWORK_LOG"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(file, f"{event} {asked}\n".encode())
    os.close(file)


sys.addaudithook(_watch)
