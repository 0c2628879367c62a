"""Settings for prediction, chosen by rows held out."""
