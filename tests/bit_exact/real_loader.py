"""Runs real DataLoaders over torchvision's transforms, or over pipelines written by hand with NumPy or Python.

Reads from standard input a JSON list of configurations and prints one JSON list: for each configuration its rows
[epoch, worker, index, top, left, flipped, order, factors, sha256 of the pixels], in the order of delivery.
"""

import hashlib
import json
import random
import sys

import numpy as np
import torch
import torchvision.transforms as T
import torchvision.transforms.functional as F
from PIL import Image
from torch.utils.data import DataLoader, Dataset, get_worker_info

torch.set_num_threads(1)
M32 = 2**32


class Torchvision:
    """RandomCrop, RandomHorizontalFlip, ColorJitter themselves; their parameters are watched, not drawn again."""

    def __init__(self, c):
        jitter = {k: tuple(v) if v else 0 for k, v in c["jitter"].items()}
        self.crop = T.RandomCrop(c["crop"], padding=c["padding"] or None)
        self.flip = T.RandomHorizontalFlip(c["flip"])
        self.jitter = T.ColorJitter(**jitter)

    def __call__(self, image):
        seen = {}
        box, params = T.RandomCrop.get_params, T.ColorJitter.get_params

        def watch_box(img, size):
            seen["box"] = box(img, size)
            return seen["box"]

        def watch_params(*ranges):
            seen["jitter"] = params(*ranges)
            return seen["jitter"]

        self.crop.get_params, self.jitter.get_params = watch_box, watch_params
        image = self.crop(image)
        before = image.tobytes()
        image = self.flip(image)
        flipped = None if image.tobytes() == before else True
        image = self.jitter(image)
        top, left, _, _ = seen["box"]
        order, *factors = seen["jitter"]
        return image, [top, left, flipped, order.tolist(), factors]


class ByHand:
    """The same draws in the same order from a NumPy or Python generator; always all of them."""

    def __init__(self, c, rng):
        self.c, self.rng = c, rng

    def __call__(self, image):
        c, rng = self.c, self.rng
        if c["padding"]:
            image = F.pad(image, c["padding"])
        height, width = c["crop"]
        rows, columns = image.height - height + 1, image.width - width + 1
        if isinstance(rng, np.random.Generator):
            top, left = int(rng.integers(0, rows)), int(rng.integers(0, columns))
        elif rng is random or isinstance(rng, random.Random):
            top, left = rng.randrange(rows), rng.randrange(columns)
        else:
            top, left = int(rng.randint(0, rows)), int(rng.randint(0, columns))
        flipped = bool((rng.random() if hasattr(rng, "random") else rng.random_sample()) < c["flip"])
        if hasattr(rng, "permutation"):
            order = [int(k) for k in rng.permutation(4)]
        else:
            order = [0, 1, 2, 3]
            rng.shuffle(order)
        ranges = [c["jitter"][k] or still for k, still in (("brightness", (1, 1)), ("contrast", (1, 1)), ("saturation", (1, 1)), ("hue", (0, 0)))]
        factors = [float(rng.uniform(low, high)) for low, high in ranges]
        image = F.crop(image, top, left, height, width)
        if flipped:
            image = F.hflip(image)
        for k in order:
            operation = (F.adjust_brightness, F.adjust_contrast, F.adjust_saturation, F.adjust_hue)[k]
            image = operation(image, factors[k])
        return image, [top, left, flipped, order, factors]


class Pictures(Dataset):
    def __init__(self, c):
        self.images = []
        for picture in c["images"]:
            w, h, mode = picture["width"], picture["height"], picture["mode"]
            self.images.append(Image.frombytes(mode, (w, h), bytes.fromhex(picture["hex"])))
        self.held = None
        if c["rng"] == "numpy":
            self.held = np.random.default_rng(c["seed"]) if c["holder"] == "held" else np.random
        elif c["rng"] == "python":
            self.held = random.Random(c["seed"]) if c["holder"] == "held" else random
        self.augment = Torchvision(c) if c["rng"] == "torch" else ByHand(c, self.held)
        self.epoch = 0

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image, drawn = self.augment(self.images[index])
        info = get_worker_info()
        return [info.id if info else -1, index, *drawn, hashlib.sha256(image.tobytes()).hexdigest()]


def init(c, dataset):
    """The init that the configuration asks for, or None."""
    policy = c["init"]
    if policy == "none":
        return None

    def seed_with(value, words):
        if c["rng"] == "torch":
            torch.manual_seed(value % 2**64)
        elif c["rng"] == "python":
            (random if c["holder"] == "global" else dataset_of().augment.rng).seed(value)
        elif c["holder"] == "global":
            np.random.seed(words if words is not None else value % M32)
        else:
            dataset_of().augment.rng = np.random.default_rng(words if words is not None else value)

    def dataset_of():
        return get_worker_info().dataset

    def run(worker):
        initial = torch.initial_seed()
        base = initial - worker
        if policy == "torch":
            from torch.utils.data._utils.worker import _generate_state

            seed_with(initial, [int(w) for w in _generate_state(base, worker)])
        elif policy == "lightning":
            from lightning.fabric.utilities.seed import pl_worker_init_function

            kept = random.getstate(), np.random.get_state(), torch.get_rng_state()
            pl_worker_init_function(worker, 0)
            if c["holder"] == "held":
                words = [int(w) for w in np.random.SeedSequence([base, worker, 0]).generate_state(4)]
                if c["rng"] == "python":
                    dataset_of().augment.rng.setstate(random.getstate())
                else:
                    seed_with(0, words)
                random.setstate(kept[0]), np.random.set_state(kept[1]), torch.set_rng_state(kept[2])
        else:
            value = {
                "constant": c["seed"],
                "worker-id": worker,
                "base+worker": (initial + worker) % M32,
                "epoch": (initial + dataset_of().epoch * 1000 + worker) % M32,
                "seed+epoch+worker": (c["seed"] + dataset_of().epoch + worker) % 2**64,
            }[policy]
            seed_with(value, None)

    return run


def rows(c):
    torch.manual_seed(c["seed"])
    random.seed(c["seed"])
    np.random.seed(c["seed"] % M32)
    dataset = Pictures(c)
    workers = c["workers"]
    loader = DataLoader(
        dataset,
        batch_size=c["batch_size"],
        shuffle=True,
        num_workers=workers,
        persistent_workers=c["persistent"],
        worker_init_fn=init(c, dataset),
        collate_fn=list,
        multiprocessing_context="fork" if workers else None,
    )
    out = []
    for epoch in range(c["epochs"]):
        dataset.epoch = epoch
        for batch in loader:
            out += [[epoch, *row] for row in batch]
    return out


json.dump([rows(c) for c in json.load(sys.stdin)], sys.stdout)
