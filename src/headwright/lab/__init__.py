"""The lab: a local web application. What it marks 'proved' was proved by the server for that request.

view          what a view is: a page, and the API calls it makes
views         one module a view: its request models, and the functions that answer them (in a worker)
calls         all views and their calls, by name
worker        the process that answers requests, within limits of time and memory
pool          several workers; one that was stopped is replaced
guard         access control: Host and Origin, and the headers of every reply
request_body  strict reading of request bodies; errors as JSON
app           the pages, the static files and the API as one application
serving       the application on a port

static/ holds the pages, one style sheet and hand-written modules: no build step, nothing fetched from elsewhere.
"""

from importlib.resources import files
from pathlib import Path

STATIC = Path(str(files(__name__) / "static"))
