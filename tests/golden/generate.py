"""Regenerates numpy_rng.json, torch_rng.json, strips.json and ops.json.

    python3 generate.py MNIST_FOLDER [OUT_FOLDER]

Needs Debian's python3-torch (1.13) and python3-numpy (1.24) on an x86-64
machine with AVX2 and FMA. MNIST_FOLDER holds the four raw IDX files of MNIST
(train-images-idx3-ubyte and so on). The formats are described in README.md.
"""

import ctypes
import hashlib
import json
import math
import os
import random
import struct
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader

torch.set_num_threads(1)
M64 = (1 << 64) - 1


# ---- compact JSON ------------------------------------------------------------

class F32(float):
    """A float that came from a single-precision tensor: 9 digits are enough."""


def encode(o):
    if o is None or isinstance(o, (bool, str)):
        return json.dumps(o)
    if isinstance(o, int):
        return str(o) if abs(o) < 1 << 53 else '"%d"' % o
    if isinstance(o, float):
        if o != o:
            return '"nan"'
        if math.isinf(o):
            return '"inf"' if o > 0 else '"-inf"'
        if o == int(o) and abs(o) < 1e15:
            return '%d' % o if o or math.copysign(1, o) > 0 else '-0.0'
        return '%.9g' % o if isinstance(o, F32) else repr(float(o))
    if isinstance(o, dict):
        return '{' + ','.join(json.dumps(k) + ':' + encode(v) for k, v in o.items()) + '}'
    return '[' + ','.join(encode(v) for v in o) + ']'


def write(path, doc):
    """One line for each entry of each list at the top level."""
    with open(path, 'w') as f:
        f.write('{\n')
        for i, (k, v) in enumerate(doc.items()):
            f.write(json.dumps(k) + ':')
            if isinstance(v, list) and v and isinstance(v[0], dict):
                f.write('[\n' + ',\n'.join(encode(x) for x in v) + '\n]')
            else:
                f.write(encode(v))
            f.write(',\n' if i + 1 < len(doc) else '\n')
        f.write('}\n')


def sha(data):
    return hashlib.sha256(data).hexdigest()


def i32(values):
    return np.asarray(values, dtype='<i4').tobytes()


def hex64(v):
    return '0x%016x' % v


def hex128(v):
    return '0x%032x' % v


# ---- NumPy -------------------------------------------------------------------

def np_state(rng):
    s = rng.bit_generator.state
    return {'state': hex128(s['state']['state']), 'inc': hex128(s['state']['inc']),
            'half': s['uinteger'] if s['has_uint32'] else None}


def numpy_stream(seed):
    bg = np.random.PCG64(seed)
    ss = np.random.SeedSequence(seed)
    out = {'seed': seed, 'pool': [int(v) for v in ss.pool],
           'words64': [hex64(int(v)) for v in ss.generate_state(4, np.uint64)]}
    out.update((k, v) for k, v in np_state(np.random.Generator(bg)).items() if k != 'half')
    out['next64'] = [hex64(int(v)) for v in bg.random_raw(32)]
    face = np.random.PCG64(seed).ctypes
    out['next32'] = [face.next_uint32(face.state) for _ in range(16)]
    out['random'] = np.random.default_rng(seed).random(8).tolist()
    return out


def numpy_program(name, seed, steps):
    rng, done = np.random.default_rng(seed), []
    for step in steps:
        s = dict(step)
        op = s['op']
        if op == 'integers':
            r = rng.integers(s['low'], s['high'], size=s['size'])
        elif op == 'shuffle':
            r = np.asarray(s['array'])
            rng.shuffle(r)
        elif op == 'shuffle_resized':          # np.resize(range(first, last + 1), n), shuffled
            r = np.resize(np.arange(s['first'], s['last'] + 1), s['n'])
            rng.shuffle(r)
        elif op == 'permutation':
            r = rng.permutation(s['n'])
        elif op == 'random':
            r = rng.random(s['size'])
        elif op == 'random_f32':
            r = rng.random(s['size'], dtype=np.float32)
        elif op == 'choice':
            r = rng.choice(s['n'], s['size'], replace=s['replace'])
        r = np.asarray(r)
        if r.size > 80:
            s['head'], s['sha256_i32le'] = r[:20].tolist(), sha(i32(r))
        else:
            s['result'] = [F32(v) for v in r.tolist()] if r.dtype == np.float32 else r.tolist()
        done.append(s)
    return {'name': name, 'seed': seed, 'steps': done, 'final': np_state(rng)}


def ints(low, high, size=None):
    return {'op': 'integers', 'low': low, 'high': high, 'size': size}


def numpy_rng():
    ranges = [(0, 10, 24), (-6, 1, 24), (0, 10000, 24), (0, 60000, 24), (0, 1, 4), (5, 6, 1),
              (0, 2, 40), (0, 3 << 30, 24), (0, (1 << 32) - 1, 6), (0, 1 << 32, 6),
              (0, (1 << 32) + 1, 6), (0, 3 << 61, 12), (-(1 << 63), 1 << 63, 4)]
    progs = [numpy_program('integers_%d' % i, 1234 + i, [ints(*r)]) for i, r in enumerate(ranges)]
    progs += [
        numpy_program('scalars_equal_array', 7, [ints(0, 10000) for _ in range(6)] + [ints(0, 10000, 6)]),
        numpy_program('half_word_survives_64_bit_draws', 11, [
            ints(0, 10), {'op': 'random', 'size': 2}, ints(0, 10), ints(0, 1 << 40, 2),
            ints(0, 10, 3), {'op': 'random', 'size': 1}, ints(0, 10, 2)]),
        numpy_program('nothing_drawn', 3, [ints(0, 1, 5), ints(-6, 1, 0), {'op': 'shuffle', 'array': [4]},
                                           ints(4, 5), ints(0, 100, 3)]),
        numpy_program('strip_by_hand', 5, [ints(0, 10000, 4), ints(-6, 1, 3), ints(0, 240),
                                           ints(0, 10000, 1), ints(-6, 1, 0), ints(0, 309)]),
        numpy_program('shuffle_small', 42, [{'op': 'shuffle', 'array': list(range(10))},
                                            {'op': 'shuffle', 'array': [3, 3, 1, 2]},
                                            {'op': 'shuffle', 'array': [1, 2]}]),
        numpy_program('shuffle_large', 43, [{'op': 'shuffle_resized', 'first': 0, 'last': 999, 'n': 1000}]),
        numpy_program('shuffle_resized', 44, [{'op': 'shuffle_resized', 'first': 1, 'last': 8, 'n': 20},
                                              {'op': 'shuffle_resized', 'first': 9, 'last': 12, 'n': 10}]),
        numpy_program('permutation', 45, [{'op': 'permutation', 'n': 10}, {'op': 'permutation', 'n': 65}]),
        numpy_program('random', 46, [{'op': 'random', 'size': 8}, {'op': 'random_f32', 'size': 7},
                                     {'op': 'random', 'size': 1}, {'op': 'random_f32', 'size': 1}]),
        numpy_program('choice', 47, [{'op': 'choice', 'n': 9, 'size': 5, 'replace': True},
                                     {'op': 'choice', 'n': 50, 'size': 6, 'replace': False},
                                     {'op': 'choice', 'n': 20000, 'size': 30, 'replace': False},
                                     {'op': 'choice', 'n': 20000, 'size': 500, 'replace': False}]),
    ]
    return {'format': 1, 'made_with': 'numpy ' + np.__version__,
            'streams': [numpy_stream(s) for s in (0, 1, 5, 999, 1001, 1234, 4321, 1 << 32, (1 << 130) + 9)],
            'programs': progs}


# ---- strips ------------------------------------------------------------------

class Mnist:
    FILES = {'train': ('train-images-idx3-ubyte', 'train-labels-idx1-ubyte'),
             'test': ('t10k-images-idx3-ubyte', 't10k-labels-idx1-ubyte')}

    def __init__(self, folder):
        self.sha, self.data = {}, {}
        for split, names in self.FILES.items():
            arrays = []
            for nm in names:
                raw = open(os.path.join(folder, nm), 'rb').read()
                self.sha[nm] = sha(raw)
                dims = struct.unpack('>%di' % raw[3], raw[4:4 + 4 * raw[3]])
                arrays.append(np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(dims))
            self.data[split] = arrays


def strip_set(mnist, name, split, n, first, last, seed, width=336):
    pixels, labels = mnist.data[split]
    rng = np.random.default_rng(seed)
    lengths = np.resize(np.arange(first, last + 1), n)
    rng.shuffle(lengths)
    src, xs, digest, total = [], [], hashlib.sha256(), 0
    for length in lengths.tolist():
        idx = rng.integers(0, len(pixels), size=length)
        gap = rng.integers(-6, 1, size=length - 1)
        left = int(rng.integers(0, width - (28 * length + int(gap.sum())) + 1))
        edges = [left]
        for g in gap.tolist():
            edges.append(edges[-1] + 28 + g)
        picture = np.zeros((28, width), np.uint8)
        for i, x in zip(idx.tolist(), edges):
            box = picture[:, x:x + 28]
            np.maximum(box, pixels[i], out=box)
        digest.update(picture.tobytes())
        total += int(picture.sum(dtype=np.int64))
        src.append(idx.tolist())
        xs.append(edges)
    digits = [[int(labels[i]) for i in row] for row in src]
    flat = lambda rows: [v for row in rows for v in row]
    d = flat(digits)
    return {'name': name, 'split': split, 'n': n, 'lengths': [first, last], 'seed': seed, 'width': width,
            'lengths_head': lengths[:50].tolist(), 'lengths_sha256_i32le': sha(i32(lengths)),
            'src_head': src[:5], 'xs_head': xs[:5], 'digits_head': digits[:5],
            'src_sha256_i32le': sha(i32(flat(src))), 'xs_sha256_i32le': sha(i32(flat(xs))),
            'digits_sha256_i32le': sha(i32(d)), 'digit_count': len(d), 'digit_sum': sum(d),
            'images_sha256_u8': digest.hexdigest(), 'images_sum': total, 'final': np_state(rng)}


def strips(mnist):
    sets = [('test_set', 'test', 8000, 1, 8, 1234), ('long_set', 'test', 4000, 9, 12, 4321),
            ('ritual', 'train', 32, 1, 8, 999)]
    sets += [('train_epoch_%d' % e, 'train', 60000, 1, 8, 1000 + e) for e in range(1, 13)]
    sets += [('train_epoch_1_small_budget', 'train', 30000, 1, 8, 1001)]
    return {'format': 1, 'made_with': 'numpy ' + np.__version__, 'mnist_sha256': mnist.sha,
            'sets': [strip_set(mnist, *s) for s in sets]}


# ---- PyTorch generator -------------------------------------------------------

def raw32(n, g=None):
    """The next n (even) 32-bit outputs."""
    v = torch.empty(n // 2, dtype=torch.int64).random_(-(1 << 63), None, generator=g).tolist()
    return [h for w in v for h in ((w & M64) >> 32, w & 0xFFFFFFFF)]


DTYPE = {'float32': torch.float32, 'float64': torch.float64}


def listed(t):
    t = t.detach()
    v = t.flatten().tolist()
    return [F32(x) for x in v] if t.dtype == torch.float32 else v


def stored(t, limit=64):
    """Contents of a tensor: all of it, or its head and a checksum."""
    a = t.detach().contiguous()
    if a.numel() <= limit:
        return {'data': listed(a)}
    if a.dtype == torch.int64:
        return {'head': a.flatten()[:20].tolist(), 'sha256_i32le': sha(i32(a.numpy().ravel()))}
    key = 'sha256_f32le' if a.dtype == torch.float32 else 'sha256_f64le'
    return {'head': listed(a.flatten()[:8]), 'sum': float(a.double().sum()), key: sha(a.numpy().tobytes())}


def torch_program(name, seed, steps, own=False):
    g = None
    if own:
        g = torch.Generator().manual_seed(seed)
    else:
        torch.manual_seed(seed)
    done = []
    for step in steps:
        s = dict(step)
        op, dt = s['op'], DTYPE[s.get('dtype', 'float32')]
        if op == 'manual_seed':
            torch.manual_seed(s['seed'])
            done.append(s)
            continue
        if op == 'rand':
            r = torch.rand(s['shape'], dtype=dt, generator=g)
        elif op == 'randn':
            r = torch.randn(s['shape'], dtype=dt, generator=g)
        elif op == 'uniform':
            r = torch.empty(s['shape'], dtype=dt).uniform_(s['lo'], s['hi'], generator=g)
        elif op == 'normal':
            r = torch.empty(s['shape'], dtype=dt).normal_(s['mean'], s['std'], generator=g)
        elif op == 'randperm':
            r = torch.randperm(s['n'], generator=g)
        elif op == 'randint':
            r = torch.randint(s['low'], s['high'], s['shape'], generator=g)
        elif op == 'random_int64':
            r = torch.empty(1, dtype=torch.int64).random_(generator=g)
        elif op == 'bernoulli':
            r = torch.empty(s['shape'], dtype=dt).bernoulli_(s['p'], generator=g)
        elif op == 'bernoulli_each':
            r = torch.bernoulli(torch.tensor(s['probs'], dtype=dt), generator=g)
        elif op == 'dropout':
            r = F.dropout(torch.tensor(s['x'], dtype=dt), s['p'], True)
        elif op == 'trunc_normal':
            r = nn.init.trunc_normal_(torch.empty(s['shape']), s['mean'], s['std'], s['a'], s['b'])
        s.update(stored(r))
        done.append(s)
    return {'name': name, 'seed': seed, 'own_generator': own, 'steps': done, 'next32': raw32(2, g)}


def op(name, shape=None, **k):
    s = {'op': name}
    if shape is not None:
        s['shape'] = list(shape) if isinstance(shape, (list, tuple)) else [shape]
    s.update(k)
    return s


def build(kind, a):
    k = dict(a)
    dt = DTYPE[k.pop('dtype', 'float32')]
    if kind in ('LayerNorm', 'BatchNorm2d', 'BatchNorm1d'):
        return getattr(nn, kind)(k['features'])
    return getattr(nn, kind)(**k, dtype=dt)


def init_case(name, seed, modules):
    """Modules built one after another from one seed."""
    torch.manual_seed(seed)
    out = []
    for kind, args in modules:
        m = build(kind, args)
        out.append({'kind': kind, 'args': args, 'params': [
            dict(name=n, shape=list(p.shape), **stored(p, 400)) for n, p in m.named_parameters()]})
    return {'name': name, 'seed': seed, 'modules': out, 'next32': raw32(2)}


def loader_case(name, n, batch, drop_last, passes, generator_seed=None, default_seed=12345, limit=1000):
    torch.manual_seed(default_seed)
    g = None if generator_seed is None else torch.Generator().manual_seed(generator_seed)
    dl = DataLoader(range(n), batch_size=batch, shuffle=True, drop_last=drop_last, generator=g, collate_fn=list)
    eps = []
    for _ in range(passes):
        it = iter(dl)
        seed, batches = it._base_seed, list(it)
        order = [i for b in batches for i in b]
        e = {'base_seed': str(seed), 'batches': len(batches), 'last_batch': len(batches[-1])}
        if n <= limit:
            e['order'] = order
        else:
            e['head'] = order[:20]
        e['sha256_i32le'] = sha(i32(order))
        eps.append(e)
    return {'name': name, 'n': n, 'batch_size': batch, 'drop_last': drop_last,
            'generator_seed': generator_seed, 'default_seed': default_seed, 'epochs': eps,
            'default_next32': raw32(2), 'generator_next32': None if g is None else raw32(2, g)}


def lab_modules(name, vocab=40):
    """(dotted name, module or parameter), in the order the labs build them."""
    cnn, c = [], 1
    if name == 'TinyTransformer':
        yield 'embed', nn.Embedding(vocab, 32, padding_idx=0)
        yield 'pos', nn.init.normal_(nn.Parameter(torch.zeros(1, 20, 32)), std=0.02)
        for n in 'q k v out'.split():
            yield 'block.attn.' + n, nn.Linear(32, 32)
        yield 'block.norm1', nn.LayerNorm(32)
        yield 'block.ff.0', nn.Linear(32, 64)
        yield 'block.ff.2', nn.Linear(64, 32)
        yield 'block.norm2', nn.LayerNorm(32)
        yield 'head', nn.Linear(32, 2)
        return
    for i, d in enumerate((32, 64, 128, 128)):
        yield 'encoder.cnn.%d.0' % i, nn.Conv2d(c, d, 3, padding=1, bias=False)
        yield 'encoder.cnn.%d.1' % i, nn.BatchNorm2d(d)
        c = d
    yield 'encoder.bigru', nn.GRU(128, 64, bidirectional=True, batch_first=True)
    yield 'encoder.init', nn.Linear(128, 64)
    yield 'emb', nn.Embedding(13, 32)
    if name == 'FixedReader':
        yield 'gru', nn.GRU(32, 64, batch_first=True)
        yield 'out', nn.Linear(64, 13)
    else:
        yield 'wq', nn.Linear(64, 64, bias=False)
        yield 'wk', nn.Linear(128, 64, bias=False)
        yield 'wv', nn.Linear(128, 128, bias=False)
        yield 'cell', nn.GRUCell(160, 64)
        yield 'out', nn.Linear(192, 13)


def model_case(model, seed):
    torch.manual_seed(seed)
    out, count = [], 0
    for where, m in lab_modules(model):
        named = m.named_parameters() if isinstance(m, nn.Module) else [('', m)]
        for n, p in named:
            full = where + ('.' + n if n else '')
            out.append(dict(name=full, shape=list(p.shape), **stored(p, 64)))
            count += p.numel()
    return {'name': model, 'seed': seed, 'parameters': count, 'params': out, 'next32': raw32(2)}


def torch_doc(raw_seeds, programs, inits, loaders, models):
    raw = []
    for s in raw_seeds:
        torch.manual_seed(s)
        raw.append({'seed': s, 'next32': raw32(32)})
    return {'format': 1, 'made_with': 'torch ' + torch.__version__ + ', AVX2 kernels, no MKL',
            'raw': raw, 'programs': programs, 'inits': inits, 'loaders': loaders, 'models': models}


GRU352 = ('GRU', {'input_size': 3, 'hidden_size': 5, 'num_layers': 2, 'bidirectional': True})


def torch_rng():
    s0 = {'dtype': 'float64'}
    progs = []
    for seed in (0, 1, 2, 42):
        for o in (op('rand', 8), op('rand', 20), op('randn', 8), op('randn', 20), op('randn', 33)):
            progs.append(torch_program('%s_%d_seed_%d' % (o['op'], o['shape'][0], seed), seed, [o]))
        progs.append(torch_program('randperm_seed_%d' % seed, seed, [op('randperm', n=10), op('randperm', n=1000)]))
    progs += [
        torch_program('float64', 0, [op('rand', 8, **s0), op('randn', 8, **s0), op('randn', 20, **s0), op('randn', 33, **s0)]),
        torch_program('uniform_affine', 3, [op('uniform', 24, lo=-0.3, hi=0.6), op('uniform', [3, 5], lo=-0.125, hi=0.125),
                                            op('uniform', 12, lo=-0.3, hi=0.6, **s0)]),
        torch_program('normal_affine', 4, [op('normal', 24, mean=0.3, std=0.7), op('normal', [3, 3], mean=0.3, std=0.7),
                                           op('normal', [4, 5], mean=0.0, std=0.02), op('normal', 20, mean=-1.5, std=2.0, **s0)]),
        torch_program('normal_cache', 5, [op('randn', 3), op('rand', 2), op('randn', 20), op('randn', 2), op('randn', 1),
                                          op('manual_seed', seed=5), op('randn', 3), op('manual_seed', seed=6), op('randn', 2)]),
        torch_program('randint', 6, [op('randint', 20, low=0, high=10), op('randint', [2, 3], low=-5, high=5),
                                     op('randint', 6, low=0, high=(1 << 28) - 1), op('randint', 6, low=0, high=1 << 33),
                                     op('random_int64'), op('randint', 1, low=0, high=2)]),
        torch_program('randint_between_2_28_and_2_32', 6, [op('randint', 6, low=0, high=1 << 31)]),
        torch_program('randperm_edges', 7, [op('randperm', n=0), op('randperm', n=1), op('randperm', n=2), op('randperm', n=2000)]),
        torch_program('bernoulli', 8, [op('bernoulli', 40, p=0.3), op('bernoulli', [2, 5], p=0.8, **s0),
                                       op('bernoulli_each', probs=[0.1, 0.5, 0.9, 0.25, 0.75]),
                                       op('bernoulli_each', probs=[0.1, 0.5, 0.9, 0.25, 0.75], **s0)]),
        torch_program('dropout', 9, [op('dropout', x=[i / 8 for i in range(1, 25)], p=0.2),
                                     op('dropout', x=[i / 8 for i in range(1, 25)], p=0.5),
                                     op('dropout', x=[1.0, 2.0], p=0.0), op('dropout', x=[1.0, 2.0], p=1.0)]),
        torch_program('trunc_normal', 10, [op('trunc_normal', 24, mean=0.0, std=0.02, a=-0.03, b=0.03)]),
        torch_program('own_generator', 0, [op('rand', 5), op('randn', 20), op('randn', 3), op('randperm', n=12),
                                           op('randint', 5, low=0, high=10), op('bernoulli', 6, p=0.4)], True),
        torch_program('seed_above_32_bits', (1 << 32) + 5, [op('rand', 4)]),
        torch_program('past_one_refill', 11, [op('rand', 700), op('randn', 1600), op('randn', 1607)]),
    ]
    lin = lambda i, o, **k: ('Linear', dict(in_features=i, out_features=o, **k))
    inits = [
        init_case('linear_4_3', 0, [lin(4, 3)]),
        init_case('conv_1_32_3', 0, [('Conv2d', dict(in_channels=1, out_channels=32, kernel_size=[3, 3]))]),
        init_case('gru_3_5_2_bi', 0, [GRU352]),
        init_case('embedding_7_4', 0, [('Embedding', dict(num_embeddings=7, embedding_dim=4))]),
        init_case('embedding_small', 0, [('Embedding', dict(num_embeddings=3, embedding_dim=4))]),
        init_case('embedding_padding', 0, [('Embedding', dict(num_embeddings=9, embedding_dim=4, padding_idx=2)), lin(2, 2)]),
        init_case('lstm', 1, [('LSTM', dict(input_size=2, hidden_size=3, num_layers=2))]),
        init_case('rnn_no_bias', 1, [('RNN', dict(input_size=2, hidden_size=3, bias=False))]),
        init_case('cells', 2, [('GRUCell', dict(input_size=3, hidden_size=4)), ('LSTMCell', dict(input_size=2, hidden_size=2))]),
        init_case('conv_groups_no_bias', 2, [('Conv2d', dict(in_channels=6, out_channels=4, kernel_size=[3, 2], groups=2, bias=False))]),
        init_case('sequence', 42, [lin(5, 7), ('LayerNorm', dict(features=7)), ('BatchNorm2d', dict(features=3)),
                                   ('Embedding', dict(num_embeddings=5, embedding_dim=6)), lin(7, 2, bias=False), lin(3, 1)]),
        init_case('linear_float64', 3, [lin(4, 3, dtype='float64')]),
    ]
    loaders = [
        loader_case('n300_b128_drop', 300, 128, True, 2, 0),
        loader_case('n300_b128_keep', 300, 128, False, 2, 0),
        loader_case('n256_b128_drop', 256, 128, True, 2, 0),
        loader_case('n256_b128_keep', 256, 128, False, 2, 0),
        loader_case('no_generator', 20, 8, False, 2, None, 7),
        loader_case('lab8_seed0', 60000, 128, True, 12, 0),
        loader_case('lab8_seed0_small_budget', 30000, 128, True, 2, 0),
    ]
    models = [model_case('FixedReader', 0), model_case('AttentionReader', 0),
              model_case('FixedReader', 1), model_case('AttentionReader', 1), model_case('TinyTransformer', 42)]
    return torch_doc((0, 1, 2, 42), progs, inits, loaders, models)


# ---- operators ---------------------------------------------------------------

class Ops:
    """Collects cases: forward values and gradients in float64."""

    def __init__(self, seed):
        self.rnd = random.Random(seed)
        self.cases = []

    # values with few digits, so the files stay small and readable
    def t(self, *shape, scale=1.0, shift=0.0, digits=3):
        n = math.prod(shape)
        v = [round(self.rnd.gauss(0, 1) * scale + shift, digits) for _ in range(n)]
        return torch.tensor(v, dtype=torch.float64).reshape(shape)

    def up(self, shape):
        n = math.prod(shape)
        v = [self.rnd.randint(-16, 16) / 16 for _ in range(n)]
        return torch.tensor(v, dtype=torch.float64).reshape(shape)

    def ids(self, n, *shape):
        return torch.tensor([self.rnd.randrange(n) for _ in range(math.prod(shape))], dtype=torch.int64).reshape(shape)

    def flags(self, *shape, p=0.4):
        return torch.tensor([self.rnd.random() < p for _ in range(math.prod(shape))]).reshape(shape)

    @staticmethod
    def tensor(t, layout=None):
        d = {'shape': list(t.shape)}
        if t.dtype != torch.float64:
            d['dtype'] = str(t.dtype).split('.')[1]
        if layout:
            d['layout'] = layout
        d['data'] = t.detach().flatten().tolist()
        return d

    @staticmethod
    def arrange(t, how):
        """A view with t's contents but other strides, and its description."""
        kind = how[0]
        if kind == 'permute':
            dims = list(how[1])
            base = t.permute([dims.index(i) for i in range(len(dims))]).contiguous()
            view, desc = base.permute(dims), {'kind': 'permute', 'dims': dims}
        elif kind == 'step':
            dim, step = how[1:]
            shape = list(t.shape)
            shape[dim] *= step
            base = torch.full(shape, 7.25, dtype=t.dtype)
            pick = lambda b: b[(slice(None),) * dim + (slice(None, None, step),)]
            pick(base).copy_(t)
            view, desc = pick(base), {'kind': 'step', 'dim': dim, 'step': step, 'filler': 7.25}
        elif kind == 'narrow':
            dim, start, extra = how[1:]
            shape = list(t.shape)
            shape[dim] += extra
            base = torch.full(shape, 7.25, dtype=t.dtype)
            base.narrow(dim, start, t.shape[dim]).copy_(t)
            view, desc = base.narrow(dim, start, t.shape[dim]), {'kind': 'narrow', 'dim': dim, 'start': start, 'filler': 7.25}
        else:                                   # expand: t must repeat along the given dims
            base = t
            for d in how[1]:
                base = base.narrow(d, 0, 1)
            base = base.contiguous().clone()
            view, desc = base.expand(t.shape), {'kind': 'expand'}
        desc['base_shape'] = list(base.shape)
        assert torch.equal(view, t)
        return base, view, desc

    def run(self, name, kind, attrs, inputs, fn, fixed=(), layout=None, sample=None, tol=None, no_grad=False):
        """fn(**inputs) -> dict of outputs.  `fixed` inputs get no gradient."""
        views, docs, layout = {}, {}, layout or {}
        for k, t in inputs.items():
            want = t.dtype == torch.float64 and k not in fixed and not no_grad
            desc = None
            if k in layout:
                base, view, desc = self.arrange(t, layout[k])
                if want:
                    base.requires_grad_(True)
                    _, view = base, self.review(base, t, layout[k])
            else:
                view = t.clone().requires_grad_(want)
            views[k] = view
            docs[k] = self.tensor(t, desc)
        outs = fn(**views)
        case = {'name': name, 'op': kind, 'attrs': attrs}
        if tol:
            case['rtol'], case['atol'] = tol
        case['inputs'] = docs
        case['outputs'] = {k: self.sampled(v, sample) if sample and v.numel() > 400 else self.tensor(v)
                           for k, v in outs.items()}
        diff = {k: v for k, v in outs.items() if v.dtype == torch.float64 and v.requires_grad}
        if diff:
            ups = {k: self.up(v.shape) for k, v in diff.items()}
            wrt = [k for k, v in views.items() if v.requires_grad]
            g = torch.autograd.grad(list(diff.values()), [views[k] for k in wrt], list(ups.values()), allow_unused=True)
            case['upstream'] = {k: self.tensor(v) for k, v in ups.items()}
            case['grads'] = {k: self.tensor(torch.zeros_like(views[k]) if v is None else v) for k, v in zip(wrt, g)}
        self.cases.append(case)

    @staticmethod
    def review(base, t, how):
        if how[0] == 'permute':
            return base.permute(list(how[1]))
        if how[0] == 'step':
            return base[(slice(None),) * how[1] + (slice(None, None, how[2]),)]
        if how[0] == 'narrow':
            return base.narrow(how[1], how[2], t.shape[how[1]])
        return base.expand(t.shape)

    @staticmethod
    def sampled(v, count):
        flat = v.detach().flatten()
        step = max(1, flat.numel() // count)
        at = list(range(0, flat.numel(), step))
        return {'shape': list(v.shape), 'sample_index': at, 'sample': [flat[i].item() for i in at],
                'sum': flat.sum().item(), 'sum_of_squares': (flat * flat).sum().item()}

    # -- one method for each operator

    def binary(self, name, kind, sa, sb, layout=None, scale=1.0, tol=None):
        a = self.t(*sa, scale=scale)
        b = self.t(*sb, scale=scale)
        if kind == 'div':
            b = torch.where(b.abs() < 0.2, b + 1.5, b)
        f = {'add': torch.add, 'sub': torch.sub, 'mul': torch.mul, 'div': torch.div}[kind]
        self.run(name, kind, {}, {'a': a, 'b': b}, lambda a, b: {'out': f(a, b)}, layout=layout, tol=tol)

    def matmul(self, name, sa, sb, layout=None, scale=1.0, tol=None):
        self.run(name, 'matmul', {}, {'a': self.t(*sa, scale=scale), 'b': self.t(*sb, scale=scale)},
                 lambda a, b: {'out': a @ b}, layout=layout, tol=tol)

    def linear(self, name, sx, n_out, layout=None):
        self.run(name, 'linear', {}, {'x': self.t(*sx), 'weight': self.t(n_out, sx[-1]), 'bias': self.t(n_out)},
                 lambda x, weight, bias: {'out': F.linear(x, weight, bias)}, layout=layout)

    def soft(self, name, kind, shape, dim, layout=None, scale=1.0, shift=0.0, x=None, tol=None):
        f = {'softmax': torch.softmax, 'log_softmax': torch.log_softmax}[kind]
        x = self.t(*shape, scale=scale, shift=shift) if x is None else x
        self.run(name, kind, {'dim': dim}, {'x': x}, lambda x: {'out': f(x, dim)}, layout=layout, tol=tol)

    def unary(self, name, kind, shape, layout=None, scale=1.0, x=None):
        f = {'relu': torch.relu, 'tanh': torch.tanh, 'sigmoid': torch.sigmoid, 'exp': torch.exp,
             'gelu': F.gelu}[kind]
        x = self.t(*shape, scale=scale) if x is None else x
        self.run(name, kind, {}, {'x': x}, lambda x: {'out': f(x)}, layout=layout)

    def reduce(self, name, kind, shape, dim, keepdim, layout=None):
        f = {'sum': torch.sum, 'mean': torch.mean}[kind]
        self.run(name, kind, {'dim': dim, 'keepdim': keepdim}, {'x': self.t(*shape)},
                 lambda x: {'out': f(x, dim, keepdim)}, layout=layout)

    def cross_entropy(self, name, n, classes, ignore=None, targets=None, reduction='mean', scale=1.0, layout=None, tol=None, no_grad=False):
        tgt = self.ids(classes, n) if targets is None else torch.tensor(targets, dtype=torch.int64)
        at = {'reduction': reduction, 'ignore_index': -100 if ignore is None else ignore}
        self.run(name, 'cross_entropy', at, {'logits': self.t(n, classes, scale=scale), 'target': tgt},
                 lambda logits, target: {'out': F.cross_entropy(logits, target, **at)}, layout=layout, tol=tol,
                 no_grad=no_grad)

    def layer_norm(self, name, shape, norm, eps=1e-5, affine=True, layout=None, scale=1.0, shift=0.0, tol=None):
        ins = {'x': self.t(*shape, scale=scale, shift=shift)}
        if affine:
            ins.update(weight=self.t(*norm), bias=self.t(*norm))
        self.run(name, 'layer_norm', {'normalized_shape': list(norm), 'eps': eps}, ins,
                 lambda x, weight=None, bias=None: {'out': F.layer_norm(x, norm, weight, bias, eps)}, layout=layout, tol=tol)

    def batch_norm(self, name, shape, training, momentum=0.1, eps=1e-5, affine=True, layout=None, scale=1.0, shift=0.0, tol=None):
        c = shape[1]
        ins = {'x': self.t(*shape, scale=scale, shift=shift), 'running_mean': self.t(c),
               'running_var': self.t(c).abs() + 0.5}
        if affine:
            ins.update(weight=self.t(c), bias=self.t(c))

        def f(x, running_mean, running_var, weight=None, bias=None):
            rm, rv = running_mean.clone(), running_var.clone()
            y = F.batch_norm(x, rm, rv, weight, bias, training, momentum, eps)
            return {'out': y, 'running_mean': rm, 'running_var': rv}
        self.run(name, 'batch_norm', {'training': training, 'momentum': momentum, 'eps': eps}, ins, f,
                 fixed=('running_mean', 'running_var'), layout=layout, tol=tol)

    def conv2d(self, name, sx, sw, stride=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, bias=True, layout=None):
        ins = {'x': self.t(*sx, digits=2), 'weight': self.t(*sw, digits=2)}
        if bias:
            ins['bias'] = self.t(sw[0])
        at = {'stride': list(stride), 'padding': list(padding), 'dilation': list(dilation), 'groups': groups}
        self.run(name, 'conv2d', at, ins, lambda x, weight, bias=None: {'out': F.conv2d(x, weight, bias, **at)}, layout=layout)

    def max_pool2d(self, name, shape, kernel, stride=None, padding=(0, 0), dilation=(1, 1), ceil=False, x=None, layout=None):
        at = {'kernel_size': list(kernel), 'stride': list(stride or kernel), 'padding': list(padding),
              'dilation': list(dilation), 'ceil_mode': ceil}
        x = self.t(*shape, digits=2) if x is None else x

        def f(x):
            y, i = F.max_pool2d(x, **at, return_indices=True)
            return {'out': y, 'indices': i}
        self.run(name, 'max_pool2d', at, {'x': x}, f, layout=layout)

    def avg_pool2d(self, name, shape, kernel, stride=None, padding=(0, 0), include_pad=True, ceil=False, layout=None):
        at = {'kernel_size': list(kernel), 'stride': list(stride or kernel), 'padding': list(padding),
              'ceil_mode': ceil, 'count_include_pad': include_pad}
        self.run(name, 'avg_pool2d', at, {'x': self.t(*shape, digits=2)}, lambda x: {'out': F.avg_pool2d(x, **at)}, layout=layout)

    def embedding(self, name, rows, width, idx, padding_idx=None, layout=None):
        idx = torch.as_tensor(idx, dtype=torch.int64)
        self.run(name, 'embedding', {'padding_idx': padding_idx}, {'weight': self.t(rows, width), 'index': idx},
                 lambda weight, index: {'out': F.embedding(index, weight, padding_idx)}, layout=layout)

    def recurrent(self, name, kind, n_in, hidden, steps, batch, layers=1, two=False, bias=True, batch_first=False,
                  states=True, scale=0.5, layout=None):
        m = getattr(nn, kind)(n_in, hidden, layers, bias=bias, batch_first=batch_first, bidirectional=two).double()
        shape = (batch, steps, n_in) if batch_first else (steps, batch, n_in)
        ins = {'x': self.t(*shape, digits=2)}
        d = layers * (2 if two else 1)
        if states:
            ins['h0'] = self.t(d, batch, hidden, digits=2)
            if kind == 'LSTM':
                ins['c0'] = self.t(d, batch, hidden, digits=2)
        names = [n for n, _ in m.named_parameters()]
        for n, p in m.named_parameters():
            ins[n] = self.t(*p.shape, scale=scale, digits=2)
        run = {'GRU': torch.gru, 'LSTM': torch.lstm, 'RNN': torch.rnn_tanh}[kind]

        def f(x, h0=None, c0=None, **w):
            zero = torch.zeros(d, batch, hidden, dtype=torch.float64)
            h = zero if h0 is None else h0
            st = (h, zero if c0 is None else c0) if kind == 'LSTM' else h
            r = run(x, st, [w[n] for n in names], bias, layers, 0.0, False, two, batch_first)
            return dict(zip(('out', 'h_n', 'c_n'), r))
        at = {'num_layers': layers, 'bidirectional': two, 'bias': bias, 'batch_first': batch_first, 'hidden_size': hidden}
        self.run(name, kind.lower(), at, ins, f, layout=layout)

    def cell(self, name, kind, n_in, hidden, batch, scale=0.5, layout=None):
        g = {'GRUCell': 3, 'LSTMCell': 4, 'RNNCell': 1}[kind] * hidden
        ins = {'x': self.t(batch, n_in), 'h': self.t(batch, hidden)}
        if kind == 'LSTMCell':
            ins['c'] = self.t(batch, hidden)
        ins.update(weight_ih=self.t(g, n_in, scale=scale), weight_hh=self.t(g, hidden, scale=scale),
                   bias_ih=self.t(g, scale=scale), bias_hh=self.t(g, scale=scale))

        def f(x, h, c=None, **w):
            w = list(w.values())
            if kind == 'LSTMCell':
                return dict(zip(('h', 'c'), torch.lstm_cell(x, (h, c), *w)))
            return {'h': (torch.gru_cell if kind == 'GRUCell' else torch.rnn_tanh_cell)(x, h, *w)}
        self.run(name, kind.lower(), {}, ins, f, layout=layout)

    def masked_fill(self, name, shape, mask, value, then_softmax=None, layout=None, no_grad=False):
        mask = self.flags(*mask) if isinstance(mask, tuple) else torch.tensor(mask)
        kind = 'masked_fill' if then_softmax is None else 'masked_softmax'
        at = {'value': float(value)} if then_softmax is None else {'value': float(value), 'dim': then_softmax}

        def f(x, mask):
            y = x.masked_fill(mask, value)
            return {'out': y if then_softmax is None else torch.softmax(y, then_softmax)}
        self.run(name, kind, at, {'x': self.t(*shape), 'mask': mask}, f, layout=layout, no_grad=no_grad)

    def attention(self, name, q, k, v, mask=None, layout=None):
        ins = {'q': self.t(*q), 'k': self.t(*k), 'v': self.t(*v)}
        if mask is not None:
            ins['keep'] = torch.tensor(mask)

        def f(q, k, v, keep=None):
            s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
            if keep is not None:
                s = s.masked_fill(~keep, -math.inf)
            w = torch.softmax(s, -1)
            return {'out': w @ v, 'weights': w}
        self.run(name, 'attention', {}, ins, f, layout=layout)

    def concat(self, name, sa, sb, dim):
        self.run(name, 'cat', {'dim': dim}, {'a': self.t(*sa), 'b': self.t(*sb)}, lambda a, b: {'out': torch.cat([a, b], dim)})

    def interpolate(self, name, shape, size, sample=None, digits=2):
        self.run(name, 'interpolate_bilinear', {'size': list(size), 'align_corners': False}, {'x': self.t(*shape, digits=digits)},
                 lambda x: {'out': F.interpolate(x, size=size, mode='bilinear', align_corners=False)}, sample=sample)

    def clip(self, name, shapes, max_norm, scale=1.0):
        grads = {'g%d' % i: self.t(*s, scale=scale) for i, s in enumerate(shapes)}

        def f(**g):
            ps = [torch.zeros_like(v).requires_grad_() for v in g.values()]
            for p, v in zip(ps, g.values()):
                p.grad = v.clone()
            total = nn.utils.clip_grad_norm_(ps, max_norm)
            r = {'total_norm': total}
            r.update((k, p.grad) for k, p in zip(g, ps))
            return r
        self.run(name, 'clip_grad_norm', {'max_norm': max_norm}, grads, f, no_grad=True)

    def optimiser(self, name, kind, shapes, steps, **at):
        ins = {}
        for i, s in enumerate(shapes):
            ins['p%d' % i] = self.t(*s)
            ins['grad%d' % i] = self.t(steps, *s)

        def f(**v):
            ps = [v['p%d' % i].clone().requires_grad_() for i in range(len(shapes))]
            o = getattr(torch.optim, {'adam': 'Adam', 'adamw': 'AdamW', 'sgd': 'SGD'}[kind])(ps, **at)
            seen = [[] for _ in ps]
            for t in range(steps):
                for i, p in enumerate(ps):
                    p.grad = v['grad%d' % i][t].clone()
                o.step()
                for i, p in enumerate(ps):
                    seen[i].append(p.detach().clone())
            return {'p%d' % i: torch.stack(s) for i, s in enumerate(seen)}
        self.run(name, kind, dict(at, steps=steps), ins, f, no_grad=True)

    def cosine(self, name, base, t_max, eta_min, at):
        p = torch.zeros(1, requires_grad=True)
        o = torch.optim.SGD([p], lr=base)
        s = torch.optim.lr_scheduler.CosineAnnealingLR(o, t_max, eta_min)
        seen = []
        for _ in range(max(at) + 1):
            seen.append(o.param_groups[0]['lr'])
            o.step()
            s.step()
        self.cases.append({'name': name, 'op': 'cosine_annealing',
                           'attrs': {'base_lr': base, 'T_max': t_max, 'eta_min': eta_min, 'at_step': list(at)},
                           'rtol': 1e-9, 'atol': 1e-15 * base, 'inputs': {},
                           'outputs': {'lr': {'shape': [len(at)], 'data': [seen[i] for i in at]}}})

    def doc(self):
        names = [c['name'] for c in self.cases]
        assert len(set(names)) == len(names)
        return {'format': 1, 'made_with': 'torch ' + torch.__version__ + ', float64',
                'rtol': 1e-10, 'atol': 1e-12, 'cases': self.cases}


def ops():
    o = Ops(20240601)
    o.binary('add_row', 'add', (2, 3), (3,))
    o.binary('add_two_ways', 'add', (2, 1, 3), (4, 1))
    o.binary('add_scalar', 'add', (2, 2), ())
    o.binary('sub_column', 'sub', (3, 1), (3, 2))
    o.binary('mul_two_ways', 'mul', (2, 1, 3), (4, 1))
    o.binary('mul_same', 'mul', (3, 2), (3, 2))
    o.binary('div_row', 'div', (2, 3), (3,))
    o.binary('div_two_ways', 'div', (2, 1, 2), (3, 1))
    o.matmul('matmul_2d', (3, 4), (4, 2))
    o.matmul('matmul_batched', (2, 3, 4), (2, 4, 2))
    o.matmul('matmul_broadcast_batch', (2, 1, 3, 4), (3, 4, 2))
    o.matmul('matmul_shared_right', (2, 3, 4), (4, 2))
    o.matmul('matmul_vector', (3, 4), (4,))
    o.linear('linear_3d', (2, 3, 4), 5)
    for d in range(3):
        o.soft('softmax_dim%d' % d, 'softmax', (2, 3, 4), d)
        o.soft('log_softmax_dim%d' % d, 'log_softmax', (2, 3, 4), d)
    o.unary('relu', 'relu', (2, 3), x=torch.tensor([[-1.5, 0.0, 2.0], [0.25, -0.0, -3.0]], dtype=torch.float64))
    o.unary('tanh', 'tanh', (2, 4), scale=2.0)
    o.unary('sigmoid', 'sigmoid', (2, 4), scale=4.0)
    o.reduce('sum_dim', 'sum', (2, 3, 4), [1], False)
    o.reduce('mean_keepdim', 'mean', (2, 3, 4), [0, 2], True)
    o.cross_entropy('cross_entropy_plain', 4, 5)
    o.cross_entropy('cross_entropy_ignore', 6, 5, ignore=3, targets=[1, 3, 0, 3, 4, 2])
    o.cross_entropy('cross_entropy_pad12', 5, 13, ignore=12, targets=[11, 12, 0, 9, 12])
    o.cross_entropy('cross_entropy_sum', 3, 4, reduction='sum')
    o.cross_entropy('cross_entropy_all_ignored', 2, 3, ignore=1, targets=[1, 1], no_grad=True)
    o.layer_norm('layer_norm_last', (2, 3, 4), (4,))
    o.layer_norm('layer_norm_two_dims', (2, 3, 4), (3, 4), eps=1e-3)
    o.layer_norm('layer_norm_no_affine', (3, 5), (5,), affine=False)
    o.batch_norm('batch_norm_train_4d', (2, 3, 2, 2), True)
    o.batch_norm('batch_norm_train_2d', (5, 3), True, momentum=0.3)
    o.batch_norm('batch_norm_eval', (2, 3, 2, 2), False)
    o.conv2d('conv_pad1', (2, 1, 5, 6), (2, 1, 3, 3), padding=(1, 1), bias=False)
    o.conv2d('conv_stride2', (1, 2, 7, 6), (3, 2, 3, 3), stride=(2, 2), padding=(1, 1))
    o.conv2d('conv_dilation2', (1, 2, 7, 7), (2, 2, 3, 3), dilation=(2, 2), padding=(2, 2))
    o.conv2d('conv_groups2', (1, 4, 4, 4), (4, 2, 3, 3), groups=2, padding=(1, 1))
    o.conv2d('conv_depthwise', (1, 3, 5, 5), (3, 1, 3, 3), groups=3, stride=(2, 1), padding=(0, 1))
    o.conv2d('conv_uneven', (2, 2, 6, 5), (2, 2, 1, 4), stride=(2, 1), padding=(0, 2), dilation=(1, 1))
    o.conv2d('conv_1x1', (1, 3, 2, 3), (2, 3, 1, 1))
    o.max_pool2d('max_pool_2x2', (1, 2, 4, 6), (2, 2))
    ties = torch.tensor([[1, 1, 0, 0], [1, 1, 0, 0], [2, 5, 3, 3], [5, 2, 1, 3.]], dtype=torch.float64).reshape(1, 1, 4, 4)
    o.max_pool2d('max_pool_ties', None, (2, 2), x=ties)
    o.max_pool2d('max_pool_overlap_pad', (1, 1, 5, 5), (3, 3), (2, 2), (1, 1))
    o.max_pool2d('max_pool_odd_size', (1, 1, 3, 21), (2, 2))
    o.avg_pool2d('avg_pool_2x2', (1, 2, 4, 4), (2, 2))
    o.avg_pool2d('avg_pool_pad_counted', (1, 1, 5, 5), (3, 3), (2, 2), (1, 1))
    o.avg_pool2d('avg_pool_pad_not_counted', (1, 1, 5, 5), (3, 3), (2, 2), (1, 1), include_pad=False)
    o.embedding('embedding', 5, 3, [[0, 2, 2], [4, 1, 2]])
    o.embedding('embedding_padding', 5, 3, [[0, 2, 0], [4, 0, 2]], 0)
    o.recurrent('gru_1', 'GRU', 2, 3, 4, 2)
    o.recurrent('gru_2_bi', 'GRU', 2, 2, 3, 2, layers=2, two=True)
    o.recurrent('gru_batch_first_zero_state', 'GRU', 3, 2, 3, 2, batch_first=True, two=True, states=False)
    o.recurrent('lstm_2_bi', 'LSTM', 2, 2, 3, 2, layers=2, two=True)
    o.recurrent('rnn_tanh_2', 'RNN', 2, 3, 3, 2, layers=2)
    o.cell('gru_cell', 'GRUCell', 3, 4, 2)
    o.cell('lstm_cell', 'LSTMCell', 3, 2, 2)
    o.masked_fill('masked_fill_value', (2, 3), (2, 3), -1.5)
    o.masked_fill('masked_softmax', (2, 4), [[True, False, False, True], [False, False, True, False]], -math.inf, 1)
    o.masked_fill('masked_softmax_broadcast', (2, 2, 3), [[[False, True, False]], [[False, False, True]]], -math.inf, 2)
    o.masked_fill('masked_softmax_whole_row', (2, 2), [[True, True], [False, True]], -math.inf, 1, no_grad=True)
    o.attention('attention_masked', (1, 2, 2, 4), (1, 2, 3, 4), (1, 2, 3, 2), [[[[True, True, False]]]])
    o.concat('cat', (2, 3), (2, 2), 1)
    o.interpolate('bilinear_up_down', (1, 2, 3, 5), (7, 4))
    o.interpolate('bilinear_28_96', (1, 1, 28, 28), (96, 96), sample=128)
    o.clip('clip_over', [(2, 3), (4,)], 1.0)
    o.clip('clip_under', [(2, 2), (3,)], 100.0)
    o.optimiser('sgd_momentum', 'sgd', [(2, 2), (3,)], 5, lr=0.1, momentum=0.9)
    o.optimiser('sgd_nesterov_decay', 'sgd', [(3,)], 5, lr=0.05, momentum=0.8, weight_decay=0.01, nesterov=True)
    o.optimiser('adam', 'adam', [(2, 2), (3,)], 5, lr=1e-3, betas=[0.9, 0.999], eps=1e-8)
    o.optimiser('adam_decay', 'adam', [(3,)], 5, lr=0.01, betas=[0.8, 0.99], eps=1e-6, weight_decay=0.1)
    o.optimiser('adamw', 'adamw', [(2, 2)], 5, lr=0.01, betas=[0.9, 0.999], eps=1e-8, weight_decay=0.05)
    o.cosine('cosine_10', 1e-3, 10, 0.0, range(20))
    o.cosine('cosine_lab8', 1e-3, 468 * 12, 0.0, [0, 1, 2, 100, 467, 468, 1404, 2808, 4212, 5147, 5500, 5600, 5614, 5615, 5616])
    o.cosine('cosine_floor', 0.2, 7, 0.01, range(16))
    return o.doc()


def main():
    folder = sys.argv[1]
    out = sys.argv[2] if len(sys.argv) > 2 else os.path.dirname(os.path.abspath(__file__))
    write(os.path.join(out, 'numpy_rng.json'), numpy_rng())
    write(os.path.join(out, 'torch_rng.json'), torch_rng())
    write(os.path.join(out, 'ops.json'), ops())
    write(os.path.join(out, 'strips.json'), strips(Mnist(folder)))


if __name__ == '__main__':
    main()
