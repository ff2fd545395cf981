"""The report of an audit: an HTML page, data for scripts, sentences.

sentences   the summary as sentences
every_text  the section on every text
data        everything as JSON
page        the whole report as one HTML file, with the columns of its tables
"""
