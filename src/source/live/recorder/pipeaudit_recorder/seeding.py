"""Who seeded."""


def patch_random(module):
    pass


def patch_numpy(module):
    pass


def patch_torch(module):
    pass
