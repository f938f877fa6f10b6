# SPDX-License-Identifier: BSD-3-Clause
# ctest: cost 10
"""Differentiable functions of PyTorch: values and derivatives. They need PyTorch."""

import sys
import unittest

sys.dont_write_bytecode = True
try:
    import torch
except ImportError:
    print("skipped: PyTorch is not installed")
    sys.exit(77)
import moho
import moho.linear
import moho.torch
import numpy as np
import support

SOURCE = (200.0, 100.0)
RECEIVERS = np.column_stack([np.linspace(60.0, 340.0, 8), np.full(8, 90.0)])
WAVES = {"spacing": 10, "wavelet": "ricker:15", "time": 0.25, "dt": 0.001}


def media():
    vp = support.rough(41, 31, dtype=np.float64)
    thomsen = {"epsilon": np.full_like(vp, 0.15), "delta": np.full_like(vp, 0.05)}
    yield "isotropic", {"vp": vp}, {}
    yield "variable_density", {"vp": vp, "density": support.rough(41, 31, dtype=np.float64, seed=2)}, {}
    yield "vti", {"vp": vp, **thomsen}, {"interval": 0.002}
    yield "tti", {"vp": vp, **thomsen, "theta": np.full_like(vp, 0.4)}, {"faces": "sponge:20"}


class Shots(unittest.TestCase):
    def test_gradients_are_derivatives_in_all_media(self):
        inside = np.zeros((41, 31))
        inside[6:-6, 6:-6] = 1.0
        for medium, fields, more in media():
            shots = moho.Shots(**fields, **WAVES, sources=SOURCE, **more)
            self.assertEqual(shots.medium, medium)

            def loss(tensors, shots=shots):
                return (moho.torch.shot(shots, SOURCE, RECEIVERS, **tensors) ** 2).sum() * 1e8

            tensors = {
                name: torch.tensor(values, requires_grad=name != "theta") for name, values in fields.items()
            }
            loss(tensors).backward()
            for name in fields.keys() - {"theta"}:
                with self.subTest(medium=medium, parameter=name):
                    along = tensors[name].grad.numpy() * inside
                    along /= np.linalg.norm(along)
                    step = 1e-3 * np.abs(fields[name]).max()
                    values = []
                    for sign in (1.0, -1.0):
                        moved = {key: torch.tensor(value) for key, value in fields.items()}
                        moved[name] += sign * step * torch.tensor(along)
                        values.append(float(loss(moved)))
                    slope = (values[0] - values[1]) / (2 * step)
                    self.assertAlmostEqual(
                        slope / (tensors[name].grad.numpy() * along).sum(), 1.0, delta=1e-5
                    )

    def test_values_are_those_of_shots(self):
        vp = support.rough(41, 31)
        shots = moho.Shots(vp, **WAVES)
        shots.update(support.gradient(41, 31))
        self.assertFalse(np.array_equal(shots(SOURCE, RECEIVERS).traces, 0))
        traces = moho.torch.shot(shots, SOURCE, RECEIVERS, torch.tensor(vp))
        expected = moho.Shots(vp, **WAVES)(SOURCE, RECEIVERS).traces
        self.assertEqual((traces.dtype, traces.numpy().tobytes()), (torch.float32, expected.tobytes()))

    def test_wavefields_are_kept_until_backward(self):
        models = [torch.tensor(support.rough(41, 31, seed=seed), requires_grad=True) for seed in (1, 2)]
        shots = moho.Shots(models[0].detach().numpy(), **WAVES)
        traces = [moho.torch.shot(shots, SOURCE, RECEIVERS, vp) for vp in models]
        for vp, one in reversed(list(zip(models, traces))):  # the model of shots is another one since
            self.assertIsNotNone(one.grad_fn.call[-1])
            (one**2).sum().backward(retain_graph=True)
            first = vp.grad.clone()
            (one**2).sum().backward()
            np.testing.assert_array_equal(vp.grad, 2 * first)
            plain = shots.gradient(SOURCE, RECEIVERS, 2 * one.detach().numpy(), vp.detach().numpy())
            np.testing.assert_array_equal(first, plain["vp"])
        with torch.no_grad():
            self.assertIsNone(moho.torch.shot(shots, SOURCE, RECEIVERS, models[0]).grad_fn)

    def test_a_training_loop_recovers_a_velocity(self):
        true, start = np.full((41, 31), 2100, np.float32), np.full((41, 31), 2000, np.float32)
        shots = moho.Shots(start, **WAVES)
        observed = torch.tensor(moho.Shots(true, **WAVES)(SOURCE, RECEIVERS).traces)
        scale = torch.tensor(0.0, requires_grad=True)
        optimiser = torch.optim.LBFGS([scale], max_iter=10, line_search_fn="strong_wolfe")

        def closure():
            optimiser.zero_grad()
            vp = torch.tensor(start) * (1.0 + 0.1 * scale)
            traces = moho.torch.shot(shots, SOURCE, RECEIVERS, vp)
            loss = ((traces - observed) ** 2).sum() / (observed**2).sum()
            loss.backward()
            return loss

        optimiser.step(closure)
        self.assertAlmostEqual(2000 * (1 + 0.1 * float(scale.detach())), 2100, delta=5)

    def test_refuses_in_words(self):
        vp = support.rough(41, 31)
        shots = moho.Shots(vp, **WAVES)
        with self.assertRaisesRegex(moho.InputError, "vp is of type ndarray"):
            moho.torch.shot(shots, SOURCE, RECEIVERS, vp)
        with self.assertRaisesRegex(moho.InputError, "density"):
            moho.torch.shot(shots, SOURCE, RECEIVERS, torch.tensor(vp), density=torch.tensor(vp))
        with self.assertRaisesRegex(moho.InputError, "vp: it is 40 x 31"):
            moho.torch.shot(shots, SOURCE, RECEIVERS, torch.tensor(vp[1:]))
        resampled = moho.Shots(vp, **{**WAVES, "interval": 0.0015})
        traces = moho.torch.shot(resampled, SOURCE, RECEIVERS, torch.tensor(vp, requires_grad=True))
        with self.assertRaisesRegex(moho.InputError, "multiple"):
            traces.sum().backward()


class Others(unittest.TestCase):
    def test_traveltimes(self):
        slowness = torch.tensor(1.0 / support.rough(21, 16, dtype=np.float64), requires_grad=True)
        options = {"spacing": 10, "sources": (0, 0), "receivers": [(200, 0), (100, 150)]}
        times = moho.torch.traveltimes(slowness, **options)
        weights = torch.tensor([[0.3, -0.7]])
        (times * weights).sum().backward()
        step, along = 1e-9, np.random.default_rng(4).normal(size=(21, 16))
        values = [
            float((moho.torch.traveltimes(slowness.detach() + s * step * along, **options) * weights).sum())
            for s in (1, -1)
        ]
        slope = (values[0] - values[1]) / (2 * step)
        self.assertAlmostEqual(slope / float((slowness.grad * torch.tensor(along)).sum()), 1.0, delta=1e-5)

    def test_first_arrivals(self):
        given = {"spacing": 10, "sources": [(53, 37), (111, 20)]}
        velocity = torch.tensor(support.gradient(13, 11, dtype=np.float64))
        velocity += torch.tensor(np.random.default_rng(9).uniform(-30, 30, (13, 11)))
        kilometres = (velocity / 1000).requires_grad_()  # steps of gradcheck are 1e-6 of the unit
        receivers = [(0, 0), (117, 3), (40, 100)]
        for more in ({}, {"receivers": receivers}, {"epsilon": 0.2, "delta": 0.1, "receivers": receivers}):
            with self.subTest(**more):
                self.assertTrue(
                    torch.autograd.gradcheck(
                        lambda x, more=more: moho.torch.first_arrivals(1000 * x, **given, **more),
                        (kilometres,),
                        eps=1e-6,
                        atol=1e-8,
                        rtol=1e-6,
                    )
                )
        times = moho.torch.first_arrivals(velocity, **given)
        expected = moho.first_arrivals(velocity.numpy(), each=True, **given)
        self.assertEqual(times.numpy().tobytes(), expected.tobytes())
        earliest = moho.torch.first_arrivals(kilometres * 1000, **given).amin(0)
        earliest.sum().backward()
        self.assertAlmostEqual(float((kilometres.grad * kilometres).sum() / -earliest.sum()), 1.0, delta=1e-9)
        with self.assertRaisesRegex(moho.InputError, "epsilon: there are no derivatives"):
            moho.torch.first_arrivals(velocity, epsilon=torch.zeros(13, 11, requires_grad=True), **given)

    def test_gravity(self):
        mesh = (3, 2, 2, 0, 300, 0, 200, 50, 250)
        operator = moho.linear.gravity_operator(
            mesh=mesh, stations=[(50, 50, 0), (200, 150, -10)], components="gz,gzz"
        )
        density = torch.tensor(np.random.default_rng(5).normal(size=(2, 2, 3)), requires_grad=True)
        self.assertEqual(moho.torch.gravity(density, operator).shape, (2, 2))
        self.assertTrue(torch.autograd.gradcheck(lambda x: moho.torch.gravity(x, operator), (density,)))
        with self.assertRaisesRegex(moho.InputError, "density: it has 5"):
            moho.torch.gravity(torch.zeros(5), operator)

    def test_wrong_arguments(self):
        model = torch.full((9, 8), 2000.0)
        at = {"spacing": 10, "sources": (0, 0), "receivers": [(80, 70)]}
        operator = moho.linear.gravity_operator([[0, 10, 0, 10, 5, 10]], stations=(0, 0, 0))
        shots = moho.Shots(model, spacing=10, wavelet="ricker:15", time=0.05, dt=0.001)
        waves = {"spacing": 10, "wavelet": "ricker:15", "time": 0.1}
        fletcher = moho.Shots(model, epsilon=0.1, equations="fletcher", **waves)
        wave = model.clone().requires_grad_()
        for words, call in {
            "slowness is 0.0 at node": lambda: moho.torch.traveltimes(0 * model, **at),
            "slowness is -": lambda: moho.torch.traveltimes(-1 / model, **at),
            "slowness is of torch.int32": lambda: moho.torch.traveltimes(model.int(), **at),
            "weights was given": lambda: moho.torch.traveltimes(1 / model, weights="velocity", **at),
            "receivers is None": lambda: moho.torch.traveltimes(1 / model, **{**at, "receivers": None}),
            "density is of torch.int32": lambda: moho.torch.gravity(torch.zeros(1).int(), operator),
            "density is of torch.complex64": lambda: moho.torch.gravity(torch.zeros(1) * 1j, operator),
            "operator is of type int": lambda: moho.torch.gravity(torch.zeros(1), 5),
            "shots is of type int": lambda: moho.torch.shot(5, (40, 20), (50, 20), model),
            "vp is None": lambda: moho.torch.shot(shots, (40, 20), (50, 20), None),
            "take self_adjoint": lambda: moho.torch.shot(
                fletcher, (40, 20), (50, 20), wave, epsilon=torch.full((9, 8), 0.1)
            ),
        }.items():
            with self.subTest(words), self.assertRaisesRegex(moho.InputError, f"(^|: ){words}|{words}$"):
                call()


if __name__ == "__main__":
    unittest.main()
