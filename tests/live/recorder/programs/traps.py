"""Many loaders, each with something that broke or misled a prototype of the recorder."""
import collections
import random
from functools import partial

import numpy as np
import torch
from torch.utils.data import BatchSampler, DataLoader, Dataset, IterableDataset, SequentialSampler, Subset


class Keys(Dataset):
    keys = ["a", "b\udc80", b"x", ("t", 1), np.int64(7), torch.tensor(8), slice(0, 4, 2), 2.5, None, frozenset([1])]

    def __len__(self):
        return len(self.keys)

    def __getitem__(self, key):
        return 0


class Samples(Dataset):
    def __len__(self):
        return 14

    def __getitem__(self, i):
        return [
            torch.ones(2, dtype=torch.bfloat16), torch.eye(3).to_sparse(), torch.nested.nested_tensor([torch.ones(1)]),
            torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.quint8), np.array([{}], object),
            np.array([(1, "a")], [("a", "i4"), ("b", "U1")]), random.SystemRandom(), None, "text", torch.zeros(0, 3),
            torch.arange(6).reshape(2, 3).t(), collections.namedtuple("N", "a")(1), iter([1]), torch.zeros(2, device="meta"),
        ][i]


class Several(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, i):
        raise RuntimeError("the other way in")

    def __getitems__(self, indices):
        return [(i, torch.rand(1)) for i in indices]


class Inner(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return random.random()


class Nested(Dataset):
    def __init__(self):
        self.loader = DataLoader(Inner(), batch_size=2)

    def __len__(self):
        return 8

    def __getitem__(self, i):
        return sum(float(x.sum()) for x in self.loader)


class Local(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        if not hasattr(self, "lazy"):
            self.lazy = np.random.default_rng(9)
        values = [self.lazy.random()]
        values.append(random.Random(i).random())
        values.append(np.random.RandomState(5).rand())
        generator = torch.Generator().manual_seed(6)
        if not isinstance(generator, torch.Generator) or type(generator) != torch.Generator:
            raise TypeError("a class that is not itself")
        values.append(torch.rand(1, generator=generator).item())
        torch.manual_seed(7)
        values.append(torch.rand(1).item())
        return values


class Restored(Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, i):
        with torch.random.fork_rng():
            torch.manual_seed(i)
            return torch.rand(1)


class Streamed(IterableDataset):
    def __iter__(self):
        rng = np.random.default_rng(3)
        for _ in range(6):
            yield rng.random()


class Repeated:
    def __init__(self, sampler):
        self.sampler = sampler

    def __iter__(self):
        while True:
            yield from iter(self.sampler)


class Endless(DataLoader):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        object.__setattr__(self, "batch_sampler", Repeated(self.batch_sampler))
        self.iterator = super().__iter__()

    def __len__(self):
        return len(self.batch_sampler.sampler)

    def __iter__(self):
        for _ in range(len(self)):
            yield next(self.iterator)


def draw(samples, rng=random.Random(4)):
    return len(samples), rng.random()


def pass_through(samples):
    return 0


def main():
    torch.manual_seed(0)
    keys = Keys()
    loaders = [
        DataLoader(keys, sampler=keys.keys, batch_size=None),
        DataLoader(Samples(), collate_fn=pass_through, batch_size=2),
        DataLoader(Several(), batch_size=5, num_workers=1),
        DataLoader(Subset(Subset(Several(), [3, 4, 5, 6]), [2, 0]), batch_size=2),
        DataLoader(Subset(Inner(), [2, 0, 3]), batch_size=2),
        DataLoader(Nested(), batch_size=4, num_workers=1),
        DataLoader(Local(), batch_size=2, num_workers=1),
        DataLoader(Restored(), batch_size=3),
        DataLoader(Streamed(), batch_size=4, num_workers=2),
        DataLoader(Inner(), batch_size=2, collate_fn=partial(draw)),
        DataLoader(torch.arange(12), sampler=BatchSampler(SequentialSampler(range(12)), 4, False), batch_size=None),
    ]
    for loader in loaders:
        next(iter(loader))
        for epoch in range(2):
            for batch in loader:
                torch.rand(1)
    for epoch in range(2):
        for batch in DataLoader(Inner(), batch_size=2):
            pass
    pair = [DataLoader(Inner(), batch_size=size) for size in (2, 4)]
    for loader in pair:
        for i, batch in enumerate(loader):
            if i == 1:
                break
        next(iter(loader))
    endless = Endless(Inner(), batch_size=2)
    for epoch in range(3):
        for batch in endless:
            pass


if __name__ == "__main__":
    main()
