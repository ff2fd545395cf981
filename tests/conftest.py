"""Settings for all tests: properties are not timed, since timings never go into tests."""

from hypothesis import settings

settings.register_profile("headwright", deadline=None)
settings.load_profile("headwright")
