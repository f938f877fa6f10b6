# SPDX-License-Identifier: BSD-3-Clause
# ctest: cost 10
"""Arrays in device memory, and computations on devices; refusals in builds for hosts."""

import sys
import unittest

sys.dont_write_bytecode = True
import moho
import numpy as np
import support

DEVICE = "cuda" in str(moho.build()["spaces"])
try:
    import torch

    TORCH = DEVICE and torch.cuda.is_available()
except ImportError:
    TORCH = False

WAVES = {"spacing": 10, "wavelet": "ricker:15", "time": 0.4, "dt": 0.001}
LINE = np.column_stack([np.linspace(50.0, 750.0, 15), np.full(15, 30.0)])
SOURCE = (400.0, 30.0)


def model():
    vp = support.gradient(81, 61)
    vp[30:50, 35:] += 200
    return vp


class Pretended:
    """An array that says that it is on a device."""

    ndim, shape, dtype = 2, (21, 21), np.dtype(np.float32)

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, **_):
        raise BufferError("not readable")


@unittest.skipIf(DEVICE, "the build has a device")
class Hosts(unittest.TestCase):
    def test_devices_are_refused_in_words(self):
        with self.assertRaisesRegex(moho.InputError, "computes on hosts.*Kokkos for CUDA"):
            moho.Shots(model(), space="cuda", **WAVES)
        with self.assertRaisesRegex(moho.InputError, "vp: the array is in the memory of a device"):
            moho.Shots(Pretended(), **WAVES)
        with self.assertRaisesRegex(moho.InputError, "velocity: the array is in the memory of a device"):
            moho.first_arrivals(Pretended(), spacing=10, sources=(0, 0))
        with self.assertRaisesRegex(moho.InputError, "space is 'gpu'"):
            moho.Shots(model(), space="gpu", **WAVES)


@unittest.skipUnless(DEVICE, "the build has no device")
class Spaces(unittest.TestCase):
    def test_shots_are_those_of_the_host(self):
        host = moho.Shots(model(), space="host", **WAVES)(SOURCE, LINE).traces
        device = moho.Shots(model(), space="cuda", **WAVES)(SOURCE, LINE).traces
        self.assertIsInstance(device, np.ndarray)
        np.testing.assert_allclose(device, host, atol=1e-4 * np.abs(host).max())

    def test_gradients_migration_and_objective_are_those_of_the_host(self):
        true, start = model(), support.gradient(81, 61)
        gather = moho.Shots(true, space="host", **WAVES)(SOURCE, LINE)
        found = {}
        for space in ("host", "cuda"):
            shots = moho.Shots(start, space=space, **WAVES)
            gradient = shots.gradient(SOURCE, LINE, gather.traces, start)["vp"]
            objective = moho.Objective(start, [gather], spacing=10, wavelet="ricker:15", space=space)
            misfit, slope = objective(objective.start)
            migration = moho.Migration(start, [gather], spacing=10, wavelet="ricker:15", space=space)
            migration.add(gather)
            found[space] = (gradient, np.array(misfit), slope, migration.image())
            search = objective.search(iterations=1)
            self.assertGreater(len(list(search)), 1)
            self.assertEqual(search.model()["vp"].shape, start.shape)
        for host, device in zip(found["host"], found["cuda"]):
            np.testing.assert_allclose(device, host, atol=2e-3 * np.abs(host).max())


@unittest.skipUnless(TORCH, "PyTorch with a GPU is needed")
class Tensors(unittest.TestCase):
    def test_traces_of_a_tensor_are_a_tensor_with_the_same_bits(self):
        expected = moho.Shots(model(), space="cuda", **WAVES)(SOURCE, LINE).traces
        vp = torch.tensor(model(), device="cuda")
        shots = moho.Shots(vp, **WAVES)
        traces = shots(SOURCE, LINE).traces
        self.assertEqual((traces.device.type, tuple(traces.shape)), ("cuda", expected.shape))
        self.assertEqual(traces.cpu().numpy().tobytes(), expected.tobytes())
        shots.update(vp * 1.01)
        self.assertFalse(torch.equal(shots(SOURCE, LINE).traces, traces))

    def test_the_default_stream_is_waited_for(self):
        vp = torch.tensor(model(), device="cuda")
        expected = moho.Shots(vp, **WAVES)(SOURCE, LINE).traces
        late = torch.zeros_like(vp)
        work = torch.rand(4096, 4096, device="cuda")
        for _ in range(20):
            work = work @ work / 4096
        late += vp + 0 * work[: vp.shape[0], : vp.shape[1]]
        self.assertTrue(torch.equal(moho.Shots(late, **WAVES)(SOURCE, LINE).traces, expected))

    def test_gradients_of_tensors(self):
        import moho.torch

        start = support.gradient(81, 61)
        gradients = {}
        for device in ("cpu", "cuda"):
            vp = torch.tensor(start, device=device, requires_grad=True)
            shots = moho.Shots(vp.detach(), **WAVES)
            (moho.torch.shot(shots, SOURCE, LINE, vp) ** 2).sum().backward()
            self.assertEqual(vp.grad.device.type, device)
            gradients[device] = vp.grad.cpu().numpy()
        np.testing.assert_allclose(
            gradients["cuda"], gradients["cpu"], atol=2e-3 * np.abs(gradients["cpu"]).max()
        )

    def test_results_are_released(self):
        vp = torch.tensor(model(), device="cuda")
        shots = moho.Shots(vp, **{**WAVES, "time": 0.02})
        shots(SOURCE, LINE)
        torch.cuda.synchronize()
        before = torch.cuda.mem_get_info()[0]
        for _ in range(1000):
            shots(SOURCE, LINE)
        moho.build()  # a later job: results were released before
        self.assertLess(before - torch.cuda.mem_get_info()[0], 64e6)

    def test_refuses_in_words(self):
        vp = torch.tensor(model(), device="cuda")
        for text, change in (
            ("density: it is on the host", {"density": model()}),
            ("not contiguous", {"vp": torch.tensor(model(), device="cuda").T}),
            ("space is 'host'", {"space": "host"}),
        ):
            with self.assertRaisesRegex(moho.InputError, text):
                moho.Shots(**{"vp": vp, **WAVES, **change})
        gather = moho.Shots(model(), **WAVES)(SOURCE, LINE)
        with self.assertRaisesRegex(moho.InputError, "vp: the array is in device memory .*several devices"):
            moho.Objective(vp, [gather], spacing=10, wavelet="ricker:15", devices=2)


if __name__ == "__main__":
    unittest.main()
