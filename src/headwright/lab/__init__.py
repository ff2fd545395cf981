"""The lab: a local web application in which every room makes one point, and what says 'proved' was just proved.

room      what a room is: a name, a sentence, and the calls its page may make
rooms     one module a room: the shapes of its questions, and the functions that answer them (in a worker)
worker    the process in which questions are answered, within limits
asking    how far the questions are that are being answered
pool      several workers; one that was stopped is replaced
guard     who may ask: Host, Origin, token, and the headers that every reply carries
bodies    requests read strictly, and errors as sentences
openapi   the interface, described for tools
described the interface, described for people, as a page
app       the pages, the static files and the interface as one application
patience  connections that ask nothing are closed
serving   the application on a port

static/ holds the pages, one style and hand-written modules: no build step, nothing fetched from elsewhere.
"""

from importlib.resources import files
from pathlib import Path

STATIC = Path(str(files(__name__) / "static"))
