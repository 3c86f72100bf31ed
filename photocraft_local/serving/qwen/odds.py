"""From the probabilities of "yes" and "no" to one calibrated number.

A model leans to one word whatever it is shown. "Calibrate Before Use" (Zhao et al., ICML 2021)
measures that lean on an input without content and takes it off. Taken literally that fails here:
asked whether a blank picture shows a dog, a good judge says no with all its might, and taking this
off would let everything pass. But the right answer on a blank is known: it meets nothing that must
be seen, and everything that must not. So the blank is a control, and only an answer on the wrong
side counts as a lean: it is taken off, up to ``MOST_BIAS``. Photos of the library that are no
candidates were weighed as a second control and left out: nobody knows which of them fit the look
(they may be out by time or place alone), and a look that is common would count against the answer.

No weights could be had where this was built: neither ``MOST_BIAS`` nor the threshold of 0.5 is
proven on photos.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from photocraft_local.errors import ModelError
from photocraft_local.serving.judging import Condition

YES, NO = ("yes", "Yes"), ("no", "No")
CHOICES = (*YES, *NO)
MOST_BIAS = 2.0  # log-odds; 0.88 on the blank becomes 0.5
_NEVER = -1000.0  # logarithm of what can not be said at all; vLLM tells -9999 for it
_FAR = 50.0  # log-odds that are as good as certain


def log_odds(logprobs: Mapping[str, float]) -> float:
    """Of yes against no, in those spellings that were told; finite. ModelError if either word was
    told in none: the other's number alone says nothing; or if what was told says nothing."""
    told = [[logprobs[word] for word in words if word in logprobs] for words in (YES, NO)]
    if not all(told):
        raise ModelError(
            "the backbone does not tell how likely both yes and no are",
            hint="serve the model with vLLM, as photocraft serve-model does",
        )
    yes, no = map(_sum, told)
    if math.isnan(yes + no) or not _NEVER < max(yes, no) < math.inf:
        raise ModelError(f"the backbone tells no odds of yes ({yes}) against no ({no})")
    return max(-_FAR, min(_FAR, yes - no))


def lean(blank: float, conditions: Sequence[Condition]) -> float:
    """What to take off, from the log-odds on the blank picture."""
    only_unwanted = bool(conditions) and all(condition.negated for condition in conditions)
    least, most = (-MOST_BIAS, 0.0) if only_unwanted else (0.0, MOST_BIAS)
    return max(least, min(most, blank))


def probability(odds: float) -> float:
    """Of log-odds, three decimals: what is told is what decides."""
    if odds >= 0:
        return round(1 / (1 + math.exp(-odds)), 3)
    return round(math.exp(odds) / (1 + math.exp(odds)), 3)


def _sum(logprobs: Sequence[float]) -> float:
    """Logarithm of the summed probabilities."""
    top = max(logprobs)
    if math.isinf(top):
        return top
    return top + math.log(sum(math.exp(value - top) for value in logprobs))
