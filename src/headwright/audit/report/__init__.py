"""What was found, told: a page that needs nothing but itself, and sentences.

sentences   the summary in plain words
page        the whole report as one HTML file
"""
