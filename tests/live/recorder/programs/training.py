"""Trains for ever: a training loader with workers that live on, validation each second epoch, a test loader after it all."""
import atexit
import os
import sys
import tempfile

import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset


class Numbers(Dataset):
    def __len__(self):
        return 40

    def __getitem__(self, i):
        return i + torch.rand(1)


class ForEver(IterableDataset):
    def __iter__(self):
        while True:
            yield torch.rand(1)


def main(kind):
    torch.manual_seed(0)
    atexit.register(print, "left in order", flush=True)
    if kind == "iterable":
        for i, batch in enumerate(DataLoader(ForEver(), batch_size=4, num_workers=2)):
            pass
        print("came to an end")
        for batch in DataLoader(ForEver(), batch_size=4):
            pass
    train = DataLoader(Numbers(), batch_size=4, num_workers=2, shuffle=True, persistent_workers=True)
    validation = DataLoader(Numbers(), batch_size=8)
    test = DataLoader(Numbers(), batch_size=8)
    with tempfile.TemporaryDirectory(dir=os.getcwd()) as folder:
        open(os.path.join(folder, "big"), "w").close()
        epoch = 0
        while True:
            try:
                batches = sum(1 for _ in train)
                checked = sum(1 for _ in validation) if epoch % 2 else 0
                print(epoch, batches, checked, flush=True)
            except BaseException:
                if kind != "stubborn":
                    raise
            epoch += 1
    for batch in test:
        pass


if __name__ == "__main__":
    main(sys.argv[1])
