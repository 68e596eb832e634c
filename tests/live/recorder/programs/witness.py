"""A dataset that says itself, by the libraries' getters, where its generators stood at the start and after each sample."""
import hashlib
import json
import random
import struct
import sys

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info

START = {}


def twister(words, position):
    return "mt19937:%s:%d" % (hashlib.sha256(struct.pack("<624I", *words)).hexdigest()[:32], position)


def stand(held):
    python = random.getstate()[1]
    numpy = np.random.get_state()
    raw = bytes(torch.get_rng_state().tolist())
    own = held.getstate()[1]
    return {
        "python": twister(python[:624], python[624]),
        "numpy": twister(numpy[1].tolist(), int(numpy[2])),
        "torch": twister(struct.unpack_from("<624Q", raw, 24), 625 - struct.unpack_from("<i", raw, 8)[0]),
        "dataset.held": twister(own[:624], own[624]),
    }


class Witness(Dataset):
    def __init__(self):
        self.held = random.Random(4)

    def __len__(self):
        return 30

    def __getitem__(self, i):
        if i % 2:
            torch.rand(3)
        if i % 3:
            np.random.rand(400)
        if i % 5:
            random.random()
        self.held.random()
        info = get_worker_info()
        return {"index": i, "worker": info.id if info else -1, "start": START.get("at"), "after": stand(self.held)}


def init(worker):
    random.seed(worker)
    START["at"] = stand(get_worker_info().dataset.held)


def main(method, persistent):
    torch.manual_seed(0)
    options = {} if method == "main" else dict(
        num_workers=2, multiprocessing_context=method, worker_init_fn=init, persistent_workers=persistent)
    loader = DataLoader(Witness(), batch_size=4, shuffle=True, collate_fn=list, **options)
    for epoch in range(2):
        for number, batch in enumerate(loader):
            for sample in batch:
                print(json.dumps(dict(sample, epoch=epoch, batch=number)))


if __name__ == "__main__":
    main(sys.argv[1], len(sys.argv) > 2)
