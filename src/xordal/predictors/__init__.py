"""For people who build predictors: hidden groups as features, and a classifier from the network."""
