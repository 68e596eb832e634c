//! The built-in pipeline: a faithful model of a PyTorch `DataLoader` over torchvision's transforms.
