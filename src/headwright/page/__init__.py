"""A static web page that checks answers and verifies certificates in the browser, with Python as WebAssembly.

    build        write the folder: page, Pyodide, wheels, this package
    answering    what runs in the browser: questions of the page, answered by `grading` and `certificates.exact`

static/ has what only the page needs; the rest of its front end is the lab's.
"""
