"""What was found, told: a page that needs nothing but itself, data for scripts, sentences.

sentences   the summary in plain words
columns     the numbers that are shown of each head
texts       the section on every text
data        everything as JSON
page        the whole report as one HTML file
"""
