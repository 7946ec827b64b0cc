"""Writes torch_double.json: the first losses of the two digit readers in double precision.

    python3 reader_double.py MNIST_FOLDER [OUT_FOLDER]

The ritual (one batch of 32 strips, 20 steps) and the first 5 steps of a training on 60,000
strips in batches of 128, from seed 0. Weights are drawn in single precision and then converted,
so that they are those of the readers in single precision. Takes about ten minutes.
"""

import math
import os
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader

from generate import Mnist, lab_modules, write

SOS, EOS, PAD = 10, 11, 12


class Strips:
    """What a strip is made of; its picture is drawn when it is asked for."""

    def __init__(self, mnist, n, seed, width=336):
        self.pixels, self.labels = mnist.data['train']
        self.width = width
        rng = np.random.default_rng(seed)
        lengths = np.resize(np.arange(1, 9), n)
        rng.shuffle(lengths)
        self.rows = []
        for length in lengths.tolist():
            source = rng.integers(0, len(self.pixels), size=length)
            steps = 28 + rng.integers(-6, 1, size=length - 1)
            start = int(rng.integers(0, width - 28 - int(steps.sum()) + 1))
            self.rows.append((source, start + np.concatenate([[0], np.cumsum(steps)])))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        picture = np.zeros((28, self.width), np.uint8)
        for source, x in zip(*self.rows[i]):
            box = picture[:, x:x + 28]
            np.maximum(box, self.pixels[source], out=box)
        return picture, self.labels[self.rows[i][0]].tolist()


def collate(samples):
    longest = max(len(digits) for _, digits in samples) + 1
    inputs, targets = (torch.full((len(samples), longest), PAD) for _ in range(2))
    for i, (_, digits) in enumerate(samples):
        inputs[i, :len(digits) + 1] = torch.tensor([SOS] + digits)
        targets[i, :len(digits) + 1] = torch.tensor(digits + [EOS])
    pictures = torch.from_numpy(np.stack([picture for picture, _ in samples]))
    # Pixels are divided in single precision, as the readers get them.
    return (pictures.float() / 255).double().unsqueeze(1), inputs, targets


class Reader:
    def __init__(self, name):
        torch.manual_seed(0)
        self.m = {where: module.double() for where, module in lab_modules(name)}

    def parameters(self):
        return [p for module in self.m.values() for p in module.parameters()]

    def logits(self, pictures, inputs):
        m, x = self.m, pictures
        for i in range(4):
            x = m['encoder.cnn.%d.1' % i](m['encoder.cnn.%d.0' % i](x))
            x = F.max_pool2d(F.relu(x), 2)
        memory, finals = m['encoder.bigru'](x.squeeze(2).transpose(1, 2))
        s = torch.tanh(m['encoder.init'](torch.cat([finals[0], finals[1]], 1)))
        symbols = m['emb'](inputs)
        if 'gru' in m:
            return m['out'](m['gru'](symbols, s.unsqueeze(0))[0])
        keys, values, out = m['wk'](memory), m['wv'](memory), []
        for y in symbols.unbind(1):
            scores = (keys @ m['wq'](s).unsqueeze(2)).squeeze(2) / math.sqrt(64)
            context = (F.softmax(scores, 1).unsqueeze(1) @ values).squeeze(1)
            s = m['cell'](torch.cat([y, context], 1), s)
            out.append(m['out'](torch.cat([s, context], 1)))
        return torch.stack(out, 1)


def losses(name, batches, rate):
    reader, seen = Reader(name), []
    adam = torch.optim.Adam(reader.parameters())
    for step, (pictures, inputs, targets) in enumerate(batches):
        logits = reader.logits(pictures, inputs)
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PAD)
        adam.zero_grad()
        loss.backward()
        adam.param_groups[0]['lr'] = rate(step)
        adam.step()
        seen.append(loss.item())
        print(name, step + 1, '%.9g' % loss.item(), flush=True)
    return seen


def main():
    mnist = Mnist(sys.argv[1])
    out = sys.argv[2] if len(sys.argv) > 2 else os.path.dirname(os.path.abspath(__file__))
    ritual = Strips(mnist, 32, 999)
    batch = collate([ritual[i] for i in range(32)])
    loader = DataLoader(Strips(mnist, 60000, 1001), batch_size=128, shuffle=True, drop_last=True,
                        collate_fn=collate, generator=torch.Generator().manual_seed(0))
    first = [b for b, _ in zip(loader, range(5))]
    total = 12 * (60000 // 128)
    cosine = lambda step: 1e-3 * (1 + math.cos(math.pi * step / total)) / 2
    doc = {'what': 'Losses of PyTorch 1.13 in double precision, MNIST, seed 0.'}
    for kind, name in (('attention', 'AttentionReader'), ('fixed', 'FixedReader')):
        doc['ritual_' + kind] = losses(name, [batch] * 20, lambda step: 1e-3)
        doc['train_%s_first5' % kind] = losses(name, first, cosine)
    write(os.path.join(out, 'torch_double.json'), doc)


if __name__ == '__main__':
    main()
