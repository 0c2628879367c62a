"""The live page: drop a table, watch it learn, ask it. ``app.py`` has the routes, ``gate.py`` guards them."""
