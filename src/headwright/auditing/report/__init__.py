"""The report of an audit: an HTML page, data for scripts, sentences.

columns     the measures of one audit as columns of a table and as maps
sentences   the summary as sentences
every_text  the section on every text
data        everything as JSON, and the table of heads as CSV or Parquet
page        the whole report as one HTML file, and its maps as a picture
"""
