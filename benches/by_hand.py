"""What a user would write instead of `pipeaudit check --workers 4`: a DataLoader over torchvision's transforms on the images of a
folder, every output hashed, duplicates counted. usage: by_hand.py FOLDER WORKERS"""

import collections
import hashlib
import pathlib
import sys

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset, get_worker_info
from torchvision import transforms


class Folder(Dataset):
    def __init__(self, folder):
        self.images = [Image.open(path).convert("RGB") for path in sorted(pathlib.Path(folder).glob("*.png"))]
        self.rng = np.random.default_rng(0)
        self.augment = transforms.Compose(
            [
                transforms.RandomCrop(224),
                transforms.RandomHorizontalFlip(),
                transforms.ColorJitter(0.4, 0.4, 0.4, 0.1),
                transforms.PILToTensor(),
            ]
        )

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        worker = get_worker_info()
        return self.augment(self.images[index]), int(self.rng.integers(2**40)), worker.id if worker else -1


def main(folder, workers):
    torch.manual_seed(0)
    loader = DataLoader(Folder(folder), batch_size=16, shuffle=True, num_workers=workers)
    outputs, draws = collections.Counter(), collections.Counter()
    for _ in range(2):
        for images, held, _ in loader:
            outputs.update(hashlib.sha256(image.numpy()).hexdigest() for image in images)
            draws.update(held.tolist())
    print(len(outputs), "distinct outputs of", outputs.total(), "and", len(draws), "distinct draws of", draws.total())


main(sys.argv[1], int(sys.argv[2]))
