"""Regenerates translation.json: the two translation models, small, as PyTorch computes them.

    python3 translation.py [OUT_FOLDER]

Initial weights of a seed in single precision; with the same weights in double precision the scores,
the loss and its gradients by all parameters, with teacher forcing and with the model's own words.
The tutorial's model reads the padding of the source; its attention does not look at it.
"""

import os
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

from generate import raw32, stored, write

WORDS_IN, WORDS_OUT, E, H, L = 11, 9, 4, 5, 2
PAD = 1
# Two sentences; 2 is <sos>, 3 is <eos>.
X = [[2, 2, 2], [5, 8, 4], [10, 6, 3], [7, 3, 1], [3, 1, 1]]
LENGTHS = [5, 4, 3]
Y = [[2, 2, 2], [4, 8, 7], [6, 5, 3], [3, 3, 1]]


class Model(nn.Module):
    def __init__(self, attention):
        super().__init__()
        self.enc = nn.Module()
        self.enc.embedding = nn.Embedding(WORDS_IN, E)
        self.enc.rnn = nn.GRU(E, H, L)
        self.dec = nn.Module()
        self.dec.embedding = nn.Embedding(WORDS_OUT, E)
        if attention:
            self.dec.attn = nn.Module()
            self.dec.attn.wk = nn.Linear(H, H, bias=False)
            self.dec.attn.wq = nn.Linear(H, H, bias=False)
            self.dec.attn.v = nn.Linear(H, 1, bias=False)
        self.dec.rnn = nn.GRU(E + L * H if attention else E, H, L)
        self.dec.out_fc = nn.Linear(H, WORDS_OUT)

    def step(self, word, h, memory, lengths):
        x = self.dec.embedding(word)
        if hasattr(self.dec, 'attn'):
            a = self.dec.attn
            keys = memory.transpose(0, 1)
            e = a.v(torch.tanh(a.wq(h.transpose(0, 1)).unsqueeze(2) + a.wk(keys).unsqueeze(1))).squeeze(-1)
            hidden = torch.arange(keys.shape[1]) >= lengths.reshape(-1, 1, 1)
            c = torch.bmm(torch.softmax(e.masked_fill(hidden, float('-inf')), -1), keys)
            x = torch.cat((x, c.flatten(1)), -1)
        out, h = self.dec.rnn(x.unsqueeze(0), h)
        return self.dec.out_fc(out), h

    def forward(self, x, y, lengths, forced):
        memory, h = self.enc.rnn(self.enc.embedding(x))
        word, scores = y[0], []
        for t in range(1, len(y)):
            score, h = self.step(word, h, memory, lengths)
            scores.append(score)
            word = y[t] if forced else score[0].argmax(1)
        return torch.cat(scores)


def case(name, attention, seed):
    torch.manual_seed(seed)
    model = Model(attention)
    params = [dict(name=n, shape=list(p.shape), **stored(p, 1000)) for n, p in model.named_parameters()]
    doc = {'name': name, 'seed': seed, 'params': params, 'next32': raw32(2)}
    model.double()
    x, y, lengths = torch.tensor(X), torch.tensor(Y), torch.tensor(LENGTHS)
    for kind, forced in (('forced', True), ('free', False)):
        model.zero_grad()
        scores = model(x, y, lengths, forced)
        loss = F.cross_entropy(scores.reshape(-1, WORDS_OUT), y[1:].reshape(-1), ignore_index=PAD)
        loss.backward()
        doc[kind] = {'scores': scores.flatten().tolist(), 'loss': loss.item(),
                     'grads': {n: p.grad.flatten().tolist() for n, p in model.named_parameters()}}
    return doc


def main():
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    write(os.path.join(out, 'translation.json'), {
        'format': 1, 'made_with': 'torch ' + torch.__version__,
        'sizes': {'source_words': WORDS_IN, 'target_words': WORDS_OUT, 'embedding': E, 'hidden': H, 'layers': L},
        'x': X, 'lengths': LENGTHS, 'y': Y,
        'models': [case('plain', False, 4), case('attention', True, 4)]})


if __name__ == '__main__':
    main()
