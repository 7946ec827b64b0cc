#!/usr/bin/env python3
"""Times in PyTorch what build/bin/bench times, and compares.

    make bench                                   # writes build/bench.json
    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python3 tests/bench/pytorch.py --threads 1

Optional: needs PyTorch (Debian: python3-torch, with libopenblas0 for its matrix products), which
neither the build nor the tests use. The rows have the names of build/bench.json; a row is the
median of several samples, its ratio PyTorch's time over ours at the same number of threads.

--filter NAME   only rows whose name contains NAME
--threads N     threads; the environment must ask for as many, for BLAS reads it at its start
--bench FILE    build/bench.json otherwise
--markdown      the table as docs/performance.md has it
"""
import argparse
import json
import os
import time

# A library reads these once, when it is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
import torch
import torch.nn as nn
import torch.nn.functional as F

import pytorch_models as models

ROWS = {}  # name -> a function that prepares and returns what is timed, and how many operations it is


def row(name, calls=1):
    def add(prepare):
        ROWS[name] = (prepare, calls)
        return prepare
    return add


def leaf(*shape):
    return torch.randn(*shape, requires_grad=True)


def both(name, make):
    """Two rows, forward without a graph and forward with backward. make() gives f and its leaves."""
    def forward():
        f, _ = make()

        def run():
            with torch.no_grad():
                f()
        return run

    def backward():
        f, leaves = make()
        dy = torch.ones_like(f())

        def run():
            f().backward(dy)
            for p in leaves:
                p.grad = None
        return run
    ROWS[name + " fwd"] = (forward, 1)
    ROWS[name + " fwd+bwd"] = (backward, 1)


def products():
    def add(name, m, n, k, turned):
        def prepare():
            a, c = torch.randn(m, k), torch.empty(m, n)
            b = torch.randn(n, k).t() if turned else torch.randn(k, n)
            return lambda: torch.mm(a, b, out=c)
        ROWS[name] = (prepare, 1)
    for n in (8, 16, 32, 64, 128, 256, 512, 1024, 2048):
        add(f"gemm.{n}", n, n, n, False)
    for m, n, k in ((2688, 192, 128), (128, 192, 64), (128, 64, 64), (128, 384, 64),
                    (128, 5893, 128), (1280, 32, 32)):
        add(f"gemm.{m}x{n}x{k}", m, n, k, False)
        add(f"gemm.nt.{m}x{n}x{k}", m, n, k, True)


def layers():
    for shape in ((128, 21), (64, 4, 20, 20)):
        def make(shape=shape):
            x = leaf(*shape)
            return lambda: torch.softmax(x, -1), [x]
        both("softmax." + "x".join(map(str, shape)), make)

    def norm():
        x, layer = leaf(64, 20, 32), nn.LayerNorm(32)
        return lambda: layer(x), [x, *layer.parameters()]
    both("layer_norm.64x20x32", norm)
    for words, width, ids in ((13, 32, (128, 9)), (7855, 64, (15, 128))):
        def look_up(words=words, width=width, ids=ids):
            table, at = leaf(words, width), torch.randint(0, words, ids)
            return lambda: F.embedding(at, table), [table]
        both(f"embedding.{words}x{width}.of.{ids[0]}x{ids[1]}", look_up)
    for n, c in ((1152, 13), (1792, 5893)):
        def loss(n=n, c=c):
            x, t = leaf(n, c), torch.randint(0, c, (n,))
            return lambda: F.cross_entropy(x, t), [x]
        both(f"cross_entropy.{n}x{c}", loss)
    for shape in ((128, 192), (128, 256)):
        at = "x".join(map(str, shape))
        for name, f in (("exp", torch.exp), ("tanh", torch.tanh), ("sigmoid", torch.sigmoid),
                        ("dropout", lambda x: F.dropout(x, 0.1, True))):
            def pointwise(shape=shape, f=f):
                x = leaf(*shape)
                return lambda: f(x), [x]
            both(f"{name}.{at}", pointwise)

    def linear():
        x, w, b = leaf(1280, 64), leaf(192, 64), leaf(192)
        return lambda: F.linear(x, w, b), [x, w, b]
    both("linear.1280x64-192", linear)


def recurrent():
    for name, n, h, b, t, options in (
            ("gru.32-64.T9.b128", 32, 64, 128, 9, {}),
            ("gru.bi.128-64.T21.b128", 128, 64, 128, 21, {"bidirectional": True}),
            ("gru.3x.64-128.T15.b128", 64, 128, 128, 15, {"num_layers": 3})):
        def layer(n=n, h=h, b=b, t=t, options=options):
            gru, x = nn.GRU(n, h, **options), leaf(t, b, n)
            return lambda: gru(x)[0], [x, *gru.parameters()]
        both(name, layer)

    def cell():
        gru, x, h = nn.GRUCell(160, 64), leaf(128, 160), leaf(128, 64)
        return lambda: gru(x, h), [x, h, *gru.parameters()]
    both("gru_cell.160-64.b128", cell)


LAYERS = ((28, 336, 1, 32), (14, 168, 32, 64), (7, 84, 64, 128), (3, 42, 128, 128))


def convolutions():
    gradient = torch.ops.aten.convolution_backward
    for number, (h, w, i, o) in enumerate(LAYERS, 1):
        def add(part, prepare, name=f"conv3x3.{number} {h}x{w}x{i}->{o}"):
            ROWS[f"{name} {part}"] = (prepare, 1)

        def operands(h=h, w=w, i=i, o=o):
            return torch.randn(128, i, h, w), torch.randn(o, i, 3, 3), torch.randn(128, o, h, w)

        def forward(operands=operands):
            x, weight, _ = operands()
            return lambda: F.conv2d(x, weight, padding=1)

        def backward(wanted, operands=operands):
            x, weight, dy = operands()
            return lambda: gradient(dy, x, weight, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1,
                                    wanted)
        add("forward", forward)
        add("weight gradient", lambda b=backward: b([False, True, False]))
        if i > 1:
            add("input gradient", lambda b=backward: b([True, False, False]))


def steps():
    ROWS["step.attention_reader.b128"] = lambda: models.reader_step(models.AttentionReader()), 1
    ROWS["step.fixed_reader.b128"] = lambda: models.reader_step(models.FixedReader()), 1
    ROWS["generate.attention_reader.500"] = models.generate, 1
    ROWS["step.translation.plain.b128"] = lambda: models.translation_step(False), 1
    ROWS["step.translation.attention.b128"] = lambda: models.translation_step(True), 1


def blocks():
    for number, (h, w, i, o) in enumerate(LAYERS, 1):
        def block(h=h, w=w, i=i, o=o):
            conv, norm = nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o)
            x = torch.randn(128, i, h, w, requires_grad=i > 1)
            leaves = [x, *conv.parameters(), *norm.parameters()]
            return lambda: F.max_pool2d(F.relu(norm(conv(x))), 2), leaves
        both(f"block.{number} {h}x{w}x{i}->{o}", block)


@row("op.small fwd")
def op_small_forward():
    a, b, c = (torch.randn(8, 8) for _ in range(3))

    def run():
        with torch.no_grad():
            (a * b + c).sum()
    return run


@row("op.small fwd+bwd")
def op_small():
    leaves = [leaf(8, 8) for _ in range(3)]
    a, b, c = leaves

    def run():
        (a * b + c).sum().backward()
        for p in leaves:
            p.grad = None
    return run


def scalar_network():
    xs = [torch.tensor(0.1 * i) for i in range(16)]
    ws = [torch.tensor(0.01 * (i % 7) - 0.02, requires_grad=True) for i in range(113 * 17)]

    def unit(x, w):
        total = next(w)
        for xi in x:
            total = total + next(w) * xi
        return total

    def output():
        x, w = xs, iter(ws)
        for _ in range(7):
            x = [torch.relu(unit(x, w)) for _ in range(16)]
        return unit(x, w)
    return output, ws


@row("scalar.node fwd", calls=3728)
def scalar_forward():
    return scalar_network()[0]


@row("scalar.node fwd+bwd", calls=3728)
def scalar_backward():
    output, ws = scalar_network()

    def run():
        output().backward()
        for w in ws:
            w.grad = None
    return run


@row("mlp.784-256-10.b128")
def perceptron():
    model = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
    sgd = torch.optim.SGD(model.parameters(), 0.01)
    x, t = torch.randn(128, 784), torch.randint(0, 10, (128,))

    def run():
        sgd.zero_grad()
        F.cross_entropy(model(x), t).backward()
        sgd.step()
    return run


@row("adam.10M")
def adam():
    w = leaf(10_000_000)
    w.grad = torch.randn_like(w)
    return torch.optim.Adam([w], 1e-3).step


class Encoder(nn.Module):
    """The classifier of labs/attention on reviews of 20 words."""

    def __init__(self):
        super().__init__()
        self.embed, self.pos = nn.Embedding(68, 32, padding_idx=0), nn.Embedding(20, 32)
        self.q, self.k, self.v, self.o = (nn.Linear(32, 32) for _ in range(4))
        self.norm1, self.norm2 = nn.LayerNorm(32), nn.LayerNorm(32)
        self.ff, self.head = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 32)), nn.Linear(32, 2)

    def forward(self, ids):
        keep = ids != 0
        x = self.embed(ids) + self.pos.weight
        q, k, v = (f(x).view(-1, 20, 4, 8).transpose(1, 2) for f in (self.q, self.k, self.v))
        scores = (q @ k.transpose(2, 3) / 8 ** 0.5).masked_fill(~keep[:, None, None], -1e9)
        y = (torch.softmax(scores, -1) @ v).transpose(1, 2).reshape(-1, 20, 32)
        x = self.norm1(x + self.o(y))
        x = self.norm2(x + self.ff(x))
        weight = keep[:, :, None].float()
        return self.head((x * weight).sum(1) / weight.sum(1))


@row("epoch.transformer")
def transformer():
    model = Encoder()
    optimiser = torch.optim.Adam(model.parameters(), 3e-3)
    ids, target = torch.randint(1, 68, (1600, 20)), torch.randint(0, 2, (1600,))

    def run():
        for rows in torch.randperm(1600).split(64):
            optimiser.zero_grad()
            F.cross_entropy(model(ids[rows]), target[rows]).backward()
            optimiser.step()
    return run


def seconds(f, repeats):
    start = time.perf_counter()
    for _ in range(repeats):
        f()
    return time.perf_counter() - start


def measure(f, calls, samples=9):
    f()
    repeats = 1
    while seconds(f, repeats) < 4e-3:
        repeats *= 2
    taken = sorted(seconds(f, repeats) / (repeats * calls) for _ in range(samples))
    return taken[len(taken) // 2], taken[0], taken[-1]


def duration(s):
    for unit, name in ((1, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if s >= unit:
            return f"{s / unit:.3g} {name}"
    return f"{s * 1e9:.0f} ns"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--filter", default="")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--bench", default="build/bench.json")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    products(), layers(), recurrent(), convolutions(), blocks(), steps()
    ours = {}
    if os.path.exists(options.bench):
        with open(options.bench) as file:
            ours = {r["name"]: r for r in json.load(file) if r["threads"] == options.threads}
    if options.markdown:
        print("| row | labgrad | PyTorch | ratio |\n| --- | --- | --- | --- |")
    else:
        print(f"PyTorch {torch.__version__}, threads {options.threads}; median (quickest - slowest)")
    for name, (prepare, calls) in ROWS.items():
        if options.filter not in name or (options.markdown and name not in ours):
            continue
        median, low, high = measure(prepare(), calls)
        if not options.markdown:
            print(f"{name:<36} {duration(median):>10} ({duration(low)} - {duration(high)})", flush=True)
        for row in (name, name + " winograd"):
            if row not in ours:
                continue
            mine = ours[row]["median"]
            if options.markdown:
                print(f"| `{row}` | {duration(mine)} | {duration(median)} | {median / mine:.1f} |",
                      flush=True)
            else:
                print(f"  ours: {row:<44} {duration(mine):>10} {median / mine:7.2f} times", flush=True)


if __name__ == "__main__":
    main()
