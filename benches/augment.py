"""The libraries that benches/augment.rs measures itself against.

Started with the path of raw images (256x256 RGB bytes, one after the other). Writes a line for each library that can be
imported, `name TAB versions`, then an empty line. Then, for each name that it reads, takes every image once through that
library's RandomCrop 224, horizontal flip and colour jitter (0.4, 0.4, 0.4, 0.1), and writes the CPU seconds that it took.
"""
import os
import sys
import time
import warnings

warnings.filterwarnings("ignore")
os.environ.setdefault("NO_ALBUMENTATIONS_UPDATE", "1")

import numpy as np
import PIL
import torch
import torchvision
import torchvision.transforms as v1
import torchvision.transforms.v2 as v2
from PIL import Image

torch.set_num_threads(1)
arrays = list(np.fromfile(sys.argv[1], np.uint8).reshape(-1, 256, 256, 3))


def passes(transform, images):
    def one():
        for image in images:
            transform(image)

    return one


def torchvision_pipeline(t):
    return t.Compose([t.RandomCrop(224), t.RandomHorizontalFlip(), t.ColorJitter(0.4, 0.4, 0.4, 0.1)])


pictures = [Image.fromarray(array) for array in arrays]
tensors = [torch.from_numpy(array.transpose(2, 0, 1).copy()) for array in arrays]
peers = {
    "torchvision, PIL": passes(torchvision_pipeline(v1), pictures),
    "torchvision v2, tensors": passes(torchvision_pipeline(v2), tensors),
}
versions = {
    "torchvision, PIL": f"torchvision {torchvision.__version__}, Pillow {PIL.__version__}",
    "torchvision v2, tensors": f"torch {torch.__version__}",
}
try:
    import albumentations
    import cv2

    cv2.setNumThreads(1)
    jitter = albumentations.ColorJitter((0.6, 1.4), (0.6, 1.4), (0.6, 1.4), (-0.1, 0.1), p=1)
    pipeline = albumentations.Compose(
        [albumentations.RandomCrop(224, 224), albumentations.HorizontalFlip(p=0.5), jitter]
    )
    peers["albumentations"] = passes(lambda array: pipeline(image=array), arrays)
    versions["albumentations"] = f"albumentations {albumentations.__version__}, OpenCV {cv2.__version__}"
except ImportError:
    pass

for name, version in versions.items():
    print(f"{name}\t{version}")
print(flush=True)
for line in sys.stdin:
    run = peers[line.rstrip("\n")]
    start = time.process_time()
    run()
    print(time.process_time() - start, flush=True)
