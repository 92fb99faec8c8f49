"""Adam, the optimiser of all trainings.

The arithmetic is torch's own kernel. ``torch.optim.Adam`` around it loads torch's compiler on its first use, which
takes longer than the training of a small graph.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

BETAS = (0.9, 0.999)
EPSILON = 1e-8


class Adam:
    """Adam with an L2 penalty on the weights (not decoupled), as in ``torch.optim.Adam``.

    Works number by number, so that each member of an ensemble learns exactly as it would alone.

    Parameters
    ----------
    parameters : iterable of Parameter
    learning_rate, weight_decay : float

    References
    ----------
    D. P. Kingma, J. Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015.
    """

    def __init__(
        self, parameters: Iterable[nn.Parameter], learning_rate: float, weight_decay: float
    ) -> None:
        self.parameters = list(parameters)
        self.learning_rate, self.weight_decay = learning_rate, weight_decay
        self.means = [torch.zeros_like(one) for one in self.parameters]
        self.squares = [torch.zeros_like(one) for one in self.parameters]
        # counted for each parameter: one that has had no gradient yet has not begun
        self.steps = [torch.zeros((), device=one.device) for one in self.parameters]

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for one in self.parameters:
            one.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Move the parameters that have a gradient."""
        moved = [place for place, one in enumerate(self.parameters) if one.grad is not None]
        if not moved:
            return
        grads: list[Tensor] = [one.grad for one in self.parameters if one.grad is not None]
        steps = [self.steps[place] for place in moved]
        torch._foreach_add_(steps, 1)
        torch._fused_adam_(
            [self.parameters[place] for place in moved],
            grads,
            [self.means[place] for place in moved],
            [self.squares[place] for place in moved],
            [],
            steps,
            lr=self.learning_rate,
            beta1=BETAS[0],
            beta2=BETAS[1],
            weight_decay=self.weight_decay,
            eps=EPSILON,
            amsgrad=False,
            maximize=False,
        )
