"""A static page that checks answers, designs queries and verifies certificates, with Python in the browser.

    build        write the folder: page, Pyodide, wheels, this package
    pages        the HTML of each page: one frame, and what differs (pages.toml)
    proposal     designs that JavaScript proposes, as certificates that are verified
    noise        how often two keys are averaged when one has a random length, in ball arithmetic
    answering    what runs in the browser: questions of the page, answered by `grading` and `certificates.exact`

static/ has what only the page needs; the rest of its front end is the lab's.
"""
