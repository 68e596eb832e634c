"""Records what a program's data loaders make and deliver, without changing it.

Pure standard library; imports no torch and no NumPy by itself. See README.md beside this package for the contract.
"""


def activate():
    """Installs the import hook; until the program imports torch.utils.data nothing else happens."""
    from . import hook, settings, shard, sites, vary

    settings.read()
    if not settings.TRACE:
        return
    sites.read()
    shard.attached()
    vary.install()
    hook.install()
