"""Section Fitted levels of the text: the predictors of form 3, without their inputs."""

import numpy as np
from independent.jpeg.tables import SIZE_PRIORS
from independent.lossless.fitted_prediction import solved


class Predictor:
    def __init__(self, priors, g):
        self.priors, self.g = priors, g
        self.C = [4 * prior for prior in priors]
        self.m = np.zeros((len(priors), len(priors) + 1), np.int64)
        self.learned = False

    def predicted(self, inputs):
        return sum(weight * each for weight, each in zip(self.C, inputs, strict=True)) >> 14

    def learn(self, inputs, target):
        self.m += np.outer(inputs, [*inputs, target])
        self.learned = True

    def fit(self):
        if self.learned:
            self.C = solved(self.m.copy(), self.g, [(self.g * each) >> 12 for each in self.priors])
            self.m -= self.m >> 4
            self.learned = False


class Predictors:
    """Those of a kind."""

    def __init__(self, q):
        self.first = Predictor([4096 if i == 14 else 0 for i in range(20)], 20000)
        self.sizes = [Predictor(SIZE_PRIORS[q][k] + [0] * 8, 1600000) for k in range(64)]
        self.levels = [Predictor([0] * 29, 1000) for k in range(64)]

    def fit(self):
        for each in (*self.sizes, *self.levels):
            each.fit()
