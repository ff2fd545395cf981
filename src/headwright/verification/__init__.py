"""Verify a certificate of any format, and compare it with what was asked.

verify      verify(): reads the format of a certificate and chooses its checker
comparison  whether a certificate is about what was asked
"""
