"""A dataset that raises in a worker, and one in the main process; the program lives on."""
import torch
from torch.utils.data import DataLoader, Dataset


class Broken(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        if i == 5:
            raise ValueError("no sample %d" % i)
        return torch.tensor(i)


def main():
    for workers in (2, 0):
        try:
            for batch in DataLoader(Broken(), batch_size=2, num_workers=workers):
                print(batch.tolist())
        except ValueError as error:
            print(workers, error)
    # The last one is caught by nobody.
    for batch in DataLoader(Broken(), batch_size=4):
        print(batch.tolist())


if __name__ == "__main__":
    main()
