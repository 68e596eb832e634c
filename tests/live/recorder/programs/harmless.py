"""Draws from every generator in all places, prints what came of it, leaves a file, and ends with a status of its own."""
import hashlib
import random
import sys
import warnings

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset


class Drawn(Dataset):
    def __init__(self):
        self.held = np.random.default_rng(5)
        self.own = random.Random(6)
        self.generator = torch.Generator().manual_seed(7)

    def __len__(self):
        return 24

    def __getstate__(self):
        return dict(self.__dict__, generator=self.generator.get_state().tolist())

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.generator = torch.Generator()
        self.generator.set_state(torch.tensor(state["generator"], dtype=torch.uint8))

    def __getitem__(self, i):
        local = np.random.RandomState(i).rand()
        return i, torch.rand(2), np.random.rand(), random.random(), self.held.random(), self.own.random(), local, torch.rand(
            1, generator=self.generator)


class Counted(IterableDataset):
    def __iter__(self):
        rng = np.random.default_rng(1)
        for i in range(7):
            yield i + rng.random() + random.random()


def collate(samples):
    return torch.utils.data.default_collate(samples), random.random()


def init(worker):
    np.random.seed(torch.initial_seed() % 2**32)


def show(name, value):
    print(name, hashlib.sha256(repr(value).encode()).hexdigest()[:16])


def main(method):
    torch.manual_seed(1)
    np.random.seed(2)
    random.seed(3)
    workers = {} if method == "main" else dict(num_workers=2, multiprocessing_context=method, worker_init_fn=init)
    loaders = [
        DataLoader(Drawn(), batch_size=4, shuffle=True, pin_memory=True, **workers),
        DataLoader(Subset(Drawn(), range(3, 15)), batch_size=4, collate_fn=collate, persistent_workers=bool(workers), **workers),
        DataLoader(Counted(), batch_size=3, **workers),
    ]
    for number, loader in enumerate(loaders):
        next(iter(loader))
        for epoch in range(2):
            for batch in loader:
                show("%d %d" % (number, epoch), batch)
                np.random.rand()
    warnings.warn("a warning of the program")
    show("python", random.getstate())
    show("numpy", np.random.get_state())
    show("torch", torch.get_rng_state().tolist())
    with open("left.txt", "w") as file:
        file.write("left behind\n")
    print("to the other side", file=sys.stderr)
    sys.exit(7)


if __name__ == "__main__":
    main(sys.argv[1])
