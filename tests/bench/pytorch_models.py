"""The lab's models in PyTorch, for tests/bench/pytorch.py: the digit readers and the translator.

Of the same layers and sizes as labs/digit_reader and labs/translation. The pictures and words are
random, for the time of a step does not depend on them.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH, WIDTH, SYMBOLS, PAD = 128, 336, 13, 12


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(),
                         nn.MaxPool2d(2))


class Columns(nn.Module):
    """A state for each of 21 columns, and the decoder's first state."""

    def __init__(self):
        super().__init__()
        self.cnn = nn.Sequential(block(1, 32), block(32, 64), block(64, 128), block(128, 128))
        self.bigru = nn.GRU(128, 64, bidirectional=True, batch_first=True)
        self.init = nn.Linear(128, 64)

    def forward(self, images):
        columns = self.cnn(images).squeeze(2).transpose(1, 2)
        memory, last = self.bigru(columns)
        return memory, torch.tanh(self.init(torch.cat([last[0], last[1]], 1)))


class FixedReader(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.emb = Columns(), nn.Embedding(SYMBOLS, 32)
        self.gru, self.out = nn.GRU(32, 64, batch_first=True), nn.Linear(64, SYMBOLS)

    def forward(self, images, inputs):
        return self.out(self.gru(self.emb(inputs), self.encoder(images)[1][None])[0])


class AttentionReader(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.emb = Columns(), nn.Embedding(SYMBOLS, 32)
        self.wq, self.wk, self.wv = (nn.Linear(i, o, bias=False)
                                     for i, o in ((64, 64), (128, 64), (128, 128)))
        self.cell, self.out = nn.GRUCell(32 + 128, 64), nn.Linear(64 + 128, SYMBOLS)

    def encode(self, images):
        memory, s = self.encoder(images)
        return s, self.wk(memory), self.wv(memory)

    def step(self, y, s, keys, values):
        a = torch.softmax((keys @ self.wq(s)[:, :, None]).squeeze(2) / 8, 1)
        c = (a[:, None] @ values).squeeze(1)
        s = self.cell(torch.cat([self.emb(y), c], 1), s)
        return self.out(torch.cat([s, c], 1)), s

    def forward(self, images, inputs):
        s, keys, values = self.encode(images)
        logits = []
        for y in inputs.unbind(1):
            scores, s = self.step(y, s, keys, values)
            logits.append(scores)
        return torch.stack(logits, 1)


def reader_step(reader):
    adam = torch.optim.Adam(reader.parameters(), 1e-3)
    images, inputs = torch.rand(BATCH, 1, 28, WIDTH), torch.randint(0, 10, (BATCH, 9))
    targets = torch.randint(0, 12, (BATCH, 9))

    def run():
        loss = F.cross_entropy(reader(images, inputs).flatten(0, 1), targets.flatten(),
                               ignore_index=PAD)
        adam.zero_grad()
        loss.backward()
        adam.step()
    return run


def generate():
    """500 strips in batches of 100, the likeliest symbol each time, 14 of them."""
    reader = AttentionReader().eval()
    images = [torch.rand(100, 1, 28, WIDTH) for _ in range(5)]

    def run():
        with torch.no_grad():
            for some in images:
                s, keys, values = reader.encode(some)
                y = torch.full((100,), 10)
                for _ in range(14):
                    scores, s = reader.step(y, s, keys, values)
                    y = scores.argmax(1)
    return run


class Translator(nn.Module):
    """An encoder and a decoder of three layers; with attention each layer's state asks for itself."""

    def __init__(self, attention, source=7855, target=5893, e=64, h=128, layers=3):
        super().__init__()
        self.attention = attention
        self.x_emb, self.y_emb = nn.Embedding(source, e), nn.Embedding(target, e)
        self.encoder = nn.GRU(e, h, layers, dropout=0.2)
        self.decoder = nn.GRU(e + (layers * h if attention else 0), h, layers, dropout=0.2)
        self.out = nn.Linear(h, target)
        if attention:
            self.wq, self.wk = nn.Linear(h, h, bias=False), nn.Linear(h, h, bias=False)
            self.v = nn.Linear(h, 1, bias=False)

    def forward(self, x, y, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(self.x_emb(x), lengths, enforce_sorted=False)
        memory, h = self.encoder(packed)
        words = self.y_emb(y)
        if not self.attention:
            return self.out(self.decoder(words, h)[0])
        values = nn.utils.rnn.pad_packed_sequence(memory, total_length=x.shape[0])[0].transpose(0, 1)
        keys = self.wk(values)
        beyond = torch.arange(x.shape[0])[None] >= lengths[:, None]
        states = []
        for word in words:
            q = self.wq(h.transpose(0, 1))
            e = self.v(torch.tanh(q[:, :, None] + keys[:, None])).squeeze(3)
            a = torch.softmax(e.masked_fill(beyond[:, None], float("-inf")), 2)
            out, h = self.decoder(torch.cat([word, (a @ values).flatten(1)], 1)[None], h)
            states.append(out)
        return self.out(torch.cat(states))


def translation_step(attention, s1=16, s2=15):
    model = Translator(attention)
    adam = torch.optim.Adam(model.parameters(), 1e-3)
    x, y = torch.randint(4, 7855, (s1, BATCH)), torch.randint(4, 5893, (s2, BATCH))
    lengths = torch.full((BATCH,), s1)
    lengths[::8] -= 2  # as in a bucket, a few end early

    def run():
        scores = model(x, y[:-1], lengths)
        loss = F.cross_entropy(scores.flatten(0, 1), y[1:].flatten(), ignore_index=1)
        adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1)
        adam.step()
    return run
